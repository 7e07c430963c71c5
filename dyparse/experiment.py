"""One run, from options to results: what train.py and evaluate.py do."""

import hashlib
import json
import os
import random
import shlex
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from omegaconf import DictConfig, OmegaConf
from tqdm import tqdm

from dyparse.attachment_scores import align_words, attachment_scores
from dyparse.checkpoint import read_metrics
from dyparse.choice import text_of
from dyparse.config import (
    NOT_HASHED,
    EvaluateOptions,
    TrainOptions,
    build,
    checked,
    construct,
    require_seed,
    run_directory,
)
from dyparse.course import Lesson
from dyparse.dropout import leave_uncompiled
from dyparse.errors import ConfigError, DyparseError, NoSplitError
from dyparse.network import Network
from dyparse.output_file import write
from dyparse.parser import Parser
from dyparse.precision import resolved
from dyparse.processes import Processes, is_first_launched, launched, training_together
from dyparse.run_result import (
    GOLD,
    PARSED,
    RESULT,
    Cell,
    RunResult,
    results_on,
    split_scores,
    versions,
)
from dyparse.score_report import ScoreReport, score_report
from dyparse.sentence import MOST_WORDS, Sentence
from dyparse.trainer import Trainer
from dyparse.training_state import NAME, TrainingFile
from dyparse.treebank import Treebank
from dyparse.vocabulary import Vocabulary

Read = Callable[[Treebank, str], list[Sentence]]  # the sentences of a split


def from_disk(treebank: Treebank, split: str) -> list[Sentence]:
    """Read them."""
    return treebank.read(split)


def train(config: DictConfig, choices: dict[str, str], *, read: Read = from_disk) -> dict[str, Any]:
    """Train a parser as configured; its results on dev and test."""
    options: TrainOptions = checked(config, TrainOptions)
    treebank: Treebank = build(options.treebank, "treebank")
    system, encoder = build(options.system, "system"), build(options.encoder, "encoder")
    exploration, loss = build(options.exploration, "exploration"), build(options.loss, "loss")
    network = construct(Network, options.network, "network")
    trainer: Trainer = build(options.trainer, "trainer")
    logger = build(options.logger, "logger")
    device = prepare_machine(options.device, options.threads, options.seed)

    say(f"treebank  {treebank.describe()}")
    splits = read_splits(treebank, trainer.max_sentences, read)
    train_sentences, dev = splits["train"], splits["dev"]
    warn_of_long_sentences(train_sentences)
    directory = run_directory(config, choices, treebank.name)
    text = OmegaConf.to_yaml(config, resolve=True)
    what = identity(config, splits, resolved(trainer.precision, device))
    file = TrainingFile(directory / NAME, what, options.checkpoint_minutes)
    parser = Parser.with_fresh_weights(
        system, encoder, network, Vocabulary.from_sentences(train_sentences)
    )
    parser.model.to(device)
    lesson = Lesson(exploration, loss, train_sentences, dev, options.seed)
    with training_together(device) as processes:
        if processes.is_first:
            prepare_directory(directory, text, file, resume=options.resume)
        processes.from_first(None)  # nobody reads before it is written
        say(describe_run(parser, train_sentences, dev, choices, place(device, processes)))
        if options.compile:
            leave_uncompiled()
            parser.model.encoder.compile(dynamic=True)
        if not processes.is_first:
            deque(trainer.train(parser, lesson, forget, file=file, processes=processes), maxlen=0)
            return {}
        log = logger.open(directory, OmegaConf.to_container(config, resolve=True))
        failed = True
        try:
            epochs = trainer.train(
                parser, lesson, keeper(directory), file=file, processes=processes
            )
            curve = follow_training(epochs, trainer.epochs, directory, log)
            chosen = (text_of(system), text_of(exploration), text_of(loss))
            cell = Cell(*chosen, treebank.name, options.seed)
            best = Parser.load(directory / "model", device)
            results = final_results(directory / "model", best, splits)
            keep_result(directory, cell, shared_setting(options), curve, splits, best)
            say(next_commands(directory / "model", options.treebank))
            log.finish(results, directory / "model")
            file.remove()
            failed = False
        finally:
            log.close(failed=failed)
    return results


