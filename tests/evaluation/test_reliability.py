"""Calibration errors against hand-made ones; weights that lower them; calibration on dev."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.tiny import fresh_parser, sample

from dyparse.data.columns.confidences import with_confidences
from dyparse.evaluation.measure import calibrate
from dyparse.evaluation.reliability import logistic_weights, reliability
from dyparse.evaluation.score_report import score_report
from dyparse.model.confidence import UNCALIBRATED, sigmoid

RNG = np.random.default_rng(1)


def test_the_calibration_error_is_the_mean_gap_of_the_bins():
    confidence = np.array([0.9, 0.92, 0.91, 0.95, 0.1, 0.1])
    right = np.array([True, True, False, True, False, True])
    found = reliability(confidence, right)
    gaps = [2 * abs(0.1 - 0.5), 3 * abs(0.91 - 2 / 3), 1 * abs(0.95 - 1)]  # 0.95 · 15 is 14.25
    assert found.calibration_error == pytest.approx(100 * sum(gaps) / 6)
    assert found.confidence == pytest.approx(100 * confidence.mean())
    assert found.right == pytest.approx(400 / 6)


def test_certainty_that_is_right_has_no_error_and_belongs_to_a_bin():
    assert reliability(np.ones(4), np.ones(4, bool)).calibration_error == 0
    assert reliability(np.ones(4), np.zeros(4, bool)).calibration_error == 100


def test_weights_are_found_again():
    odds, other = RNG.normal(0, 4, size=(2, 40_000))
    right = RNG.random(40_000) < sigmoid(0.4 * odds - 0.3 * other + 0.7)
    weights = logistic_weights([odds, other], right)
    np.testing.assert_allclose(weights, [0.4, -0.3, 0.7], atol=0.05)
    before = reliability(sigmoid(odds), right).calibration_error
    after = reliability(sigmoid(weights @ [odds, other, np.ones_like(odds)]), right)
    assert after.calibration_error < 1 < before


@pytest.mark.parametrize("right", [[True], [False], [True] * 9, [True, False] * 5])
def test_few_words_give_finite_weights(right):
    for size in (1.0, 30.0, -30.0):
        weights = logistic_weights([np.full(len(right), size)], np.array(right))
        assert np.isfinite(weights).all()
        assert np.abs(weights).max() < 10


def test_calibration_on_dev_makes_confidences_right_on_average(parser):
    dev = sample("dev")
    calibration, figures = calibrate(parser, dev)
    assert calibration != UNCALIBRATED
    for found in figures.values():
        assert found["calibration_error"] < max(found["calibration_error_before"], 4)
    parts = replace(parser.parts, calibration=calibration)
    parsed = replace(parser, parts=parts, confidence=True).parse(dev)
    report = score_report(dev, parsed)
    for name, found in report.confidence.items():
        assert found.confidence == pytest.approx(found.right, abs=0.5)
        assert found.calibration_error == pytest.approx(figures[name]["calibration_error"], abs=0.1)
    assert "calibration error" in str(report)
    assert report.to_dict()["confidence"]["heads"]["right"] == report.all_words.uas


def test_a_parser_that_has_learned_nothing_can_be_calibrated():
    dev = sample("dev")[:3]
    assert np.isfinite(list(vars(calibrate(fresh_parser(dev), dev).calibration).values())).all()


def test_there_is_no_figure_without_confidences():
    dev = sample("dev")[:2]
    assert score_report(dev, dev).confidence is None
    assert "calibration" not in str(score_report(dev, dev))
    half = [with_confidences(dev[0], [1.0] * len(dev[0]), [1.0] * len(dev[0])), dev[1]]
    assert score_report(dev, half).confidence is None
