"""Tables as text, and the numbers in them."""

from dyparse.compare.report.table import Table, p_value, percent, signed, spread
from dyparse.compare.statistics import Spread


def test_differences_have_true_minus_signs_and_small_ps_a_bound():
    assert signed(-0.126) == "−0.13"
    assert signed(0.4, 0) == "+0"
    assert p_value(0.00004) == "< 0.001"
    assert p_value(0.0126) == "0.013"
    assert p_value(None) == ""


def test_missing_numbers_are_empty():
    assert percent(None) == ""
    assert percent(12.345, 1) == "12.3"
    assert spread(Spread(50.0, 1.5)) == "50.00 ± 1.50"
    assert spread(Spread(50.0, None)) == "50.00"


def test_markdown_has_a_line_for_each_row_and_escapes_bars():
    table = Table(
        "name", "Title", ("system", "training", "LAS"), [("a|b", "static", "1.00")], "Note."
    )
    assert table.to_markdown() == (
        "### Title\n\nNote.\n\n| system | training | LAS |\n|---|---|--:|\n"
        "| a\\|b | static | 1.00 |\n"
    )
