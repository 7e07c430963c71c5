"""The `dyparse draw` command: which sentences, beside which others, and where to."""

import re
import subprocess
import sys

import pytest
from helpers.pictures import groups, marked, parsed, texts
from helpers.tiny import sample

from dyparse.data.sentence import Sentence
from dyparse.drawing.render import WRONG_HEAD, WRONG_LABEL
from dyparse.drawing.svg import LEAST_WIDTH

DEV = sample("dev")[:8]


@pytest.fixture
def command(dyparse_command):
    return lambda *arguments, **options: dyparse_command("draw", *arguments, **options)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text("".join(sentence.to_conllu() for sentence in DEV))
    return path


@pytest.fixture
def predicted(tmp_path):
    """The same sentences; in the first, word 1 has another label."""
    first = DEV[0].with_tree(DEV[0].head, ["other", *DEV[0].label[1:]])
    path = tmp_path / "predicted.conllu"
    path.write_text("".join(sentence.to_conllu() for sentence in [first, *DEV[1:]]))
    return path


def captions(picture):
    return texts(picture, "dtree-caption")


def test_the_first_sentence_is_drawn_to_standard_output_and_others_if_asked_for(command, file):
    status, out, err = command(file)
    assert (status, err) == (0, "")
    assert captions(out) == [DEV[0].sent_id]
    assert sorted(groups(out)) == list(range(1, len(DEV[0]) + 1))
    assert sorted(texts(out, "dtree-tag")) == sorted(DEV[0].upos)
    assert captions(command(file, "--sentence", 3)[1]) == [DEV[2].sent_id]
    both = command(file, "--sentence", DEV[4].sent_id, "--sentence", 2)[1]
    assert captions(both) == [DEV[4].sent_id, DEV[1].sent_id]
    assert len(captions(command(file, "--all")[1])) == len(DEV)
    assert captions(command("-", "--sentence", 2, stdin=file.read_text())[1]) == captions(
        command(file, "--sentence", 2)[1]
    )


