"""One training, from options to results: the work of `dyparse train`."""

import json
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import torch
from omegaconf import DictConfig, OmegaConf

from dyparse.config.application import as_overrides, compose_options
from dyparse.config.build import build, checked, construct, require_loadable
from dyparse.config.choices import outside_modules, text_of
from dyparse.config.options import TrainOptions, as_written
from dyparse.config.training_command import training_command
from dyparse.data.columns.pseudo_projective import encoded
from dyparse.data.sentence import MOST_WORDS, Sentence
from dyparse.errors import (
    CheckpointError,
    ConfigError,
    DyparseError,
    DyparseWarning,
    NoSplitError,
)
from dyparse.evaluation.measure import Trained, calibrate, keep_result, measure_splits
from dyparse.evaluation.run_result import (
    RESULT,
    Cell,
    analysed_split,
    read_result,
    shared_setting,
    was_evaluated,
)
from dyparse.feature import load_features, missing_columns
from dyparse.head import load_heads
from dyparse.logger import Logger
from dyparse.model.checkpoint import read_metrics, write_config, write_metrics
from dyparse.model.checkpoint_files import MODEL
from dyparse.model.parser import Parser
from dyparse.model.parts import PLAIN, ModelConfig
from dyparse.model.sizes import ScorerSizes
from dyparse.runtime.console import print_line
from dyparse.runtime.device import prepare_device, restoring_threads
from dyparse.runtime.launch import launched
from dyparse.runtime.locks import exclusive_directory
from dyparse.runtime.signals import deferring_signals
from dyparse.tensors.dropout import leave_uncompiled
from dyparse.tensors.precision import resolved
from dyparse.training import loop
from dyparse.training.distributed import distributed_training
from dyparse.training.messages import (
    describe_run,
    epoch_line,
    next_commands,
    place,
    result_table,
)
from dyparse.training.resume import NAME, TrainingFile
from dyparse.training.run_directory import (
    METRICS,
    TrainedRun,
    directory_of,
    explaining_write_errors,
    identity,
    model_saver,
    named_by_content,
    prepare_directory,
    require_place,
    run_directory,
    save_nothing,
    shareable,
)
from dyparse.training.session import Session, TrainingPlan
from dyparse.training.settings import TrainingSettings
from dyparse.treebank import Treebank
from dyparse.treebank._names import with_named_treebanks

Read: TypeAlias = Callable[[Treebank, str], list[Sentence]]  # the sentences of a split


@dataclass(frozen=True)
class Run:
    """A training, with everything built that takes part in it."""

    options: TrainOptions
    public_config: DictConfig  # the options without places of the user's machine
    treebank: Treebank
    splits: dict[str, list[Sentence]]
    parser: Parser
    plan: TrainingPlan
    settings: TrainingSettings
    file: TrainingFile
    directory: Path
    device: torch.device


def from_disk(treebank: Treebank, split: str) -> list[Sentence]:
    """The sentences of a split, read from the treebank."""
    return treebank.read(split)


def train(config: DictConfig, *, read: Read = from_disk) -> dict[str, Any]:
    """Train a parser as configured; its results on dev and test."""
    run = build_run(config, read)
    with ExitStack() as stack:
        world = stack.enter_context(distributed_training(run.device))
        prepared = prepare(run, stack) if world.is_first else True
        prepared = world.broadcast(prepared)  # nobody reads before it is written
        if isinstance(prepared, DyparseError):
            raise prepared
        if not prepared:
            return finished_results(run)
        print_line(describe_run(run.parser, run.plan, place(run.device, world)))
        if world.is_first and not run.options.start:
            run = replace(
                run,
                parser=loop.with_trained_tokenizer(run.parser, run.plan, run.file, run.directory),
            )
        if run.options.compile:
            leave_uncompiled()
            run.parser.model.encoder.compile(dynamic=True)
        session = Session(run.settings, run.parser, run.plan, world)
        if world.is_first:
            return train_and_save(run, session)
        deque(loop.train(session, save_nothing, run.file), maxlen=0)
        return {}


def train_with(overrides: Sequence[str], options: dict[str, Any]) -> TrainedRun:
    """Train with overrides such as `trainer.epochs=3`, and options by name; see `dyparse.train`."""
    if launched():
        raise ConfigError(
            "dyparse.train is for one process; for several use: torchrun … -m dyparse train"
        )
    config = compose_options("train", with_named_treebanks(as_overrides(overrides, options)))
    with restoring_threads():
        train(config)
    return TrainedRun.read(directory_of(config))


