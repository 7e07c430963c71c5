"""Speed of training and of parsing, as ratios to the encoder alone, measured in one run.

    python benchmarks/throughput.py --root DIR --name UD_English-LinES

Every batch is timed both ways, one after the other, so that whatever else the machine does slows
down both. *Encoder alone* is forward, backward and optimizer on a batch that is ready (training),
or forward (parsing). *Training* is all of a step: making the batch, encoding, walk with oracle,
loss, backward, optimizer, averaging. *Parsing* is all from sentences to sentences with trees.
"""

import dyparse.entry  # noqa: I001 - before torch is imported: how OpenMP waits

import argparse
import copy
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

import dyparse.system
from dyparse.batch import group_by_length
from dyparse.config import Network
from dyparse.encoder.bilstm import BiLSTM
from dyparse.exploration.explore import Explore
from dyparse.exploration.static import Static
from dyparse.loss.set_nll import SetNLL
from dyparse.parser import Parser
from dyparse.sentence import Sentence
from dyparse.trainer import Course, Lesson, Trainer
from dyparse.treebank.sample import Sample
from dyparse.treebank.ud import UD
from dyparse.vocabulary import Vocabulary


def main() -> None:
    options = command_line().parse_args()
    torch.manual_seed(1)
    if options.threads:
        torch.set_num_threads(options.threads)
    treebank = UD(options.root, options.name) if options.root else Sample()
    sentences = treebank.read("train")
    parser = Parser.with_fresh_weights(
        dyparse.system.load(options.system),
        BiLSTM(),
        Network(),
        Vocabulary.from_sentences(sentences),
    )
    threads = torch.get_num_threads()
    say(f"{treebank.name}, {options.system}, {threads} threads, torch {torch.__version__}\n")
    for what in options.only or MEASUREMENTS:
        other, measure = MEASUREMENTS[what]
        compare(what, other, measure(parser, sentences, options.seconds))


def compare(first: str, second: str, speeds: tuple[float, float]) -> None:
    """One line: two speeds and their ratio."""
    a, b = speeds
    say(f"{first:<9}{a:8,.0f} tokens/s   {second:<14}{b:8,.0f}   ratio {a / b:.2f}\n")


def command_line() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--root", help="directory of UD treebanks (default: the sample treebank)")
    options.add_argument(
        "--name", default="UD_English-LinES", help="treebank in root (default: %(default)s)"
    )
    options.add_argument("--system", default="arc_eager", choices=dyparse.system.names())
    options.add_argument("--threads", type=int, help="threads of torch (default: all)")
    options.add_argument(
        "--seconds", type=float, default=20, help="per measurement (default: %(default)s)"
    )
    options.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, help="what to measure (default: everything)"
    )
    return options


def time_training(parser: Parser, sentences: list[Sentence], seconds: float) -> tuple[float, float]:
    """Tokens per second of training steps, and of the encoder alone on the same batches."""
    course = course_of(parser, sentences, Explore(first_epochs=0))
    encoder = copy.deepcopy(parser.model.encoder)
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-4, fused=True)

    def encoder_alone(group: list[int]) -> Callable[[], None]:
        batch = parser.batcher.batch([sentences[k] for k in group])

        def step() -> None:
            optimizer.zero_grad(set_to_none=True)
            encoder(batch).sum().backward()
            optimizer.step()

        return step

    def whole(group: list[int]) -> Callable[[], object]:
        return lambda: course.learn(group, epoch=2, progress=0.5)

    parser.model.train()
    encoder.train()
    groups = group_by_length(
        [len(s) for s in sentences], course.trainer.max_tokens_per_batch, np.random.default_rng(1)
    )
    return time_both(whole, encoder_alone, (sentences, groups), seconds)


def time_parsing(parser: Parser, sentences: list[Sentence], seconds: float) -> tuple[float, float]:
    """Tokens per second of parsing, and of the encoder alone on the same batches."""

    def encoder_alone(group: list[int]) -> Callable[[], object]:
        batch = parser.batcher.batch([sentences[k] for k in group])

        def step() -> None:
            with torch.inference_mode():
                parser.model.encode(batch)

        return step

    def whole(group: list[int]) -> Callable[[], object]:
        chosen = [sentences[k] for k in group]
        return lambda: parser.parse_batch(chosen)

    parser.model.eval()
    groups = group_by_length([len(s) for s in sentences], 2000)
    np.random.default_rng(1).shuffle(groups)
    return time_both(whole, encoder_alone, (sentences, groups), seconds)


def time_oracles(parser: Parser, sentences: list[Sentence], seconds: float) -> tuple[float, float]:
    """Tokens per second of dynamic and of static training."""
    dynamic = course_of(parser, sentences, Explore(first_epochs=0))
    static = course_of(parser, sentences, Static())
    parser.model.train()
    groups = group_by_length(
        [len(s) for s in sentences], dynamic.trainer.max_tokens_per_batch, np.random.default_rng(1)
    )
    return time_both(
        lambda group: lambda: dynamic.learn(group, epoch=2, progress=0.5),
        lambda group: lambda: static.learn(group, epoch=2, progress=0.5),
        (sentences, groups),
        seconds,
    )


def course_of(parser: Parser, sentences: list[Sentence], exploration: Explore | Static) -> Course:
    return Course(
        Trainer(), parser, Lesson(exploration, SetNLL(), sentences, sentences[:1], seed=1)
    )


def time_both(
    first: Callable[[list[int]], Callable[[], object]],
    second: Callable[[list[int]], Callable[[], object]],
    sentences_and_batches: tuple[list[Sentence], list[list[int]]],
    seconds: float,
) -> tuple[float, float]:
    """Tokens per second of two ways to treat a batch, taken in turn until the time is over.

    A batch is the numbers of its sentences.
    """
    sentences, batches = sentences_and_batches
    for batch in batches[:5]:  # compilation, allocation
        first(batch)(), second(batch)()
    tokens, spent = 0, [0.0, 0.0]
    while sum(spent) < seconds:
        for turn, batch in enumerate(batches):
            for k in (0, 1) if turn % 2 else (1, 0):  # neither always finds the caches warm
                step = (first, second)[k](batch)
                start = time.perf_counter()
                step()
                spent[k] += time.perf_counter() - start
            tokens += sum(len(sentences[k]) for k in batch)
            if sum(spent) >= seconds:
                break
    return tokens / spent[0], tokens / spent[1]


MEASUREMENTS = {
    "training": ("encoder alone", time_training),
    "parsing": ("encoder alone", time_parsing),
    "dynamic": ("static", time_oracles),
}


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
