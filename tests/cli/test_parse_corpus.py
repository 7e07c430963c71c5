"""The `dyparse parse-corpus` command, mostly without Ray: its files, messages and exit status."""

from __future__ import annotations

import functools
import sys

import pytest
from helpers.corpora import make_corpus
from helpers.messages import assert_one_message
from helpers.parse_input import BAD, UNTAGGED
from helpers.tiny import sample

from dyparse.model.parser import Parser
from dyparse.runtime.locks import LOCK, exclusive_directory

TEXT = "".join(s.to_conllu() for s in sample("dev")[:40])


@pytest.fixture
def corpus(tmp_path):
    """A directory of three files to parse: one in a directory below it, one packed."""
    return make_corpus(tmp_path / "corpus", TEXT)


@pytest.fixture
def parser(model_directory):
    """The parser as the command loads it."""
    return Parser.load(model_directory, precision="auto")


@pytest.fixture
def command(dyparse_command):
    """command(*arguments) → (exit status, standard output, standard error)."""
    return functools.partial(dyparse_command, "parse-corpus")


def expected(parser):
    """TEXT, parsed."""
    return "".join(s.to_conllu() for s in parser.parse(sample("dev")[:40]))


def test_failures_are_listed_and_the_rest_is_parsed_once(
    command, no_ray, parser, model_directory, corpus, tmp_path
):
    out = tmp_path / "out"
    bad = corpus / "bad.conllu"
    bad.write_text(TEXT + BAD)
    status, printed, err = command(model_directory, corpus, "-o", out)
    assert status == 2
    assert printed == f"4 files: 3 parsed, 0 finished before, 1 failed; in {out}\n"
    assert f"failed: {bad}:{TEXT.count(chr(10)) + 2}: sentence 'bad'" in err
    assert (out / "a.conllu").read_text() == expected(parser)
    assert not [path for path in out.rglob("*") if "bad" in path.name]
    bad.write_text(TEXT)
    no_ray.clear()
    status, printed, _ = command(model_directory, corpus, "-o", out)
    assert (status, no_ray) == (0, ["bad.conllu"])
    assert "1 parsed, 3 finished before, 0 failed" in printed
    again = command(model_directory, corpus, "-o", out)
    assert "0 parsed, 4 finished before" in again[1]
    assert no_ray == ["bad.conllu"]


@pytest.mark.usefixtures("no_ray")
def test_missing_tags_are_warned_of_once(command, model_directory, corpus, tmp_path):
    for name in ("x.conllu", "y.conllu"):
        (corpus / name).write_text(TEXT + UNTAGGED)
    (corpus / "z.conllu").write_text(UNTAGGED + BAD)
    status, _, err = command(model_directory, corpus, "-o", tmp_path / "out")
    assert status == 2
    warning, failure = err.splitlines()
    assert warning.startswith("warning: the model reads UPOS, which the input lacks")
    assert failure.startswith(f"failed: {corpus / 'z.conllu'}:")
    of_failed = command(model_directory, corpus / "z.conllu", "-o", tmp_path / "z")
    assert of_failed[2].splitlines() == [warning, failure]
    assert command(model_directory, corpus / "a.conllu", "-o", tmp_path / "a")[2] == ""


@pytest.mark.usefixtures("no_ray")
def test_modules_are_imported_before_the_model_is_read(
    command, model_directory, corpus, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_heads.py").write_text("from pathlib import Path\nPath('imported').touch()\n")
    arguments = [corpus, "-o", tmp_path / "out", "--import"]
    assert_one_message(command(model_directory, *arguments, "my_nosuch"), "my_nosuch")
    assert not (tmp_path / "imported").exists()
    assert command(model_directory, *arguments, "my_heads")[0] == 0
    assert (tmp_path / "imported").exists()


def test_a_corpus_that_another_process_parses_is_left_alone(
    command, model_directory, corpus, tmp_path
):
    with exclusive_directory(tmp_path / "out"):
        status, _, err = command(model_directory, corpus, "-o", tmp_path / "out")
    assert status == 2
    assert (
        "another process is parsing there; wait for it, or choose another place with --output"
        in err
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == [LOCK]


def test_text_becomes_conllu(command, no_ray, parser, model_directory, tmp_path):
    (tmp_path / "in.txt").write_text("A dog barks.\n\nCats sleep.\n")
    out = tmp_path / "out"
    assert command(model_directory, tmp_path / "in.txt", "--input=lines", "-o", out)[0] == 0
    wanted = parser("A dog barks.\n\nCats sleep.\n").to_conllu()
    assert (out / "in.conllu").read_text() == wanted
    assert no_ray == ["in.txt"]


def test_a_directory_of_text_is_found_to_be_text_also_when_outputs_are_there(
    command, no_ray, model_directory, tmp_path
):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "in.txt").write_text("A dog barks.\n")
    for out in (tmp_path / "out", texts / "below", texts):
        for _ in "once", "again":
            assert command(model_directory, texts, "-o", out)[0] == 0
        assert (out / "in.conllu").read_text().startswith("# newdoc")
    assert no_ray == ["in.txt"] * 3
    assert command(model_directory, texts, "-o", tmp_path / "c", "--input=conllu")[0] == 0
    assert no_ray[3:] == ["in.conllu"] * 2


def test_a_directory_with_conllu_is_conllu_whatever_texts_are_beside_it(
    command, no_ray, model_directory, corpus, tmp_path
):
    (corpus / "README.txt").write_text("About the files.")
    assert command(model_directory, corpus, "-o", tmp_path / "out")[0] == 0
    assert len(no_ray) == 3
    assert "README.txt" not in no_ray
    (tmp_path / "empty").mkdir()
    result = command(model_directory, tmp_path / "empty", "-o", tmp_path / "out")
    assert_one_message(result, "or use --input text for .txt")


def test_what_cannot_be_started_is_one_message(command, model_directory, corpus, tmp_path):
    out = tmp_path / "out"
    for arguments, finding in (
        ([tmp_path, corpus, "-o", out], "config.yaml"),
        ([model_directory, tmp_path / "none", "-o", out], "no such file"),
        ([model_directory, corpus, "-o", corpus / "a.conllu"], "a file; expected a directory"),
        ([model_directory, corpus, "-o", out, "--actors", 0], "--actors is 0"),
        ([model_directory, corpus, "-o", out, "--threads-per-actor", 0], "--threads-per-actor"),
    ):
        assert_one_message(command(*arguments), finding)
    assert not out.exists()


def test_without_ray_the_message_says_what_to_install(
    command, model_directory, corpus, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "ray", None)
    result = command(model_directory, corpus, "-o", tmp_path / "out")
    assert_one_message(result, 'pip install "dyparse[ray]"')
