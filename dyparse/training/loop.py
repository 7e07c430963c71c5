"""The training loop: epochs over a treebank, the best parser on dev is saved; and, before it, the
training of the tokenizer.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import torch
from tqdm import tqdm

from dyparse.data.sentence import Sentence
from dyparse.errors import CheckpointError, DyparseError, TreebankError
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.model.checkpoint import read_checkpoint
from dyparse.model.checkpoint_files import MODEL
from dyparse.model.parser import Parser
from dyparse.model.parts import PLAIN
from dyparse.runtime.console import print_line
from dyparse.runtime.gpu_usage import GpuUsage
from dyparse.tokenizer import Tokenizer
from dyparse.training.messages import tokenizer_line
from dyparse.training.resume import Progress, TrainingFile
from dyparse.training.session import Session, TrainingPlan

SaveBest: TypeAlias = Callable[[Parser, dict[str, float]], None]


def train(
    session: Session, save_best: SaveBest, file: TrainingFile | None = None
) -> Iterator[dict[str, float]]:
    """Train the session's parser in place; yields the figures of each epoch.

    `save_best` is called with the averaged parser and its figures after each epoch that is better
    on dev than all before; on the first rank only. With a file the training resumes where the file
    says it was, and the figures of the epochs before that come first. If it has been asked to stop
    it saves once more and raises Stopped.
    """
    world, settings = session.world, session.settings
    progress = (file and file.load(session)) or Progress()
    if len({(p.epoch, p.step) for p in world.all_gather(progress)}) > 1:
        raise DyparseError(
            "not all processes found the unfinished training; put the run's directory on a "
            "disk that all machines share, or train with resume=false"
        )
    yield from progress.curve
    while progress.epoch <= settings.epochs and progress.epochs_since < settings.patience:
        figures = run_epoch(session, progress, file)
        averaged = session.averaged_parser()
        if world.is_first:
            figures |= dev_figures(averaged, session.plan.dev)
        figures = world.broadcast(figures)
        progress.epochs_since += 1
        if figures["dev_las"] > progress.best_las:
            progress.best_las, progress.epochs_since = figures["dev_las"], 0
            if world.is_first:
                save_best(averaged, figures)
        progress.curve.append(figures)
        progress.start_next_epoch()
        if file and world.is_first:
            file.save(session, progress)
        yield figures
        if file:
            file.stop_if_asked()


def run_epoch(
    session: Session, progress: Progress, file: TrainingFile | None = None
) -> dict[str, float]:
    """Train on every sentence once, or on those of the epoch that are left."""
    start, epoch = time.perf_counter() - progress.seconds, progress.epoch
    model, settings = session.parser.model, session.settings
    # Within an epoch only where this process knows all: no sums of others, no rollout ahead.
    can_save = session.world.size == 1 and not settings.rollout_ahead
    loss = torch.tensor(progress.loss, dtype=torch.float64, device=model.device)
    usage = GpuUsage(model.device)
    n_batches = len(session.batches.groups(epoch))
    hidden = None if session.world.is_first else True
    bar = tqdm(desc=f"epoch {epoch}", unit="batch", total=n_batches, leave=False, disable=hidden)
    model.train()
    with bar:
        bar.update(progress.step)
        for done, batch, visit in session.stream(epoch, progress.step):
            result = session.step(batch, (epoch - 1 + done) / settings.epochs, visit)
            loss += result.loss
            progress.states += result.states
            progress.paid += result.paid
            progress.step += 1
            usage.sample(progress.step)
            bar.update()
            if file and can_save and file.is_due():
                progress.loss, progress.seconds = loss.item(), time.perf_counter() - start
                file.save(session, progress)
            if file:
                file.stop_if_asked()
    progress.loss, progress.seconds = loss.item(), time.perf_counter() - start
    return epoch_figures(session, progress) | usage.figures()


def epoch_figures(session: Session, progress: Progress) -> dict[str, float]:
    """The figures of an epoch, over all ranks."""
    sums = torch.tensor([progress.loss, progress.states, progress.paid], dtype=torch.float64)
    loss, states, paid = session.world.all_reduce(sums).tolist()
    mean_loss = loss / progress.step
    if not math.isfinite(mean_loss):
        raise DyparseError(
            f"the loss became {mean_loss} in epoch {progress.epoch}; "
            f"lower trainer.learning_rate (now {session.settings.learning_rate}) "
            "or trainer.max_gradient_norm"
        )
    return {
        "epoch": progress.epoch,
        "loss": mean_loss,
        "cost_per_state": paid / max(states, 1),
        "learning_rate": session.optimizer.learning_rate,
        "tokens_per_second": int(session.batches.words.sum()) / progress.seconds,
        "seconds": progress.seconds,
    }


def dev_figures(parser: Parser, dev: Sequence[Sentence]) -> dict[str, float]:
    """Scores on dev: attachment, and those of the prediction heads."""
    parsed = list(parser.parse_sentences(dev))
    scores = attachment_scores(dev, parsed)
    figures = {"dev_uas": scores.uas, "dev_las": scores.las}
    of_heads = parser.head_figures(dev, parsed)
    return figures | {f"dev_{name}": value for name, value in of_heads.items()}


def with_trained_tokenizer(
    parser: Parser, plan: TrainingPlan, file: TrainingFile, directory: Path
) -> Parser:
    """The parser with a trained tokenizer; a training that is resumed has one already.

    Where it cannot be learned, for the treebank has no text, it is the plain one.
    """
    choice = parser.parts.config.tokenizer
    if file.fits() and (saved := saved_tokenizer(directory)):
        return parser.with_tokenizer(choice, saved)
    start = time.perf_counter()
    curve: list[dict[str, float]] = []
    bar = tqdm(desc="tokenizer", unit=" epochs", leave=False, disable=None)

    def follow(figures: dict[str, float]) -> None:
        curve.append(figures)
        bar.update()

    try:
        with bar:
            trained = choice.train(plan.train, plan.dev, plan.seed, follow)
    except TreebankError as error:
        print_line(f"tokenizer plain, for none can be learned: {error}")
        return parser.with_tokenizer(PLAIN, PLAIN)
    if curve:
        print_line(tokenizer_line(curve, time.perf_counter() - start))
    return parser.with_tokenizer(choice, trained)


def saved_tokenizer(directory: Path) -> Tokenizer | None:
    """The tokenizer of the model that an interrupted training has saved so far."""
    try:
        return read_checkpoint(directory / MODEL).tokenizer
    except CheckpointError:
        return None
