"""The learned tokenizer of a model with compiled kernels beside torch: speed, and the same tokens.

    python benchmarks/tokenizer.py MODEL FILE.conllu

The text is that of the file's sentences. Both take turns in one process, on one thread; times are
CPU seconds, medians of the rounds. The network alone is without features and decoding.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch

from dyparse.data.conllu import read_sentences
from dyparse.model.checkpoint import open_model
from dyparse.model.compiled_model import compiled_tokenizer
from dyparse.runtime.console import print_line
from dyparse.tokenizer import restored_text, tokenize
from dyparse.tokenizer._learned_tokenizer import LearnedTokenizer
from dyparse.tokenizer._passages import passages
from dyparse.tokenizer._windows import scores_of


def main() -> None:
    """Print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model")
    arguments.add_argument("file")
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()
    torch.set_num_threads(1)
    text = restored_text(read_sentences(options.file, trees=False))
    learned = open_model(options.model).tokenizer
    compiled = compiled_tokenizer(learned)
    assert isinstance(learned, LearnedTokenizer)
    assert isinstance(compiled, LearnedTokenizer)
    features = [learned.features.of(passage.text) for passage in passages(text)]
    tasks: dict[str, Callable[[], object]] = {
        "torch": lambda: list(tokenize(learned, text)),
        "compiled": lambda: list(tokenize(compiled, text)),
        "torch, network alone": lambda: scores_of(learned.network, features),
        "compiled, network alone": lambda: scores_of(compiled.network, features),
    }
    measured: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(options.rounds + 1):  # the first one compiles
        for name, run in tasks.items():
            start = time.process_time()
            run()
            measured[name].append(time.process_time() - start)
    for name, found in measured.items():
        speed = len(text) / statistics.median(found[1:])
        print_line(f"{name:24} {speed:9,.0f} characters/s")
    one, other = ({tuple(s.lines) for s in tokenize(t, text)} for t in (learned, compiled))
    print_line(f"{len(one ^ other)} of {len(one)} sentences differ")


if __name__ == "__main__":
    main()
