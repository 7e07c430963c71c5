"""Coverage: how much of a treebank a transition system can build.

    coverage(dyparse.system.load("arc_eager"), sentences).built_share

Every sentence is derived by its canonical moves: at each state a legal move of least cost. Where
costs are exact, this builds the best tree that the system can build, so arcs that differ from gold
are lost to every parser with this system. Where costs are not exact (`is_exact`), another
derivation may lose fewer. With a projectivity (`pseudo_projective`) the system builds lifted trees,
and lost are the arcs that differ from gold after lifted words were put back by gold labels.
"""

import csv
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dyparse.data.columns.pseudo_projective import AS_IT_IS, decoded_tree, encoded
from dyparse.data.sentence import Sentence
from dyparse.evaluation.score_report import nonprojective_arcs
from dyparse.system import System

MOST_CELLS_PER_BATCH = 200_000  # N × N per sentence: the size of an oracle's tables
MOST_SENTENCES_PER_BATCH = 500  # so that the progress bar moves, and Ctrl-C gets through
COLUMNS = ("system", "sentences built", "gold arcs", "lost arcs: mean", "most")

Trees: TypeAlias = Sequence[NDArray[np.int32]]  # the heads [words] of each sentence


@dataclass(frozen=True)
class Coverage:
    """How much of some sentences a system can build; a lower bound if costs are not exact."""

    sentences: int
    words: int
    built: int  # sentences whose gold tree can be built
    lost: int  # gold arcs missing from the best trees
    most_lost: int  # the same for the worst sentence
    exact: bool

    @property
    def built_share(self) -> float:
        """Share of sentences whose gold tree can be built."""
        return self.built / self.sentences

    @property
    def arc_share(self) -> float:
        """Share of gold arcs among the arcs of the best trees."""
        return 1 - self.lost / self.words

    @property
    def mean_lost(self) -> float:
        """Mean number of lost arcs over the sentences that lose any; 0 if none does."""
        return self.lost / max(1, self.sentences - self.built)


class Gold(NamedTuple):
    """Gold trees, and the sentences with lifted ones by projectivity."""

    trees: list[NDArray[np.int32]]
    encoded: dict[str, list[Sentence]]

    @classmethod
    def read(cls, sentences: Iterable[Sentence], projectivities: Sequence[str]) -> "Gold":
        """The trees of a stream, of which nothing else is kept without a projectivity."""
        gold = cls([], {name: [] for name in projectivities if name != AS_IT_IS})
        for sentence in sentences:
            gold.trees.extend(trees_of([sentence]))
            for name, found in gold.encoded.items():
                found.extend(encoded([sentence], name))
        return gold


class Row(NamedTuple):
    """A row of the table: one treebank, one system."""

    treebank: str
    system: str  # its name, and its options if any were given
    coverage: Coverage
    nonprojective_sentences: int
    nonprojective_arcs: int


def coverage(
    system: System, sentences: Iterable[Sentence], projectivity: str = AS_IT_IS
) -> Coverage:
    """Coverage of a system on sentences with gold trees."""
    read = Gold.read(sentences, [projectivity])
    return summary(system, read.trees, lost_words(system, read, projectivity))


def compare(
    treebank: str,
    sentences: Iterable[Sentence],
    systems: dict[str, System],
    projectivities: Sequence[str] = (AS_IT_IS,),
) -> list[Row]:
    """Coverage of each system on a treebank, with progress bars on a terminal.

    Projectivities other than none are for systems that build projective trees only.
    """
    reading = tqdm(sentences, f"reading {treebank}", leave=False, disable=None)
    gold = Gold.read(reading, projectivities)
    nonprojective_figures = nonprojective(gold.trees)
    words, rows = sum(map(len, gold.trees)), []
    for (name, system), projectivity in itertools.product(systems.items(), projectivities):
        if projectivity != AS_IT_IS:
            if system.trees != "projective":
                continue
            name = f"{name} {projectivity}"
        with tqdm(None, name, words, leave=False, unit=" words", disable=None) as bar:
            lost = lost_words(system, gold, projectivity, bar.update)
        rows.append(Row(treebank, name, summary(system, gold.trees, lost), *nonprojective_figures))
    return rows


def trees_of(sentences: Iterable[Sentence]) -> list[NDArray[np.int32]]:
    """The heads of each sentence."""
    return [np.array(sentence.head, dtype=np.int32) for sentence in sentences]


def lost_words(
    system: System,
    gold: Gold,
    projectivity: str = AS_IT_IS,
    progress: Callable[[int], object] = lambda _words: None,
) -> NDArray[np.int64]:
    """[sentences]: words whose head differs from gold in the best tree, with lifted words put back;
    calls `progress(words done)` per batch.
    """
    if projectivity == AS_IT_IS:
        return lost_arcs(system, gold.trees, progress)
    aims = gold.encoded[projectivity]
    found = [
        decoded_tree(best.tolist(), aim.label, projectivity)[0]
        for best, aim in zip(best_trees(system, trees_of(aims), progress), aims, strict=True)
    ]
    pairs = zip(found, gold.trees, strict=True)
    return np.array([int((tree != new).sum()) for new, tree in pairs], dtype=np.int64)


