"""Derivations in the browser: every system to its gold tree, mistakes, undo, keys, addresses."""

from __future__ import annotations

import pytest
from helpers.browser import CROSSING, PROJECTIVE, Explorer, Follower
from helpers.tiny import yamls

NAMES = [path.stem for path in yamls("system")]
FOR_CROSSING = {"attardi", "buffer", "covington", "swap"}  # systems that can build that tree


@pytest.mark.parametrize("name", NAMES)
def test_a_derivation_is_clicked_through_to_the_gold_tree(name: str, explorer: Explorer) -> None:
    sentence = CROSSING if name in FOR_CROSSING else PROJECTIVE
    follower = Follower(name, sentence[1])
    explorer.open(sentence, system=name)
    while not follower.is_final():
        assert explorer.costs() == follower.costs()
        follower.take(follower.static())
        explorer.take(
            str(explorer.page.locator(".move:has(.canonical)").get_attribute("data-move"))
        )
    assert "this is the gold tree" in explorer.page.locator(".end").inner_text()
    gold = {(head, word) for word, head in enumerate(sentence[1], 1)}
    assert explorer.arcs("right") == gold
    assert "cost paid: 0" in explorer.page.locator(".paid").inner_text()


@pytest.mark.parametrize("name", NAMES)
def test_after_a_mistake_the_page_says_what_the_oracle_says(name: str, explorer: Explorer) -> None:
    follower = Follower(name, CROSSING[1])
    before = []
    while max(follower.costs().values()) == 0:
        before.append(follower.static())
        follower.take(before[-1])
    explorer.open(CROSSING, system=name, moves=" ".join(before))
    costs = follower.costs()
    assert explorer.costs() == costs
    mistake = max(costs, key=lambda move: costs[move])
    explorer.page.hover(f"button[data-move='{mistake}']")
    assert explorer.arcs("stake") == follower.lost(mistake)
    explorer.take(mistake)
    follower.take(mistake)
    assert explorer.costs() == follower.costs()
    explorer.page.click("[data-key=end]")
    explorer.page.locator(".end").wait_for()
    while not follower.is_final():
        follower.take(follower.static())
    paid = explorer.page.locator(".step .price").all_inner_texts()
    assert sum(map(int, paid)) == costs[mistake]
    heads = follower.system.heads(follower.states)[0].tolist()
    wrong = {(head, word) for word, head in enumerate(CROSSING[1], 1) if heads[word] != head}
    assert explorer.arcs("lost") == wrong


def test_moves_that_are_not_legal_say_what_they_need(explorer: Explorer) -> None:
    explorer.open(PROJECTIVE, system="arc_eager")
    said = explorer.page.locator("[data-move='REDUCE']").inner_text()
    assert "not legal" in said
    assert "needs a word with a head on top of the stack" in said
    assert explorer.page.locator("button[data-move='REDUCE']").count() == 0


def test_moves_are_undone_and_redone_and_the_time_line_goes_anywhere(explorer: Explorer) -> None:
    explorer.open(PROJECTIVE, system="arc_hybrid")
    for move in ("SHIFT", "SHIFT", "RIGHT"):
        explorer.take(move)
    page = explorer.page
    assert page.locator(".step.mistake").all_text_contents() == ["2SHIFT+2", "3RIGHT+1"]
    page.click("[data-key=undo]")
    explorer.wait_for(2)
    page.click("[data-key='step 1']")
    explorer.wait_for(1)
    assert (explorer.arcs("built"), explorer.arcs("lost")) == (set(), set())
    assert page.locator(".step.ahead").count() == 2
    page.click("[data-key='step 3']")
    explorer.wait_for(3)
    assert (explorer.arcs("built"), explorer.arcs("lost")) == ({(1, 2)}, {(2, 1), (2, 4), (0, 2)})
    page.click("[data-key=undo]")
    explorer.wait_for(2)
    page.click("[data-key=redo]")
    explorer.wait_for(3)
    page.click("[data-key='step 1']")
    explorer.wait_for(1)
    explorer.take("LEFT")
    assert page.locator(".step").count() == 3, "another move replaces what could be redone"
    assert page.locator(".step.mistake").count() == 0


