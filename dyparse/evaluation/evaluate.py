"""Evaluate a saved parser on a split of a treebank: the work of evaluate.py."""

import json
from pathlib import Path

from omegaconf import DictConfig
from tqdm import tqdm

from dyparse.config.build import build, checked
from dyparse.config.choices import import_modules
from dyparse.config.options import EvaluateOptions
from dyparse.errors import ConfigError
from dyparse.evaluation.score_report import ScoreReport, score_report
from dyparse.feature import missing_columns
from dyparse.model.checkpoint_files import files_of_model
from dyparse.model.parser import Parser
from dyparse.runtime.atomic_files import require_apart, write
from dyparse.runtime.console import print_line
from dyparse.runtime.device import prepare_device
from dyparse.treebank import Treebank


def evaluate(config: DictConfig) -> ScoreReport:
    """Parse a split of a treebank with a saved model; print, write and return the scores."""
    options: EvaluateOptions = checked(config, EvaluateOptions)
    written = {"json": options.json, "conllu": options.conllu}
    _require_values(options, written)
    treebank: Treebank = build(options.treebank, "treebank")
    device = prepare_device(options.device, options.threads, seed=0)
    import_modules(options.imports)
    parser = Parser.load(options.model, device, decoding=options.decoding)
    gold = treebank.read(options.split)
    require_apart(written, [*{s.path for s in gold}, *files_of_model(options.model)])
    if missing := missing_columns(parser.collator.features, gold):
        raise ConfigError(
            f"the encoder reads {missing[0]}, but that column of {treebank.name} is empty; "
            "tag the treebank, or take a model that does not read it"
        )
    stream = parser.parse_sentences(gold, max_tokens_per_batch=options.max_tokens_per_batch)
    parsed = list(
        tqdm(stream, total=len(gold), unit=" sentences", desc="parsing", leave=False, disable=None)
    )
    report = score_report(gold, parsed)
    print_line(f"{treebank.name} {options.split}, parsed with {options.model}\n\n{report}")
    if options.conllu:
        write(Path(options.conllu), "".join(s.to_conllu() for s in parsed).encode())
    if options.json:
        content = {"model": options.model, "treebank": treebank.name, "split": options.split}
        write(
            Path(options.json), (json.dumps(content | report.to_dict(), indent=2) + "\n").encode()
        )
    return report


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
