"""The `dyparse parse` command in one process: bytes in, bytes out, errors and options."""

import functools
import re
import subprocess
import sys

import conllu
import pytest
from helpers.messages import assert_one_message
from helpers.tiny import sample

from dyparse.data.sentence import Sentence

DEV = sample("dev")[:12]
TEXT = "".join(s.to_conllu() for s in DEV)


@pytest.fixture
def command(dyparse_command):
    """command(*arguments, stdin=…) → (exit status, standard output, standard error)."""
    return functools.partial(dyparse_command, "parse")


@pytest.fixture
def file(tmp_path):
    """file(name, text) → the path of a file with this text."""

    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def without_tree(text):
    """The lines of CoNLL-U, without HEAD and DEPREL of words."""
    lines = []
    for line in text.splitlines(keepends=True):
        columns = line.split("\t")
        is_word = len(columns) == 10 and columns[0].isdigit()
        lines.append("\t".join(columns[:6] + columns[8:]) if is_word else line)
    return lines


def expected(parser, sentences):
    return "".join(s.to_conllu() for s in parser.parse(sentences))


def test_a_file_is_parsed_and_only_heads_and_labels_change(
    command, dyparse_command, file, parser, model_directory, tmp_path
):
    path = file("in.conllu", TEXT)
    status, out, err = command(model_directory, path)
    assert (status, err) == (0, "")
    assert out == expected(parser, DEV)
    assert without_tree(out) == without_tree(TEXT)
    assert out != TEXT
    result = file("out.conllu", out)
    status, report, _ = dyparse_command("check", result)
    assert status == 0
    assert f"{len(DEV)} sentences" in report
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.conllu", "out.conllu"]


def test_confidences_go_into_misc_and_nothing_else_changes(command, file, model_directory):
    path = file("in.conllu", TEXT)
    plain, sure = (command(model_directory, path, *more) for more in ([], ["--confidence"]))
    assert plain[0] == sure[0] == 0
    one, other = ([line.split("\t") for line in out.splitlines()] for out in (plain[1], sure[1]))
    assert [cells[:9] for cells in one] == [cells[:9] for cells in other]
    added = [cells[9] for cells in other if cells[0].isdigit() and len(cells) == 10]
    assert added
    for misc in added:
        assert re.search(r"(^|\|)HeadConfidence=[01]\.\d{4}\|LabelConfidence=[01]\.\d{4}$", misc)


def test_several_files_are_parsed_in_order_also_without_final_newlines(
    command, file, parser, model_directory
):
    one, two = "".join(s.to_conllu() for s in DEV[:5]), "".join(s.to_conllu() for s in DEV[5:])
    paths = [
        file("a.conllu", one.rstrip("\n")),
        file("b.conllu", two.rstrip("\n") + "\n"),
        file("c.conllu", one),
    ]
    status, out, _ = command(model_directory, *paths)
    assert status == 0
    assert out == expected(parser, [*DEV, *DEV[:5]])


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_is_read_as_utf8_whatever_the_locale(
    command, parser, model_directory, arguments
):
    sentence = Sentence.from_words(["Žák", "的", "sleeps"], upos=["PROPN", "X", "VERB"])
    stdin = sentence.to_conllu().encode()
    status, out, err = command(model_directory, *arguments, stdin=stdin)
    assert (status, err) == (0, "")
    assert out == expected(parser, [sentence])


def test_line_ends_comments_ranges_and_byte_order_marks_stay(command, file, model_directory):
    words = "1\tVamos\t_\tVERB\t_\t_\t_\t_\t_\t_\n2\tnos\t_\tPRON\t_\t_\tx\ty\tz\tA=B\n"
    odd = f"\ufeff# free\n# free\n1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_\n{words}2.1\te" + "\t_" * 8
    text = (odd + "\n\n\n# second\n1\ta\t_\tX\t_\t_\t7\tdep\t_\t_\n").replace("\n", "\r\n")
    status, out, _ = command(model_directory, file("odd.conllu", text))
    assert status == 0
    assert without_tree(out) == without_tree(text)
    assert "\t7\tdep" not in out


def test_whatever_head_deprel_and_deps_hold_is_ignored(command, file, parser, model_directory):
    lines = []
    for number, line in enumerate(TEXT.splitlines(keepends=True)):
        columns = line.split("\t")
        if len(columns) == 10 and columns[0].isdigit():
            columns[6:9] = ["-5", "99", "head", "_"][number % 4], "?!", "1:a|0:b|x"
        lines.append("\t".join(columns))
    status, out, _ = command(model_directory, file("garbage.conllu", "".join(lines)))
    assert status == 0
    heads = [s.head for s in parser.parse(DEV)]
    parsed = conllu.parse(out.replace("1:a|0:b|x", "_"))
    found = [[t["head"] for t in s if isinstance(t["id"], int)] for s in parsed]
    assert found == heads


def test_output_goes_to_a_file_that_appears_whole(command, file, parser, model_directory, tmp_path):
    path, out = file("in.conllu", TEXT), tmp_path / "out.conllu"
    out.write_text("old")
    assert command(model_directory, path, "-o", out) == (0, "", "")
    assert out.read_text() == expected(parser, DEV)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.conllu", "out.conllu"]