def test_a_picture_is_drawn_without_torch_numba_and_numpy(file):
    program = (
        f"import sys, dyparse.cli.main as c; c.main(['draw', {str(file)!r}]); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    picture, _, modules = done.stdout.partition("</svg>")
    assert picture.startswith("<svg")
    assert "dyparse.drawing.svg" in modules.split()
    assert not {"torch", "numba", "numpy"} & set(modules.split())


def test_output_is_svg_or_html_as_the_name_ends_and_appears_whole(command, file, tmp_path):
    picture, page = tmp_path / "out.svg", tmp_path / "out.html"
    picture.write_text("old")
    assert command(file, "-o", picture) == (0, "", "")
    assert picture.read_text(encoding="utf-8") == command(file)[1]
    assert command(file, "--all", "-o", page) == (0, "", "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.count("<svg") == len(DEV)
    assert {p.name for p in tmp_path.iterdir()} == {"gold.conllu", "out.svg", "out.html"}


def test_tikz_is_chosen_by_name_or_suffix_and_may_be_a_document(command, file, predicted, tmp_path):
    status, out, err = command(file, "--with", predicted, "--format", "tikz")
    assert (status, err) == (0, "")
    assert out.startswith("% needs \\usepackage{tikz-dependency}\n")
    assert out.count(r"\begin{dependency}") == 2
    assert out.count(", dtree-wrong-label]") == 1
    path = tmp_path / "out.tex"
    assert command(file, "--all", "--standalone", "-o", path) == (0, "", "")
    text = path.read_text(encoding="utf-8")
    assert text.startswith(r"\documentclass")
    assert text.count(r"\begin{dependency}") == text.count(r"\begin{sentence}") == len(DEV)
    assert text.endswith("\\end{document}\n")


@pytest.mark.parametrize("name", ["out.svg", "out.html", "out.tex"])
def test_an_error_leaves_the_old_file(command, file, tmp_path, name):
    out = tmp_path / name
    out.write_text("old")
    file.write_text(file.read_text() + "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    status, printed, err = command(file, "--all", "-o", out)
    assert (status, printed) == (2, "")
    assert err.startswith(f"error: {file}:")
    assert out.read_text() == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"gold.conllu", name}
    assert command(file, "-o", out)[0] == 0, "faults elsewhere are no matter"


def test_other_files_stand_below_and_differences_are_marked(command, file, predicted):
    status, out, err = command(file, "--with", predicted, "--with", file)
    assert (status, err) == (0, "")
    assert [len(groups(out, k)) for k in range(3)] == [len(DEV[0])] * 3
    assert [marked(out, WRONG_LABEL, k) for k in range(3)] == [set(), {1}, set()]
    assert not any(marked(out, WRONG_HEAD, k) for k in range(3))
    names = [title.partition(" ·")[0] for title in texts(out, "dtree-title")]
    assert names[:3] == [str(file), str(predicted), str(file)], "two files of the same name"
    one = command(file, "--with", predicted)[1]
    assert texts(one, "dtree-title")[:2] == ["gold.conllu", "predicted.conllu · 1 wrong label"]


def test_the_width_is_heeded_and_0_never_wraps(command, file):
    width = float(parsed(command(file, "--width", 600)[1]).get("width"))
    assert width <= 600
    wide = command(file, "--width", 0)[1]
    assert float(parsed(wide).get("width")) > 1000
    assert not texts(wide, "dtree-number")


def test_tags_are_left_out_where_there_are_none(command):
    sentence = Sentence.from_words(["a", "b"]).with_tree([0, 1], ["root", "dep"])
    status, out, _ = command("-", stdin=sentence.to_conllu())
    assert status == 0
    assert captions(out) == ["sentence 1"]
    assert texts(out, "dtree-tag") == []


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        (["--sentence", "99"], "no sentence '99'; expected a number 1..8"),
        (["--sentence", "1", "--all"], "--all and --sentence exclude each other"),
        (["--width", "-1"], "--width is -1"),
        (["--width", "50"], f"--width is 50, expected {LEAST_WIDTH} or more, or 0"),
        (["-o", "tree.png"], "--output is tree.png, expected a name in .svg, .html, .tex"),
        (["--standalone"], "--standalone is for TikZ, not for svg"),
        (["-o", "tree.tex", "--width", "600"], "--width does not apply to TikZ"),
        (["-o", "no/where/tree.svg"], "no/where"),
        (["--with", "nosuch"], "nosuch: no such file"),
        (["--with", "-", "--with", "-"], "standard input can be read once"),
    ],
)
def test_a_wrong_option_is_one_message(command, file, options, finding):
    status, out, err = command(file, *options)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert finding in err


def test_files_with_other_sentences_or_words_are_refused(command, file, tmp_path):
    other = tmp_path / "other.conllu"
    other.write_text("".join(sentence.to_conllu() for sentence in DEV[:-1]))
    status, out, err = command(file, "--with", other)
    assert (status, out) == (2, "")
    assert f"{other}: 7 sentences, but 8 in {file}; compare" in err
    other.write_text(file.read_text().replace("\tfriend\tfriend\t", "\tfoe\tfoe\t"))
    assert command(file, "--with", other, "--sentence", 1)[0] == 0
    status, out, err = command(file, "--with", other, "--sentence", 2)
    assert (status, out) == (2, "")
    assert f"{other}:" in err
    assert "word 2 is 'foe', but 'friend' in" in err
    other.write_text("".join(sentence.to_conllu() for sentence in [DEV[1], *DEV[1:]]))
    assert "word 2 is " in command(file, "--with", other)[2]


def test_a_treebank_with_other_sentences_is_named_as_it_was_given(command, file):
    _, _, error = command("sample", "--with", file)
    assert re.search(r"sentences, but \d+ in sample; compare", error), error


def test_a_sentence_with_more_words_is_refused(command, tmp_path):
    paths = []
    for count in (2, 3):
        words = Sentence.from_words(["a"] * count)
        paths.append(tmp_path / f"{count}.conllu")
        heads = list(range(count))
        paths[-1].write_text(words.with_tree(heads, ["root", "x", "x"][:count]).to_conllu())
    assert "word 3 is 'a', but missing in" in command(paths[0], "--with", paths[1])[2]
    assert "word 3 is missing, but 'a' in" in command(paths[1], "--with", paths[0])[2]


def test_help_has_examples(command):
    status, out, _ = command("--help")
    assert status == 0
    assert "dyparse draw sample -o tree.svg" in out
