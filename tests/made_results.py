"""Results of runs that never were: a few sentences, and as many right words as a test asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from dyparse.error_analysis import NO_MISTAKE, QUARTERS, SENTENCE_LENGTHS
from dyparse.run_result import PARSED, Cell, RunResult
from dyparse.score_report import LENGTHS

WORDS = (4, 10, 6)
SETTING = {"encoder": {"hidden": 80}, "trainer": {"epochs": 3, "patience": 10}}
MOVES = ("SHIFT", "LEFT", "RIGHT", "REDUCE")


def made_result(
    labelled: Sequence[int],
    *,
    words: Sequence[int] = WORDS,
    setting: dict[str, Any] = SETTING,
    dev_las: Sequence[float] = (50.0, 60.0, 70.0),
    **cell: Any,
) -> RunResult:
    """A run with these words right in each sentence; all heads are right that could be."""
    names = {"system": "arc_eager", "exploration": "static", "loss": "set_nll"}
    right, total = sum(labelled), sum(words)
    las = 100 * right / total
    return RunResult(
        cell=Cell(**{**names, "treebank": "UD_Made-Up", "seed": 1, **cell}),
        setting=setting,
        curve=[{"epoch": k, "dev_las": value} for k, value in enumerate(dev_las, 1)],
        best_epoch=1 + int(np.argmax(dev_las)),
        dev={"las": max(dev_las)},
        test={"uas": (100 + las) / 2, "las": las, "clas": las / 2},
        sentences={"words": list(words), "labelled": list(labelled)},
        analysis=made_analysis(right, total, len(words)),
        train_words=1000,
    )


def made_analysis(right: int, total: int, sentences: int) -> dict[str, Any]:
    """All words in short sentences and short arcs; every sentence has a mistake in its middle."""
    arcs = {"gold": total, "predicted": total}
    arcs |= {f"{side}_{kind}": right for side in arcs for kind in ("right", "labelled")}
    nothing = dict.fromkeys(arcs, 0)
    count = {"words": total, "heads": right, "labelled": right}
    none = dict.fromkeys(count, 0)
    move = {"taken": total, "free": right, "arcs": total, "right_arcs": right}
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
    }


def made_grid(
    *,
    systems: Iterable[str] = ("arc_eager",),
    gains: dict[str, float] | None = None,
    losses: Iterable[str] = ("set_nll",),
    treebanks: Iterable[str] = ("UD_Made-Up",),
    seeds: Iterable[int] = (1, 2, 3),
    sentences: int = 60,
) -> list[RunResult]:
    """Runs on random sentences; `gains` is by how much each exploration is likelier right."""
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
    """A sentence in CoNLL-U with so many words right: on the last one; others are on the next."""
    n = len(words)
    rows = []
    for number, word in enumerate(words, 1):
        head, label = (n, "dep") if number > n - right else (number + 1, "wrong")
        head, label = (0, "root") if number == n else (head, label)
        rows.append(f"{number}\t{word}\t_\tNOUN\t_\t_\t{head}\t{label}\t_\t_\n")
    return "".join(rows) + "\n"


def made_run(directory: Path, result: RunResult, word: str = "word") -> tuple[Path, RunResult]:
    """The directory of a run with its parsed sentences and the gold ones."""
    directory.mkdir(parents=True)
    pairs = list(zip(result.sentences["words"], result.sentences["labelled"], strict=True))
    parsed = "".join(sentence([word] * n, right) for n, right in pairs)
    gold = "".join(sentence([word] * n, n) for n, _ in pairs)
    (directory / PARSED).write_text(parsed, encoding="utf-8")
    (directory / "gold.conllu").write_text(gold, encoding="utf-8")
    result.save(directory)
    return directory, result
