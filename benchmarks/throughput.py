"""Speed of training and parsing, relative to the encoder alone, and where the time goes.

    python benchmarks/throughput.py --root DIR --name UD_English-LinES
    python benchmarks/throughput.py --root DIR --only training --threads 1 --profile trace.json

Ratios: every batch is timed both ways, one after the other, so that whatever else the machine does
slows down both. *Encoder alone* is forward, backward and optimizer on a collated batch (training),
or forward (parsing), as torch runs it on the same number of threads. *Training* is the whole step:
collating, encoding, rollout with oracle, loss, backward, optimizer, averaging. *Parsing* is
everything from sentences to sentences with trees. Stages: the same again, with a stopwatch.
"""

import dyparse.runtime.entry  # noqa: I001 - before torch is imported: how OpenMP waits

import argparse
import copy
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count, cycle
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

import dyparse.training.session
import dyparse.training.step
import dyparse.system
from dyparse.data.sampler import group_by_length
from dyparse.config.choices import load
from dyparse.training.session import Session, TrainingPlan
from dyparse.encoder.bilstm import BiLSTM
from dyparse.encoder.transformer import Transformer
from dyparse.runtime.device import find_device
from dyparse.loss.set_nll import SetNLL
from dyparse.tensors.adamw import AdamW
from dyparse.tensors.moving_average import MovingAverage
from dyparse.model.sizes import ScorerSizes
from dyparse.model.parser import Parser
from dyparse.config.precisions import TRAINING as PRECISIONS
from dyparse.tensors.precision import encoder_precision, resolved
from dyparse.data.sentence import Sentence
from dyparse.training.replay_buffer import ReplayBuffer
from dyparse.training.settings import TrainingSettings
from dyparse.data.conllu import read_sentences
from dyparse.treebank.sample import Sample
from dyparse.treebank.ud import UD
from dyparse.data.batch import gold_heads
from dyparse.decoding.greedy import Greedy
from dyparse.head import load_heads
from dyparse.head._label_head import LabelHead
from dyparse.tensors.optimizer import Optimizer
from dyparse.training.batches import Batches
from dyparse.model.parts import ModelConfig
from rollout_profile import kernel_fractions
from stages import Stopwatch

READ = ["word", "subword", "upos"]  # as experiment=gold_tags
PARSING_BATCH = 2000
WARM_UP = 5  # steps
EPOCH = 3  # explorations explore from the second on; DAgger replays earlier rollouts


Step: TypeAlias = tuple[list[int], Callable[[], object]]  # indices of sentences, the work


@dataclass(frozen=True)
class Bench:
    """A parser with fresh weights, on the training set of a treebank."""

    parser: Parser
    sentences: list[Sentence]
    settings: TrainingSettings
    exploration: str
    seconds: float

    def session(self, exploration: str | None = None) -> Session:
        """A training that has just started."""
        chosen = load("exploration", exploration or self.exploration)
        plan = TrainingPlan(chosen, SetNLL(), self.sentences, self.sentences[:1], seed=1)
        return Session(self.settings, self.parser, plan)

    def training_groups(self) -> list[list[int]]:
        lengths = self.parser.collator.lengths(self.sentences)
        return group_by_length(
            lengths, self.settings.max_tokens_per_batch, np.random.default_rng(1)
        )

    def parsing_groups(self) -> list[list[int]]:
        groups = group_by_length(self.parser.collator.lengths(self.sentences), PARSING_BATCH)
        np.random.default_rng(1).shuffle(groups)
        return groups

    def words(self, group: list[int]) -> int:
        return sum(len(self.sentences[k]) for k in group)


def main() -> None:
    options = command_line().parse_args()
    torch.manual_seed(1)
    if options.threads:
        torch.set_num_threads(options.threads)
    treebank = UD(options.root, options.name) if options.root else Sample()
    devices = [options.device]
    if options.device == "auto":
        devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    with profiled(options.profile):
        for device in devices:
            measure_on(device, treebank, options)


def measure_on(device: str, treebank: UD | Sample, options: argparse.Namespace) -> None:
    """All measurements that were asked for, on one device."""
    sentences = treebank.read("train")
    system = dyparse.system.load(options.system)
    encoder = (
        Transformer(pretrained=options.pretrained) if options.pretrained else BiLSTM(features=READ)
    )
    config = ModelConfig(system, encoder, load_heads(["labels"]), ScorerSizes())
    parser = Parser.untrained(config, sentences)
    parser.model.to(find_device(device))
    settings = TrainingSettings(precision=options.precision, rollout_ahead=options.rollout_ahead)
    parser = replace(parser, precision=options.precision)
    bench = Bench(parser, sentences, settings, options.exploration, options.seconds)
    gains = parser.model.encoder.gains_from_bfloat16
    precision = resolved(options.precision, parser.model.device, gains=gains)
    print_line(
        f"{treebank.name}, {options.system}, {options.exploration}, {parser.model.device}, "
        f"{torch.get_num_threads()} threads, {precision}, torch {torch.__version__}\n"
    )
    for what in options.only or MEASUREMENTS:
        other, measure, stages = MEASUREMENTS[what]
        a, b = measure(bench)
        print_line(f"\n{what:<9}{a:8,.0f} tokens/s   {other:<14}{b:8,.0f}   ratio {a / b:.2f}\n")
        if stages and not options.ratios_only:
            print_line(stages(bench))


