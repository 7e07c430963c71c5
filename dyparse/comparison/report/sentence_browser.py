"""Sentence browser of the report: pictures of sentences that two trainings parse differently."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dyparse.comparison.groups import Key
from dyparse.comparison.report.table import Table, percent
from dyparse.comparison.statistics import Comparison
from dyparse.data.conllu import Block, read_blocks, to_sentence
from dyparse.drawing.svg import Tree, tree_picture
from dyparse.errors import TreebankError
from dyparse.evaluation.run_result import GOLD, PARSED, RunResult

MOST_PICTURES, MOST_WORDS = 200, 40
MOST_BYTES_OF_PICTURES = 2_500_000  # after packing
PICTURE_WIDTH = 1000
LENGTHS = (10, 20, 30, MOST_WORDS)

Run = tuple[Path, RunResult]


@dataclass(frozen=True)
class Browser:
    """Pictures of sentences that trainings parse differently, with text and tables about them."""

    paragraphs: list[str]
    tables: list[Table]
    pictures: list[dict[str, Any]]

    @property
    def packed(self) -> str:
        """The pictures as the page stores them."""
        return pack(self.pictures)

    @property
    def fields(self) -> list[dict[str, Any]]:
        """The filters of the browser with their options."""
        fields = []
        for name in ("system", "training", "treebank", "seed", "better"):
            values = sorted({picture[name] for picture in self.pictures})
            options = [("", "all"), *((str(value), str(value)) for value in values)]
            title = "better with" if name == "better" else name
            fields.append({"name": name, "title": title, "options": options})
        longest = max(picture["words"] for picture in self.pictures)
        steps = [n for n in LENGTHS if n < longest] + [MOST_WORDS]
        options = [(str(n), f"up to {n} words") for n in reversed(steps)]
        fields.append({"name": "most_words", "title": "length", "options": options})
        return fields


def pack(pictures: Sequence[Mapping[str, Any]]) -> str:
    """Pictures as JSON, gzip, base64; deterministic."""
    text = json.dumps(pictures, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


class Example(NamedTuple):
    """A sentence that two runs of the same seed parse differently."""

    gain: int  # correct words of `new` minus those of `base`
    words: int
    sentence: int  # index in the split
    base: Run
    new: Run

    @property
    def files(self) -> tuple[Path, Path, Path]:
        """The files with its trees: gold, and as parsed by both runs."""
        (base, _), (new, _) = self.base, self.new
        gold = new / GOLD if (new / GOLD).is_file() else base / GOLD
        return gold, base / PARSED, new / PARSED


def browser_of(results: Sequence[Run], comparison: Comparison) -> Browser:
    """The browser; runs whose directories lack parsed or gold sentences have no pictures."""
    groups, rows = _examples(results, comparison)
    table = Table(
        "sentences",
        "Sentences with more, as many and fewer right words, in percent",
        ("system", "training", "more", "as many", "fewer"),
        rows,
        f"Head and label; each sentence of each pair of runs, compared with {comparison.baseline}.",
    )
    shown_tables = [table] if rows else []
    if not groups:
        return Browser(["No two runs parse a sentence differently."], shown_tables, [])
    groups = [group for group in groups if all(path.is_file() for path in group[0].files)]
    chosen = list(itertools.islice(_in_turn(groups), MOST_PICTURES))
    reader = Reader(chosen)
    pictures = _bounded(picture for e in chosen if (picture := reader.picture(e, comparison)))
    if not pictures:
        reason = f" ({reader.faults[0]})" if reader.faults else ""
        needed = f"they need {PARSED} and {GOLD} in the directories of the runs{reason}"
        return Browser([f"No sentences are shown: {needed}."], shown_tables, [])
    about = (
        f"{len(pictures)} sentences of at most {MOST_WORDS} words with the largest differences. "
        "Each system, training and treebank contributes in turn a sentence with more right words "
        f"than {comparison.baseline} and one with fewer, so the selection shows what differs, not "
        "how often."
    )
    missing = [f"Left out: {fault}." for fault in reader.faults]
    pictures.sort(key=lambda picture: -abs(picture["gain"]))
    return Browser([about, *missing], shown_tables, pictures)


def _bounded(pictures: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first pictures, up to the size limit of the page."""
    kept: list[dict[str, Any]] = []
    size = 0
    for picture in pictures:
        size += len(pack([picture]))
        if size > MOST_BYTES_OF_PICTURES:
            break
        kept.append(picture)
    return kept