def evaluate(config: DictConfig) -> ScoreReport:
    """Parse a split of a treebank with a saved model, and say how well that went."""
    options: EvaluateOptions = checked(config, EvaluateOptions)
    if options.split not in ("train", "dev", "test"):
        raise ConfigError(f"split is {options.split!r}, expected train, dev or test")
    for name, path in (("json", options.json), ("conllu", options.conllu)):
        if path and not Path(path).absolute().parent.is_dir():
            raise ConfigError(f"{name} is {path!r}, whose directory does not exist; make it first")
    if options.max_tokens_per_batch < 1:
        raise ConfigError(
            f"max_tokens_per_batch is {options.max_tokens_per_batch}, expected 1 or more"
        )
    treebank: Treebank = build(options.treebank, "treebank")
    device = prepare_machine(options.device, options.threads, seed=0)
    parser = Parser.load(options.model, device)
    gold = treebank.read(options.split)
    stream = parser.parse_sentences(gold, max_tokens_per_batch=options.max_tokens_per_batch)
    parsed = list(
        tqdm(stream, total=len(gold), unit=" sentences", desc="parsing", leave=False, disable=None)
    )
    report = score_report(gold, parsed)
    say(f"{treebank.name} {options.split}, parsed with {options.model}\n\n{report}")
    if options.conllu:
        write(Path(options.conllu), "".join(s.to_conllu() for s in parsed).encode())
    if options.json:
        content = {"model": options.model, "treebank": treebank.name, "split": options.split}
        write(
            Path(options.json), (json.dumps(content | report.to_dict(), indent=2) + "\n").encode()
        )
    return report


def identity(config: DictConfig, splits: dict[str, list[Sentence]], precision: str) -> str:
    """What a training must have in common with a saved one to go on with it: options and words.

    Where it runs, and how it is logged, may change.
    """
    options = {key: value for key, value in config.items() if key not in NOT_HASHED}
    options |= {"seed": config.seed, "treebank": None, "computed in": precision}
    digest = hashlib.sha256(OmegaConf.to_yaml(OmegaConf.create(options), resolve=True).encode())
    for sentence in (*splits["train"], *splits["dev"]):
        digest.update(sentence.to_conllu().encode())
    return digest.hexdigest()


def prepare_directory(directory: Path, config: str, file: TrainingFile, *, resume: bool) -> None:
    """Make the run's directory, with its options; what an earlier run left there that is no more
    true is removed.
    """
    directory.mkdir(parents=True, exist_ok=True)
    (directory / RESULT).unlink(missing_ok=True)  # this run is not finished yet
    if not resume:
        file.remove()
    elif file.fits():
        say(f"resuming  from {file.path}; train from the beginning with resume=false")
    elif file.path.exists():
        say(f"          {file.path} is of other options or sentences: not taken up")
    write(directory / "config.yaml", config.encode())


def keeper(directory: Path) -> Callable[[Parser, dict[str, float]], None]:
    """Saves the best parser in directory/model."""

    def keep(best: Parser, figures: dict[str, float]) -> None:
        best.save(directory / "model", {"best_epoch": figures})

    return keep


def forget(_best: Parser, _figures: dict[str, float]) -> None:
    """What processes other than the first do with the best parser."""


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
            say(epoch_line(figures, total))
    say(f"trained in {time.perf_counter() - start:.0f} s")
    return curve


def read_splits(
    treebank: Treebank, max_sentences: int | None, read: Read
) -> dict[str, list[Sentence]]:
    """Train, dev and, if there is one, test: all read before any work is done."""
    splits = {split: read(treebank, split)[:max_sentences] for split in ("train", "dev")}
    try:
        splits["test"] = read(treebank, "test")[:max_sentences]
    except NoSplitError as error:
        say(f"          no test results: {error}")
    return splits


def warn_of_long_sentences(sentences: Iterable[Sentence]) -> None:
    """Say which sentences may take longer to learn from than anybody waits."""
    for sentence in sentences:
        if len(sentence) > MOST_WORDS:
            warnings.warn(
                f"{sentence.place} has {len(sentence)} words; to learn from it takes time that "
                f"grows with their cube: expected at most {MOST_WORDS}, split it or leave it out",
                stacklevel=2,
            )


def final_results(
    model: Path, parser: Parser, splits: dict[str, list[Sentence]]
) -> dict[str, dict[str, float]]:
    """Results of the model that was kept, printed and written to its metrics.json."""
    named = {split: sentences for split, sentences in splits.items() if split != "train"}
    results = {split: evaluate_quickly(parser, sentences) for split, sentences in named.items()}
    content = json.dumps(read_metrics(model) | results, indent=2) + "\n"
    write(model / "metrics.json", content.encode())
    say(result_table(results))
    return results


