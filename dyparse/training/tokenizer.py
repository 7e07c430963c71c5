"""The tokenizer of a model: trained from the text of the treebank, before the parser is."""

import time
from pathlib import Path

from tqdm import tqdm

from dyparse.errors import CheckpointError, TreebankError
from dyparse.model.checkpoint import read_checkpoint
from dyparse.model.checkpoint_files import MODEL
from dyparse.model.parser import Parser
from dyparse.model.parts import PLAIN
from dyparse.runtime.console import print_line
from dyparse.tokenizer import Tokenizer
from dyparse.training.messages import tokenizer_line
from dyparse.training.resume import TrainingFile
from dyparse.training.session import TrainingPlan


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