def test_keys_take_moves_and_go_back_and_forth(explorer: Explorer) -> None:
    explorer.open(PROJECTIVE, system="arc_eager")
    keys = explorer.page.keyboard
    for key, at in (
        ("1", 1),
        ("3", 2),
        ("s", 3),
        ("z", 4),
        ("ArrowLeft", 3),
        ("Home", 0),
        ("End", 4),
    ):
        keys.press(key)
        explorer.wait_for(at)
    keys.press("e")
    explorer.page.locator(".end").wait_for()
    keys.press("?")
    assert "undo" in explorer.page.locator("#help").inner_text()
    keys.press("1")  # not while the help is open
    keys.press("Escape")
    assert not explorer.page.locator("#help").is_visible()
    assert "this is the gold tree" in explorer.page.locator(".end").inner_text()


def test_the_focus_stays_on_a_move_that_is_taken(explorer: Explorer) -> None:
    explorer.open(PROJECTIVE, system="arc_hybrid")
    explorer.page.focus("button[data-move='SHIFT']")
    explorer.page.keyboard.press("Enter")
    explorer.wait_for(1)
    assert explorer.page.evaluate("document.activeElement.dataset.move") == "SHIFT"
    explorer.page.keyboard.press("Enter")
    explorer.wait_for(2)


IS_IN_VIEW = """step => {
    const [inner, outer] = [step, step.closest("ol")].map((e) => e.getBoundingClientRect());
    return outer.left <= inner.left && inner.right <= outer.right;
}"""


def test_each_of_two_derivations_keeps_its_focus_and_shows_where_it_is(explorer: Explorer) -> None:
    page = explorer.open(CROSSING, system="arc_eager", system2="swap", apart="1").page
    explorer.panel(1).locator("[data-key=end]").click()
    explorer.panel(1).locator(".end").wait_for()
    last = explorer.at(1)
    assert explorer.panel(1).locator(".step.here").evaluate(IS_IN_VIEW)
    explorer.panel(1).locator("[data-key=undo]").click()
    explorer.wait_for(last - 1, panel=1)
    focused = "document.activeElement.closest('.panel').dataset.panel"
    assert page.evaluate(focused) == "1"
    page.keyboard.press("u")  # of the derivation that is active
    explorer.wait_for(last - 2, panel=1)
    assert explorer.at(0) == 0
    explorer.panel(0).locator("[data-key=one]").click()
    explorer.wait_for(1)
    assert page.evaluate(focused) == "0"


def test_an_address_brings_back_what_it_was_copied_from(explorer: Explorer) -> None:
    explorer.open(CROSSING, system="arc_eager", options="root:first", system2="covington")
    for move in ("SHIFT", "SHIFT", "LEFT"):
        explorer.take(move)
    explorer.take("SHIFT", panel=1)
    explorer.page.uncheck("[data-key='in step']")
    explorer.panel(0).locator("[data-key=undo]").click()
    explorer.wait_for(2)
    shown = [explorer.panel(k).inner_text() for k in (0, 1)]
    address = explorer.page.url
    explorer.page.goto("about:blank")
    explorer.page.goto(address)
    explorer.wait_for(2)
    assert [explorer.panel(k).inner_text() for k in (0, 1)] == shown
    assert explorer.page.locator(".step.ahead").count() == 1


def test_an_address_that_does_not_fit_is_explained(explorer: Explorer) -> None:
    explorer.open(PROJECTIVE, system="arc_eager", moves="REDUCE")
    assert "move 1, REDUCE, is not legal there" in explorer.page.locator(".fault").inner_text()
    explorer.faults.clear()  # the browser reports the server's answer