@contextmanager
def profiled(path: Path | None) -> Iterator[None]:
    """Write a trace of the body, for Perfetto or chrome://tracing."""
    if path is None:
        yield
        return
    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(ProfilerActivity.CUDA)
    with profile(activities=activities) as trace:
        yield
    trace.export_chrome_trace(str(path))
    print_line(f"\ntrace written to {path}: open it in Perfetto or chrome://tracing\n")


def command_line() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--root", help="directory of UD treebanks (default: the sample treebank)")
    options.add_argument(
        "--name", default="UD_English-LinES", help="treebank in root (default: %(default)s)"
    )
    options.add_argument(
        "--pretrained", metavar="DIR", default="", help="a transformer instead of the BiLSTM"
    )
    options.add_argument("--system", default="arc_eager", choices=dyparse.system.names())
    options.add_argument("--exploration", default="dagger_replay", help="(default: %(default)s)")
    options.add_argument(
        "--device", default="auto", help="cpu, cuda, or auto: both if there is a GPU (default)"
    )
    options.add_argument("--threads", type=int, help="threads of torch (default: all)")
    options.add_argument(
        "--precision", default="auto", choices=PRECISIONS, help="(default: %(default)s)"
    )
    options.add_argument("--rollout-ahead", action="store_true", help="trainer.rollout_ahead=true")
    options.add_argument(
        "--seconds", type=float, default=20, help="per measurement (default: %(default)s)"
    )
    options.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, help="what to measure (default: everything)"
    )
    options.add_argument("--ratios-only", action="store_true", help="do not time the stages")
    options.add_argument("--profile", type=Path, metavar="OUT", help="write a trace here (JSON)")
    return options


