"""The page: gold trees edited, models and systems side by side, parsing, sharing, phones, dark."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers.browser import CROSSING, PROJECTIVE, Explorer
from helpers.tiny import sample

import dyparse

AXE = os.environ.get("DYPARSE_AXE", "")  # axe.min.js of the npm package axe-core
SVG = "{http://www.w3.org/2000/svg}"


pytestmark = pytest.mark.filterwarnings("ignore:the model reads UPOS")


def test_the_page_of_the_interface_has_every_operation(explorer: Explorer, server: str) -> None:
    page = explorer.page
    page.goto(f"{server}api.html")
    page.wait_for_selector("section")
    description = page.evaluate("fetch('openapi.json').then((answer) => answer.json())")
    operations = {
        f"{method.upper()} {path}"
        for path, methods in description["paths"].items()
        for method in methods
    }
    assert {heading.inner_text() for heading in page.locator("h2").all()} == operations
    section = page.locator("section[aria-label='post /api/parse']")
    section.locator("summary").first.click()
    assert "confidence" in section.locator("pre").first.inner_text()


# --- sentences and gold trees --------------------------------------------------------------------


def test_it_opens_with_a_sentence_of_the_sample_and_goes_to_the_next(explorer: Explorer) -> None:
    page = explorer.open().page
    train = sample("train")
    assert page.locator(".text span").inner_text() == " ".join(train[0].form)
    page.click("[data-key=next]")
    page.wait_for_function(
        "text => document.body.innerText.includes(text)", arg=" ".join(train[1].form)
    )
    assert explorer.arcs("gold") == {(head, word) for word, head in enumerate(train[1].head, 1)}


def test_a_sentence_is_found_by_a_search(explorer: Explorer) -> None:
    page = explorer.open().page
    wanted = next(s for s in sample("train") if not s.is_projective())
    page.click("[data-key=choose]")
    page.fill("[data-key=search]", wanted.text)
    page.press("[data-key=search]", "Enter")
    page.click(f".sentences button:has-text({json.dumps(wanted.text)})")
    page.wait_for_function(
        "text => document.body.innerText.includes(text)", arg=" ".join(wanted.form)
    )
    assert "Cannot build this tree" in page.locator(".coverage").inner_text()


def test_typed_words_get_a_tree_that_is_edited_by_number_and_by_dragging(
    explorer: Explorer,
) -> None:
    page = explorer.open().page
    page.click("[data-key=choose]")
    page.click("[data-key='way typed']")
    page.fill("[name=words]", PROJECTIVE[0])
    page.click("#browser button[type=submit]")
    page.locator("[data-key='head 4']").wait_for()
    assert explorer.arcs("gold") == {(0, 1), (1, 2), (1, 3), (1, 4)}
    page.fill("[data-key='head 3']", "4")
    page.keyboard.press("Enter")
    page.locator("[data-arc='4-3']").wait_for()
    drag(page, word=4, to=2)
    page.locator("[data-arc='2-4']").wait_for()
    assert explorer.arcs("gold") == {(0, 1), (1, 2), (4, 3), (2, 4)}
    assert "heads=0%2C1%2C4%2C2" in page.url


def drag(page: Any, word: int, to: int) -> None:
    """Drag the upper end of the gold arc of a word to another head."""
    handle = page.locator(f".handle[data-word='{word}']").bounding_box()
    target = page.locator(f".tree .word[data-token='{to}'] .form").bounding_box()
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(target["x"] + target["width"] / 2, target["y"], steps=4)
    page.mouse.up()


def test_a_cycle_is_refused_and_explained(explorer: Explorer) -> None:
    page = explorer.open(PROJECTIVE).page
    page.click("[data-key=edit]")
    page.fill("[data-key='head 2']", "4")
    page.keyboard.press("Enter")
    assert "2 → 4 → 2 is a cycle" in page.locator("#error").inner_text()
    assert page.locator("[data-key='head 2']").input_value() == "0"


def test_pasted_conllu_is_explored_and_a_fault_in_it_is_named(explorer: Explorer) -> None:
    page = explorer.open().page
    sentence = sample("dev")[3]
    page.click("[data-key=choose]")
    page.click("[data-key='way pasted']")
    page.fill("[name=conllu]", "1\tone\t_\n")
    page.click("#browser button[type=submit]")
    page.locator("#error:not(:empty)").wait_for()
    assert "columns" in page.locator("#error").inner_text()
    explorer.faults.clear()  # the browser reports the server's answer
    page.fill("[name=conllu]", sentence.to_conllu())
    page.click("#browser button[type=submit]")
    page.wait_for_function(
        "text => document.body.innerText.includes(text)", arg=" ".join(sentence.form)
    )
    assert explorer.arcs("gold") == {(head, word) for word, head in enumerate(sentence.head, 1)}


# --- side by side --------------------------------------------------------------------------------


def test_two_systems_say_which_of_them_can_build_the_tree(explorer: Explorer) -> None:
    explorer.open(CROSSING, system="arc_eager", system2="covington", best="1")
    texts = [explorer.panel(k).locator(".coverage").inner_text() for k in (0, 1)]
    assert texts[0].endswith("its best tree lacks 1 gold arc: Who → to.")
    assert texts[1] == "Can build the whole gold tree."
    assert explorer.arcs("lost") == {(1, 5)}
    system = dyparse.system.load("arc_eager")
    best = system.best_heads(system.start([5]), [[0, *CROSSING[1]]])[0]
    assert explorer.arcs("reachable") == {(best[5], 5)}
    explorer.panel(0).locator("[data-key=end]").click()
    explorer.panel(1).locator(".end").wait_for()  # in step
    assert explorer.arcs("right", 1) == {(head, word) for word, head in enumerate(CROSSING[1], 1)}


def test_models_stand_beside_the_moves_and_part_where_they_say(
    explorer: Explorer, model_directory: Path
) -> None:
    sentence = (" ".join(sample("dev")[3].form), sample("dev")[3].head)
    page = explorer.open(sentence, models="trained\trandom", moves="SHIFT").page
    shares = page.eval_on_selector_all(
        ".move .probability", "all => all.map(one => [one.className, one.title])"
    )
    for model, kind in (("trained", "of-0"), ("random", "of-1")):
        percents = [float(t.split()[-1][:-1]) for name, t in shares if kind in name]
        assert len(percents) > 1
        assert sum(percents) == pytest.approx(100, abs=0.1), model
    page.click("[data-key=part]")
    explorer.panel(1).wait_for()
    at = explorer.at(0)
    names = [explorer.panel(k).locator(".step .count").count() for k in (0, 1)]
    assert (explorer.at(1), min(names) > at) == (at, True)
    taken = [steps(explorer, k) for k in (0, 1)]
    assert taken[0][:at] == taken[1][:at]
    assert taken[0][at] != taken[1][at]
    parsed = dyparse.load(model_directory)(sample("dev")[3].form)
    page.keyboard.press("End")
    explorer.panel(0).locator(".end").wait_for()
    built = explorer.arcs("built", 0)
    assert built == {(head, word) for word, head in enumerate(parsed.head, 1)}


def steps(explorer: Explorer, panel: int) -> list[str]:
    """The moves on the time line."""
    texts = explorer.panel(panel).locator(".step").all_text_contents()
    return ["".join(filter(lambda c: c.isalpha() or c == "_", text)) for text in texts[1:]]


def test_text_is_parsed_by_two_models_and_differences_are_coloured(
    explorer: Explorer, model_directory: Path
) -> None:
    page = explorer.open(tab="parse").page
    page.fill("textarea", "I like cheese. You do not like it.")
    page.select_option("[data-key=second]", "random")
    page.click("[data-key=parse]")
    page.locator(".parsed").nth(1).wait_for()
    assert page.locator(".parsed .arc.wrong").count() > 0
    assert page.locator(".parsed .arc title").count() > 0
    page.click("[data-key='view conllu']")
    parser = dyparse.load(model_directory)
    text = page.locator("pre").first.inner_text()
    rows = [line.split("\t") for line in text.splitlines() if line[:1].isdigit()]
    parsed = list(parser("I like cheese. You do not like it."))
    assert [int(row[6]) for row in rows] == [head for s in parsed for head in s.head]
    page.click("[data-key='view trees']")
    page.click("[data-key='explore 0']")
    page.locator(".move").first.wait_for()
    assert explorer.arcs("gold") == {(h, w) for w, h in enumerate(parsed[0].head, 1)}


# --- sharing -------------------------------------------------------------------------------------


def exported(explorer: Explorer, kind: str) -> bytes:
    """What is saved."""
    with explorer.page.expect_download() as waiting:
        explorer.page.select_option("[data-key=export]", kind)
    return Path(waiting.value.path()).read_bytes()


def test_a_state_is_saved_as_picture_json_and_latex(explorer: Explorer) -> None:
    explorer.open(CROSSING, system="arc_eager", moves="SHIFT SHIFT LEFT")
    picture = ElementTree.fromstring(exported(explorer, "svg"))
    shown = [text.text for text in picture.iter(f"{SVG}text")]
    assert shown == [*explorer.page.locator(".tree text").all_text_contents()]
    assert "class" not in {name for element in picture.iter() for name in element.attrib}
    png = exported(explorer, "png")
    width, height = struct.unpack(">II", png[16:24])
    assert png.startswith(b"\x89PNG")
    assert (width, height) == tuple(2 * int(picture.attrib[name]) for name in ("width", "height"))
    data = json.loads(exported(explorer, "json"))
    assert (data["moves"], len(data["states"])) == (["SHIFT", "SHIFT", "LEFT"], 4)
    assert sum(data["costs"]) == len(data["states"][-1]["lost"]) - len(data["states"][0]["lost"])
    tikz = exported(explorer, "tikz").decode()
    assert r"Who \& are \& you \& talking \& to \\" in tikz
    assert r"\depedge[wrong]{3}{2}{}" in tikz
    assert tikz.count(r"\dep") == 3 + 6  # styles; arcs, with the gold one of the word with another
    table = exported(explorer, "table").decode()
    assert table.count(r"\\") == 1 + 4  # a header and four states
    assert r"Who$_{1}$ are$_{2}$" in table


# --- small, dark, for everybody ------------------------------------------------------------------


@pytest.mark.parametrize("shown", ["explore", "edit", "two", "parse"])
def test_nothing_is_wider_than_a_phone(shown: str, browser: Any, server: str) -> None:
    phone = Explorer(browser, server, viewport={"width": 390, "height": 844}, has_touch=True)
    long = sample("train")[2]
    more = {"system2": "covington", "models": "trained\trandom"} if shown == "two" else {}
    tab = {"tab": "parse"} if shown == "parse" else {}
    page = phone.open((" ".join(long.form), long.head), **more, **tab).page
    if shown == "edit":
        page.tap("[data-key=edit]")
        page.tap("[data-key=choose]")
        page.locator(".sentences button").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    if shown == "explore":
        page.tap("button[data-move='SHIFT']")
        phone.wait_for(1)
    phone.close()


def test_dark_is_dark_and_words_can_be_read_in_both(browser: Any, server: str) -> None:
    for scheme in ("light", "dark"):
        page = Explorer(browser, server, color_scheme=scheme)
        page.open(CROSSING, moves="SHIFT SHIFT LEFT")
        paper = colour(page, ".panel", "background-color")
        assert (luminance(paper) < 0.1) == (scheme == "dark")
        for selector, name in (
            (".move .name", "color"),
            (".loses", "color"),
            (".paid", "color"),
            (".tree .form", "fill"),
            (".tree .label, .tree .number", "fill"),
        ):
            assert contrast(colour(page, selector, name), paper) >= 4.5, (scheme, selector)
        page.close()


def colour(explorer: Explorer, selector: str, name: str) -> list[float]:
    """Red, green and blue of the first such element."""
    text = explorer.page.eval_on_selector(
        selector, "(element, name) => getComputedStyle(element).getPropertyValue(name)", name
    )
    return [float(part) for part in text.split("(")[1].rstrip(")").split(",")[:3]]


def luminance(rgb: list[float]) -> float:
    """As WCAG defines it."""
    parts = np.array(rgb) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: list[float], other: list[float]) -> float:
    """As WCAG defines it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_every_control_has_a_name(explorer: Explorer) -> None:
    page = explorer.open(CROSSING, system2="swap", models="trained\trandom").page
    page.click("[data-key=edit]")
    page.click("[data-key=choose]")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, textarea, [role=img]")]
        .filter(e => e.checkVisibility())
        .filter(e => !e.getAttribute("aria-label") && !e.textContent.trim() && !e.labels?.length)
        .map(e => e.outerHTML)"""
    )
    assert nameless == []


@pytest.mark.skipif(not Path(AXE).is_file(), reason="DYPARSE_AXE is not the path of axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(scheme: str, browser: Any, server: str) -> None:
    page = Explorer(browser, server, color_scheme=scheme, bypass_csp=True)
    for shown in (
        {"moves": "SHIFT SHIFT", "models": "trained", "system2": "swap"},
        {"tab": "parse"},
    ):
        page.open(CROSSING, **shown)
        page.page.evaluate(Path(AXE).read_text(encoding="utf-8"))
        found = page.page.evaluate("axe.run()")["violations"]
        assert [f["id"] for f in found if f["impact"] in ("serious", "critical")] == []
    page.close()
