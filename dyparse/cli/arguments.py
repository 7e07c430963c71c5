"""Arguments that several commands share: how they are declared, checked and understood."""

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from dyparse.config.precisions import PARSING
from dyparse.data.conllu import Source
from dyparse.data.malformed import ON_ERROR, STOP
from dyparse.errors import ConfigError
from dyparse.parsing.reading import AUTO, FORMATS, format_of
from dyparse.parsing.settings import Settings
from dyparse.parsing.stream import CONLLU, OUTPUT_FORMATS

if TYPE_CHECKING:  # numba is slow to import, and not every command needs it
    from dyparse.system import System

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

STDIN = "-"
TREEBANK = "`sample`, the directory of a UD treebank, its name if it is in ./ud, or a CoNLL-U file"
MODEL = (
    "directory of a model or of its run, as training prints it; or the name of an installed "
    "package, or hf://OWNER/NAME on the Hugging Face Hub"
)
ALTERNATIVE = "NAME or NAME:KEY=VALUE,KEY=VALUE"  # of a choice, such as a transition system


def input_source(name: str) -> Source:
    """The file of this name, or standard input."""
    return sys.stdin if name == STDIN else name


def require_positive(options: argparse.Namespace, *names: str) -> None:
    """ConfigError if one of these options is 0 or less."""
    for name in names:
        value = getattr(options, name)
        if value is not None and value < 1:
            raise ConfigError(f"--{name.replace('_', '-')} is {value}, expected 1 or more")


def add_on_error(command: argparse.ArgumentParser) -> None:
    """--on-error, of commands that read many sentences."""
    command.add_argument(
        "--on-error",
        default=STOP,
        choices=ON_ERROR,
        help="at a malformed sentence: stop, or skip it, name it and count it "
        "(default: %(default)s)",
    )


def add_model(command: argparse.ArgumentParser) -> None:
    """MODEL, of commands that parse."""
    command.add_argument("model", metavar="MODEL", help=MODEL)


def add_parsing_options(command: argparse.ArgumentParser) -> None:
    """Options of commands that parse; `parsing_settings` collects them."""
    command.add_argument(
        "--input",
        default=AUTO,
        choices=(AUTO, *FORMATS),
        help="what the input is: conllu; text, which is split into sentences and words; lines, a "
        "sentence each, which are split into words; or words with spaces between them, a sentence "
        "per line. auto: text for files that end in .txt, else conllu (default: %(default)s)",
    )
    command.add_argument(
        "--format",
        default=CONLLU,
        choices=OUTPUT_FORMATS,
        help="what to write: conllu, or json, a line for every sentence (default: %(default)s)",
    )
    add_on_error(command)
    command.add_argument(
        "--device", default="cpu", help="device of the network: cpu, cuda, … (default: %(default)s)"
    )
    command.add_argument(
        "--precision",
        default="auto",
        choices=PARSING,
        help="precision of the network: float32, which gives the same trees on every machine; "
        "bfloat16, or mixed (bfloat16 after the encoder); int8, by compiled kernels on a CPU, for "
        "models with the encoder bilstm. auto: int8 where the processor has instructions for it, "
        "of other models bfloat16 where the device has (default: %(default)s)",
    )
    command.add_argument(
        "--decoding",
        default="greedy",
        metavar="NAME",
        help="how trees are found from scores (default: %(default)s)",
    )
    command.add_argument(
        "--keep",
        default="",
        metavar="COLUMNS",
        help="columns among upos,xpos,feats,lemma that stay as the input has them, where the model "
        "would replace them; words without a value get one all the same (default: none)",
    )
    command.add_argument(
        "--confidence",
        action="store_true",
        help="write into MISC how probable it is that head and label are right, as "
        "HeadConfidence=0.97|LabelConfidence=0.88",
    )
    command.add_argument(
        "--max-tokens-per-batch",
        type=int,
        metavar="N",
        help="batch size (default: what is fast, 750 with compiled kernels, 2000 with torch)",
    )
    add_imports(command)


def add_imports(command: argparse.ArgumentParser) -> None:
    """--import, of commands that load a model."""
    command.add_argument(
        "--import",
        action="append",
        dest="imports",
        default=[],
        metavar="MODULE",
        help="import a Python module with classes that the model needs; may be repeated",
    )


def add_licence(command: argparse.ArgumentParser) -> None:
    """--license, of commands that share a model."""
    command.add_argument(
        "--license",
        metavar="SPDX",
        help="licence of the model, such as CC-BY-SA-4.0 (spdx.org/licenses); that of the treebank "
        "may demand one",
    )


def add_half(command: argparse.ArgumentParser) -> None:
    """--half, of commands that share a model."""
    command.add_argument(
        "--half",
        action="store_true",
        help="keep the weights in half precision (float16), which halves the size; a few trees may "
        "differ",
    )


def checked_licence(text: str | None) -> str | None:
    """The licence in its usual spelling; ConfigError if there is no such one."""
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        return canonicalize_license_expression(text) if text else None
    except InvalidLicenseExpression as error:
        raise ConfigError(
            f"--license is {text!r}, expected an identifier of spdx.org/licenses such as "
            "CC-BY-SA-4.0 or MIT"
        ) from error


def parsing_settings(
    options: argparse.Namespace,
    files: Iterable[str],
    *,
    model: str,
    threads: int | None,
    digest: str = "",
) -> Settings:
    """The settings that the options of `add_parsing_options` mean."""
    return Settings(
        model=model,
        device=options.device,
        threads=threads,
        input_format=format_of(files, options.input),
        output_format=options.format,
        max_tokens_per_batch=options.max_tokens_per_batch,
        precision=options.precision,
        decoding=options.decoding,
        keep=options.keep,
        confidence=options.confidence,
        on_error=options.on_error,
        imports=tuple(options.imports),
        digest=digest,
    )


def add_baseline(command: argparse.ArgumentParser) -> None:
    """--baseline, of commands that compare runs; `chosen_baseline` reads it."""
    command.add_argument(
        "--baseline",
        default="static",
        metavar="EXPLORATION",
        help="exploration that the others are compared with (default: %(default)s)",
    )


def chosen_baseline(text: str) -> str:
    """The exploration that others are compared with, as results name it."""
    from dyparse.config.choices import load, text_of

    try:
        return text_of(load("exploration", text))
    except (ValueError, TypeError) as error:
        raise ConfigError(f"--baseline {text}: {error}") from error


def chosen_system(text: str, argument: str = "--system") -> "System":
    """The system that `NAME` or `NAME:KEY=VALUE,…` means; ConfigError if there is none."""
    from dyparse.system import load

    try:
        return load(text)
    except ValueError as error:
        raise ConfigError(f"{argument} {text}: {error}") from error
