"""The page that needs no server, opened as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helpers.browser import CROSSING, Explorer, Follower

from dyparse.web.sentences import pasted
from dyparse.web.static_page import static_page


def test_a_page_in_a_file_shows_the_oracle_of_every_state(browser: Any, tmp_path: Path) -> None:
    forms, heads = CROSSING[0].split(), CROSSING[1]
    rows = [
        f"{n}\t{form}\t_\t_\t_\t_\t{head}\tx\t_\t_\n"
        for n, (form, head) in enumerate(zip(forms, heads, strict=True), 1)
    ]
    follower = Follower("covington", heads)
    (tmp_path / "page.html").write_text(
        static_page(follower.system, pasted("".join(rows) + "\n")[0]), encoding="utf-8"
    )
    page = Explorer(browser, (tmp_path / "page.html").as_uri()).open()
    mistakes = 0
    while not follower.is_final():
        costs = follower.costs()
        assert page.costs() == costs
        worst = max(costs, key=lambda move: costs[move])
        move = worst if mistakes < 2 else follower.static()
        page.page.hover(f"button[data-move='{move}']")
        assert page.arcs("stake") == follower.lost(move)
        mistakes += costs[move]
        follower.take(move)
        page.take(move)
    assert mistakes
    assert f"cost paid: {mistakes}" in page.page.locator(".paid").inner_text()
    shown, address = page.panel().inner_text(), page.page.url
    page.page.keyboard.press("Home")
    page.wait_for(0)
    page.page.goto("about:blank")
    page.page.goto(address)
    page.wait_for(len(page.page.locator(".step").all()) - 1)
    assert page.panel().inner_text() == shown
    page.page.click("[data-key=again]")
    page.wait_for(0)
    page.page.select_option("[data-key=policy]", "best")
    page.page.click("[data-key=end]")
    page.page.locator(".end").wait_for()
    assert page.arcs("right") == {(head, word) for word, head in enumerate(heads, 1)}
    page.close()
