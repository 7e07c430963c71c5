"""`--on-error=skip` and `treebank.on_error=skip`: skipped sentences are reported and counted."""

from __future__ import annotations

import re
import warnings
from functools import partial

import conllu
import pytest
from helpers.malformed import FILES, MALFORMED, SOUND, TAGGED, without_trees
from helpers.tiny import sample

from dyparse.data.conllu import read_blocks, to_sentence
from dyparse.data.conllu_report import check_file
from dyparse.data.malformed import MOST_NAMED
from dyparse.errors import DyparseWarning, TreebankError
from dyparse.treebank.files import Files
from dyparse.treebank.ud import UD

BAD = "# sent_id = bad\n1\tonly three\tcolumns\n\n"


@pytest.fixture
def file(tmp_path):
    """file(name, text): the path of a file with this text."""

    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def sound_part(path, data):
    """The sound sentences of a file, as `parse` sees them; data is the same file."""
    text = b""
    for block in read_blocks(path) if data.strip(b"\xef\xbb\xbf\r\n") else ():
        try:
            text += to_sentence(block, trees=False).to_conllu().encode()
        except TreebankError:
            continue
    return text


def counted(case, sound):
    """The line of counts for one malformed file among so many sound sentences."""
    if case.line:
        return f"skipped 1 of {sound + 1} sentences"
    return f"skipped 0 of {sound} sentences, 1 file without any"


@pytest.mark.parametrize("name", MALFORMED)
def test_parse_skips_malformed_sentences_and_nothing_else(
    dyparse_command, model_directory, file, name
):
    case = MALFORMED[name]
    bad, good = file("bad", case.data), file("good", TAGGED)
    status, out, err = dyparse_command(
        "parse", model_directory, good, bad, good, "--on-error", "skip"
    )
    assert status == 0
    sound = sound_part(bad, case.data)
    expected = TAGGED.encode() + sound + TAGGED.encode()
    assert without_trees(out.encode()) == without_trees(expected)
    notices = [line for line in err.splitlines() if not line.startswith("warning: the model reads")]
    if name not in FILES:
        assert (sound, notices) == (case.data, [])
        return
    assert re.match(rf"skipped: {re.escape(case.place(bad))}.*{case.finding}", notices[0]), err
    total = 6 + sound.count(b"\n\n")
    assert notices[1:] == [counted(case, total)]


@pytest.mark.parametrize("name", MALFORMED)
def test_treebanks_and_coverage_skip_the_same_sentences(dyparse_command, tmp_path, name):
    case = MALFORMED[name]
    for part, content in (("a", TAGGED), ("b", case.data), ("c", TAGGED)):
        (tmp_path / "UD_X").mkdir(exist_ok=True)
        (tmp_path / "UD_X" / f"x-ud-train-{part}.conllu").write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
    check = check_file(tmp_path / "UD_X" / "x-ud-train-b.conllu")
    total = 6 + check.sentences
    place = re.escape(case.place(tmp_path / "UD_X" / "x-ud-train-b.conllu"))
    treebank = UD(str(tmp_path), "UD_X", on_error="skip")
    with pytest.warns(DyparseWarning, match="^skipped") as caught:
        read = treebank.read("train") + treebank.read("dev")
    assert len(read) == total
    messages = list(dict.fromkeys(str(warning.message) for warning in caught))
    assert re.match(f"skipped: {place}.*{case.finding}", messages[0])
    assert messages[1:] == [counted(case, total)]
    given = ["coverage", "--system", "arc_eager", tmp_path / "UD_X"]
    status, out, err = dyparse_command(*given, "--on-error=skip")
    assert (status, err.splitlines()) == (0, messages)
    assert f"UD_X: {total} sentences" in out
    assert dyparse_command(*given)[:2] == (2, "")


def test_the_first_skipped_sentences_are_named_and_all_are_counted(
    dyparse_command, model_directory, file
):
    path = file("in", (BAD + TAGGED) * 30)
    status, _, err = dyparse_command("parse", model_directory, path, "--on-error=skip")
    lines = err.splitlines()
    assert status == 0
    assert len(lines) == MOST_NAMED + 1
    assert all(line.startswith(f"skipped: {path}:") for line in lines[:-1])
    assert lines[-1] == (f"skipped 30 of 120 sentences; the first {MOST_NAMED} are named above")


def test_nothing_is_written_if_no_sound_sentence_is_left(
    dyparse_command, model_directory, file, tmp_path
):
    bad, empty, out = file("bad", BAD * 3), file("empty", "\n"), tmp_path / "out"
    given = ["parse", model_directory, "-o", out, "--on-error=skip"]
    for workers in (1, 2):
        status, printed, err = dyparse_command(*given, bad, empty, "--workers", workers)
        assert (status, printed) == (2, "")
        last = err.splitlines()[-1]
        assert last.startswith(f"error: {bad}:2: sentence 'bad': 3 columns")
        assert "; no sound sentence is left: skipped 3 of 3 sentences, 1 file with" in last
        assert dyparse_command(*given, empty, "--workers", workers)[::2] == (
            2,
            f"skipped: {empty}: holds no sentence; expected CoNLL-U: is the path right?\n"
            f"error: {empty}: holds no sentence; expected CoNLL-U: is the path right?\n",
        )
    assert not out.exists()
    text = file("text", b"\0\n\xff\n")
    assert dyparse_command(*given, "--input=lines", text)[0] == 2
    assert not out.exists()
    for path, error in ((bad, "no sound sentence is left"), (empty, "holds no sentence")):
        files = Files(dev=str(path), on_error="skip")
        with (
            pytest.warns(DyparseWarning, match="skipped"),
            pytest.raises(TreebankError, match=error),
        ):
            files.read("dev")