def build_run(config: DictConfig, read: Read) -> Run:
    """Build what the options ask for, and read the treebank; nothing is written yet."""
    options: TrainOptions = checked(config, TrainOptions)
    treebank: Treebank = build(options.treebank, "treebank")
    model_config = build_model_config(options)
    exploration, loss = build(options.exploration, "exploration"), build(options.loss, "loss")
    settings: TrainingSettings = construct(TrainingSettings, options.trainer, "trainer")
    build(options.logger, "logger")
    device = prepare_device(options.device, options.threads, options.seed)
    named = named_by_content(config)
    directory = run_directory(named, treebank.name)
    require_place(directory)

    print_line(f"treebank  {treebank.describe()}")
    splits = read_splits(treebank, settings.max_sentences, read)
    warn_of_long_sentences(splits["train"])
    train = encoded(splits["train"], options.projectivity)
    parser = parser_to_train(model_config, train, options.start)
    if missing := missing_columns(parser.collator.features, splits["train"]):
        raise ConfigError(
            f"the encoder reads {missing[0]}, but that column of {treebank.name} is empty; "
            "tag the treebank, or leave the column out of encoder.features"
        )
    rehearse_loading(parser, splits["train"][:2])
    gains = parser.model.encoder.gains_from_bfloat16
    what = identity(named, splits, resolved(settings.precision, device, gains=gains))
    file = TrainingFile(directory / NAME, what, options.checkpoint_minutes)
    parser.model.to(device)
    plan = TrainingPlan(exploration, loss, train, splits["dev"], options.seed)
    return Run(
        options, shareable(named), treebank, splits, parser, plan, settings, file, directory, device
    )


def build_model_config(options: TrainOptions) -> ModelConfig:
    """The choices that the model is made from; ConfigError if one is wrong."""
    system, encoder = build(options.system, "system"), build(options.encoder, "encoder")
    tokenizer = build(options.tokenizer, "tokenizer")
    try:
        heads = load_heads(options.heads)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    sizes = construct(ScorerSizes, options.network, "network")
    try:
        features = load_features(encoder.features, "encoder.features")
        config = ModelConfig(system, encoder, heads, sizes, tokenizer, options.projectivity)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    named = [("system", system), ("encoder", encoder), ("tokenizer", tokenizer)]
    named += [("head", head) for head in heads] + [("feature", feature) for feature in features]
    for choice, chosen in named:
        require_loadable(choice, chosen)
    return config


def read_splits(
    treebank: Treebank, max_sentences: int | None, read: Read
) -> dict[str, list[Sentence]]:
    """Train, dev and, if there is one, test: all read before any work is done."""
    splits = {split: read(treebank, split)[:max_sentences] for split in ("train", "dev")}
    try:
        splits["test"] = read(treebank, "test")[:max_sentences]
    except NoSplitError as error:
        print_line(f"          no test results: {error}")
    return splits


def warn_of_long_sentences(sentences: Iterable[Sentence]) -> None:
    """Warn of sentences that oracles may take very long for."""
    for sentence in sentences:
        if len(sentence) > MOST_WORDS:
            warnings.warn(
                f"{sentence.place} has {len(sentence)} words; training on it takes time that "
                f"grows with their cube: expected at most {MOST_WORDS}, split it or leave it out",
                DyparseWarning,
                stacklevel=2,
            )


def parser_to_train(
    config: ModelConfig, sentences: Sequence[Sentence], start: str | None
) -> Parser:
    """The parser that training starts from: an untrained one, or a trained one of these options."""
    if not start:
        return untrained_parser(config, sentences)
    parser = Parser.load(start, precision="float32")
    has, wanted = parser.parts.config.options(), config.fitted(sentences).options()
    for name in sorted(set(has) | set(wanted)):
        if has.get(name) != wanted.get(name):
            raise ConfigError(
                f"start={start}: a model with {name} {as_written(has.get(name))}, expected "
                f"{as_written(wanted.get(name))}, as in the options; give those that it has"
            )
    return parser


def untrained_parser(config: ModelConfig, sentences: Sequence[Sentence]) -> Parser:
    """A parser that knows the words of the sentences; ConfigError if it cannot be made."""
    try:
        return Parser.untrained(config, sentences)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    except (RuntimeError, MemoryError, OverflowError, TypeError) as error:  # absurd sizes
        if outside_modules(config.choices()):
            raise  # a mistake of theirs, for their eyes
        raise ConfigError(
            f"encoder and network cannot be made ({str(error).splitlines()[0][:200]}); make "
            "encoder.hidden, network.hidden or the widths of the encoder smaller"
        ) from error


def rehearse_loading(parser: Parser, sentences: Sequence[Sentence]) -> None:
    """ConfigError if a model with classes from outside the package could not be loaded again."""
    if not outside_modules(parser.parts.config.choices()):
        return
    parser = parser.with_tokenizer(PLAIN, PLAIN)  # its own is not trained yet
    parsed = parser.parse(sentences)
    try:
        with TemporaryDirectory() as directory:
            parser.save(Path(directory) / "model", {})
            again = Parser.load(Path(directory) / "model").parse(sentences)
    except CheckpointError as error:
        raise ConfigError(f"this model could not be loaded again: {error}") from error
    if again != parsed:
        raise ConfigError(
            "this model would parse differently after it is loaded again; does its encoder keep "
            "something that is neither a parameter, a buffer nor a file?"
        )


