"""How the time per word depends on the system, the treebank, sentence length and processes.

    python benchmarks/growth.py systems   --root DIR --name UD_English-LinES
    python benchmarks/growth.py treebanks --root DIR --against UD_English-EWT
    python benchmarks/growth.py lengths   --root DIR --system arc_eager attardi covington
    python benchmarks/growth.py processes --root DIR --tokens 300 1200 2400

Everything that is compared is timed alternately, a batch of one after a batch of the other, so that
whatever else the machine does slows down all. Parsers are trained for `--updates` steps first:
the length of a derivation depends on the model. One thread by default.
"""

import dyparse.runtime.entry  # noqa: F401, I001 - before torch is imported: how OpenMP waits

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import torch

from dyparse import system as systems
from dyparse.data.sampler import group_by_length
from dyparse.config.choices import load
from dyparse.training.session import Session, TrainingPlan
from dyparse.encoder.bilstm import BiLSTM
from dyparse.loss.set_nll import SetNLL
from dyparse.model.sizes import ScorerSizes
from dyparse.model.parser import Parser
from dyparse.data.sentence import Sentence
from dyparse.training.settings import TrainingSettings
from dyparse.treebank.ud import UD
from dyparse.head import load_heads
from dyparse.model.parts import ModelConfig

READ = ["word", "subword", "upos"]  # as experiment=gold_tags
LENGTHS = (10, 20, 50, 100, 200)
PARSING_BATCH = 2000
TRAIN_SCRIPT = Path(__file__).parents[1] / "train.py"


@dataclass
class Runner:
    """One of the things that are compared: its steps, and the time they took."""

    name: str
    steps: Iterator[tuple[int, Callable[[], object]]]  # words, work
    words: int = 0
    seconds: float = 0.0

    def go(self) -> None:
        words, step = next(self.steps)
        start = time.perf_counter()
        step()
        self.seconds += time.perf_counter() - start
        self.words += words

    @property
    def microseconds(self) -> float:
        return self.seconds / self.words * 1e6


def main() -> None:
    options = command_line().parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    {
        "systems": compare_systems,
        "treebanks": compare_treebanks,
        "lengths": compare_lengths,
        "processes": compare_processes,
    }[options.what](options)


def command_line() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("what", choices=("systems", "treebanks", "lengths", "processes"))
    options.add_argument("--root", required=True, help="directory of UD treebanks")
    options.add_argument("--name", default="UD_English-LinES", help="(default: %(default)s)")
    options.add_argument("--against", default="UD_English-EWT", help="(default: %(default)s)")
    options.add_argument(
        "--system", nargs="+", default=["arc_eager", "attardi", "nonmonotonic", "covington"]
    )
    options.add_argument("--exploration", default="dagger_replay", help="(default: %(default)s)")
    options.add_argument(
        "--updates", type=int, default=150, help="training steps before (default: %(default)s)"
    )
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--tokens", type=int, nargs="+", default=[300, 1200, 2400])
    options.add_argument(
        "--seconds", type=float, default=30, help="for each table (default: %(default)s)"
    )
    return options


def compare_systems(options: argparse.Namespace) -> None:
    """Training and parsing with each system, relative to the first."""
    sentences = UD(options.root, options.name).read("train")
    sessions = [trained_session(name, sentences, options) for name in options.system]
    report(
        "training",
        [Runner(n, training(c)) for n, c in zip(options.system, sessions, strict=True)],
        options,
    )
    report(
        "parsing",
        [Runner(n, parsing(c)) for n, c in zip(options.system, sessions, strict=True)],
        options,
    )


def compare_treebanks(options: argparse.Namespace) -> None:
    """Training and parsing with a treebank and a larger one."""
    names = [options.name, options.against]
    sessions = [
        trained_session(options.system[0], UD(options.root, name).read("train"), options)
        for name in names
    ]
    labels = [
        f"{n} ({int(c.batches.words.sum()):,} words)" for n, c in zip(names, sessions, strict=True)
    ]
    report(
        "training", [Runner(n, training(c)) for n, c in zip(labels, sessions, strict=True)], options
    )
    report(
        "parsing", [Runner(n, parsing(c)) for n, c in zip(labels, sessions, strict=True)], options
    )


def compare_lengths(options: argparse.Namespace) -> None:
    """Training and parsing of sentences of the same length, relative to the shortest."""
    sentences = [s for s in UD(options.root, options.name).read("train") if s.is_projective()]
    for system in options.system:
        base = trained_session(system, sentences, options)
        sessions = []
        for length in LENGTHS:
            made = sentences_of_length(sentences, length, words=20_000)
            plan = TrainingPlan(base.plan.exploration, SetNLL(), made, made[:1], seed=1)
            settings = TrainingSettings(precision="auto", max_tokens_per_batch=1000)
            sessions.append(Session(settings, base.parser, plan))
        labels = [f"{system}, {length} words" for length in LENGTHS]
        report(
            "training",
            [Runner(n, training(c)) for n, c in zip(labels, sessions, strict=True)],
            options,
        )
        report(
            "parsing",
            [Runner(n, parsing(c)) for n, c in zip(labels, sessions, strict=True)],
            options,
        )


