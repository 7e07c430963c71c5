"""Files of a corpus: which are parsed, which are finished, and what is left when parsing fails."""

from __future__ import annotations

import gzip
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.corpora import make_corpus
from helpers.parse_input import BAD, ODD, UNTAGGED
from helpers.tiny import sample

from dyparse.data.malformed import Skipped
from dyparse.errors import ConfigError, DyparseError, TreebankError
from dyparse.model.checkpoint_files import digest_of_model
from dyparse.parsing import corpus as corpus_module
from dyparse.parsing.corpus import MOST_ATTEMPTS, Job, find_jobs, is_finished, parse_file
from dyparse.parsing.settings import Settings
from dyparse.parsing.stream import Totals

TEXT = "".join(s.to_conllu() for s in sample("dev")[:40])


@pytest.fixture
def corpus(tmp_path):
    """A directory of three files to parse: one in a directory below it, one packed."""
    return make_corpus(tmp_path / "corpus", TEXT)


@pytest.fixture
def settings(model_directory):
    return Settings(model=str(model_directory), digest="m")


@pytest.fixture
def parse(parser):
    """parse(job, settings) → the record."""
    return lambda job, settings: parse_file(parser, job, settings, Totals())


def expected(parser):
    """TEXT, parsed."""
    return "".join(s.to_conllu() for s in parser.parse(sample("dev")[:40]))


def test_jobs_keep_the_names_below_a_directory(corpus, tmp_path):
    out = corpus / "parsed"  # what was parsed before is no input
    out.mkdir()
    (out / "a.conllu").write_text(TEXT)
    jobs = find_jobs([str(corpus)], out, "conllu")
    names = ["a.conllu", "sub/b.conllu", "sub/c.conllu.gz"]
    assert [job.source for job in jobs] == [str(corpus / name) for name in names]
    assert [job.output for job in jobs] == [str(out / name) for name in names]
    (corpus / "d.txt").write_text("A dog.")
    (job,) = find_jobs([str(corpus)], out, "text")
    assert job.output == str(out / "d.conllu")
    as_json = [job.output for job in find_jobs([str(corpus)], out, "conllu", "json")]
    assert as_json == [str(out / name) for name in ("a.jsonl", "sub/b.jsonl", "sub/c.jsonl.gz")]
    same = find_jobs([str(corpus / "a.conllu"), str(corpus)], out, "conllu")
    assert same == jobs
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(corpus / "a.conllu", other)
    with pytest.raises(ConfigError, match="would both be written to"):
        find_jobs([str(corpus), str(other)], out, "conllu")
    with pytest.raises(ConfigError, match="would overwrite"):
        find_jobs([str(corpus)], corpus, "conllu")
    deep = corpus / "sub" / "b.conllu"  # an input that is where another's output will be
    (other / "sub").mkdir()
    shutil.copy(deep, other / "sub")
    with pytest.raises(ConfigError, match=r"would overwrite .*b\.conllu"):
        find_jobs([str(other), str(deep)], corpus, "conllu")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "a.conllu").symlink_to(corpus / "a.conllu")
    with pytest.raises(ConfigError, match=r"would overwrite .*corpus/a\.conllu"):
        find_jobs([str(corpus / "a.conllu")], tmp_path / "links", "conllu")
    with pytest.raises(TreebankError, match=r"no file in it ends in \.txt"):
        find_jobs([str(other)], out, "text")
    with pytest.raises(TreebankError, match="no such file"):
        find_jobs([str(corpus / "none")], out, "conllu")


def test_a_file_is_finished_until_model_options_input_or_output_change(
    parse, parser, settings, corpus, tmp_path
):
    job = Job(str(corpus / "a.conllu"), str(tmp_path / "out" / "a.conllu"))
    assert not is_finished(job, settings)
    record = parse(job, settings)
    assert (record.sentences, record.words) == (40, sum(map(len, sample("dev")[:40])))
    assert Path(job.output).read_text() == expected(parser)
    assert is_finished(job, settings)
    assert not is_finished(job, replace(settings, digest="another model"))
    assert not is_finished(job, replace(settings, input_format="text"))
    assert not is_finished(job, replace(settings, output_format="json"))
    assert not is_finished(job, replace(settings, max_tokens_per_batch=100))
    assert not is_finished(job, replace(settings, precision="float32"))
    assert not is_finished(job, replace(settings, confidence=True))
    os.utime(job.source)  # touched, not changed
    assert is_finished(job, settings)
    Path(job.source).write_text(TEXT.swapcase())  # the same size
    assert not is_finished(job, settings)
    Path(job.source).write_text(TEXT)
    assert is_finished(job, settings)
    Path(job.output).write_text("half of it")
    assert not is_finished(job, settings)
    parse(job, settings)
    job.record.write_text("[]")
    assert not is_finished(job, settings)


