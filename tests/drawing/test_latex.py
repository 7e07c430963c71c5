"""LaTeX: nothing in a text is markup."""

import pytest

from dyparse.drawing.latex import COMMANDS, booktabs, comment, document, escaped


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & 50 % #1 $x$", r"a\_b \& 50 \% \#1 \$x\$"),
        (r"\end{a}", r"\textbackslash{}end\{a\}"),
        ("−0.1 ± 2 < 3", r"\textminus{}0.1 \textpm{} 2 \textless{} 3"),
        ("---", "-{}-{}-"),
        ("?` !` \ufffd` a`", "?{}` !{}` ?{}` a`"),
        ("``a'' ,,b,, ,.'", "`{}`a'{}' ,{},b,{}, ,.'"),
        ("[x] *", "{}[x] *"),
        ("*", "{}*"),
        ("a\tb\nc", "a?b?c"),
        ("Žák மரம்", "Žák மரம்"),
    ],
)
def test_special_characters_are_commands_or_escaped(text, latex):
    assert escaped(text) == latex


def test_no_special_character_is_left():
    bare = escaped("".join(COMMANDS))
    for command in COMMANDS.values():
        bare = bare.replace(command, "", 1)
    assert bare == ""


def test_a_comment_stays_on_its_line():
    assert comment("one\ntwo", "", "50 %") == "% one\ufffdtwo\n% 50 %\n"


def test_a_table_has_booktabs_rules_and_spaces():
    assert booktabs("lr", ["a", "b"], [["c", "1"], [], ["d", "2"]]).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"a & b \\",
        r"\midrule",
        r"c & 1 \\",
        r"\addlinespace",
        r"d & 2 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_a_document_has_a_preamble_and_pages():
    text = "".join(document(["x\n", "y\n"], "\\usepackage{booktabs}\n"))
    start, _, body = text.partition("\\usepackage{booktabs}\n")
    assert start.startswith(r"\documentclass")
    assert "multi=sentence" in start
    pages = "".join(f"\\begin{{sentence}}\n{x}\n\\end{{sentence}}\n" for x in "xy")
    assert body == f"\\begin{{document}}\n{pages}\\end{{document}}\n"
