"""Measure a trained parser: scores, speed and error analysis from one parse of each split.

There are two ways to parse, which build the same trees. `measure_speed` parses as users do, batches
side by side on threads, and takes the time. `measure_errors` records every move with its cost and
analyses the errors; asking the oracle at every state is slower than parsing, so it reports no
speed. A run analyses test and times dev; without a test split it analyses dev and times nothing.
"""

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from dyparse.data.batch import gold_heads
from dyparse.data.columns.pseudo_projective import lifted
from dyparse.data.sampler import group_by_length
from dyparse.data.sentence import Sentence
from dyparse.evaluation import provenance
from dyparse.evaluation.attachment_scores import (
    AlignedWords,
    Scores,
    align_words,
    scores_of,
    universal_labels,
)
from dyparse.evaluation.error_analysis import Derivations, ErrorAnalysis, error_analysis
from dyparse.evaluation.reliability import logistic_weights, reliability
from dyparse.evaluation.run_result import (
    GOLD,
    PARSED,
    Cell,
    RunResult,
    analysed_split,
    to_bytes,
)
from dyparse.model.confidence import UNCALIBRATED, Calibration, Odds
from dyparse.model.parser import Parser
from dyparse.rollout.replay import Replayed, replay
from dyparse.rollout.rollout import GREEDY, VisitedStates, rollout
from dyparse.runtime.atomic_files import write
from dyparse.system._labelled import without_labels
from dyparse.version import __version__

MAX_TOKENS_PER_BATCH = 2000
WARM_UP_SENTENCES = 10  # parsed before the clock starts: kernels may have to be compiled first


@dataclass(frozen=True)
class Measured:
    """A split as a parser parsed it, with its scores."""

    parsed: list[Sentence]
    scores: Scores  # over all words
    counts: dict[str, list[int]]  # see `sentence_counts`
    of_heads: dict[str, float]  # figures of the prediction heads
    analysis: ErrorAnalysis | None = None  # None: the derivations were not recorded
    sentences_per_second: float | None = None  # None: they were, which takes longer than parsing

    def figures(self) -> dict[str, float]:
        """The figures to print, and for `metrics.json`; speed only where it was measured."""
        figures = {
            "uas": self.scores.uas,
            "las": self.scores.las,
            "clas": self.scores.clas,
            "sentences": len(self.parsed),
            "words": self.scores.words,
            **self.of_heads,
        }
        if self.sentences_per_second is not None:
            figures["sentences_per_second"] = self.sentences_per_second
        return figures


def measure_splits(parser: Parser, splits: Mapping[str, Sequence[Sentence]]) -> dict[str, Measured]:
    """Parse dev and test once each: the split of `result.json` for errors, another for speed."""
    analysed = analysed_split(splits)
    return {
        split: (measure_errors if split == analysed else measure_speed)(parser, gold)
        for split, gold in splits.items()
        if split != "train"
    }


def measure_speed(parser: Parser, gold: Sequence[Sentence]) -> Measured:
    """Parse sentences as users do; scores and sentences per second."""
    list(parser.parse_sentences(gold[:WARM_UP_SENTENCES]))
    start = time.perf_counter()
    parsed = list(parser.parse_sentences(gold))
    seconds = time.perf_counter() - start
    words = align_words(gold, parsed)
    speed = len(gold) / seconds
    of_heads = parser.head_figures(gold, parsed)
    return Measured(parsed, scores_of_all(words), sentence_counts(words), of_heads, None, speed)


def measure_errors(parser: Parser, gold: Sequence[Sentence]) -> Measured:
    """Parse sentences and record the derivations; scores and error analysis."""
    parsed, derivations = record_derivations(parser, gold)
    words = align_words(gold, parsed)
    analysis = error_analysis(words, derivations, parser.system.moves)
    of_heads = parser.head_figures(gold, parsed)
    return Measured(parsed, scores_of_all(words), sentence_counts(words), of_heads, analysis)


class Recorded(NamedTuple):
    """Parsed sentences, and the moves that built their trees."""

    parsed: list[Sentence]
    derivations: Derivations


def record_derivations(parser: Parser, gold: Sequence[Sentence]) -> Recorded:
    """Parse sentences greedily; every move with its cost for the gold tree."""
    parsed: dict[int, Sentence] = {}
    parts: list[tuple[NDArray[Any], ...]] = []
    for group in group_by_length(parser.collator.lengths(gold), MAX_TOKENS_PER_BATCH):
        trees, visited, replayed = _record_batch(parser, [gold[k] for k in group])
        parsed.update(zip(group, trees, strict=True))
        moves = without_labels(parser.parts.scored_system, visited.move)
        parts.append((np.asarray(group)[visited.sentence], moves, visited.paid, *replayed))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Recorded([parsed[k] for k in range(len(gold))], Derivations(*columns).in_order())


