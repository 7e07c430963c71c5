"""Made-up results of runs: a few sentences, with as many right words as a test asks for."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock
from zlib import crc32

import numpy as np

from dyparse.comparison.report import page
from dyparse.comparison.statistics import Comparison, comparison_of
from dyparse.evaluation.error_analysis import NO_MISTAKE, QUARTERS, SENTENCE_LENGTHS
from dyparse.evaluation.run_result import GOLD, PARSED, SENTENCE_COUNTS, Cell, RunResult
from dyparse.evaluation.score_report import LENGTHS

WORDS = (4, 10, 6)
SETTING = {"encoder": {"hidden": 80}, "trainer": {"epochs": 3, "patience": 10}}
MOVES = ("SHIFT", "LEFT", "RIGHT", "REDUCE")
REPAIRS = ("LEFT", "REDUCE")


def made_result(
    labelled: Sequence[int],
    *,
    words: Sequence[int] = WORDS,
    setting: dict[str, Any] = SETTING,
    dev_las: Sequence[float] = (50.0, 60.0, 70.0),
    **cell: Any,
) -> RunResult:
    """A run with this number of right words in each sentence."""
    names = {"system": "arc_eager", "exploration": "static", "loss": "set_nll"}
    right, total = sum(labelled), sum(words)
    las = 100 * right / total
    return RunResult(
        cell=Cell(**{**names, "treebank": "UD_Made-Up", "seed": 1, **cell}),
        setting=setting,
        curve=[{"epoch": k, "seconds": 1.0, "dev_las": v} for k, v in enumerate(dev_las, 1)],
        best_epoch=1 + int(np.argmax(dev_las)),
        dev=dict.fromkeys(("uas", "las", "clas"), max(dev_las)),
        test={"uas": (100 + las) / 2, "las": las, "clas": las / 2},
        sentences={name: list(labelled) for name in SENTENCE_COUNTS} | {"words": list(words)},
        analysis=made_analysis(right, total, len(words)),
        train_words=1000,
    )


def made_analysis(right: int, total: int, sentences: int) -> dict[str, Any]:
    """All words are in short sentences and have short arcs; every sentence has a mistake.

    Half of the wrong words have the right head; nothing is repaired.
    """
    heads = (right + total) // 2
    arcs = {"gold": total, "predicted": total}
    arcs |= {f"{side}_right": heads for side in ("gold", "predicted")}
    arcs |= {f"{side}_labelled": right for side in ("gold", "predicted")}
    nothing = dict.fromkeys(arcs, 0)
    count = {"words": total, "heads": heads, "labelled": right}
    none = dict.fromkeys(count, 0)
    move = {"taken": total, "free": right, "arcs": total, "right_arcs": heads}
    move |= {"labelled_arcs": right}
    return {
        "by_sentence_length": dict.fromkeys(SENTENCE_LENGTHS, none) | {"1-10": count},
        "by_arc_length": dict.fromkeys(LENGTHS, nothing) | {"1": arcs},
        "by_projectivity": {"projective": arcs, "nonprojective": nothing},
        "by_first_mistake": {name: {"sentences": 0, **none} for name in (*QUARTERS, NO_MISTAKE)}
        | {"2nd quarter": {"sentences": sentences, **count}},
        "propagation": {
            "sentences": sentences,
            "sentences_with_mistake": sentences,
            "states_before": total,
            "states_after": total,
            "mistakes_before": sentences,
            "mistakes_after": total - right,
            "cost_before": sentences,
            "cost_after": 2 * (total - right),
        },
        "moves": {
            name: {**move, "replaced": 10 if name == "LEFT" else 0, "mended": 4, "broken": 1}
            for name in MOVES
        },
        "pops": {name: made_pops(missed=2, rightly_none=9, neither=1) for name in REPAIRS},
    }


def made_pops(**counts: int) -> dict[str, int]:
    """Counts of repairs; those not given are 0."""
    names = ("right", "wrong", "missed", "rightly_none", "neither")
    return {**dict.fromkeys(names, 0), **counts}


def two_trainings(**changed: Any) -> list[RunResult]:
    """Of 20 words, 10, 12 and 14 are right with static training, 13, 14 and 18 with exploring."""
    static = [(2, 5, 3), (3, 6, 3), (4, 6, 4)]
    explore = [(3, 6, 4), (3, 7, 4), (4, 9, 5)]
    return [
        made_result(labelled, exploration=name, seed=seed, **changed)
        for name, runs in (("static", static), ("explore", explore))
        for seed, labelled in enumerate(runs, 1)
    ]


def gain_in_one_sentence() -> list[RunResult]:
    """Exploring is better with each of 8 seeds, but in one of three sentences only.

    So p over pairs of runs is small, while the interval over sentences includes zero.
    """
    return [
        made_result(labelled, exploration=name, seed=seed)
        for name, labelled in (("static", (2, 5, 3)), ("explore", (1, 5, 6)))
        for seed in range(8)
    ]


def made_grid(
    *,
    systems: Iterable[str] = ("arc_eager",),
    gains: dict[str, float] | None = None,
    losses: Iterable[str] = ("set_nll",),
    treebanks: Iterable[str] = ("UD_Made-Up",),
    seeds: Iterable[int] = (1, 2, 3),
    sentences: int = 60,
) -> list[RunResult]:
    """Runs on random sentences; `gains` adds to the probability of a right word."""
    results = []
    for treebank in treebanks:
        words = np.random.default_rng(crc32(treebank.encode())).integers(3, 30, sentences)
        for system in systems:
            for loss in losses:
                for exploration, gain in (gains or {"static": 0.0, "explore": 0.1}).items():
                    for seed in seeds:
                        name = f"{treebank} {system} {loss} {exploration} {seed}"
                        rng = np.random.default_rng(crc32(name.encode()))
                        right = rng.binomial(words, 0.7 + gain)
                        las = 100 * right.sum() / words.sum()
                        results.append(
                            made_result(
                                right.tolist(),
                                words=words.tolist(),
                                dev_las=[las - 20, las - 5, las],
                                system=system,
                                exploration=exploration,
                                loss=loss,
                                treebank=treebank,
                                seed=seed,
                            )
                        )
    return results


def sentence(words: Sequence[str], right: int) -> str:
    """A sentence in CoNLL-U: right words depend on the last one, wrong words on the next one."""
    n = len(words)
    rows = []
    for number, word in enumerate(words, 1):
        head, label = (n, "dep") if number > n - right else (number + 1, "wrong")
        head, label = (0, "root") if number == n else (head, label)
        rows.append(f"{number}\t{word}\t_\tNOUN\t_\t_\t{head}\t{label}\t_\t_\n")
    return "".join(rows) + "\n"


def made_run(directory: Path, result: RunResult, word: str = "word") -> tuple[Path, RunResult]:
    """The directory of a run with parsed and gold sentences."""
    directory.mkdir(parents=True)
    pairs = list(zip(result.sentences["words"], result.sentences["labelled"], strict=True))
    parsed = "".join(sentence([word] * n, right) for n, right in pairs)
    gold = "".join(sentence([word] * n, n) for n, _ in pairs)
    (directory / PARSED).write_text(parsed, encoding="utf-8")
    (directory / GOLD).write_text(gold, encoding="utf-8")
    result.save(directory)
    return directory, result


def made_runs(directory: Path, results: Sequence[RunResult], **options: Any) -> list[Any]:
    """The runs, each with a directory of its own."""
    return [made_run(directory / str(k), r, **options) for k, r in enumerate(results)]


def compared(results: Sequence[RunResult], **options: Any) -> Comparison:
    """The comparison, with few resamples."""
    return comparison_of(results, **{"resamples": 200, **options})


def quick_figures() -> Any:
    """A context in which reports have no PDF and PNG of figures, which take their time."""
    return mock.patch.object(page, "FIGURE_KINDS", ("svg",))


def report(directory: Path, runs: Sequence[Any], *, title: str = "Report", **options: Any) -> str:
    """The HTML of a report, with quick figures."""
    comparison = compared([result for _, result in runs], resamples=50, **options)
    with quick_figures():
        path = page.write_report(runs, comparison, directory / "out", title=title)
    return path.read_text(encoding="utf-8")


def pictures_of(html: str) -> list[dict[str, Any]]:
    """The pictures on a page."""
    found = re.search(r'id="pictures">([^<]*)<', html)
    assert found
    return json.loads(gzip.decompress(base64.b64decode(found.group(1))))