def sentences_of_length(sentences: list[Sentence], length: int, words: int) -> list[Sentence]:
    """Sentences of exactly this length, made by concatenating sentences of a treebank.

    The root of the first is the head of the other roots. The last sentence is cut; words whose
    heads are cut off are attached to the root, too.
    """
    made: list[Sentence] = []
    stream = cycle(sentences)
    while sum(map(len, made)) < words:
        form: list[str] = []
        upos: list[str] = []
        head: list[int] = []
        label: list[str] = []
        root = 0
        while len(form) < length:
            sentence, before = next(stream), len(form)
            for word, of_word in enumerate(sentence.head, 1):
                if len(form) == length:
                    break
                form.append(sentence.form[word - 1])
                upos.append(sentence.upos[word - 1])
                label.append(sentence.label[word - 1])
                inside = of_word > 0 and before + of_word <= length
                if not inside and not root:
                    root = before + word
                    head.append(0)
                else:
                    head.append(before + of_word if inside else root)
        bare = Sentence.from_words(form, upos=upos)
        made.append(bare.with_tree(head, label))
    return made


def trained_session(system: str, sentences: list[Sentence], options: argparse.Namespace) -> Session:
    """A training after some steps."""
    config = ModelConfig(
        systems.load(system), BiLSTM(features=READ), load_heads(["labels"]), ScorerSizes()
    )
    parser = Parser.untrained(config, sentences)
    plan = TrainingPlan(
        load("exploration", options.exploration), SetNLL(), sentences, sentences[:1], 1
    )
    session = Session(TrainingSettings(precision="auto"), parser, plan)
    for _, step in islice(training(session), options.updates):
        step()
    return session


def training(session: Session) -> Iterator[tuple[int, Callable[[], object]]]:
    """Training steps, epoch after epoch."""
    epoch = 1
    while True:
        for done, batch, visit in session.stream(epoch):
            session.parser.model.train()
            words = int(batch.inputs.words.sum())
            yield words, partial(session.step, batch, 0.02 + 0.1 * done, visit)
        epoch += 1


def parsing(session: Session) -> Iterator[tuple[int, Callable[[], object]]]:
    """Batches of the training sentences, parsed."""
    sentences = session.plan.train
    groups = group_by_length([len(s) for s in sentences], PARSING_BATCH)
    np.random.default_rng(1).shuffle(groups)
    for group in cycle(groups):
        batch = [sentences[k] for k in group]
        yield sum(map(len, batch)), partial(session.parser.parse_batch, batch)


def report(what: str, runners: list[Runner], options: argparse.Namespace) -> None:
    """Run all alternately; print the time per word of each, and its speed relative to the first."""
    for runner in runners:
        runner.go()
        runner.words, runner.seconds = 0, 0.0
    while sum(runner.seconds for runner in runners) < options.seconds:
        for runner in runners:
            runner.go()
    print_line(f"{what}, {options.threads} thread{'s' * (options.threads > 1)}\n")
    for runner in runners:
        speed = runners[0].microseconds / runner.microseconds
        print_line(f"  {runner.name:<38}{runner.microseconds:8.1f} us/word   speed {speed:.2f}\n")


def compare_processes(options: argparse.Namespace) -> None:
    """Epochs of train.py in one process and in two, each on one thread."""
    for tokens in options.tokens:
        one = epoch_speed(options, tokens, 1)
        two = epoch_speed(options, tokens, 2)
        again = epoch_speed(options, tokens, 1)
        alone = (one + again) / 2
        print_line(f"  {tokens:>6} tokens per batch   1 process {alone:7,.0f} tokens/s   ")
        print_line(f"2 processes {two:7,.0f}   ratio {two / alone:.2f}\n")


def epoch_speed(options: argparse.Namespace, tokens: int, processes: int) -> float:
    """Tokens per second of the second epoch."""
    run = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    train = [str(TRAIN_SCRIPT), "treebank=ud", f"treebank.root={options.root}"]
    train += [f"treebank.name={options.name}", "threads=1", "trainer.epochs=2", "device=cpu"]
    train += [f"trainer.max_tokens_per_batch={tokens}", "resume=false"]
    command = [sys.executable, *(run if processes > 1 else []), *train]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as directory:
        ran = subprocess.run(
            [*command, f"output={directory}"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    line = next(line for line in ran.stdout.splitlines() if line.startswith("epoch   2/2"))
    return float(line.split()[-2].replace(",", ""))


def print_line(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
