"""Colours, markers and line styles of explorations."""

from helpers.made_results import compared, made_grid

from dyparse.comparison.report.panels import LOOKS, looks


def test_every_exploration_has_its_own_look_and_keeps_it():
    gains = dict.fromkeys(("static", "explore", "explore:probability=0.5", "mine"), 0.0)
    found = looks(compared(made_grid(gains=gains)))
    assert found["static"] == LOOKS["static"]
    assert found["explore"] == LOOKS["explore"]
    assert len({look.colour for look in found.values()}) == 4
    assert len({look.marker for look in found.values()}) == 4


def test_known_looks_differ_also_in_grey():
    assert len({look.marker for look in LOOKS.values()}) == len(LOOKS)
    assert len({str(look.line) for look in LOOKS.values()}) == len(LOOKS)