@torch.inference_mode()
def _record_batch(
    parser: Parser, gold: Sequence[Sentence]
) -> tuple[list[Sentence], VisitedStates, Replayed]:
    """Trees of one batch, as `Parser.parse_batch` builds them; the visited states with their costs
    for the gold trees without labels, lifted as in training; the tokens and arcs of the moves.
    """
    encoded, system = parser.encode(gold), parser.parts.scored_system
    heads = gold_heads(lifted(gold, parser.projectivity))
    visited = rollout(system, GREEDY, encoded.scorer, encoded.words, heads, epoch=1, seed=0)
    trees, replayed = replay(system, encoded.words, visited.sentence, visited.move)
    return parser.with_predictions(gold, encoded.encoded, trees), visited, replayed


class Calibrated(NamedTuple):
    """A calibration, and the figures of confidences before and after it."""

    calibration: Calibration
    figures: dict[str, dict[str, float]]


def calibrate(parser: Parser, gold: Sequence[Sentence]) -> Calibrated:
    """Fit the calibration of a parser's confidences on sentences.

    It maximises the likelihood of which heads and labels are right, for that is what a confidence
    is about; the likelihood of moves is another matter, as several of them may be right.
    """
    pairs: dict[int, tuple[Sentence, Odds]] = {}
    for group in group_by_length(parser.collator.lengths(gold), MAX_TOKENS_PER_BATCH):
        pairs.update(zip(group, parser.parse_with_odds([gold[k] for k in group]), strict=True))
    parsed, found = zip(*(pairs[k] for k in range(len(gold))), strict=True)
    words = align_words(gold, parsed)
    odds = Odds(*map(np.concatenate, zip(*found, strict=True)))
    calibration = Calibration.of_weights(
        logistic_weights([odds.head], words.head_right),
        logistic_weights([odds.label, odds.head], words.label_right),
    )
    before, after = UNCALIBRATED(odds), calibration(odds)
    rights = {"heads": words.head_right, "labels": words.label_right}
    figures = {
        name: {
            "calibration_error_before": reliability(before[k], right).calibration_error,
            "calibration_error": reliability(after[k], right).calibration_error,
        }
        for k, (name, right) in enumerate(rights.items())
    }
    return Calibrated(calibration, figures)


def scores_of_all(words: AlignedWords) -> Scores:
    """The scores over all words, punctuation included."""
    return scores_of(words, np.ones_like(words.punctuation))


def sentence_counts(words: AlignedWords) -> dict[str, list[int]]:
    """For every sentence: words, right heads, right heads with the right label; and for CLAS the
    content words of the gold tree, those of the predicted one, and the right ones.
    """
    labels = universal_labels(words)
    columns = {
        "words": np.ones_like(words.punctuation),
        "heads": words.head_right,
        "labelled": words.head_right & words.label_right,
        "content": labels.content,
        "predicted_content": labels.predicted_content,
        "content_right": words.head_right & labels.right & labels.content,
    }
    length = int(words.sentence.max()) + 1
    return {
        name: np.bincount(words.sentence, weights=flags, minlength=length).astype(int).tolist()
        for name, flags in columns.items()
    }


def versions() -> dict[str, str]:
    """Versions of the software that a result depends on."""
    return {
        "dyparse": __version__,
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
    }


class Trained(NamedTuple):
    """A finished training: cell, setting, curve, command."""

    cell: Cell
    setting: dict[str, Any]
    curve: list[dict[str, float]]
    command: str = ""


def keep_result(
    directory: Path,
    trained: Trained,
    measured: Mapping[str, Measured],
    splits: Mapping[str, Sequence[Sentence]],
) -> None:
    """Write what a comparison needs: `result.json`, and the analysed sentences, parsed and gold."""
    split = analysed_split(splits)
    test = measured[split]
    assert test.analysis is not None, f"{split} was measured without its derivations"
    best = max(trained.curve, key=lambda figures: figures["dev_las"])
    result = RunResult(
        cell=trained.cell,
        setting=trained.setting,
        curve=trained.curve,
        best_epoch=int(best["epoch"]),
        dev={**asdict(measured["dev"].scores), **measured["dev"].of_heads},
        test={**asdict(test.scores), **test.of_heads},
        sentences=test.counts,
        analysis=test.analysis.to_dict(),
        train_words=sum(map(len, splits["train"])),
        versions=versions(),
        split=split,
        commit=provenance.commit(),
        sources=provenance.training_sources(trained.cell, trained.setting),
        machine=provenance.machine(),
        command=trained.command,
    )
    for name, sentences in ((PARSED, test.parsed), (GOLD, splits[split])):
        write(directory / name, to_bytes(sentences))
    result.save(directory)