def test_an_output_whose_record_could_not_be_written_is_not_finished(
    parse, settings, corpus, tmp_path, monkeypatch
):
    job = Job(str(corpus / "a.conllu"), str(tmp_path / "out" / "a.conllu"))
    parse(job, replace(settings, digest="one"))
    monkeypatch.setattr("dyparse.parsing.corpus.write", full)
    with pytest.raises(OSError, match="full"):
        parse(job, replace(settings, digest="two"))  # an output of the same size, of another model
    assert not is_finished(job, replace(settings, digest="one"))


def full(*_):
    raise OSError("full")


def test_a_file_that_changes_while_it_is_parsed_leaves_the_old_output(
    parse, settings, corpus, tmp_path, monkeypatch
):
    job = Job(str(corpus / "a.conllu"), str(tmp_path / "out" / "a.conllu"))
    parse(job, settings)
    before = Path(job.output).read_bytes()
    write_sentences = corpus_module.write_sentences

    def write_and_change(*given):
        write_sentences(*given)
        Path(job.source).write_text(TEXT * 2)

    monkeypatch.setattr(corpus_module, "write_sentences", write_and_change)
    with pytest.raises(TreebankError, match="changed while it was parsed"):
        parse(job, settings)
    assert Path(job.output).read_bytes() == before


def test_the_digest_of_a_model_is_that_of_its_parts(model_directory, tmp_path):
    copy = shutil.copytree(model_directory, tmp_path / "copy")
    assert digest_of_model(copy) == digest_of_model(model_directory)
    (copy / "metrics.json").write_text("{}")
    assert digest_of_model(copy) == digest_of_model(model_directory)
    with (copy / "config.yaml").open("a") as file:
        file.write("# changed\n")
    assert digest_of_model(copy) != digest_of_model(model_directory)


def test_packed_files_stay_packed_and_damaged_ones_are_errors(
    parse, parser, settings, corpus, tmp_path
):
    job = Job(str(corpus / "sub" / "c.conllu.gz"), str(tmp_path / "c.conllu.gz"))
    parse(job, settings)
    once = Path(job.output).read_bytes()
    assert gzip.decompress(once).decode() == expected(parser)
    parse(job, settings)
    assert Path(job.output).read_bytes() == once
    packed = Path(job.source).read_bytes()
    for damaged in (packed[:-30], b"no gzip", packed[:50] + b"\0\0\0\0" + packed[54:]):
        Path(job.source).write_bytes(damaged)
        with pytest.raises(TreebankError, match=r"c\.conllu\.gz: damaged"):
            parse(job, settings)
        assert Path(job.output).read_bytes() == once
        assert not job.attempts.exists()


def test_a_file_that_kills_is_given_up_after_some_attempts(parse, settings, corpus, tmp_path):
    job = Job(str(corpus / "a.conllu"), str(tmp_path / "a.conllu"))
    left_over = tmp_path / ".a.conllu.12345.tmp"
    left_over.write_text("half of it")
    job.attempts.write_text(str(MOST_ATTEMPTS))
    with pytest.raises(DyparseError, match="3 processes died while they parsed it"):
        parse(job, settings)
    assert not any(path.exists() for path in (left_over, job.attempts, Path(job.output)))
    job.attempts.write_text(str(MOST_ATTEMPTS - 1))
    parse(job, settings)
    assert not job.attempts.exists()


def test_missing_tags_and_counts_are_in_the_totals_and_skipped_sentences_in_the_record(
    parser, settings, tmp_path
):
    job = Job(str(tmp_path / "in"), str(tmp_path / "out"))
    Path(job.source).write_text(UNTAGGED + BAD + ODD)
    totals, notices = Totals(), []
    record = parse_file(parser, job, settings, totals, Skipped(notices.append))
    assert (totals.sentences, totals.words, totals.missing) == (2, 4, ("UPOS",))
    assert (record.sentences, record.words, record.skipped) == (2, 4, 1)
    assert [notice.startswith(f"skipped: {job.source}:9: ") for notice in notices] == [True]
    totals = Totals()
    with pytest.raises(TreebankError, match="sentence 'bad'"):
        parse_file(parser, job, settings, totals)
    assert totals.missing == ("UPOS",)
