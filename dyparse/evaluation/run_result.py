"""The result of a finished run: `result.json`, all that a comparison with other runs needs.

It names what was trained, on what and how; it holds the training curve, the scores on dev and test,
the counts of every test sentence and the error analysis; but no word of the treebank. This module
is data only: it knows neither torch nor numba. `measure` makes results.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dyparse.config.options import TrainOptions
from dyparse.data.columns.pseudo_projective import AS_IT_IS
from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError
from dyparse.evaluation.error_analysis import require_analysis, require_number
from dyparse.runtime.atomic_files import write

FORMAT_VERSION = 1
RESULT, PARSED, GOLD = "result.json", "parsed.conllu", "gold.conllu"
EPOCHS = "metrics.jsonl"  # written while a run trains
METRICS = ("uas", "las", "clas")
CURVE = ("epoch", "seconds", "dev_las")
SENTENCE_COUNTS = ("words", "heads", "labelled", "content", "predicted_content", "content_right")
USUAL_HEADS = ["labels"]
LONGEST_FINDING = 200
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class Cell:
    """A cell of the grid of comparisons; every field is an axis."""

    system: str  # a name, and the options that are not the default: buffer:left_buffer=false
    exploration: str
    loss: str
    treebank: str
    seed: int


@dataclass(frozen=True)
class RunResult:
    """The result of a finished run."""

    cell: Cell
    setting: dict[str, Any]  # encoder, network and trainer
    curve: list[dict[str, float]]  # figures of every epoch
    best_epoch: int
    dev: dict[str, float]  # uas, las, clas, …
    test: dict[str, float]  # the same scores on `split`
    sentences: dict[str, list[int]]  # one number per sentence of `split`: SENTENCE_COUNTS
    analysis: dict[str, Any]  # of `split`: ErrorAnalysis.to_dict()
    train_words: int
    versions: dict[str, str] = field(default_factory=dict)
    commit: str = ""  # of dyparse, if it ran from a clone; with + if files were changed
    sources: str = ""  # hash of those that decide training: provenance.training_sources
    machine: str = ""
    command: str = ""  # that trains the run again; empty if classes of one's own took part
    split: str = "test"  # dev if the treebank has no test
    format_version: int = FORMAT_VERSION

    @property
    def setting_name(self) -> str:
        """Short name of the setting: results with the same name are comparable."""
        return setting_name(self.setting)

    def save(self, directory: Path) -> None:
        """Write `result.json` into a directory, one line per field."""
        content = {name: json.dumps(value) for name, value in asdict(self).items()}
        lines = ",\n".join(f"{json.dumps(name)}: {text}" for name, text in content.items())
        write(directory / RESULT, f"{{\n{lines}\n}}\n".encode())


def read_result(path: Path) -> RunResult:
    """Read and check a `result.json`; DyparseError if it is damaged or of another format."""
    try:
        content = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
        version = content["format_version"]
        if version != FORMAT_VERSION:
            raise DyparseError(
                f"{path}: format {version}, this version of dyparse reads {FORMAT_VERSION}; "
                "remove the cell's directory and run the cell again"
            )
        result = RunResult(**{**content, "cell": Cell(**content["cell"])})
        _require_figures(result)
        return result
    except UNREADABLE as error:
        reason = " ".join(str(error).split())[:LONGEST_FINDING] or type(error).__name__
        raise DyparseError(
            f"{path}: not a valid run result ({reason}); remove it and run the cell again"
        ) from error


def finished_results(directories: Sequence[Path]) -> list[tuple[Path, RunResult]]:
    """All results in directories and below, each with the directory of its run."""
    paths = sorted({path for place in directories for path in place.rglob(RESULT)})
    return [(path.parent, read_result(path)) for path in paths]


def unfinished_runs(directories: Sequence[Path]) -> list[Path]:
    """Directories of runs that were started and have no result, in directories and below."""
    started = {path.parent for place in directories for path in place.rglob(EPOCHS)}
    return sorted(run for run in started if not (run / RESULT).exists())


def _require_figures(result: RunResult) -> None:
    """KeyError or ValueError if something is missing that a comparison needs."""
    if not all(isinstance(part, dict) for part in (result.setting, result.versions)):
        raise ValueError("setting or versions are not options")
    *names, seed = asdict(result.cell).values()
    texts = (*names, result.commit, result.sources, result.machine, result.command)
    if not all(isinstance(text, str) for text in texts) or type(seed) is not int:
        raise ValueError("the cell lacks a name or its seed")
    for scores in (result.dev, result.test):
        for metric in METRICS:
            require_number(scores[metric], metric)
    for figures in result.curve:
        for name in CURVE:
            require_number(figures[name], name)
    counts = [result.sentences[name] for name in SENTENCE_COUNTS]
    if not result.curve or len(set(map(len, counts))) != 1:
        raise ValueError("there are no epochs, or not all counts of every sentence")
    for name, numbers in zip(SENTENCE_COUNTS, counts, strict=True):
        for number in numbers:
            require_number(number, name)
    require_analysis(result.analysis)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def analysed_split(splits: Mapping[str, Sequence[Sentence]]) -> str:
    """The split that `result.json` is about: test, or dev if there is no test."""
    return "test" if "test" in splits else "dev"


def was_evaluated(directory: Path, splits: Mapping[str, Sequence[Sentence]]) -> bool:
    """Whether the result in a directory is about these sentences."""
    path = directory / GOLD
    gold = splits[analysed_split(splits)]
    return path.exists() and path.read_bytes() == to_bytes(gold)


def to_bytes(sentences: Sequence[Sentence]) -> bytes:
    """The sentences as the content of a CoNLL-U file."""
    return "".join(sentence.to_conllu() for sentence in sentences).encode()


def setting_name(setting: dict[str, Any]) -> str:
    """Hash of the options that all runs of a comparison share."""
    return hashlib.sha256(json.dumps(setting, sort_keys=True).encode()).hexdigest()[:8]


def shared_setting(options: TrainOptions) -> dict[str, Any]:
    """The options that two runs must have in common to be comparable.

    As in a cell, what is usual is not named: classes of the package, labels as the only head, and
    trees as they are.
    """
    parts = {name: getattr(options, name) for name in ("encoder", "network", "trainer")}
    setting: dict[str, Any] = {
        name: {
            key: value
            for key, value in part.items()
            if key != "_target_" or not str(value).startswith("dyparse.")
        }
        for name, part in parts.items()
    }
    if (heads := list(map(str, options.heads))) != USUAL_HEADS:
        setting["heads"] = heads
    if options.projectivity != AS_IT_IS:
        setting["projectivity"] = options.projectivity
    if options.start:
        setting["start"] = options.start
    return setting