def keep_result(
    directory: Path,
    cell: Cell,
    setting: dict[str, Any],
    curve: list[dict[str, float]],
    splits: dict[str, list[Sentence]],
    parser: Parser,
) -> None:
    """Write what a comparison needs: `result.json`, and the sentences as parsed and as in gold.

    They are those of test, or of dev where there is no test.
    """
    dev = align_words(splits["dev"], list(parser.parse_sentences(splits["dev"])))
    split = "test" if "test" in splits else "dev"
    gold = splits[split]
    test, sentences, analysis, parsed = results_on(parser, gold)
    best = max(curve, key=lambda figures: figures["dev_las"])
    result = RunResult(
        cell=cell,
        setting=setting,
        curve=curve,
        best_epoch=int(best["epoch"]),
        dev=split_scores(dev),
        test=test,
        sentences=sentences,
        analysis=analysis,
        train_words=sum(map(len, splits["train"])),
        versions=versions(),
        split=split,
    )
    for name, trees in ((PARSED, parsed), (GOLD, gold)):
        write(directory / name, "".join(s.to_conllu() for s in trees).encode())
    result.save(directory)


def shared_setting(options: TrainOptions) -> dict[str, Any]:
    """What two runs must have in common to be compared."""
    parts = {name: getattr(options, name) for name in ("encoder", "network", "trainer")}
    return {
        name: {key: value for key, value in part.items() if key != "_target_"}
        for name, part in parts.items()
    }


def next_commands(model: Path, treebank: dict[str, Any]) -> str:
    """Where the model is, and what to do with it, on the treebank of the training."""
    choice = treebank["_target_"].split(".")[-2]
    options = [
        f"treebank.{k}={v}" for k, v in treebank.items() if k != "_target_" and v is not None
    ]
    command = shlex.join(
        ["python", "evaluate.py", f"model={model}", f"treebank={choice}", *options]
    )
    return f"model     {model}\nparse     dyparse parse {model} FILE.conllu\nevaluate  {command}"


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


def describe_run(
    parser: Parser,
    train_sentences: Sequence[Sentence],
    dev: Sequence[Sentence],
    choices: dict[str, str],
    place: str,
) -> str:
    """What is trained, on what, where."""
    parameters = sum(p.numel() for p in parser.model.parameters())
    return (
        f"          {len(train_sentences)} sentences, {sum(map(len, train_sentences))} words to "
        f"learn from; {len(dev)} sentences of dev\n"
        f"parser    {choices['system']}, {choices['exploration']}, {choices['loss']}; "
        f"{parameters / 1e6:.2f} million parameters on {place}"
    )


def place(device: torch.device, processes: Processes) -> str:
    """Where a training runs."""
    threads = torch.get_num_threads()
    name = str(device)
    if device.type == "cpu":
        name += f", {threads} thread{'s' * (threads > 1)}"
    return name if processes.count == 1 else f"{processes.count} processes ({name} each)"


def epoch_line(figures: dict[str, float], epochs: int) -> str:
    """One epoch in one line."""
    return (
        f"epoch {figures['epoch']:>3}/{epochs}   loss {figures['loss']:.4f}   "
        f"cost/state {figures['cost_per_state']:.4f}   "
        f"dev UAS {figures['dev_uas']:.2f}  LAS {figures['dev_las']:.2f}   "
        f"{figures['tokens_per_second']:,.0f} tokens/s"
    )


def result_table(results: dict[str, dict[str, float]]) -> str:
    """Results per split, for the terminal."""
    rows = ["", "split      UAS     LAS   sentences/s", "-----   ------  ------   -----------"]
    rows += [
        f"{split:<5}   {r['uas']:6.2f}  {r['las']:6.2f}   {r['sentences_per_second']:11,.0f}"
        for split, r in results.items()
    ]
    return "\n".join([*rows, ""])


def prepare_machine(device: str, threads: int | None, seed: int) -> torch.device:
    """Seed every generator, set the number of threads; the device that was asked for."""
    require_seed(seed)
    require_threads(threads)
    if threads is not None:
        torch.set_num_threads(threads)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return find_device(device)


def require_threads(threads: int | None) -> None:
    """ConfigError if there cannot be so many."""
    if threads is not None and threads < 1:
        raise ConfigError(f"threads is {threads}, expected 1 or more, or null for all")


def find_device(device: str) -> torch.device:
    """The device that was asked for, if it is there."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and launched():  # one for each process of this machine
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    try:
        torch.empty(0, device=device)
        return torch.device(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        told = f"device is {device!r}, which cannot be used here ({reason}); try device=cpu"
        # Of several processes each has a device of its own, and this one has to tell.
        raise (DyparseError if launched() else ConfigError)(told) from error


def say(text: str) -> None:
    """A line for the user, above a progress bar if there is one; from the first process only."""
    if is_first_launched():
        tqdm.write(text)