def lost_arcs(
    system: System, trees: Trees, progress: Callable[[int], object] = lambda _words: None
) -> NDArray[np.int64]:
    """[sentences]: gold arcs missing from the best tree; calls `progress(words done)` per batch."""
    pairs = zip(best_trees(system, trees, progress), trees, strict=True)
    return np.array([int((best != gold).sum()) for best, gold in pairs], dtype=np.int64)


def best_trees(
    system: System, trees: Trees, progress: Callable[[int], object] = lambda _words: None
) -> list[NDArray[np.int32]]:
    """The best trees that a system can build; calls `progress(words done)` per batch."""
    found: list[NDArray[np.int32]] = list(trees)
    for rows in _batches(trees):
        words = np.array([len(trees[row]) for row in rows])
        N = int(words.max()) + 1
        gold = np.zeros((len(rows), N), dtype=np.int32)
        for heads, row in zip(gold, rows, strict=True):
            heads[1 : len(trees[row]) + 1] = trees[row]
        is_word = (np.arange(N) > 0) & (np.arange(N) <= words[:, None])
        if (is_word & ((gold < 0) | (gold > words[:, None]))).any():
            raise ValueError("a sentence has heads outside itself, expected 0..n for words 1..n")
        best = system.best_heads(system.start(words), gold)
        for heads, row in zip(best, rows, strict=True):
            found[row] = heads[1 : len(trees[row]) + 1]
        progress(int(words.sum()))
    return found


def summary(system: System, trees: Trees, lost: NDArray[np.int64]) -> Coverage:
    """Coverage of a system that loses this many arcs of each sentence."""
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
    """Number of sentences with a non-projective arc, and number of such arcs."""
    sentence = np.repeat(np.arange(len(trees)), [len(tree) for tree in trees])
    number = np.concatenate([np.arange(1, len(tree) + 1) for tree in trees])
    found = nonprojective_arcs(sentence, number, np.concatenate(trees).astype(np.int64))
    return len(np.unique(sentence[found])), int(found.sum())


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of one treebank's table; the system that builds most sentences comes first."""
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
    """One line of the table, its first column this wide."""
    figures = zip(COLUMNS[1:], cells[1:], strict=True)
    return "  ".join([f"{cells[0]:{width}}", *(f"{c:>{max(9, len(n))}}" for n, c in figures)])


def write_csv(rows: Iterable[Row], file: IO[str]) -> None:
    """Write one line per treebank and system, with shares in percent."""
    lines = [_csv_line(row) for row in rows]
    writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)


def _csv_line(row: Row) -> dict[str, object]:
    c = row.coverage
    return {
        "treebank": row.treebank,
        "system": row.system,
        "exact": str(c.exact).lower(),
        "sentences": c.sentences,
        "words": c.words,
        "nonprojective_sentences": row.nonprojective_sentences,
        "nonprojective_arcs": row.nonprojective_arcs,
        "built_sentences": c.built,
        "built_percent": f"{100 * c.built_share:.4f}",
        "gold_arcs": c.words - c.lost,
        "gold_arcs_percent": f"{100 * c.arc_share:.4f}",
        "lost_arcs_mean": f"{c.mean_lost:.4f}",
        "lost_arcs_most": c.most_lost,
    }


def _figures(c: Coverage) -> list[str]:
    """The four columns of figures; shares are rounded down, so that 100% means all."""
    least, about, most = ("≥ ", "≈ ", "≤ ") if _is_bound(c) else ("", "", "")
    return [
        f"{least}{_percent(c.built, c.sentences)}",
        f"{least}{_percent(c.words - c.lost, c.words)}",
        f"{about}{c.mean_lost:.2f}" if c.lost else "-",
        f"{most}{c.most_lost}" if c.lost else "-",
    ]


def _percent(part: int, whole: int) -> str:
    return f"{10_000 * part // whole / 100:.2f}%"


def _is_bound(c: Coverage) -> bool:
    return not c.exact and c.lost > 0


def _batches(trees: Trees) -> Iterator[list[int]]:
    """Positions of the sentences of each batch: of similar length, as many as memory allows."""
    batch: list[int] = []
    for row in sorted(range(len(trees)), key=lambda row: len(trees[row])):
        cells = (len(batch) + 1) * (len(trees[row]) + 2) ** 2
        if batch and (cells > MOST_CELLS_PER_BATCH or len(batch) == MOST_SENTENCES_PER_BATCH):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
