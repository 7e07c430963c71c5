"""Measuring a parser: one parse per split, the same trees as plain parsing, a run's result."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from helpers.tiny import fresh_parser, sample, yamls

from dyparse import system as systems
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.evaluation.attachment_scores import align_words, attachment_scores
from dyparse.evaluation.error_analysis import error_analysis
from dyparse.evaluation.measure import (
    Trained,
    keep_result,
    measure_errors,
    measure_speed,
    measure_splits,
    record_derivations,
    scores_of_all,
    sentence_counts,
    versions,
)
from dyparse.evaluation.provenance import commit, machine, training_sources
from dyparse.evaluation.run_result import GOLD, PARSED, RESULT, Cell, read_result, was_evaluated
from dyparse.model.parser import Parser

DEV = sample("dev")[:60]
CELL = Cell("buffer:left_buffer=false", "explore", "set_nll", "UD_Žluť-Test", 7)
CURVE = [
    {"epoch": 1, "dev_las": 20.0, "loss": 2.5, "seconds": 1.0},
    {"epoch": 2, "dev_las": 40.0, "loss": 1.0, "seconds": 1.0},
    {"epoch": 3, "dev_las": 40.0, "loss": 0.5, "seconds": 1.0},
]


# --- counts per sentence -------------------------------------------------------------------------


def test_counts_of_sentences_add_up_to_the_scores(parser):
    parsed = parser.parse(DEV)
    words, scores = align_words(DEV, parsed), attachment_scores(DEV, parsed)
    counts = {name: np.array(column) for name, column in sentence_counts(words).items()}
    sums = {name: int(column.sum()) for name, column in counts.items()}
    assert counts["words"].tolist() == [len(s) for s in DEV]
    assert 100 * sums["heads"] / sums["words"] == pytest.approx(scores.uas)
    assert 100 * sums["labelled"] / sums["words"] == pytest.approx(scores.las)
    both = sums["content"] + sums["predicted_content"]
    assert 200 * sums["content_right"] / both == pytest.approx(scores.clas)
    assert 0 < scores.clas != scores.las
    for sentence, tree, *row in zip(DEV[:20], parsed, *counts.values(), strict=False):
        alone = attachment_scores([sentence], [tree])
        assert [row[1], row[2]] == [
            round(alone.uas * len(sentence) / 100),
            round(alone.las * len(sentence) / 100),
        ]
    assert scores_of_all(words) == scores


def test_counts_of_known_sentences():
    """The second label differs in its subtype only; the third is a content word when predicted."""
    gold = Sentence.from_words(["a", "b", "c"]).with_tree([2, 0, 2], ["det", "root", "obl:tmod"])
    one = gold.with_tree([2, 0, 1], ["nsubj", "root", "obl"])
    other = gold.with_tree([2, 0, 2], ["det", "root", "obl"])
    assert sentence_counts(align_words([gold, gold], [one, other])) == {
        "words": [3, 3],
        "heads": [2, 3],
        "labelled": [1, 2],
        "content": [2, 2],
        "predicted_content": [3, 2],
        "content_right": [1, 2],
    }


# --- recorded derivations ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [path.stem for path in yamls("system")])
def test_recording_derivations_parses_exactly_as_parsing_does(name):
    parser = fresh_parser(sample("train")[:30], system=systems.load(name))
    parsed, derivations = record_derivations(parser, DEV)
    assert parsed == list(parser.parse_sentences(DEV))
    assert [s.head for s in parsed] != [s.head for s in DEV]
    moves = Counter(derivations.sentence.tolist())
    assert list(moves) == list(range(len(DEV)))
    assert all(moves[b] <= parser.system.most_moves(len(s)) for b, s in enumerate(DEV))


def test_recorded_derivations_do_not_depend_on_batches(parser, monkeypatch):
    whole = record_derivations(parser, DEV)
    assert whole.parsed == parser.parse(DEV)
    monkeypatch.setattr("dyparse.evaluation.measure.MAX_TOKENS_PER_BATCH", 50)
    parts = record_derivations(parser, DEV)
    assert [s.head for s in parts.parsed] == [s.head for s in whole.parsed]
    for field in dataclasses.fields(whole.derivations):
        columns = (getattr(each.derivations, field.name) for each in (parts, whole))
        np.testing.assert_array_equal(*columns, field.name)


# --- splits --------------------------------------------------------------------------------------


def test_measured_scores_are_those_of_the_parsed_sentences(parser):
    for measured in (measure_speed(parser, DEV), measure_errors(parser, DEV)):
        words = align_words(DEV, measured.parsed)
        assert measured.parsed == parser.parse(DEV)
        assert measured.scores == attachment_scores(DEV, measured.parsed)
        assert measured.counts == sentence_counts(words)
    derivations = record_derivations(parser, DEV).derivations
    assert measured.analysis == error_analysis(words, derivations, parser.system.moves)


def test_speed_is_reported_only_where_nothing_is_recorded(parser):
    timed, analysed = measure_speed(parser, DEV), measure_errors(parser, DEV)
    assert timed.analysis is None
    names = ["uas", "las", "clas", "sentences", "words"]
    assert list(timed.figures()) == [*names, "sentences_per_second"]
    assert timed.figures()["sentences_per_second"] > 0
    expected = {name: timed.figures()[name] for name in names}
    assert analysed.figures() == expected
    assert (expected["sentences"], expected["words"]) == (len(DEV), sum(map(len, DEV)))


@pytest.mark.parametrize("names", [("train", "dev", "test"), ("train", "dev")])
def test_every_split_but_train_is_parsed_once_and_the_last_of_them_analysed(
    names, parser, monkeypatch
):
    splits = {name: sample(name)[:15] for name in names}  # 15: more than the warm-up
    parsed = []
    encode = Parser.encode

    def counted(self, sentences):
        parsed.extend(sentences)
        return encode(self, sentences)

    monkeypatch.setattr(Parser, "encode", counted)
    measured = measure_splits(parser, splits)
    assert list(measured) == [name for name in names if name != "train"]
    *timed, analysed = measured.values()
    assert analysed.analysis is not None
    assert all(each.analysis is None for each in timed)
    for name in measured:
        times = Counter(parsed.count(sentence) for sentence in splits[name])
        assert times == ({1: 15} if name == names[-1] else {2: 10, 1: 5})  # 10 to warm up


# --- a run's result ------------------------------------------------------------------------------


def renamed(sentences, prefix):
    """The same trees over words that occur nowhere else."""
    return [
        Sentence.from_words(
            [f"{prefix}{b}q{k}" for k in range(len(s))], upos=s.upos, xpos=s.xpos, feats=s.feats
        ).with_tree(s.head, s.label)
        for b, s in enumerate(sentences)
    ]


def kept(directory, parser, splits):
    """The result of a run with this parser."""
    trained = Trained(CELL, {"a": 1}, CURVE, "dyparse train seed=1")
    keep_result(directory, trained, measure_splits(parser, splits), splits)
    return read_result(directory / RESULT)


def test_the_result_of_a_run_has_its_scores_but_no_word_of_the_treebank(tmp_path, parser):
    splits = {
        split: renamed(sample(split)[:12], prefix)
        for split, prefix in (("train", "zyx"), ("dev", "yxz"), ("test", "xzy"))
    }
    result = kept(tmp_path, parser, splits)
    text = (tmp_path / RESULT).read_text()
    assert not any(word in text for word in ("zyx", "yxz", "xzy"))
    assert (result.cell, result.setting, result.curve) == (CELL, {"a": 1}, CURVE)
    assert result.best_epoch == 2  # the first of two that are equally good
    assert result.train_words == sum(map(len, splits["train"]))
    assert result.versions == versions()
    assert result.command == "dyparse train seed=1"
    assert (result.commit, result.machine) == (commit(), machine())
    assert result.sources == training_sources(CELL, result.setting)
    for split, scores in (("dev", result.dev), ("test", result.test)):
        expected = attachment_scores(splits[split], parser.parse(splits[split]))
        assert scores == dataclasses.asdict(expected)
    assert sum(result.sentences["words"]) == sum(map(len, splits["test"]))
    parsed = list(read_sentences(tmp_path / PARSED, trees=True))
    assert [s.form for s in parsed] == [s.form for s in splits["test"]]
    assert [s.head for s in parsed] == [s.head for s in parser.parse(splits["test"])]


def test_the_result_of_a_run_has_the_accuracy_of_its_tags(tmp_path):
    parser = fresh_parser(DEV, heads=["labels", "upos"])
    result = kept(tmp_path, parser, {"train": DEV[:3], "dev": DEV[3:9], "test": DEV[9:15]})
    gold, parsed = DEV[9:15], parser.parse(DEV[9:15])
    tags = [[tag for sentence in trees for tag in sentence.upos] for trees in (gold, parsed)]
    right = sum(a == b for a, b in zip(*tags, strict=True))
    assert result.test["upos_accuracy"] == pytest.approx(100 * right / sum(map(len, gold)))
    assert "upos_accuracy" in result.dev


def test_without_a_test_split_dev_takes_its_place(tmp_path, parser):
    result = kept(tmp_path, parser, {"train": DEV[:3], "dev": DEV[3:9]})
    assert result.split == "dev"
    assert result.test == result.dev
    assert result.sentences["words"] == [len(s) for s in DEV[3:9]]


def test_a_result_is_recognised_as_that_of_other_sentences(tmp_path, parser):
    splits = {"train": DEV[:3], "dev": DEV[3:6], "test": DEV[6:9]}
    assert not was_evaluated(tmp_path, splits)
    kept(tmp_path, parser, splits)
    assert was_evaluated(tmp_path, splits)
    assert was_evaluated(tmp_path, splits | {"dev": DEV[:1]})
    assert not was_evaluated(tmp_path, splits | {"test": DEV[6:10]})
    assert not was_evaluated(tmp_path, {"train": DEV[:3], "dev": DEV[3:6]})
    (tmp_path / GOLD).write_bytes(b"")
    assert not was_evaluated(tmp_path, splits)