def wait(device: torch.device) -> None:
    """Wait until a GPU has finished its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def training_session(bench: Bench, exploration: str | None = None) -> Session:
    """A training as it is in the middle: states are kept, and the average has been formed."""
    session = bench.session(exploration)
    bench.parser.model.train()
    session.optimizer.average.updates = 100
    if session.plan.exploration.keeps_states:
        for epoch in range(1, EPOCH):
            for number, group in enumerate(bench.training_groups()):
                batch = session.batches.make(group, epoch, number)
                session.visit(batch, session.batch_loss.scorer(batch))
    return session


def training_steps(bench: Bench, exploration: str | None = None) -> Iterator[Step]:
    """Steps one after the other, as a training makes them: each with its sentences.

    The batch of the next one is made meanwhile, on another thread.
    """
    session = training_session(bench, exploration)
    while True:
        for done, batch, visit in session.stream(EPOCH):
            yield batch.indices, partial(session.step, batch, done, visit)


def time_training(bench: Bench) -> tuple[float, float]:
    """Tokens per second of training steps, and of the encoder alone on the same batches."""
    model = bench.parser.model
    encoder = copy.deepcopy(model.encoder).train()
    learned = [p for p in encoder.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=1e-4, fused=True)
    gains = encoder.gains_from_bfloat16

    def encoder_alone(group: list[int]) -> Callable[[], None]:
        keys = np.arange(len(group), dtype=np.uint64)
        batch = bench.parser.collator.batch([bench.sentences[k] for k in group], keys)
        batch = batch.to(model.device)

        def step() -> None:
            optimizer.zero_grad(set_to_none=True)
            with encoder_precision(bench.settings.precision, model.device, gains=gains):
                encoded = encoder(batch)
            encoded.sum().backward()
            optimizer.step()

        return step

    return time_both(bench, training_steps(bench), encoder_alone)


def time_parsing(bench: Bench) -> tuple[float, float]:
    """Tokens per second of parsing, and of the encoder alone on the same batches.

    Batches are parsed in parallel, as many at a time as there are threads.
    """
    parser = bench.parser
    model = parser.model.eval()
    groups = bench.parsing_groups()
    several = [[*chain.from_iterable(groups[k : k + 4])] for k in range(0, len(groups), 4)]

    def encoder_alone(group: list[int]) -> Callable[[], None]:
        lengths = parser.collator.lengths([bench.sentences[k] for k in group])
        batches = [
            parser.collator.batch([bench.sentences[group[k]] for k in part]).to(model.device)
            for part in group_by_length(lengths, PARSING_BATCH)
        ]

        @torch.inference_mode()
        def step() -> None:
            gains = model.encoder.gains_from_bfloat16
            with encoder_precision(parser.precision, model.device, gains=gains):
                for batch in batches:
                    model.encoder(batch)

        return step

    def whole(group: list[int]) -> Callable[[], object]:
        chosen = [bench.sentences[k] for k in group]
        return lambda: list(parser.parse_sentences(chosen, max_tokens_per_batch=PARSING_BATCH))

    return time_both(bench, ((g, whole(g)) for g in cycle(several)), encoder_alone)


def time_oracles(bench: Bench) -> tuple[float, float]:
    """Tokens per second of dynamic and of static training."""
    static = training_session(bench, "static")

    def static_step(group: list[int]) -> Callable[[], object]:
        return partial(static.step, static.batches.make(group, EPOCH, 0), 0.5)

    return time_both(bench, training_steps(bench, "explore"), static_step)


def time_both(
    bench: Bench,
    first: Iterator[Step],
    second: Callable[[list[int]], Callable[[], object]],
) -> tuple[float, float]:
    """Tokens per second of two ways to process the same sentences, alternately until time is up."""
    device = bench.parser.model.device
    words, spent = 0, [0.0, 0.0]
    for turn in count():
        start = time.perf_counter()
        group, step = next(first)
        seconds = [time.perf_counter() - start, 0.0]
        steps = [step, second(group)]
        for k in (0, 1) if turn % 2 else (1, 0):  # neither always has warm caches
            wait(device)
            start = time.perf_counter()
            steps[k]()
            wait(device)
            seconds[k] += time.perf_counter() - start
        if turn < WARM_UP:  # compilation, allocation
            continue
        spent = [a + b for a, b in zip(spent, seconds, strict=True)]
        words += bench.words(group)
        if sum(spent) >= bench.seconds:
            break
    return words / spent[0], words / spent[1]


def training_stages(bench: Bench) -> str:
    """A table of the stages of training."""
    steps, clock = training_steps(bench), Stopwatch(bench.parser.model.device)
    for _, (_, step) in zip(range(WARM_UP), steps, strict=False):
        step()
    network = type(bench.parser.model)
    places = [
        (Batches, "make", "collating"),
        (network, "encode", "encoding"),
        (network, "table", "rollout: table"),
        (dyparse.training.session, "rollout", "rollout"),
        (dyparse.training.step, "host_tensors", "states to the device"),
        (ReplayBuffer, "add", "replay buffer"),
        (ReplayBuffer, "sample", "replay buffer"),
        (network, "score", "loss: scores of states"),
        (SetNLL, "__call__", "loss"),
        (LabelHead, "forward", "loss: labels"),
        (LabelHead, "loss", "loss: labels"),
        (torch.autograd, "grad", "backward"),
        (torch.Tensor, "backward", "backward"),
        (Optimizer, "clip_gradients", "optimizer: clipping"),
        (AdamW, "step", "optimizer"),
        (MovingAverage, "follow", "optimizer: averaging"),
    ]
    words, start = 0, time.perf_counter()
    with clock.on(*places):
        for group, step in steps:
            step()
            words += bench.words(group)
            if time.perf_counter() - start > bench.seconds:
                break
    whole = time.perf_counter() - start
    split_by_kernel(bench, clock, "rollout", bench.training_groups()[0])
    return clock.table(words, whole)


def parsing_stages(bench: Bench) -> str:
    """A table of the stages of parsing a file, reading and writing included."""
    parser, clock = bench.parser, Stopwatch(bench.parser.model.device)
    network = type(parser.model)
    places = [
        (type(parser.collator), "batch", "collating"),
        (network, "encode", "encoding"),
        (network, "table", "decoding: table"),
        (Greedy, "decode", "decoding"),
        (LabelHead, "forward", "labels"),
        (Parser, "with_predictions", "trees"),
        (Sentence, "to_conllu", "writing"),
    ]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "input.conllu"
        path.write_text("".join(s.to_conllu() for s in bench.sentences[:2000]), encoding="utf-8")
        words = sum(map(len, bench.sentences[:2000]))
        start = time.perf_counter()
        with clock.on(*places):
            stream = read_sentences(str(path), trees=False)
            with clock.stage("reading"):
                read = list(stream)
            for sentence in parser.parse_sentences(read, max_tokens_per_batch=PARSING_BATCH):
                sentence.to_conllu()
        whole = time.perf_counter() - start
    split_by_kernel(bench, clock, "decoding", bench.parsing_groups()[0])
    return clock.table(words, whole)


def split_by_kernel(bench: Bench, clock: Stopwatch, stage: str, group: list[int]) -> None:
    """Split the time of a rollout, or of decoding, by kernel."""
    parser = bench.parser
    sentences = [bench.sentences[k] for k in group]
    with torch.inference_mode():
        model = parser.model.eval()
        batch = parser.collator.batch(sentences)
        scorer = model.scorer(model.table(model.encode(batch.to(model.device)).vectors))()
    gold = gold_heads(sentences) if stage == "rollout" else None
    seconds = clock.seconds.pop(stage)
    for name, fraction in kernel_fractions(parser.system, scorer, batch.words, gold).items():
        clock.seconds[name if name == "oracle" else f"{stage}: {name}"] += seconds * fraction


MEASUREMENTS = {
    "training": ("encoder alone", time_training, training_stages),
    "parsing": ("encoder alone", time_parsing, parsing_stages),
    "dynamic": ("static", time_oracles, None),
}


def print_line(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