def prepare(run: Run, stack: ExitStack) -> bool | DyparseError:
    """Lock the run's directory and prepare it; the first rank does this for all.

    Whether there is something to train, or the error that all ranks are to raise.
    """
    try:
        stack.enter_context(exclusive_directory(run.directory))
        return prepare_directory(run.directory, run.public_config, run.file)
    except DyparseError as error:
        return error


def finished_results(run: Run) -> dict[str, Any]:
    """The results of a run that was finished before, printed again."""
    read_result(run.directory / RESULT)
    with saved_by_training():
        Parser.load(run.directory / MODEL, run.device)
    metrics = read_metrics(run.directory / MODEL)
    results: dict[str, Any] = {s: metrics[s] for s in ("dev", "test") if s in metrics}
    if not was_evaluated(run.directory, run.splits):
        warnings.warn(
            "the test sentences have changed since: these scores are from the previous test set; "
            "score the new one with dyparse evaluate",
            DyparseWarning,
            stacklevel=2,
        )
    print_line(
        f"finished  already; train from the beginning with resume=false\n{result_table(results)}"
    )
    print_next_commands(run)
    return results


def train_and_save(run: Run, session: Session) -> dict[str, Any]:
    """The work of the first rank: train, save the best parser, log; the results."""
    logger: Logger = build(run.options.logger, "logger")
    config: dict[str, Any] = OmegaConf.to_container(run.public_config)  # type: ignore[assignment]  # a DictConfig gives a dict
    log = logger.open(run.directory, config)
    failed = True
    try:
        with explaining_write_errors(run.file):
            # Several processes wait for each other: there a signal ends them as they are.
            with deferring_signals(run.file.stop) if session.world.size == 1 else nullcontext():
                epochs = loop.train(session, model_saver(run.directory), run.file)
                curve = follow_training(epochs, run.settings.epochs, run.directory, log)
            run.file.stop_if_asked()  # since the last epoch
            results = finish(run, curve)
            log.finish(results, run.directory / MODEL)
            run.file.finish()
        failed = False
    finally:
        log.close(failed=failed)
    return results


@contextmanager
def saved_by_training() -> Iterator[None]:
    """Adds the remedy to errors about a model that a training has saved."""
    try:
        yield
    except CheckpointError as error:
        raise CheckpointError(
            f"{error}; it was sound when the training saved it: train with resume=false"
        ) from error


def finish(run: Run, curve: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Results of the parser that was saved, printed and written down."""
    model = run.directory / MODEL
    best_epoch = max(curve, key=lambda figures: figures["dev_las"])
    # Again: a kill may have come between results that were being written and their checksum.
    with saved_by_training():
        write_metrics(model, {"best_epoch": best_epoch})
        write_config(model, run.parser.parts)
        best = Parser.load(model, run.device)
    calibration, of_confidence = calibrate(best, run.splits["dev"])
    write_config(model, replace(best.parts, calibration=calibration))
    measured = measure_splits(best, run.splits)
    results = {split: found.figures() for split, found in measured.items()}
    print_line(result_table(results))
    write_metrics(model, {"best_epoch": best_epoch, **results, "confidence": of_confidence})
    system, exploration, loss = map(
        text_of, (run.parser.system, run.plan.exploration, run.plan.loss)
    )
    cell = Cell(system, exploration, loss, run.treebank.name, run.options.seed)
    setting = shared_setting(checked(run.public_config, TrainOptions))
    trained = Trained(cell, setting, curve, training_command(run.public_config))
    keep_result(run.directory, trained, measured, run.splits)
    print_next_commands(run)
    return results


def print_next_commands(run: Run) -> None:
    """Print where the model is, and what can be done with it."""
    imports = outside_modules(run.parser.parts.config.choices())
    split = analysed_split(run.splits)
    print_line(next_commands(run.directory / MODEL, run.treebank, imports, split=split))


def follow_training(
    epochs: Iterable[dict[str, float]], total: int, directory: Path, log: Any
) -> list[dict[str, float]]:
    """A line per epoch on the terminal and in metrics.jsonl; the figures of all epochs."""
    curve = []
    start = time.perf_counter()
    with (directory / METRICS).open("w", encoding="utf-8") as metrics:
        for figures in epochs:
            metrics.write(json.dumps(figures) + "\n")
            metrics.flush()
            curve.append(figures)
            log.epoch(figures)
            print_line(epoch_line(figures, total))
    print_line(f"trained in {time.perf_counter() - start:.0f} s")
    return curve
