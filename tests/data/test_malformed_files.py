"""Every command on every kind of malformed CoNLL-U: one clear message, or it is accepted."""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import conllu
import pytest
from helpers.malformed import FILES, LONG, MALFORMED, ODD, SOUND, TAGGED, TEXTS, without_trees
from helpers.small_training import SMALL
from helpers.tiny import CONF, run, sample
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from dyparse.cli.main import command_line, main
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.evaluation.evaluate import evaluate
from dyparse.runtime.entry import clear_errors
from dyparse.training.run import train, warn_of_long_sentences

READ_NO_CONLLU = {"download", "report", "conf", "push", "package", "serve"}  # commands
TRAIN = {"compare", "train", "evaluate"}  # commands that read treebanks; with tests of their own
PAIRS = {"score"}  # reads files that belong together; with a test of its own
CHOICES = {"system": "arc_eager", "exploration": "explore", "loss": "set_nll"}
BEFORE = "an earlier output"


def arguments(model: Path) -> dict[str, list[object]]:
    """The arguments of each command that reads CoNLL-U, without the file."""
    return {
        "parse": ["parse", model],
        "parse-corpus": ["parse-corpus", model],
        "check": ["check"],
        "coverage": ["coverage", "--system", "arc_eager"],
        "oracle": ["oracle"],
        "trajectories": ["trajectories", "arc_eager"],
        "draw": ["draw", "--all"],
        "explorer": ["explorer", "--static"],
    }


OUTPUT = {
    **dict.fromkeys(("parse", "parse-corpus", "draw", "explorer", "trajectories"), "-o"),
    "coverage": "--csv",
}
OUTPUT_NAMES = {"parse-corpus": "out", "trajectories": "out.npz"}  # of commands that need one
NAMES = list(arguments(Path()))
OF_ONE_SENTENCE = ("oracle", "explorer")


def needed_output(command_name: str, directory: Path) -> list[object]:
    """The option that names the output, of commands that need it."""
    name = OUTPUT_NAMES.get(command_name)
    return ["-o", directory / name] if name else []