def words_in(text):
    return [[token["form"] for token in sentence] for sentence in conllu.parse(text)]


def test_lines_of_text_are_skipped_too(dyparse_command, model_directory, file):
    path = file("in.txt", b"A dog.\nna\xefve\n\nA \0 cat.\nIt sleeps.\n")
    clean = file("clean.txt", b"A dog.\nIt sleeps.\n")
    given = ("parse", model_directory, "--input=lines")
    status, out, err = dyparse_command(*given, path, "--on-error=skip")
    assert status == 0
    assert words_in(out) == words_in(dyparse_command(*given, clean)[1])
    lines = [line for line in err.splitlines() if line.startswith("skipped")]
    assert [line.split(" ")[1] for line in lines[:2]] == [f"{path}:2:", f"{path}:4:"]
    assert lines[2:] == ["skipped 2 of 4 lines"]


@pytest.mark.parametrize("few", [50, 20_000])
def test_workers_skip_the_same_and_write_the_same_bytes(
    dyparse_command,
    model_directory,
    file,
    monkeypatch,
    few,
):
    monkeypatch.setattr("dyparse.parsing.chunks.WORDS_PER_CHUNK", few)
    monkeypatch.setattr("dyparse.model.parser.WORDS_PER_WINDOW", few)
    dev = [s.to_conllu() for s in sample("dev")[:60]]
    paths = [
        file("a", "".join(BAD * (k % 7 == 3) + text for k, text in enumerate(dev))),
        file("b", ""),
        file("c", BAD + "".join(dev[:20]).rstrip("\n")),
        file("d", "".join(dev[20:]) + BAD),
    ]
    given = ["parse", model_directory, *paths, "--on-error=skip"]
    alone = dyparse_command(*given)
    assert alone[0] == 0
    assert "skipped 11 of 131 sentences, 1 file without any" in alone[2]
    assert dyparse_command(*given, "--workers", 2) == alone
    clean = file("clean", "".join([*dev, *dev]))
    assert dyparse_command("parse", model_directory, clean)[1] == alone[1]


def test_an_unknown_value_is_refused_with_the_option_and_its_values(
    dyparse_command, model_directory
):
    status, _, err = dyparse_command("parse", model_directory, "--on-error", "ignore")
    assert status == 2
    assert "--on-error: invalid choice: 'ignore'" in err
    for treebank in (partial(UD, "ud", "UD_X"), Files):
        with pytest.raises(ValueError, match="on_error is 'ignore', expected stop or skip"):
            treebank(on_error="ignore")


def test_reading_a_sound_treebank_gives_no_warning(file):
    path = str(file("x", SOUND * 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Files(dev=path, on_error="skip").read("dev") == Files(dev=path).read("dev")


@pytest.mark.usefixtures("no_ray")
def test_a_corpus_is_parsed_with_skipping_and_parsed_again_without(
    dyparse_command,
    model_directory,
    file,
    tmp_path,
):
    good, bad, empty = (
        file("a.conllu", TAGGED),
        file("b.conllu", TAGGED + BAD),
        file("e.conllu", ""),
    )
    out = tmp_path / "out"
    given = ["parse-corpus", model_directory, good, bad, empty, "-o", out]
    skipping = dyparse_command(*given, "--on-error=skip")
    assert skipping[:2] == (
        0,
        f"3 files: 2 parsed, 0 finished before, 0 failed, 1 empty; in {out}\n",
    )
    lines = skipping[2].splitlines()
    assert lines[0].startswith(f"skipped: {bad}:")
    assert lines[1].startswith(f"skipped: {empty}: holds no sentence")
    assert lines[2:] == ["skipped 1 of 7 sentences, 1 file without any"]
    assert (out / "a.conllu").read_bytes() == (out / "b.conllu").read_bytes()
    assert not (out / "e.conllu").exists()
    again = dyparse_command(*given[:-3], "-o", out, "--on-error=skip")
    assert again == (0, f"2 files: 0 parsed, 2 finished before, 0 failed; in {out}\n", "")
    status, printed, err = dyparse_command(*given)
    assert (status, printed) == (2, f"3 files: 0 parsed, 1 finished before, 2 failed; in {out}\n")
    assert f"failed: {bad}:" in err
    assert f"failed: {empty}: holds no sentence" in err
    only_empty = ["parse-corpus", model_directory, empty, "-o", out, "--on-error=skip"]
    assert dyparse_command(*only_empty)[0] == 2
