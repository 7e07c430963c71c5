"""Confidences: calibrated probabilities in tokens and in MISC, beside the same trees."""

import math
import shutil
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from helpers.saved_models import MANIFEST, assert_refused, rewrite_config
from helpers.tiny import sample

import dyparse
from dyparse.data.columns.confidences import with_confidences
from dyparse.data.sentence import NONE, Sentence
from dyparse.errors import ConfigError
from dyparse.model import checkpoint
from dyparse.model.confidence import (
    MOST_ODDS,
    UNCALIBRATED,
    Calibration,
    Odds,
    label_odds,
    odds_of,
    sigmoid,
)
from dyparse.model.parser import Parser
from dyparse.parsing.settings import Settings, load_parser

DEV = sample("dev")[:30]
MADE = Calibration(2.0, 0.5, 4.0, 0.25, -0.5)


@pytest.fixture(scope="module")
def confident(model_directory):
    return dyparse.load(model_directory, precision="float32", confidence=True)


@pytest.fixture
def saved(model_directory, tmp_path):
    return shutil.copytree(model_directory, tmp_path / "model")


# --- the formula ---------------------------------------------------------------------------------


def test_confidences_are_those_of_the_formula():
    odds = Odds(np.array([0.0, 3.0, -30.0]), np.array([1.0, -2.0, 30.0]))
    found = MADE(odds)
    for k in range(3):
        head, label = odds.head[k], odds.label[k]
        assert found.head[k] == pytest.approx(1 / (1 + math.exp(-(head / 2 + 0.5))))
        assert found.label[k] == pytest.approx(1 / (1 + math.exp(-(label / 4 + head / 4 - 0.5))))
    np.testing.assert_allclose(UNCALIBRATED(odds).head, sigmoid(odds.head))
    np.testing.assert_allclose(UNCALIBRATED(odds).label, sigmoid(odds.label))


def test_odds_of_a_probability_are_bounded():
    p = np.array([1e-300, 0.25, 0.5, 0.999, 1.0])
    odds = odds_of(np.log(p))
    np.testing.assert_allclose(sigmoid(odds[1:4]), p[1:4])
    assert (odds[0], odds[-1]) == (-MOST_ODDS, MOST_ODDS)


def test_odds_of_labels_are_those_of_the_softmax():
    scores = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(1))
    labels = np.array([[0, 4, 1], [2, NONE, 3]])
    p = scores.double().softmax(-1).numpy()
    odds = label_odds(scores.numpy(), labels)
    for b, w in np.ndindex(2, 3):
        assert sigmoid(odds[b, w]) == pytest.approx(p[b, w, max(labels[b, w], 0)])
    assert label_odds(np.zeros((1, 1, 1), np.float32), np.array([[0]])) == MOST_ODDS


@pytest.mark.parametrize(
    "weights", [([-1.0, 0.0], [1e-9, 0.0, 0.0]), ([1e9, 1e9], [1.0, -1e9, 1e9])]
)
def test_fitted_weights_are_brought_within_bounds(weights):
    found = Calibration.of_weights(*map(np.array, weights))
    assert found == Calibration(**asdict(found))


# --- parsing -------------------------------------------------------------------------------------


def test_trees_are_the_same_and_tokens_have_both_confidences(parser, confident):
    plain, sure = parser.parse(DEV), confident.parse(DEV)
    for one, other in zip(plain, sure, strict=True):
        assert (one.head, one.label, one.upos) == (other.head, other.label, other.upos)
        assert all(t.head_confidence is None and t.label_confidence is None for t in one)
        for token in other:
            assert 0 < token.head_confidence <= 1
            assert 0 < token.label_confidence <= 1


