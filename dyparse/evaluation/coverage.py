"""Coverage: how much of a treebank a transition system can build.

    coverage(dyparse.system.load("arc_eager"), sentences).built_share

From the start of every sentence the canonical move is followed, at each state a legal one of least
cost. Where costs are exact, this ends in the best tree that the system can build, so the arcs that
differ from gold are lost to every parser with this system. Where they are not (`is_exact`),
another derivation may lose fewer.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dyparse.data.sentence import Sentence
from dyparse.evaluation.score_report import nonprojective_arcs
from dyparse.rollout.canonical import canonical_heads
from dyparse.system import System

MOST_CELLS_PER_BATCH = 200_000  # N × N of each sentence, which oracles keep several tables of
MOST_SENTENCES_PER_BATCH = 500  # so that progress is seen, and an interruption comes through
COLUMNS = ("system", "sentences built", "gold arcs", "lost arcs: mean", "most")

Trees: TypeAlias = Sequence[NDArray[np.int32]]  # one array [words] of heads for each sentence


@dataclass(frozen=True)
class Coverage:
    """What a system can build of some sentences; if costs are not exact, at least this much."""

    sentences: int
    words: int
    built: int  # sentences whose gold tree can be built
    lost: int  # gold arcs that the best trees lack
    most_lost: int  # in one sentence
    exact: bool

    @property
    def built_share(self) -> float:
        """Of the sentences, those whose gold tree can be built."""
        return self.built / self.sentences

    @property
    def arc_share(self) -> float:
        """Of the arcs of the best trees, those that are gold."""
        return 1 - self.lost / self.words

    @property
    def mean_lost(self) -> float:
        """Gold arcs that a sentence loses, if it loses any; 0 if none does."""
        return self.lost / max(1, self.sentences - self.built)


class Row(NamedTuple):
    """A line of the table: one treebank, one system."""

    treebank: str
    system: str  # its name, and the options that were given
    coverage: Coverage
    nonprojective_sentences: int
    nonprojective_arcs: int


def coverage(system: System, sentences: Iterable[Sentence]) -> Coverage:
    """What the system can build of these sentences, which have trees."""
    trees = trees_of(sentences)
    return summary(system, trees, lost_arcs(system, trees))


def compare(treebank: str, sentences: Iterable[Sentence], systems: dict[str, System]) -> list[Row]:
    """What each of the systems can build of a treebank; bars on a terminal show how far it is."""
    trees = trees_of(tqdm(sentences, f"reading {treebank}", leave=False, disable=None))
    nonprojective_figures = nonprojective(trees)
    words, rows = sum(map(len, trees)), []
    for label, system in systems.items():
        with tqdm(None, label, words, leave=False, unit=" words", disable=None) as bar:
            lost = lost_arcs(system, trees, bar.update)
        rows.append(Row(treebank, label, summary(system, trees, lost), *nonprojective_figures))
    return rows


def trees_of(sentences: Iterable[Sentence]) -> list[NDArray[np.int32]]:
    """The heads of each sentence; nothing else of it is kept."""
    return [np.array(sentence.head, dtype=np.int32) for sentence in sentences]


def lost_arcs(
    system: System, trees: Trees, progress: Callable[[int], object] = lambda _words: None
) -> NDArray[np.int64]:
    """[sentences]: gold arcs that the best tree lacks; progress is told of words that are done."""
    lost = np.zeros(len(trees), dtype=np.int64)
    for rows in _batches(trees):
        words = np.array([len(trees[row]) for row in rows])
        N = int(words.max()) + 1
        gold = np.zeros((len(rows), N), dtype=np.int32)
        for heads, row in zip(gold, rows, strict=True):
            heads[1 : len(trees[row]) + 1] = trees[row]
        is_word = (np.arange(N) > 0) & (np.arange(N) <= words[:, None])
        if (is_word & ((gold < 0) | (gold > words[:, None]))).any():
            raise ValueError("a sentence has heads outside of it, expected 0..n for words 1..n")
        lost[rows] = ((canonical_heads(system, words, gold) != gold) & is_word).sum(-1)
        progress(int(words.sum()))
    return lost


def summary(system: System, trees: Trees, lost: NDArray[np.int64]) -> Coverage:
    """The figures of a system that loses so many arcs of each sentence."""
    if not len(trees):
        raise ValueError("there are no sentences, expected one or more")
    return Coverage(
        sentences=len(trees),
        words=sum(map(len, trees)),
        built=int((lost == 0).sum()),
        lost=int(lost.sum()),
        most_lost=int(lost.max()),
        exact=all(system.is_exact(len(t)) for t, n in zip(trees, lost, strict=True) if n),
    )


def nonprojective(trees: Trees) -> tuple[int, int]:
    """Sentences with an arc over a word that does not descend from its head; and such arcs."""
    sentence = np.repeat(np.arange(len(trees)), [len(tree) for tree in trees])
    number = np.concatenate([np.arange(1, len(tree) + 1) for tree in trees])
    is_over = nonprojective_arcs(sentence, number, np.concatenate(trees).astype(np.int64))
    return len(np.unique(sentence[is_over])), int(is_over.sum())


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of one treebank's table; what builds most sentences comes first."""
    first = rows[0]
    sentences, words = first.coverage.sentences, first.coverage.words
    yield f"{first.treebank}: {sentences:,} sentences, {words:,} words"
    yield (
        f"non-projective: {first.nonprojective_sentences / sentences:.2%} of sentences, "
        f"{first.nonprojective_arcs / words:.2%} of arcs"
    )
    width = max(len(COLUMNS[0]), *(len(row.system) for row in rows))
    yield _line(COLUMNS, width)
    for row in sorted(rows, key=lambda row: -row.coverage.built):
        yield _line([row.system, *_figures(row.coverage)], width)
    if any(_is_bound(row.coverage) for row in rows):
        yield "≥ ≈ ≤: costs of this system are not exact, another derivation may build more"


