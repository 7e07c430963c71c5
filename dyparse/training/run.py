"""One training, from options to results: what train.py does."""

import json
import time
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig, OmegaConf

from dyparse.config.build import build, checked, construct, require_loadable
from dyparse.config.choices import name_of, outside_modules, text_of
from dyparse.config.options import TrainOptions
from dyparse.data.batch import require_columns
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Vocabulary
from dyparse.encoder import EncoderChoice
from dyparse.errors import (
    CheckpointError,
    ConfigError,
    DyparseError,
    DyparseWarning,
)
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.evaluation.run_result import (
    RESULT,
    Cell,
    keep_result,
    read_result,
    shared_setting,
    was_evaluated,
)
from dyparse.logger import Logger
from dyparse.model.checkpoint import read_metrics, write_metrics
from dyparse.model.parser import Parser
from dyparse.model.sizes import ScorerSizes
from dyparse.runtime.console import print_line
from dyparse.runtime.device import prepare_device
from dyparse.runtime.locks import exclusive_directory
from dyparse.runtime.signals import deferring_signals
from dyparse.system import System
from dyparse.tensors.dropout import leave_uncompiled
from dyparse.tensors.precision import resolved
from dyparse.training.distributed import World, distributed_training
from dyparse.training.loop import Trainer
from dyparse.training.messages import (
    describe_run,
    epoch_line,
    next_commands,
    place,
    result_table,
)
from dyparse.training.resume import NAME, TrainingFile
from dyparse.training.run_directory import (
    MODEL,
    explaining_write_errors,
    identity,
    model_saver,
    prepare_directory,
    require_place,
    run_directory,
    save_nothing,
    shareable,
)
from dyparse.training.session import Lesson
from dyparse.training.splits import (
    Read,
    from_disk,
    read_splits,
    warn_of_long_sentences,
)
from dyparse.treebank import Treebank


@dataclass(frozen=True)
class Run:
    """A training, with everything built that takes part in it."""

    options: TrainOptions
    treebank: Treebank
    splits: dict[str, list[Sentence]]
    parser: Parser
    lesson: Lesson
    trainer: Trainer
    file: TrainingFile
    directory: Path
    device: torch.device


def train(config: DictConfig, choices: dict[str, str], *, read: Read = from_disk) -> dict[str, Any]:
    """Train a parser as configured; its results on dev and test."""
    run = built_run(config, read)
    with ExitStack() as stack:
        processes = stack.enter_context(distributed_training(run.device))
        beginning = begin(run, config, stack) if processes.is_first else True
        beginning = processes.broadcast(beginning)  # nobody reads before it is written
        if isinstance(beginning, DyparseError):
            raise beginning
        if not beginning:
            return finished_results(run)
        chosen = (run.parser.system, run.lesson.exploration, run.lesson.loss)
        names = dict(zip(("system", "exploration", "loss"), map(name_of, chosen), strict=True))
        where = place(run.device, processes)
        print_line(describe_run(run.parser, run.lesson, choices | names, where))
        if run.options.compile:
            leave_uncompiled()
            run.parser.model.encoder.compile(dynamic=True)
        if processes.is_first:
            return lead(run, shareable(config), processes)
        parts = (run.parser, run.lesson, save_nothing)
        deque(run.trainer.train(*parts, file=run.file, processes=processes), maxlen=0)
        return {}


def begin(run: Run, config: DictConfig, stack: ExitStack) -> bool | DyparseError:
    """What the first process does before all: take the run's directory and prepare it.

    Whether there is something to train, or the error that all processes are to raise.
    """
    try:
        stack.enter_context(exclusive_directory(run.directory))
        return prepare_directory(run.directory, config, run.file)
    except DyparseError as error:
        return error


def finished_results(run: Run) -> dict[str, Any]:
    """The results of a run that was finished before, told again."""
    read_result(run.directory / RESULT)
    with it_was_whole():
        Parser.load(run.directory / MODEL, run.device)
    metrics = read_metrics(run.directory / MODEL)
    results: dict[str, Any] = {s: metrics[s] for s in ("dev", "test") if s in metrics}
    if not was_evaluated(run.directory, run.splits):
        warnings.warn(
            "the test sentences have changed since: these are the scores on those of then; "
            "score the others with evaluate.py",
            DyparseWarning,
            stacklevel=2,
        )
    print_line(
        f"finished  already; train from the beginning with resume=false\n{result_table(results)}"
    )
    print_line(next_commands(run.directory / MODEL, run.treebank, needed_modules(run)))
    return results


def built_run(config: DictConfig, read: Read) -> Run:
    """What the options say, built and read; nothing is written yet."""
    options: TrainOptions = checked(config, TrainOptions)
    treebank: Treebank = build(options.treebank, "treebank")
    system, encoder = build(options.system, "system"), build(options.encoder, "encoder")
    require_loadable("system", system)
    require_loadable("encoder", encoder)
    exploration, loss = build(options.exploration, "exploration"), build(options.loss, "loss")
    network = construct(ScorerSizes, options.network, "network")
    trainer: Trainer = build(options.trainer, "trainer")
    build(options.logger, "logger")
    device = prepare_device(options.device, options.threads, options.seed)
    directory = run_directory(config, treebank.name)
    require_place(directory)

    print_line(f"treebank  {treebank.describe()}")
    splits = read_splits(treebank, trainer.max_sentences, read)
    warn_of_long_sentences(splits["train"])
    remedy = "leave the column out of encoder.features"
    require_columns(encoder.features, splits["train"], treebank.name, remedy)
    what = identity(config, splits, resolved(trainer.precision, device))
    file = TrainingFile(directory / NAME, what, options.checkpoint_minutes)
    parser = fresh_parser(system, encoder, network, splits["train"])
    parser.model.to(device)
    lesson = Lesson(exploration, loss, splits["train"], splits["dev"], options.seed)
    return Run(options, treebank, splits, parser, lesson, trainer, file, directory, device)