def configured(name: str, *overrides: str) -> DictConfig:
    """The configuration of train.py or evaluate.py with these options."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose(name, overrides=list(overrides))


@pytest.fixture
def call(capfdbinary, monkeypatch):
    """call(function): exit status, standard output and standard error of an entry point."""

    def called(function, stdin=b""):
        stream = io.TextIOWrapper(io.BytesIO(stdin), encoding="ascii")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", stream)
            try:
                with clear_errors():
                    status = function()
            except SystemExit as stop:
                status = stop.code
        return status, *(text.decode() for text in capfdbinary.readouterr())

    return called


@pytest.fixture
def command(call):
    """command(*arguments, stdin=…): the same for `dyparse`."""
    return lambda *given, stdin=b"": call(lambda: main(list(map(str, given))), stdin)


@pytest.fixture(scope="module")
def train_config():
    return configured("train", "treebank=files", *SMALL)


@pytest.fixture(scope="module")
def evaluate_config(model_directory):
    options = ["treebank=files", "split=test", "threads=1", "max_tokens_per_batch=500"]
    return configured("evaluate", f"model={model_directory}", *options)


@pytest.fixture
def evaluated(call, evaluate_config):
    """evaluated(path, option=…): the same for evaluate.py on this file."""

    def of_file(path, **changed):
        config = OmegaConf.merge(evaluate_config, {"treebank": {"test": str(path)}}, changed)
        return call(lambda: evaluate(config))

    return of_file


def assert_refused(result, case, path, prefix="error: "):
    """One message with file, line, finding and remedy; status 2; nothing on standard output."""
    status, out, err = result
    assert (status, out) == (2, "")
    lines = [line for line in err.splitlines() if not line.startswith("warning: the model reads")]
    assert len(lines) == 1, err
    assert re.match(rf"{prefix}{re.escape(case.place(path))}.*{case.finding}", lines[0]), err
    assert "expected" in lines[0]


def run_bytes(*given, cwd, **environment):
    """`dyparse` in a process of its own, with its output as bytes."""
    return subprocess.run(
        [sys.executable, "-m", "dyparse", *given],
        cwd=cwd,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_every_command_is_tested_or_reads_no_conllu():
    """A new command has to be added to these tests or to READ_NO_CONLLU."""
    (subparsers,) = (
        action
        for action in command_line()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    assert set(subparsers.choices) == {*NAMES, *READ_NO_CONLLU, *TRAIN, *PAIRS}


@pytest.mark.usefixtures("no_ray")
@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("command_name", NAMES)
def test_every_command_refuses_a_malformed_file_clearly_or_does_not_read_the_fault(
    command, model_directory, tmp_path, name, command_name
):
    case, path = MALFORMED[name], tmp_path / "bad.conllu"
    path.write_bytes(case.data)
    given = [*arguments(model_directory)[command_name], path]
    out = tmp_path / OUTPUT_NAMES.get(command_name, "out.svg")
    old = out / "bad.conllu" if command_name == "parse-corpus" else out
    old.parent.mkdir(exist_ok=True)
    old.write_text(BEFORE)
    if command_name in OF_ONE_SENTENCE and case.line:
        given += ["--sentence", case.number]
    if command_name in OUTPUT:
        given += [OUTPUT[command_name], out]
    result = command(*given)
    if command_name.startswith("parse") and name not in FILES:
        assert result[0] == 0
        assert without_trees(old.read_bytes()) == without_trees(case.data)
        return
    assert old.read_text() == BEFORE
    assert {p.name for p in tmp_path.iterdir()} == {"bad.conllu", out.name}
    if command_name == "check":
        status, report, err = result
        assert (status, err) == (2, "")
        assert re.match(rf"{re.escape(case.place(path))}.*{case.finding}", report), report
        assert "expected" in report
        assert "1 malformed; " in report.splitlines()[-1]
    elif command_name == "parse-corpus":
        assert result[1] == f"1 files: 0 parsed, 0 finished before, 1 failed; in {out}\n"
        assert_refused((result[0], "", result[2]), case, path, "failed: ")
    else:
        assert_refused(result, case, path)


@pytest.mark.parametrize("name", MALFORMED)
def test_train_and_evaluate_refuse_a_malformed_treebank_before_they_write(
    call, train_config, evaluated, name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    case, path = MALFORMED[name], tmp_path / "bad.conllu"
    path.write_bytes(case.data)
    (tmp_path / "good.conllu").write_text(TAGGED)
    for split in ("train", "dev", "test"):
        config = train_config.copy()
        config.treebank.train = config.treebank.dev = str(tmp_path / "good.conllu")
        config.treebank[split] = str(path)
        status, out, err = call(lambda given=config: train(given))
        assert out.startswith("treebank  ")
        assert_refused((status, "", err), case, path)
    assert_refused(evaluated(path, json=str(tmp_path / "figures.json")), case, path)
    assert {p.name for p in tmp_path.iterdir()} == {"bad.conllu", "good.conllu"}


@pytest.mark.usefixtures("no_ray")
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("command_name", [*NAMES, "evaluate.py"])
def test_odd_files_that_are_sound_are_accepted_by_every_command(
    command, evaluated, model_directory, tmp_path, name, command_name
):
    data, path = ODD[name].encode(), tmp_path / "odd.conllu"
    path.write_bytes(data)
    if command_name == "evaluate.py":
        assert evaluated(path, conllu=str(tmp_path / "out"))[2] == ""
    else:
        out = needed_output(command_name, tmp_path)
        given = [*arguments(model_directory)[command_name], path]
        status, printed, err = command(*given, *out)
        assert status == 0
        assert printed
        assert "error" not in err
        if command_name == "parse":
            assert without_trees(printed.encode()) == without_trees(data)
    if command_name in ("parse-corpus", "evaluate.py"):
        written = tmp_path / "out"
        written = written / "odd.conllu" if written.is_dir() else written
        assert without_trees(written.read_bytes()) == without_trees(data)


def test_compare_reports_a_malformed_treebank(command, tmp_path):
    directory, case = tmp_path / "UD_X", MALFORMED["cycle"]
    directory.mkdir()
    (directory / "x-ud-dev.conllu").write_text(TAGGED)
    path = directory / "x-ud-train.conllu"
    path.write_bytes(case.data)
    grid = ["--system", "arc_eager", "--exploration", "static", "--seeds", "1", "--jobs", "1"]
    given = ["compare", "--treebank", directory, *grid, "-o", tmp_path / "grid", "trainer=debug"]
    status, _, err = command(*given)
    assert status == 2
    assert "Traceback" not in err
    assert re.search(rf"failed: .*: {re.escape(case.place(path))}.*{case.finding}", err), err


@pytest.mark.parametrize("name", MALFORMED)
def test_score_refuses_a_malformed_file_in_either_place(command, tmp_path, name):
    case, good, path = MALFORMED[name], tmp_path / "good.conllu", tmp_path / "bad.conllu"
    good.write_text(TAGGED)
    path.write_bytes(case.data)
    assert_refused(command("score", good, path), case, path)
    assert_refused(command("score", path, good), case, path)


def unreadable(tmp_path: Path) -> dict[str, tuple[Path, str]]:
    """Paths that cannot be read as files, and the finding for each."""
    (tmp_path / "directory").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    return {
        "directory": (tmp_path / "directory", "is a directory; name|no .* in it"),
        "missing": (tmp_path / "none.conllu", ".*no such file.*(; check|a CoNLL-U file)"),
        "below a file": (tmp_path / "good.conllu" / "x", ".*no such file|cannot be read"),
        "links in a circle": (tmp_path / "loop", ".*no such file|cannot be read"),
    }


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("command_name", [*NAMES, "parse --input=lines"])
def test_a_path_that_is_not_a_file_is_refused_by_every_command_also_when_skipping(
    command, model_directory, tmp_path, command_name, on_error
):
    (tmp_path / "good.conllu").write_text(TAGGED)
    for path, finding in unreadable(tmp_path).values():
        name, *option = command_name.split()
        given = [*arguments(model_directory)[name], *option, path]
        if name in ("parse", "parse-corpus", "coverage", "trajectories"):
            given += ["--on-error", on_error]
        given += needed_output(name, tmp_path)
        status, out, err = command(*given)
        message = out if name == "check" else err
        assert status == 2
        prefix = "" if name == "check" else "error: "
        assert re.match(rf"{prefix}{re.escape(str(path))}: ({finding})", message), message
        assert "; " in message
        if name != "check":
            assert (out, err.count("\n")) == ("", 1)
    assert {p.name for p in tmp_path.iterdir()} == {"good.conllu", "directory", "loop"}


@pytest.mark.parametrize("name", TEXTS)
def test_lines_of_text_are_parsed_or_refused_with_their_place(
    command, model_directory, name, tmp_path
):
    data, lines, finding = TEXTS[name]
    path = tmp_path / "in.txt"
    path.write_bytes(data)
    result = command("parse", model_directory, "--input=lines", path)
    if finding:
        assert result[:2] == (2, "")
        *warned, error = result[2].splitlines()
        assert re.match(rf"error: {re.escape(str(path))}:{lines}: {finding}.*; ", error)
        assert all(line.startswith("warning: the model reads") for line in warned)
        return
    status, out, _ = result
    assert status == 0
    texts = [s.removeprefix("# text = ") for s in out.splitlines() if s.startswith("# text = ")]
    assert texts == lines
    (tmp_path / "out.conllu").write_text(out)
    if lines:
        read = list(read_sentences(tmp_path / "out.conllu", trees=True))
        assert ["".join(s.form) for s in read] == ["".join(line.split()) for line in lines]
    assert command("parse", model_directory, "--input=lines", stdin=data)[:2] == (0, out)


@pytest.mark.parametrize("odd", ["\0", "\ud800", "a\udcffb"])
def test_words_that_cannot_be_written_to_a_file_are_refused_as_input(parser, odd):
    (tokens,) = conllu.parse(SOUND)
    tokens[1]["form"] = odd
    for given in (odd, ["a", odd], tokens):
        with pytest.raises(TreebankError, match=r"character '\\(x|u).* cannot be written"):
            parser.parse([given])
    with pytest.raises(TreebankError, match="cannot be written"):
        Sentence.from_words(["a"], xpos=[odd])
    with pytest.raises(TreebankError, match="cannot be written"):
        Sentence.from_words(["a"], text=f"a{odd}")


@pytest.mark.usefixtures("no_ray")
@pytest.mark.parametrize("command_name", [*NAMES, "evaluate.py"])
def test_a_sentence_of_10000_words_is_accepted_or_refused_for_its_length(
    command, evaluated, model_directory, tmp_path, command_name
):
    path = tmp_path / "long.conllu"
    path.write_text(SOUND + LONG)
    if command_name == "evaluate.py":
        assert "10,003" in evaluated(path)[1]
        return
    more = {one: ["--sentence", 2] for one in OF_ONE_SENTENCE}
    needed = needed_output(command_name, tmp_path)
    given = [*arguments(model_directory)[command_name], path, *more.get(command_name, needed)]
    status, out, err = command(*given)
    if command_name in ("coverage", "trajectories", *OF_ONE_SENTENCE):
        assert (status, out) == (2, "")
        assert f"{path}:5: sentence has 10000 words" in err
        assert "expected at most 2000: split it" in err
    else:
        assert status == 0
    if command_name == "parse":
        assert without_trees(out.encode()) == without_trees((SOUND + LONG).encode())
    if command_name == "coverage":
        status, out, err = command(*given, "--on-error=skip")
        assert status == 0
        assert "1 sentences, 3 words" in out
        assert err.endswith("skipped 1 of 2 sentences\n")


def test_training_on_a_sentence_of_10000_words_gives_a_warning():
    (long,) = read_sentences(io.BytesIO(LONG.encode()), trees=True)
    with pytest.warns(
        UserWarning, match=r"^<stream>:1: sentence has 10000 words; .*: expected"
    ) as w:
        warn_of_long_sentences([*sample("dev"), long])
    assert len(w) == 1


def test_no_command_fails_because_of_a_locale_or_file_name_that_is_not_utf_8(
    model_directory, tmp_path
):
    name = os.fsdecode(b"\xff\xe9")
    path, bad = tmp_path / f"é{name}.conllu", tmp_path / f"ß{name}.conllu"
    path.write_text(SOUND.replace("b", "é"), encoding="utf-8")
    bad.write_bytes(MALFORMED["no root"].data)
    ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    for command_name, given in arguments(model_directory).items():
        out = needed_output(command_name, tmp_path)
        done = run_bytes(*given, path, *out, cwd=tmp_path, **ascii_only)
        assert b"Traceback" not in done.stderr
        if command_name == "parse-corpus":
            assert done.returncode == 2
            assert b"this name is not UTF-8; rename it" in done.stderr
        else:
            assert done.returncode == 0, done.stderr
    checked = run_bytes("check", bad, cwd=tmp_path, **ascii_only)
    assert checked.returncode == 2
    assert checked.stdout.startswith(os.fsencode(bad) + b":1: no word has head 0")
    one = ["--system", "arc_eager"]
    for more in (["draw", path, "-o", "x.html"], ["coverage", path, *one, "--csv", "x.csv"]):
        assert run_bytes(*more, cwd=tmp_path, **ascii_only).returncode == 0
        assert (tmp_path / more[-1]).stat().st_size
    helped = run_bytes("parse", "--help", cwd=tmp_path, **ascii_only)
    assert (helped.returncode, helped.stderr) == (0, b"")


def test_train_py_and_evaluate_py_print_no_traceback(model_directory, tmp_path):
    bad, good = tmp_path / "é.conllu", tmp_path / "good.conllu"
    bad.write_text(SOUND + MALFORMED["cycle"].data.decode(), encoding="utf-8")
    good.write_text(TAGGED)
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    train_options = ["treebank=files", f"treebank.train='{bad}'", *SMALL]
    trained = run("train.py", *train_options, cwd=tmp_path, **ascii_only)
    options = [f"model={model_directory}", "split=test", "treebank=files", f"treebank.test='{bad}'"]
    evaluated = run("evaluate.py", *options, cwd=tmp_path, **ascii_only)
    for done in (trained, evaluated):
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert done.stderr.startswith(f"error: {tmp_path}/\\xe9.conllu:6: heads form a cycle")
    assert {p.name for p in tmp_path.iterdir()} == {"é.conllu", "good.conllu"}
    skipping = run("evaluate.py", *options, "treebank.on_error=skip", cwd=tmp_path, **ascii_only)
    assert skipping.returncode == 0, skipping.stderr
    assert "skipped 1 of 2 sentences" in skipping.stderr


def test_parsing_does_not_overwrite_its_model(dyparse_command, saved):
    before = (saved / "vocabulary.json").read_bytes()
    status, _, err = dyparse_command("parse", saved, "-o", saved / "vocabulary.json")
    assert status == 2
    assert "--output is" in err
    assert "which is read" in err
    assert (saved / "vocabulary.json").read_bytes() == before
