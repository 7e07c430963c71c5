"""docs/ has a page for every exploration, loss and encoder, with its idea, options and use.

Options and commands of the reference come from the code: test_system_pages.py runs make_docs.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.documents import commands_starting, dead_links
from helpers.tiny import PROJECT, yamls

DOCS = PROJECT / "docs"
FOLDERS = {
    "exploration": "explorations",
    "loss": "losses",
    "encoder": "encoders",
    "tokenizer": "tokenizers",
}
PAGES = [
    pytest.param(choice, DOCS / folder / f"{path.stem}.md", id=f"{folder}/{path.stem}")
    for choice, folder in FOLDERS.items()
    for path in yamls(choice)
]
EACH = pytest.mark.parametrize(("choice", "page"), PAGES)


@pytest.mark.parametrize("choice", FOLDERS)
def test_there_is_a_page_for_every_alternative_and_for_nothing_else(choice: str) -> None:
    pages = {page.stem for page in (DOCS / FOLDERS[choice]).glob("*.md")}
    assert pages == {"README", *(path.stem for path in yamls(choice))}


@EACH
def test_the_index_and_the_page_of_choices_lead_to_the_page(choice: str, page: Path) -> None:
    index = (page.parent / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| \[{page.stem}\]\({page.name}\) \|", index, re.MULTILINE)
    choices = (DOCS / "choices.md").read_text(encoding="utf-8")
    assert f"[{page.stem}]({FOLDERS[choice]}/{page.name})" in choices


@EACH
def test_a_page_has_its_parts_and_a_command_that_uses_the_alternative(
    choice: str, page: Path
) -> None:
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[0] in ("Policy", "Formula")
    assert {"Options", "When to use it", "Papers", "Use"} <= set(headings)
    assert ["train", f"{choice}={page.stem}"] in [
        words[:2] for words in commands_starting("dyparse", text=text)
    ]


@EACH
def test_links_lead_somewhere_and_lines_are_short(choice: str, page: Path) -> None:  # noqa: ARG001 - as the others
    assert dead_links(page) == []
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []
