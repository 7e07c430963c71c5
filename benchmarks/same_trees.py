"""Whether compiled kernels find torch's trees, and in int8 the same bytes however they are run.

    python benchmarks/same_trees.py MODEL FILE.conllu [MODEL FILE.conllu ...]

For every model, on its file: LAS by torch in float32 and by the kernels in float32 and int8; the
words whose arc or tags the kernels in float32 find otherwise than torch; and the ways of running
int8 that change a byte: batches of 250 and 8,000 tokens instead of 750, sentences in another
order, two processes with small chunks.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import torch

from dyparse.cli.main import main as dyparse
from dyparse.config.choices import name_of
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.model.parser import Parser
from dyparse.runtime.console import print_line

NO_INT8 = mock.patch("dyparse.model.compiled_model.has_int8", return_value=False)
SMALL_CHUNKS = mock.patch("dyparse.parsing.chunks.WORDS_PER_CHUNK", 2000)


def main() -> None:
    """Print a line for every model."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("models_and_files", nargs="+", metavar="MODEL FILE")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    print_line(
        "torch  kernels   int8  words otherwise than torch / in int8, of  bytes changed by  model"
    )
    given = options.models_and_files
    for model, path in zip(given[::2], given[1::2], strict=True):
        print_line(line_of(model, path))


def line_of(model: str, path: str) -> str:
    """The figures of a model on a file."""
    gold = list(read_sentences(path, trees=True))
    by_torch = Parser.load(model).parse(gold)
    with NO_INT8:
        by_kernels = Parser.load(model, precision="auto").parse(gold)
    parser = Parser.load(model, precision="int8")
    assert parser.is_compiled
    in_int8 = parser.parse(gold)
    las = [attachment_scores(gold, found).las for found in (by_torch, by_kernels, in_int8)]
    figures = "  ".join(f"{score:5.2f}" for score in las)
    other = [differing(by_torch, found) for found in (by_kernels, in_int8)]
    changed = ", ".join(ways_that_change(parser, gold, in_int8, model, path)) or "none"
    return (
        f"{figures}  {other[0]} / {other[1]} of {sum(map(len, gold))}  {changed}  "
        f"{name_of(parser.system)} {Path(path).stem}"
    )


def differing(one: Sequence[Sentence], other: Sequence[Sentence]) -> int:
    """Words whose head, label or tags differ."""
    names = ("head", "label", "upos", "xpos", "feats", "lemma")
    rows = (zip(*(getattr(s, name) for name in names), strict=True) for s in (*one, *other))
    words = [row for sentence in rows for row in sentence]
    half = len(words) // 2
    return sum(a != b for a, b in zip(words[:half], words[half:], strict=True))


def ways_that_change(
    parser: Parser, gold: Sequence[Sentence], expected: Sequence[Sentence], model: str, path: str
) -> list[str]:
    """The ways of running a parser whose CoNLL-U is another."""
    text = [sentence.to_conllu() for sentence in expected]
    found = {
        f"batches of {most}": list(parser.parse_sentences(gold, max_tokens_per_batch=most))
        for most in (250, 8000)
    }
    found["order"] = parser.parse(gold[::-1])[::-1]
    changed = [way for way, parsed in found.items() if [s.to_conllu() for s in parsed] != text]
    with TemporaryDirectory() as directory:
        output = Path(directory) / "parsed.conllu"
        options = ["--workers", "2", "--precision", "int8", "-o", str(output)]
        with SMALL_CHUNKS:
            dyparse(["parse", model, path, *options])
        if output.read_text(encoding="utf-8") != "".join(text):
            changed.append("workers")
    return changed


if __name__ == "__main__":
    main()
