"""A saved parser on a split of a treebank: what evaluate.py does."""

import json
from collections.abc import Iterable
from pathlib import Path

from omegaconf import DictConfig
from tqdm import tqdm

from dyparse.config import EvaluateOptions, build, checked
from dyparse.errors import ConfigError
from dyparse.machine import prepare_machine
from dyparse.output_file import write
from dyparse.parser import Parser
from dyparse.run_text import say
from dyparse.score_report import ScoreReport, score_report
from dyparse.sentence import Sentence
from dyparse.splits import require_columns
from dyparse.treebank import Treebank


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
    require_other_files(options, gold)
    remedy = "take a model that does not read it"
    require_columns(parser.encoder.features, gold, treebank.name, remedy)
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


def require_other_files(options: EvaluateOptions, gold: Iterable[Sentence]) -> None:
    """ConfigError if an evaluation would write over what it reads, or twice to one file."""
    read = {Path(path).resolve() for path in {sentence.path for sentence in gold}}
    written = [Path(path).resolve() for path in (options.conllu, options.json) if path]
    for path in written:
        if path in read or written.count(path) > 1:
            raise ConfigError(f"{path} would be written over; name other files for conllu and json")
