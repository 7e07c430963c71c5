"""What is kept of a finished run: `result.json`, enough to compare it with others.

It names what was trained, on what and how; it has the curve of the training, the scores on dev and
test, counts for every test sentence, and those of `error_analysis`; but no word of the treebank.
"""

import hashlib
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from dyparse.config.options import TrainOptions
from dyparse.data.batch import group_by_length
from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError
from dyparse.evaluation.attachment_scores import (
    AlignedWords,
    align_words,
    scores_of,
    universal_labels,
)
from dyparse.evaluation.error_analysis import (
    Derivations,
    error_analysis,
    require_analysis,
    require_number,
)
from dyparse.model.parser import Parser
from dyparse.runtime.atomic_files import write
from dyparse.version import __version__

FORMAT_VERSION = 1
RESULT, PARSED, GOLD = "result.json", "parsed.conllu", "gold.conllu"
MAX_TOKENS_PER_BATCH = 2000
METRICS = ("uas", "las", "clas")
CURVE = ("epoch", "seconds", "dev_las")
LONGEST_FINDING = 200
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)
SENTENCE_COUNTS = (
    *("words", "heads", "labelled"),
    *("content", "predicted_content", "content_right"),
)


@dataclass(frozen=True)
class Cell:
    """What is compared: each field is an axis of the grid, the seed the last."""

    system: str  # a name, and the options that are not the default: buffer:left_buffer=false
    exploration: str
    loss: str
    treebank: str
    seed: int


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    cell: Cell
    setting: dict[str, Any]  # encoder, network and trainer
    curve: list[dict[str, float]]  # figures of every epoch
    best_epoch: int
    dev: dict[str, float]  # uas, las, clas, …
    test: dict[str, float]  # the same of test, or of `split`
    sentences: dict[str, list[int]]  # counts of every test sentence, see `sentence_counts`
    analysis: dict[str, Any]  # of test, see `error_analysis`
    train_words: int
    versions: dict[str, str] = field(default_factory=dict)
    split: str = "test"  # dev of a treebank without test
    format_version: int = FORMAT_VERSION

    @property
    def setting_name(self) -> str:
        """A short name of the setting: results are comparable if it is the same."""
        return setting_name(self.setting)

    def save(self, directory: Path) -> None:
        """Write `result.json` into a directory; numbers of one list on one line."""
        content = {name: json.dumps(value) for name, value in asdict(self).items()}
        lines = ",\n".join(f"{json.dumps(name)}: {text}" for name, text in content.items())
        write(directory / RESULT, f"{{\n{lines}\n}}\n".encode())


def setting_name(setting: dict[str, Any]) -> str:
    """A hash of the options that every run of a comparison shares."""
    return hashlib.sha256(json.dumps(setting, sort_keys=True).encode()).hexdigest()[:8]


def read_result(path: Path) -> RunResult:
    """The result in a file; DyparseError says what is wrong with one."""
    try:
        content = json.loads(path.read_bytes(), parse_constant=_no_number)
        version = content["format_version"]
        if version != FORMAT_VERSION:
            raise DyparseError(
                f"{path}: format {version}, this version of dyparse reads {FORMAT_VERSION}; "
                "run the cell again: remove its directory"
            )
        result = RunResult(**{**content, "cell": Cell(**content["cell"])})
        _require_figures(result)
        return result
    except UNREADABLE as error:
        reason = " ".join(str(error).split())[:LONGEST_FINDING] or type(error).__name__
        raise DyparseError(
            f"{path}: no result of a run ({reason}); remove it, and the cell is run again"
        ) from error


def _require_figures(result: RunResult) -> None:
    """KeyError or ValueError if something is missing that a comparison needs."""
    if not all(isinstance(part, dict) for part in (result.setting, result.versions)):
        raise ValueError("setting or versions are no options")
    *names, seed = asdict(result.cell).values()
    if not all(isinstance(name, str) for name in names) or type(seed) is not int:
        raise ValueError("the cell has no names and seed")
    for scores in (result.dev, result.test):
        for metric in METRICS:
            require_number(scores[metric], metric)
    for figures in result.curve:
        for name in CURVE:
            require_number(figures[name], name)
    counts = [result.sentences[name] for name in SENTENCE_COUNTS]
    if not result.curve or len(set(map(len, counts))) != 1:
        raise ValueError("no epochs, or not all counts of every sentence")
    for name, numbers in zip(SENTENCE_COUNTS, counts, strict=True):
        for number in numbers:
            require_number(number, name)
    require_analysis(result.analysis)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


@dataclass(frozen=True)
class Watched:
    """A split as a parser parsed it, and how."""

    parsed: list[Sentence]
    derivations: Derivations


def watch(parser: Parser, gold: Sequence[Sentence]) -> Watched:
    """Parse sentences and note every move."""
    parsed: dict[int, Sentence] = {}
    parts: list[tuple[NDArray[Any], ...]] = []
    for group in group_by_length([len(s) for s in gold], MAX_TOKENS_PER_BATCH):
        trees, visited, replayed = parser.watch_batch([gold[k] for k in group])
        parsed.update(zip(group, trees, strict=True))
        parts.append((np.asarray(group)[visited.sentence], visited.move, visited.paid, *replayed))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Watched([parsed[k] for k in range(len(gold))], Derivations(*columns).in_order())


def split_scores(words: AlignedWords) -> dict[str, float]:
    """The scores of a split, in percent, over all words."""
    return asdict(scores_of(words, np.ones_like(words.punctuation)))


def sentence_counts(words: AlignedWords) -> dict[str, list[int]]:
    """For every sentence: words, right heads, those with the right label; and for CLAS the content
    words of the gold tree, of the predicted one, and the right ones.
    """
    universal, content, predicted_content = universal_labels(words)
    columns = {
        "words": np.ones_like(words.punctuation),
        "heads": words.head_right,
        "labelled": words.head_right & words.label_right,
        "content": content,
        "predicted_content": predicted_content,
        "content_right": words.head_right & universal & content,
    }
    length = int(words.sentence.max()) + 1
    return {
        name: np.bincount(words.sentence, weights=flags, minlength=length).astype(int).tolist()
        for name, flags in columns.items()
    }


def results_on(
    parser: Parser, gold: Sequence[Sentence]
) -> tuple[dict[str, float], dict[str, list[int]], dict[str, Any], list[Sentence]]:
    """Scores, counts per sentence and analysis of a split, and the parsed sentences."""
    watched = watch(parser, gold)
    words = align_words(gold, watched.parsed)
    analysis = error_analysis(words, watched.derivations, parser.system.moves)
    return split_scores(words), sentence_counts(words), analysis, watched.parsed


def versions() -> dict[str, str]:
    """Of what the result depends on."""
    return {
        "dyparse": __version__,
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
    }


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


def was_evaluated(directory: Path, splits: dict[str, list[Sentence]]) -> bool:
    """Whether the result in a directory is of these sentences."""
    gold = splits.get("test") or splits["dev"]
    path = directory / GOLD
    return path.exists() and path.read_bytes() == "".join(s.to_conllu() for s in gold).encode()


def shared_setting(options: TrainOptions) -> dict[str, Any]:
    """What two runs must have in common to be compared."""
    parts = {name: getattr(options, name) for name in ("encoder", "network", "trainer")}
    return {
        name: {key: value for key, value in part.items() if key != "_target_"}
        for name, part in parts.items()
    }
