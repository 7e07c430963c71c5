"""dyparse compared with other parsers: speed, accuracy over time, size, memory.

    python benchmarks/peers/run.py --root DIR --name UD_English-LinES --output peers.json
    python benchmarks/peers/run.py --root DIR --task text --models MODEL --output text.json

Each parser runs in its own virtual environment, on the same treebank, on one core and one thread;
times are CPU seconds. The script of each peer explains how its figures are made. There are two
tasks. With `words` all get the same gold words and tags; lines that end in `no-tags`, `spacy`, and
dyparse's `default` and `fast` read no tags. Test LAS is computed by dyparse: all words, full
labels. With `text` UDPipe 1 learns tokens, sentences, tags, lemmas and trees from the treebank, and
parses the raw text of test, as dyparse's models do; scores are those of CoNLL 2018.
Results are written to a directory beside --output, one file per line of the table, so that an
interrupted run can be resumed; failures are tried again. --output gets all results, each with the
commit, machine and command that it comes from, and the table is printed. scripts/peers.sh has the
runs of the docs.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import udpipe_text
from environments import CACHE, InstallError, python_of
from gold_words import GoldWords
from lineup import PEERS, Peer, chosen, require_known, text_peers, word_peers
from measurement import MEASURED, Job, Row
from peer_script import RunError, pinned, run_script
from raw_text import RawText
from table import MOMENTS

from dyparse.errors import ConfigError, DyparseError
from dyparse.evaluation.provenance import commit, machine, training_sources
from dyparse.evaluation.run_result import Cell
from dyparse.runtime.atomic_files import write
from dyparse.runtime.entry import clear_errors
from dyparse.treebank.ud import UD

SPLITS = ("train", "dev", "test")
WORDS, TEXT = "words", "text"
TASKS: dict[str, GoldWords | RawText] = {WORDS: GoldWords(), TEXT: RawText()}
DYPARSE = Cell("arc_eager", "dagger_replay", "set_nll", treebank="", seed=0)  # what it trains
OF_A_MACHINE = ("environments", "core", "peers")  # options that no other machine needs


def main() -> None:
    options = command_line().parse_args()
    with clear_errors():
        peers = text_peers(options) if options.task == TEXT else word_peers(options)
        lines = chosen(peers, options.rows)
        require_known(peers, dict(map(budget, options.budget)), "--budget")
        run = Run(options)
        results = [run.result(peer, row) for peer, row in lines]
        write(options.output, as_json({"setting": run.setting, "rows": results}))
        print_line(TASKS[options.task].table(results))
        failed = [result["row"] for result in results if "failed" in result]
        if failed:
            raise DyparseError(f"failed: {', '.join(failed)}; run again to try them again")


def command_line() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # scripts/peers.sh refuses some options by their names
    )
    options.add_argument("--root", required=True, metavar="DIR", help="directory of UD treebanks")
    options.add_argument("--name", default="UD_English-LinES", help="default: %(default)s")
    options.add_argument("--task", choices=TASKS, default=WORDS, help="default: %(default)s")
    options.add_argument(
        "--peers", nargs="*", choices=PEERS, default=list(PEERS), help="default: all"
    )
    options.add_argument("--rows", nargs="+", help="only these lines of the table (default: all)")
    options.add_argument(
        "--dyparse",
        nargs="+",
        default=[],
        metavar="NAME",
        help="experiments of dyparse to train, in quotes with options: 'finetuned "
        "encoder.pretrained=DIR' (default: gold_tags and fast_gold_tags for words, none for text); "
        "ratios are relative to the first",
    )
    add_text_options(options)
    options.add_argument(
        "--minutes",
        type=float,
        default=15,
        help="CPU minutes of a training, at most (default: %(default)s)",
    )
    options.add_argument(
        "--budget",
        nargs="+",
        default=[],
        metavar="LINE=MINUTES",
        help="other CPU minutes for these lines",
    )
    options.add_argument("--output", type=Path, required=True, metavar="FILE.json")
    options.add_argument("--environments", type=Path, default=CACHE, metavar="DIR", help=str(CACHE))
    options.add_argument("--core", type=int, help="number of the core to use (default: the last)")
    options.add_argument("--parse-seconds", type=float, default=5, help="default: %(default)s")
    options.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    return options


def add_text_options(options: argparse.ArgumentParser) -> None:
    """The options of the task `text`."""
    text = options.add_argument_group("options of --task text")
    text.add_argument(
        "--models",
        nargs="+",
        default=[],
        type=Path,
        metavar="MODEL",
        help="directories of models of dyparse",
    )
    for part, default in udpipe_text.PARTS.items():
        text.add_argument(
            f"--udpipe-{part}",
            metavar="OPTIONS",
            help=f"UDPipe's options of its {part}, separated by ; (default: {default})",
        )
    text.add_argument(
        "--udpipe-heldout", action="store_true", help="let UDPipe choose iterations by dev"
    )
    text.add_argument("--quick", action="store_true", help="one iteration of each part of UDPipe")


class Run:
    """One run of the benchmark: its data, its setting and the directory of its results."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.directory = options.output.with_suffix("").absolute()
        if self.directory == options.output.absolute():
            raise ConfigError(f"--output is {options.output}, expected a name that ends in .json")
        self.directory.mkdir(parents=True, exist_ok=True)
        treebank = UD(options.root, options.name)
        splits = {split: treebank.read(split) for split in SPLITS}
        self.test = splits["test"]
        self.words = {split: sum(map(len, s)) for split, s in splits.items()}
        self.task = TASKS[options.task]
        self.files = self.task.write_inputs(splits, self.directory)
        self.budgets = dict(map(budget, options.budget))
        self.setting = {
            "task": options.task,
            "treebank": options.name,
            "words": self.words,
            "seed": options.seed,
        }

    def result(self, peer: Peer, row: Row) -> dict[str, Any]:
        """The result of a line, from an earlier run or measured now."""
        path = self.directory / f"{row.name}.json"
        minutes = self.budgets.get(row.name, self.options.minutes)
        setting = self.setting | {"options": row.options, "minutes": minutes}
        earlier = earlier_result(path, setting)
        if earlier:
            print_line(f"{row.name}: measured before\n")
            return earlier
        print_line(f"{row.name}: measuring\n")
        start = time.perf_counter()
        about = {
            "row": row.name,
            "title": row.title,
            "reads": row.reads,
            "setting": setting,
            "commit": commit(),
            "sources": training_sources(DYPARSE, {}),
            "machine": machine(),
            "command": command_of(self.options, row, minutes),
        }
        try:
            result = about | self.measure(peer, row, minutes)
        except (InstallError, RunError) as error:
            result = about | {"failed": str(error)}
            print_line(f"{row.name}: failed: {error}\n")
        result["wall_seconds"] = time.perf_counter() - start
        write(path, as_json(result))
        return result

    def measure(self, peer: Peer, row: Row, minutes: float) -> dict[str, Any]:
        """Run the script of a peer in its environment; its measurements, with scores."""
        python = python_of(peer.name, peer.requirements, self.options.environments)
        directory = self.directory / row.name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        job = Job(
            row=row.name,
            options=row.options,
            **{split: str(path) for split, path in self.files.items()},
            train_words=self.words["train"],
            test_words=self.words["test"],
            directory=str(directory),
            minutes=minutes,
            moments=[moment for moment in MOMENTS if moment <= minutes],
            parse_seconds=self.options.parse_seconds,
            seed=self.options.seed,
        )
        job.save(directory / "job.json")
        command = [*pinned(self.options.core), str(python), str(peer.script)]
        run_script([*command, str(directory / "job.json")], directory, minutes)
        measured: dict[str, Any] = json.loads((directory / MEASURED).read_text(encoding="utf-8"))
        for found in (*measured["snapshots"], measured["end"], *measured.get("others", [])):
            found |= self.task.scores(self.test, directory / found.pop("trees"))
        return measured


