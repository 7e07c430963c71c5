"""Evaluate a saved parser on a split of a treebank: the work of `dyparse evaluate`."""

import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from omegaconf import DictConfig, OmegaConf
from tqdm import tqdm

from dyparse.config.application import as_overrides, compose_options
from dyparse.config.build import build, checked
from dyparse.config.choices import import_modules
from dyparse.config.options import EvaluateOptions
from dyparse.decoding import GivesProbabilities
from dyparse.errors import ConfigError, DyparseError, DyparseWarning
from dyparse.evaluation.conll18.scores import Conll18Scores, conll18_scores
from dyparse.evaluation.run_result import RESULT, read_result
from dyparse.evaluation.score_report import ScoreReport, score_report
from dyparse.feature import missing_columns
from dyparse.model.checkpoint_files import MANIFEST, files_of_model
from dyparse.model.parser import Parser
from dyparse.model.sources import find_model
from dyparse.runtime.atomic_files import require_apart, write
from dyparse.runtime.console import print_line
from dyparse.runtime.device import restoring_threads, use_device
from dyparse.tokenizer import restored_text, tokenize
from dyparse.treebank import Treebank
from dyparse.treebank._names import SAMPLE, with_named_treebanks

Report: TypeAlias = ScoreReport | Conll18Scores


def evaluate(config: DictConfig, show: Callable[[str], object] = print_line) -> Report:
    """Parse a split of a treebank with a saved model; show, write and return the scores."""
    if OmegaConf.is_missing(config, "model"):
        raise ConfigError(f"which model? give model=DIR, as training prints it{newest_model()}")
    options: EvaluateOptions = checked(config, EvaluateOptions)
    written = {"json": options.json, "conllu": options.conllu}
    _require_values(options, written)
    treebank: Treebank = build(options.treebank, "treebank")
    device = use_device(options.device, options.threads)
    import_modules(options.imports)
    model = find_model(options.model)
    parser = Parser.load(model, device, decoding=options.decoding)
    if isinstance(parser.decoding, GivesProbabilities) and not options.text:
        parser = replace(parser, confidence=True)
    warn_of_sample(Path(model), treebank.name)
    gold = treebank.read(options.split)
    require_apart(written, [*{s.path for s in gold}, *files_of_model(model)])
    if missing := missing_columns(parser.collator.features, gold):
        raise ConfigError(
            f"the encoder reads {missing[0]}, but that column of {treebank.name} is empty; "
            "tag the treebank, or take a model that does not read it"
        )
    sentences = tokenize(parser.tokenizer, restored_text(gold)) if options.text else gold
    stream = parser.parse_sentences(sentences, max_tokens_per_batch=options.max_tokens_per_batch)
    parsed = list(
        tqdm(stream, total=len(gold), unit=" sentences", desc="parsing", leave=False, disable=None)
    )
    report: Report
    if options.text:
        report = conll18_scores(gold, parsed)
    else:
        report = replace(score_report(gold, parsed), tags=parser.head_figures(gold, parsed))
    given = "its raw text " if options.text else ""
    show(f"{treebank.name} {options.split}, {given}parsed with {options.model}\n\n{report}")
    if options.conllu:
        if not options.text:  # without confidences, which nobody asked for
            pairs = zip(parsed, gold, strict=True)
            parsed = [replace(tree, lines=s.lines) for tree, s in pairs]
        write(Path(options.conllu), "".join(tree.to_conllu() for tree in parsed).encode())
    if options.json:
        content = {"model": options.model, "treebank": treebank.name, "split": options.split}
        write(
            Path(options.json), (json.dumps(content | report.to_dict(), indent=2) + "\n").encode()
        )
    return report


def warn_of_sample(model: Path, treebank: str) -> None:
    """Warn if a model of another treebank is scored on the sample, as it is by default."""
    found = next((d / RESULT for d in (model, model.parent) if (d / RESULT).exists()), None)
    if found is None or treebank != SAMPLE:
        return
    with suppress(DyparseError):  # of a damaged result, which is not our business here
        trained_on = read_result(found).cell.treebank
        if trained_on != SAMPLE:
            warnings.warn(
                f"this model was trained on {trained_on}, and is scored on the sample treebank; "
                "choose another one with treebank=",
                DyparseWarning,
                stacklevel=2,
            )


def evaluate_with(options: dict[str, Any]) -> Report:
    """The scores with options by name, without printing them; see `dyparse.evaluate`."""
    overrides = with_named_treebanks(as_overrides([], options), every_split=True)
    with restoring_threads():
        return evaluate(compose_options("evaluate", overrides), show=lambda _: None)


def newest_model() -> str:
    """A hint at the model that was trained last below `outputs`; empty if there is none."""
    found = Path("outputs").glob(f"*/model/{MANIFEST}")
    newest = max(found, key=lambda path: path.stat().st_mtime, default=None)
    return f"; the newest here is model={newest.parent}" if newest else ""


def _require_values(options: EvaluateOptions, written: dict[str, str | None]) -> None:
    """ConfigError if an option has a wrong value, or names a file that cannot be written."""
    if options.split not in ("train", "dev", "test"):
        raise ConfigError(f"split is {options.split!r}, expected train, dev or test")
    if options.max_tokens_per_batch < 1:
        raise ConfigError(
            f"max_tokens_per_batch is {options.max_tokens_per_batch}, expected 1 or more"
        )
    for name, path in written.items():
        if path and not Path(path).absolute().parent.is_dir():
            raise ConfigError(
                f"{name} is {path!r}, whose directory does not exist; create it first"
            )
        if path and Path(path).is_dir():
            raise ConfigError(f"{name} is {path!r}, a directory; expected a file to write")
