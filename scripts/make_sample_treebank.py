"""Write the package's sample treebank: `python scripts/make_sample_treebank.py [--output DIR]`.

Everything is drawn from the grammar in `sample_grammar` with a fixed seed, so a second run writes
the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from sample_grammar.conllu import conllu, finish
from sample_grammar.sentences import Sentences
from sample_grammar.tree import Word, is_projective

SIZES = {"train": 1500, "dev": 300, "test": 300}
SEED = 2012
SHORTEST, LONGEST = 7, 30  # words
KEPT_LENGTH = 9  # longer sentences are thinned out by the power 1.5 of their length
NON_PROJECTIVE_EVERY = 10  # one sentence in this many
OUTPUT = Path(__file__).resolve().parent.parent / "dyparse" / "treebank" / "sample_data"


def drawn(sentences: Sentences) -> Iterator[list[Word]]:
    """Finished sentences of permitted lengths, long ones thinned out, none twice."""
    seen: set[tuple[str, ...]] = set()
    while True:
        words = finish(sentences.sentence())
        key = tuple(word.form.lower() for word in words)
        length = sum(word.copied is None for word in words)
        is_kept = sentences.dice.chance((KEPT_LENGTH / length) ** 1.5)
        if SHORTEST <= length <= LONGEST and is_kept and key not in seen:
            seen.add(key)
            yield words


def treebank() -> dict[str, str]:
    """The text of every split; each has the same fraction of non-projective sentences."""
    stream = drawn(Sentences(SEED))
    waiting: dict[bool, list[list[Word]]] = {True: [], False: []}
    splits: dict[str, str] = {}
    for split, size in SIZES.items():
        blocks = []
        for k in range(size):
            wanted = k % NON_PROJECTIVE_EVERY != NON_PROJECTIVE_EVERY // 2
            blocks.append(conllu(_next(stream, waiting, wanted=wanted), f"{split}-{k + 1:04d}"))
        splits[split] = "".join(blocks)
    return splits


def _next(
    stream: Iterator[list[Word]], waiting: dict[bool, list[list[Word]]], *, wanted: bool
) -> list[Word]:
    """The next sentence that is projective (or not) as wanted; the others wait for their turn."""
    while not waiting[wanted]:
        words = next(stream)
        shape = is_projective([word for word in words if word.copied is None])
        waiting[shape].append(words)
    return waiting[wanted].pop(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="directory of the three files")
    output: Path = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    for split, text in treebank().items():
        path = output / f"{split}.conllu"
        path.write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{path}: {SIZES[split]} sentences\n")


if __name__ == "__main__":
    main()
