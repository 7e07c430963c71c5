"""How to parse, and the parser loaded for it: in this process, in a worker or in an actor."""

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyparse.config.choices import import_modules
from dyparse.data.malformed import STOP
from dyparse.errors import CheckpointError
from dyparse.model.checkpoint_files import digest_of_model
from dyparse.runtime.entry import collecting_no_garbage, limit_shape_caches
from dyparse.runtime.threads import use_threads

if TYPE_CHECKING:  # torch is slow to import, and only processes that parse need it
    from dyparse.model.parser import Parser

NEW_OBJECTS = 100_000  # some windows of sentences, which are no garbage of the kind looked for


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The model and the options that every process of a command parses with."""

    model: str
    device: str = "cpu"
    threads: int | None = None  # of each process; None for all cores
    input_format: str = "conllu"  # or text, lines, words; see `reading`
    output_format: str = "conllu"  # or json; see `stream`
    max_tokens_per_batch: int | None = None  # as is fast for the network
    precision: str = "auto"
    decoding: str = "greedy"
    keep: str = ""  # columns of tags that stay as they are given, with commas between them
    confidence: bool = False  # whether MISC gets the confidences of heads and labels
    on_error: str = STOP  # or SKIP, at a malformed sentence
    imports: tuple[str, ...] = ()  # modules with classes that the model needs
    digest: str = ""  # of the model that all processes must have; empty for any


def load_parser(settings: Settings) -> "Parser":
    """The parser on its device, with its threads; DyparseError if one of them is not available."""
    limit_shape_caches()  # before anything imports torch
    with collecting_no_garbage():
        import_modules(settings.imports)
        from dyparse.model.parser import Parser

        use_threads(settings.threads)
        keep = filter(None, settings.keep.replace(" ", "").lower().split(","))
        how = (settings.precision, settings.decoding, keep)
        parser = Parser.load(settings.model, settings.device, *how, confidence=settings.confidence)
        gc.freeze()  # libraries and the model stay; looking through them for garbage takes long
    gc.set_threshold(NEW_OBJECTS)
    if settings.digest and digest_of_model(settings.model) != settings.digest:
        raise CheckpointError(
            f"{settings.model}: not the model that the command started with: it was replaced, or "
            "this node has another one; parse again, with one model for all"
        )
    return parser
