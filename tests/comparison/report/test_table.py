"""Tables as text, and the numbers in them."""

from dyparse.comparison.report.table import Table, p_value, percent, signed, spread
from dyparse.comparison.statistics import Spread


def test_differences_have_true_minus_signs_and_small_ps_a_bound():
    assert signed(-0.126) == "−0.13"
    assert signed(0.4, 0) == "+0"
    assert p_value(0.00004) == "< 0.001"
    assert p_value(0.0126) == "0.013"
    assert [p_value(p) for p in (0.0498, 0.05, 0.0502)] == ["0.0498", "0.050", "0.050"]
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


def test_latex_aligns_numbers_right_and_emphasises_by_the_verdict_alone():
    table = Table(
        "name",
        "Title, 95 %",
        ("system", "training", "LAS − static [95 %]", "p"),
        [
            ("arc_eager", "static", "", ""),
            ("arc_eager", "explore", "−0.50 [−0.90, −0.10]", "< 0.001"),
            ("swap", "a&b", "+0.10 [−0.20, +0.40]", "0.300"),
        ],
        verdicts=["", "worse", ""],
        key_column=2,
    )
    assert table.to_latex().splitlines() == [
        r"% needs \usepackage{booktabs}",
        "% Title, 95 %",
        r"\begin{tabular}{llrr}",
        r"\toprule",
        r"system & training & LAS \textminus{} static [95 \%] & p \\",
        r"\midrule",
        r"arc\_eager & static &  &  \\",
        r"arc\_eager & explore & \textbf{\textminus{}0.50 [\textminus{}0.90, \textminus{}0.10]} "
        r"& \textless{} 0.001 \\",
        r"\addlinespace",
        r"swap & a\&b & +0.10 [\textminus{}0.20, +0.40] & 0.300 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_a_table_of_text_wraps_its_last_column_in_latex():
    table = Table("setting", "Setting", ("part", "options"), [("encoder", "hidden=80")])
    assert r"\begin{tabular}{lp{.7\linewidth}}" in table.to_latex()


def test_text_is_aligned_by_the_columns_of_a_terminal_and_bold_only_where_asked():
    rows = [("漢字", "static", "71.00", ""), ("é", "explore", "7.50", "+1.00")]
    table = Table(
        "t", "Title", ("system", "training", "LAS", "gain"), rows, verdicts=["", "better"]
    )
    assert table.to_text().splitlines() == [
        "system  training    LAS   gain",
        "漢字    static    71.00",
        "é       explore    7.50  +1.00",
    ]
    assert table.to_text(bold=True) == table.to_text().replace("+1.00", "\033[1m+1.00\033[0m")