def earlier_result(path: Path, setting: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a line that was measured before, if it is whole and did not fail."""
    if not path.exists():
        return None
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "failed" in result or "commit" not in result:
        return None
    if result["setting"] != setting:
        raise ConfigError(
            f"{path} was measured with other options ({result['setting']}, now {setting}); "
            "remove it or choose another --output"
        )
    return result


def budget(text: str) -> tuple[str, float]:
    """The line and the minutes in `LINE=MINUTES`."""
    line, _, number = text.partition("=")
    try:
        minutes = float(number)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < math.inf:
        raise ConfigError(f"--budget has {text}, expected LINE=MINUTES")
    return line, minutes


def command_of(options: argparse.Namespace, row: Row, minutes: float) -> str:
    """The command that measures one line again; of places outside the working directory their last
    part."""
    same = {"root": "ud", "rows": [row.name], "minutes": minutes, "output": options.output.name}
    given = {k: v for k, v in vars(options).items() if k not in (*OF_A_MACHINE, "budget")} | same
    return shlex.join(["python", "benchmarks/peers/run.py", *words_of(given)])


def words_of(given: dict[str, Any]) -> Iterator[str]:
    """Options as words of a command line, without those that have their default."""
    parser = command_line()
    for name, value in given.items():
        if value == parser.get_default(name):
            continue
        yield f"--{name.replace('_', '-')}"
        if value is not True:
            values = value if isinstance(value, list) else [value]
            texts = (f"{v:g}" if isinstance(v, float) else str(v) for v in values)
            yield from (re.sub(r"(^|=)/(\S*/)?", r"\1", text) for text in texts)


def as_json(content: Any) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()


def print_line(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