@pytest.mark.parametrize("old", [None, "old"])
def test_an_error_leaves_no_output_and_the_old_file(command, file, model_directory, tmp_path, old):
    broken = TEXT * 150 + "1\tonly three\tcolumns\n\n"  # an error far from the start
    path, out = file("in.conllu", broken), tmp_path / "out.conllu"
    if old:
        out.write_text(old)
    result = command(model_directory, path, "--output", out)
    assert_one_message(result, f"{path}:{TEXT.count(chr(10)) * 150 + 1}: ")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.conllu"] + ["out.conllu"] * bool(old)
    assert not old or out.read_text() == old


def test_text_is_one_sentence_per_line_and_blank_lines_are_skipped(
    command, file, parser, model_directory
):
    lines = ["The dog sleeps.", "", "  \t ", "Žák's here, isn't he?", "Yes"]
    path = file("in.txt", "\ufeff" + "\r\n".join(lines))
    status, out, err = command(model_directory, path, "--input=lines")
    assert status == 0
    assert err.startswith("warning: the model reads UPOS, which the input lacks")
    assert err.count("\n") == 1
    parsed = conllu.parse(out)
    assert [s.metadata["text"] for s in parsed] == [line for line in lines if line.strip()]
    texts = [line for line in lines if line.strip()]
    trees = parser.parse([Sentence.from_words(parser.read_sentence(text).form) for text in texts])
    assert [[token["head"] for token in s] for s in parsed] == [s.head for s in trees]
    assert command(model_directory, "--input=lines", stdin=path.read_bytes())[1] == out


def test_options_may_come_before_between_and_after_files(
    command, file, parser, model_directory, tmp_path
):
    one, two = (file(name, DEV[k].to_conllu()) for k, name in enumerate(("a", "b")))
    out = tmp_path / "out"
    wanted = expected(parser, DEV[:2])
    for arguments in (
        ["-o", out, model_directory, one, two],
        [model_directory, "-o", out, one, two],
        [model_directory, one, "-o", out, two],
        [model_directory, one, two, "-o", out],
    ):
        assert command(*arguments) == (0, "", "")
        assert out.read_text() == wanted
        out.unlink()
    assert command(model_directory, "--threads", "1", "-", stdin=one.read_bytes())[0] == 0


def test_text_without_any_sentence_gives_nothing(command, file, model_directory):
    assert command("--input=lines", model_directory, file("in.txt", "\n\n  \n"))[:2] == (0, "")
    assert command(model_directory, "--input=lines")[:2] == (0, "")


def test_a_long_sentence_is_parsed(command, file, model_directory):
    sentence = Sentence.from_words(["word"] * 3000)
    status, out, _ = command(model_directory, file("long.conllu", sentence.to_conllu()))
    assert status == 0
    assert out.count("\n") == 3001


def test_what_cannot_be_read_is_one_message(command, file, model_directory, tmp_path):
    good, none = file("good.conllu", TEXT), tmp_path / "none"
    assert_one_message(command(none, good), none, "no such model directory")
    assert_one_message(command(tmp_path, good), "config.yaml")
    assert_one_message(command(model_directory, none), none)
    assert_one_message(command(model_directory, none, "--input=lines"), none)
    assert_one_message(command(model_directory, tmp_path), tmp_path, "directory")
    assert_one_message(command(model_directory, file("empty", "")), "no sentence")
    assert_one_message(command(model_directory, file("x", "1\ta\n")), "x:1: ")
    assert_one_message(command(model_directory, file("y", b"1\t\xff\n")), "y:1: ")
    plain = file("plain", "The dog barks.\n")
    remedy = "if this is plain text: dyparse parse MODEL FILE --input text"
    assert_one_message(command(model_directory, plain), "plain:1: ", remedy)
    latin = file("latin.txt", b"na\xefve\n")
    assert_one_message(command(model_directory, latin, "--input=lines"), "latin.txt:1: ", "UTF-8")
    into = tmp_path / "no" / "where"
    wrong = command(model_directory, good, "-o", into)
    assert_one_message(wrong, into.parent, "no such directory")


@pytest.mark.parametrize(
    ("option", "value", "finding"),
    [
        ("--max-tokens-per-batch", "0", "--max-tokens-per-batch is 0"),
        ("--threads", "0", "threads is 0"),
        ("--device", "nosuch", "device is 'nosuch'"),
    ],
)
def test_a_wrong_option_is_one_message(command, model_directory, option, value, finding):
    assert_one_message(command(model_directory, option, value), finding)


def test_a_module_is_imported_before_the_model_is_loaded(
    command, file, model_directory, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    file("my_classes.py", "from pathlib import Path\nPath('imported').touch()\n")
    path = file("in.conllu", TEXT)
    none = tmp_path / "none"
    assert_one_message(command(none, path, "--import", "my_classes"), "no such model directory")
    assert (tmp_path / "imported").exists()
    wanted = command(model_directory, path)
    assert command(model_directory, path, "--import", "my_classes", "--import", "json") == wanted


@pytest.mark.parametrize("content", [None, "1 / 0\n", "syntax error\n"])
def test_a_module_that_cannot_be_imported_is_one_message(
    command, file, model_directory, tmp_path, monkeypatch, content
):
    monkeypatch.chdir(tmp_path)
    if content:
        file("my_broken.py", content)
    assert_one_message(command(model_directory, "--import", "my_broken"), "my_broken")


def test_a_reader_that_stops_early_causes_no_traceback(model_directory, tmp_path):
    (tmp_path / "in.conllu").write_text(TEXT * 100)
    command = [sys.executable, "-m", "dyparse", "parse", model_directory, tmp_path / "in.conllu"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