def fresh_parser(
    system: System, encoder: EncoderChoice, network: ScorerSizes, sentences: Sequence[Sentence]
) -> Parser:
    """A parser that knows the words of the sentences; ConfigError if it is too large to be made."""
    try:
        vocabulary = Vocabulary.from_sentences(sentences)
        return Parser.with_fresh_weights(system, encoder, network, vocabulary)
    except (RuntimeError, MemoryError, OverflowError, TypeError) as error:  # absurd sizes
        raise ConfigError(
            f"encoder and network cannot be made ({str(error).splitlines()[0][:200]}); make "
            "encoder.hidden, network.hidden or the widths of the encoder smaller"
        ) from error


def lead(run: Run, told: DictConfig, processes: World) -> dict[str, Any]:
    """What the first process does: train, keep the best parser, log; the results."""
    logger: Logger = build(run.options.logger, "logger")
    config: dict[str, Any] = OmegaConf.to_container(told)  # type: ignore[assignment]  # a DictConfig gives a dict
    log = logger.open(run.directory, config)
    failed = True
    try:
        with explaining_write_errors(run.file):
            # Several processes wait for each other: there a signal ends them as they are.
            with deferring_signals(run.file.stop) if processes.count == 1 else nullcontext():
                parts = (run.parser, run.lesson, model_saver(run.directory))
                epochs = run.trainer.train(*parts, file=run.file, processes=processes)
                curve = follow_training(epochs, run.trainer.epochs, run.directory, log)
            run.file.stop_if_asked()  # since the last epoch
            results = finish(run, curve)
            log.finish(results, run.directory / MODEL)
            run.file.finish()
        failed = False
    finally:
        log.close(failed=failed)
    return results


@contextmanager
def it_was_whole() -> Iterator[None]:
    """What is wrong with a model that a training has saved, and the remedy."""
    try:
        yield
    except CheckpointError as error:
        raise CheckpointError(
            f"{error}; it was whole when the training saved it: train with resume=false"
        ) from error


def finish(run: Run, curve: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Results of the parser that was kept, told and written down."""
    model = run.directory / MODEL
    best_epoch = max(curve, key=lambda figures: figures["dev_las"])
    # Anew: a kill may have come between results that were being written and their checksum.
    with it_was_whole():
        write_metrics(model, {"best_epoch": best_epoch})
        best = Parser.load(model, run.device)
    results = final_results(best, run.splits)
    write_metrics(model, {"best_epoch": best_epoch, **results})
    system, exploration, loss = map(
        text_of, (run.parser.system, run.lesson.exploration, run.lesson.loss)
    )
    cell = Cell(system, exploration, loss, run.treebank.name, run.options.seed)
    keep_result(run.directory, cell, shared_setting(run.options), curve, run.splits, best)
    print_line(next_commands(model, run.treebank, needed_modules(run)))
    return results


def needed_modules(run: Run) -> list[str]:
    """Modules outside the package that must be imported before the model can be loaded."""
    return outside_modules((run.parser.system, run.parser.encoder))


def follow_training(
    epochs: Iterable[dict[str, float]], total: int, directory: Path, log: Any
) -> list[dict[str, float]]:
    """A line per epoch on the terminal and in metrics.jsonl; the figures of all epochs."""
    curve = []
    start = time.perf_counter()
    with (directory / "metrics.jsonl").open("w", encoding="utf-8") as metrics:
        for figures in epochs:
            metrics.write(json.dumps(figures) + "\n")
            metrics.flush()
            curve.append(figures)
            log.epoch(figures)
            print_line(epoch_line(figures, total))
    print_line(f"trained in {time.perf_counter() - start:.0f} s")
    return curve


def final_results(parser: Parser, splits: dict[str, list[Sentence]]) -> dict[str, dict[str, float]]:
    """Results on dev and test, printed."""
    named = {split: sentences for split, sentences in splits.items() if split != "train"}
    results = {split: evaluate_quickly(parser, sentences) for split, sentences in named.items()}
    print_line(result_table(results))
    return results


def evaluate_quickly(parser: Parser, sentences: Sequence[Sentence]) -> dict[str, float]:
    """UAS and LAS over all words, and the speed of parsing."""
    list(parser.parse_sentences(sentences[:10]))  # compiles, where nothing is in the cache
    start = time.perf_counter()
    parsed = list(parser.parse_sentences(sentences))
    seconds = time.perf_counter() - start
    scores = attachment_scores(sentences, parsed)
    return {
        "uas": scores.uas,
        "las": scores.las,
        "sentences": len(sentences),
        "words": scores.words,
        "sentences_per_second": len(sentences) / seconds,
    }
