"""docs/theory.md counts states as they are."""

import re

import pytest
from helpers.system_variants import NAMES
from helpers.tiny import PROJECT

from dyparse import system as systems
from dyparse.evaluation.exhaustive import reachable_states

PAGE = (PROJECT / "docs" / "theory.md").read_text(encoding="utf-8")
NO_RULE = "–"  # of a system without the option single_root
ROWS = {
    name: [cell.strip().replace(",", "") for cell in cells.split("|")]
    for name, cells in re.findall(
        r"^\| (\w+) \|((?: [\d,–]+ \|){3} [\d,–]+) \|$", PAGE, re.MULTILINE
    )
}


def test_there_is_a_line_for_every_system():
    assert sorted(ROWS) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("words", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_the_page_has_the_numbers_of_states(name, words):
    has_rule = hasattr(systems.load(name), "single_root")
    counts = [] if has_rule else [NO_RULE]
    for options in ({"single_root": True}, {"single_root": False}) if has_rule else ({},):
        system = systems.load(name, **options)
        counts.append(str(sum(len(layer.paths) for layer in reachable_states(system, words))))
    assert counts == ROWS[name][words - 4 :: 2]