def test_confidences_do_not_depend_on_the_batch(confident):
    together = confident.parse(DEV[:8])
    alone = [confident(sentence) for sentence in DEV[:8]]
    for one, other in zip(together, alone, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.head_confidence == pytest.approx(b.head_confidence, abs=2e-4)
            assert a.label_confidence == pytest.approx(b.label_confidence, abs=2e-4)


def test_the_calibration_of_the_model_is_used(confident):
    unsure = Calibration(head_temperature=100.0, label_temperature=100.0)
    other = replace(confident, parts=replace(confident.parts, calibration=unsure))
    for token in other(DEV[0]):
        assert token.head_confidence == pytest.approx(0.5, abs=0.1)
        assert token.label_confidence == pytest.approx(0.5, abs=0.1)


def test_a_right_head_has_more_confidence_than_a_wrong_one(confident):
    gold = sample("dev")
    pairs = [
        (token.head_confidence, token.head == right)
        for s, parsed in zip(gold, confident.parse(gold), strict=True)
        for token, right in zip(parsed, s.head, strict=True)
    ]
    right, wrong = ([p for p, is_right in pairs if is_right is k] for k in (True, False))
    assert np.mean(right) > np.mean(wrong) + 0.05


def test_workers_load_a_parser_that_gives_them(model_directory):
    settings = Settings(model=str(model_directory), threads=1, confidence=True)
    assert load_parser(settings).confidence
    assert not load_parser(replace(settings, confidence=False)).confidence


def test_another_decoding_is_refused(model_directory):
    with pytest.raises(ConfigError, match=r"toy_parts\.AllFromFirst gives no probabilities"):
        Parser.load(model_directory, decoding="helpers.toy_parts.AllFromFirst", confidence=True)


# --- MISC ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("misc", "expected"),
    [
        ("_", "HeadConfidence=0.2500|LabelConfidence=1.0000"),
        ("SpaceAfter=No", "SpaceAfter=No|HeadConfidence=0.2500|LabelConfidence=1.0000"),
        ("LabelConfidence=0.5|A|_", "A|_|HeadConfidence=0.2500|LabelConfidence=1.0000"),
    ],
)
def test_confidences_join_what_misc_has_and_replace_older_ones(misc, expected):
    line = f"1\tw\t_\t_\t_\t_\t0\troot\t_\t{misc}\r\n"
    sentence = replace(Sentence.from_words(["w"]), lines=["# c\r\n", line, "\r\n"], word_lines=[1])
    found = with_confidences(sentence.with_tree([0], ["top"]), [0.25], [1.0])
    assert found.lines == ["# c\r\n", line.replace(misc + "\r", expected + "\r"), "\r\n"]
    assert found[0].misc == expected
    assert (found[0].head_confidence, found[0].label_confidence) == (0.25, 1.0)
    assert found.to_conllu().splitlines()[1].split("\t")[7] == "top"


@pytest.mark.parametrize("value", ["", "high", "nan", "-0.1", "1.1", "0.5=x"])
def test_what_is_no_probability_is_no_confidence(value):
    line = f"1\tw\t_\t_\t_\t_\t_\t_\t_\tHeadConfidence={value}\n"
    assert replace(Sentence.from_words(["w"]), lines=[line])[0].head_confidence is None


# --- on disk -------------------------------------------------------------------------------------


def test_a_calibration_is_saved_and_loaded(saved, parser):
    assert parser.parts.calibration == UNCALIBRATED
    checkpoint.write_config(saved, replace(parser.parts, calibration=MADE))
    again = dyparse.load(saved)
    assert again.parts.calibration == MADE
    again.save(saved.parent / "again", {})
    assert dyparse.load(saved.parent / "again").parts.calibration == MADE


def test_a_calibration_that_was_interrupted_is_written_again(saved, parser):
    manifest = (saved / MANIFEST).read_bytes()
    checkpoint.write_config(saved, replace(parser.parts, calibration=MADE))
    (saved / MANIFEST).write_bytes(manifest)  # killed before it got its name
    assert_refused(saved, saved / "config.yaml", "sha256")
    checkpoint.write_config(saved, parser.parts)  # as training does when it resumes
    assert dyparse.load(saved).parts.calibration == UNCALIBRATED


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda c: c.update(head_temperature=0.0), "head_temperature is 0.0, expected 0.01..100"),
        (lambda c: c.update(label_temperature=-1.0), "label_temperature"),
        (lambda c: c.update(label_bias=math.nan), "label_bias is nan"),
        (lambda c: c.update(head_bias=1e9), "head_bias"),
        (lambda c: c.update(label_head_weight="much"), "calibration.label_head_weight"),
        (lambda c: c.update(other=1), "calibration.other"),
    ],
)
def test_a_calibration_out_of_bounds_is_refused(saved, change, finding):
    path = rewrite_config(saved, lambda config: change(config["calibration"]))
    assert_refused(saved, path, finding)


@pytest.mark.parametrize("value", [None, 1, [1.0], "x"])
def test_a_calibration_that_is_none_is_refused(saved, value):
    path = rewrite_config(saved, lambda config: config.update(calibration=value))
    assert_refused(saved, path)