def _line(cells: Sequence[str], width: int) -> str:
    """One line of the table; the first column has this width."""
    figures = zip(COLUMNS[1:], cells[1:], strict=True)
    return "  ".join([f"{cells[0]:{width}}", *(f"{c:>{max(9, len(n))}}" for n, c in figures)])


def write_csv(rows: Iterable[Row], file: IO[str]) -> None:
    """One line for each treebank and system, shares in percent."""
    lines = [_csv_line(row) for row in rows]
    writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)


def _csv_line(row: Row) -> dict[str, object]:
    found = row.coverage
    return {
        "treebank": row.treebank,
        "system": row.system,
        "exact": str(found.exact).lower(),
        "sentences": found.sentences,
        "words": found.words,
        "nonprojective_sentences": row.nonprojective_sentences,
        "nonprojective_arcs": row.nonprojective_arcs,
        "built_sentences": found.built,
        "built_percent": f"{100 * found.built_share:.4f}",
        "gold_arcs": found.words - found.lost,
        "gold_arcs_percent": f"{100 * found.arc_share:.4f}",
        "lost_arcs_mean": f"{found.mean_lost:.4f}",
        "lost_arcs_most": found.most_lost,
    }


def _figures(found: Coverage) -> list[str]:
    """Four columns: shares rounded down, so that 100% means all of them, and counts."""
    least, about, most = ("≥ ", "≈ ", "≤ ") if _is_bound(found) else ("", "", "")
    return [
        f"{least}{_percent(found.built, found.sentences)}",
        f"{least}{_percent(found.words - found.lost, found.words)}",
        f"{about}{found.mean_lost:.2f}" if found.lost else "-",
        f"{most}{found.most_lost}" if found.lost else "-",
    ]


def _percent(part: int, whole: int) -> str:
    return f"{10_000 * part // whole / 100:.2f}%"


def _is_bound(found: Coverage) -> bool:
    return not found.exact and found.lost > 0


def _batches(trees: Trees) -> Iterator[list[int]]:
    """Which sentences go together: those of similar length, so many that their tables fit."""
    batch: list[int] = []
    for row in sorted(range(len(trees)), key=lambda row: len(trees[row])):
        cells = (len(batch) + 1) * (len(trees[row]) + 2) ** 2
        if batch and (cells > MOST_CELLS_PER_BATCH or len(batch) == MOST_SENTENCES_PER_BATCH):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