def _examples(
    results: Sequence[Run], comparison: Comparison
) -> tuple[list[list[Example]], list[tuple[str, ...]]]:
    """Sentences that differ, by system, training and treebank; and rows that count them."""
    runs = {(Key.of(run[1].cell), run[1].cell.seed): run for run in results}
    groups: dict[Key, list[Example]] = defaultdict(list)
    tallies: dict[tuple[str, str], list[int]] = {}
    for line in comparison.lines:
        if not line.effect:
            continue
        tally = tallies.setdefault((line.key.system, comparison.training(line.key)), [0, 0, 0])
        of_base = line.key._replace(exploration=comparison.baseline)
        for seed in line.seeds:
            if (of_base, seed) in runs:
                for example in _differences(runs[of_base, seed], runs[line.key, seed]):
                    tally[(example.gain <= 0) + (example.gain < 0)] += 1
                    if example.gain and example.words <= MOST_WORDS:
                        groups[line.key].append(example)
    rows = [
        (system, training, *(percent(100 * n / sum(tally), 1) for n in tally))
        for (system, training), tally in tallies.items()
    ]
    return list(groups.values()), rows


def _differences(base: Run, new: Run) -> Iterator[Example]:
    before, after = (run[1].sentences["labelled"] for run in (base, new))
    for place, words in enumerate(new[1].sentences["words"]):
        yield Example(after[place] - before[place], words, place, base, new)


def _in_turn(groups: Sequence[list[Example]]) -> Iterator[Example]:
    """Examples of all groups in turn, the largest differences first, alternating between gains and
    losses; each sentence of a group once. Half of the groups start with a gain.
    """
    queues = []
    for number, group in enumerate(random.Random(0).sample(groups, len(groups))):
        order = sorted(group, key=lambda e: (-abs(e.gain), e.words, e.sentence, e.new[1].cell.seed))
        once = {example.sentence: example for example in reversed(order)}
        kept = [example for example in order if once[example.sentence] is example]
        sides = [[e for e in kept if e.gain > 0], [e for e in kept if e.gain < 0]]
        queues.append(sides if number % 2 else sides[::-1])
    for turn in range(2 * max(map(len, groups), default=0)):
        for sides in queues:
            yield from sides[turn % 2][turn // 2 : turn // 2 + 1]


class Reader:
    """Reads the trees of examples, each file once; `faults` lists what is wrong with files."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.faults: list[str] = []
        self.blocks: dict[Path, dict[int, Block]] = {}
        self.needed: dict[Path, set[int]] = defaultdict(set)
        for example in examples:
            for path in example.files:
                self.needed[path].add(example.sentence)

    def picture(self, example: Example, comparison: Comparison) -> dict[str, Any] | None:
        """The gold tree and those of both runs, one above the other; None if one is missing."""
        cell, training = example.new[1].cell, comparison.training(Key.of(example.new[1].cell))
        names = ("gold", comparison.baseline, cell.exploration)
        found = [
            self.tree(name, path, example) for name, path in zip(names, example.files, strict=True)
        ]
        trees = [tree for tree in found if tree]
        if len(trees) < len(names):
            return None
        before, after = (
            run[1].sentences["labelled"][example.sentence] for run in (example.base, example.new)
        )
        return {
            "system": cell.system,
            "training": training,
            "treebank": cell.treebank,
            "seed": cell.seed,
            "better": training if example.gain > 0 else comparison.baseline,
            "words": example.words,
            "gain": example.gain,
            "about": f"{cell.treebank}, sentence {example.sentence + 1}, {cell.system}, seed "
            f"{cell.seed}: of {example.words} words {before} are right with "
            f"{comparison.baseline}, {after} with {training}",
            "svg": tree_picture(trees, width=PICTURE_WIDTH, standalone=False),
        }

    def tree(self, name: str, path: Path, example: Example) -> Tree | None:
        """The tree of the example's sentence in a file; None if it is missing or does not fit."""
        try:
            if path not in self.blocks:
                self.blocks[path] = self.read(path, len(example.new[1].sentences["words"]))
            if example.sentence not in self.blocks[path]:
                return None
            sentence = to_sentence(self.blocks[path][example.sentence], trees=True)
            if len(sentence) != example.words:
                raise TreebankError(f"{sentence.place} does not have {example.words} words")
        except TreebankError as error:
            self.faults.append(str(error))
            return None
        return Tree(name, sentence.form, sentence.head, sentence.label, sentence.upos)

    def read(self, path: Path, expected: int) -> dict[int, Block]:
        """The needed blocks of a file; none if its number of sentences is not the expected one."""
        found, number = {}, 0
        for number, block in enumerate(read_blocks(path), 1):
            if number - 1 in self.needed[path]:
                found[number - 1] = block
        if number != expected:
            self.faults.append(f"{path} has {number} sentences, expected {expected}")
            return {}
        return found
