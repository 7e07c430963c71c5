"""dyparse compared with other parsers: speed, accuracy over time, size, memory.

    python benchmarks/peers/run.py --root DIR --name UD_English-LinES --output peers.json

Each parser runs in its own virtual environment, on the same treebank with the same gold words and
tags, on one core and one thread; times are CPU seconds. The script of each peer explains how its
figures are made. Test LAS is computed by dyparse: all words, full labels. Results are written to a
directory beside --output, one file per line of the table, so that an interrupted run can be
resumed; failures are tried again. --output gets all results, and the table is printed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dyparse_itself
import spacy_arc_eager
import stanza_depparse
import supar_biaffine
import udpipe
import uuparser_arc_hybrid
from conllu_columns import read_columns
from environments import CACHE, InstallError, Steps, python_of
from measurement import MEASURED, Job, Row
from peer_script import RunError, pinned, run_script
from table import markdown

from dyparse.data.sentence import HEAD, Sentence
from dyparse.errors import ConfigError, TreebankError
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.runtime.atomic_files import write
from dyparse.runtime.entry import clear_errors
from dyparse.treebank.ud import UD

SPLITS = ("train", "dev", "test")
MOMENTS = (1.0, 5.0, 10.0)  # CPU minutes after which test is parsed


@dataclass(frozen=True)
class Peer:
    """A parser: the script that runs it, and its lines of the table."""

    name: str
    script: Path
    requirements: Steps
    rows: tuple[Row, ...]


def peer_of(name: str, module: Any, rows: tuple[Row, ...] | None = None) -> Peer:
    return Peer(name, Path(module.__file__), module.REQUIREMENTS, rows or module.ROWS)


PEERS = {
    peer.name: peer
    for peer in (
        peer_of("udpipe", udpipe),
        peer_of("spacy", spacy_arc_eager),
        peer_of("supar", supar_biaffine),
        peer_of("uuparser", uuparser_arc_hybrid),
        peer_of("stanza", stanza_depparse),
    )
}


def main() -> None:
    options = command_line().parse_args()
    with clear_errors():
        peers = [peer_of("dyparse", dyparse_itself, dyparse_itself.rows(options.dyparse))]
        lines = chosen([*peers, *(PEERS[name] for name in options.peers)], options.rows)
        run = Run(options)
        results = [run.result(peer, row) for peer, row in lines]
        write(options.output, as_json({"setting": run.setting, "rows": results}))
        print_line(markdown(results))


def command_line() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--root", required=True, metavar="DIR", help="directory of UD treebanks")
    options.add_argument("--name", default="UD_English-LinES", help="default: %(default)s")
    options.add_argument(
        "--peers", nargs="*", choices=PEERS, default=list(PEERS), help="default: all"
    )
    options.add_argument("--rows", nargs="+", help="only these lines of the table (default: all)")
    options.add_argument(
        "--dyparse",
        nargs="+",
        default=[dyparse_itself.DEFAULT, "fast"],
        metavar="NAME",
        help="experiments of dyparse (default: %(default)s); ratios are relative to the first",
    )
    options.add_argument(
        "--minutes",
        type=float,
        default=15,
        help="CPU minutes of a training, at most (default: %(default)s)",
    )
    options.add_argument("--output", type=Path, required=True, metavar="FILE.json")
    options.add_argument("--environments", type=Path, default=CACHE, metavar="DIR", help=str(CACHE))
    options.add_argument("--core", type=int, help="number of the core to use (default: the last)")
    options.add_argument("--parse-seconds", type=float, default=5, help="default: %(default)s")
    options.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    return options


def chosen(peers: list[Peer], names: list[str] | None) -> list[tuple[Peer, Row]]:
    """The lines of the table with these names, or all, in the order of the peers."""
    lines = [(peer, row) for peer in peers for row in peer.rows]
    known = [row.name for _, row in lines]
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise ConfigError(f"--rows has {', '.join(unknown)}; expected any of {', '.join(known)}")
    return [(peer, row) for peer, row in lines if names is None or row.name in names]


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
        self.files = {split: self.directory / f"{split}.conllu" for split in SPLITS}
        for split, path in self.files.items():
            text = "".join(plain(s, tree=split != "test") for s in splits[split])
            write(path, text.encode())
        self.setting = {
            "treebank": options.name,
            "words": self.words,
            "minutes": options.minutes,
            "seed": options.seed,
        }

    def result(self, peer: Peer, row: Row) -> dict[str, Any]:
        """The result of a line, from an earlier run or measured now."""
        path = self.directory / f"{row.name}.json"
        earlier = earlier_result(path, self.setting)
        if earlier:
            print_line(f"{row.name}: measured before\n")
            return earlier
        print_line(f"{row.name}: measuring\n")
        start = time.perf_counter()
        about = {"row": row.name, "title": row.title, "reads": row.reads, "setting": self.setting}
        try:
            result = about | self.measure(peer, row)
        except (InstallError, RunError) as error:
            result = about | {"failed": str(error)}
            print_line(f"{row.name}: failed: {error}\n")
        result["wall_seconds"] = time.perf_counter() - start
        write(path, as_json(result))
        return result

    def measure(self, peer: Peer, row: Row) -> dict[str, Any]:
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
            minutes=self.options.minutes,
            moments=[moment for moment in MOMENTS if moment <= self.options.minutes],
            parse_seconds=self.options.parse_seconds,
            seed=self.options.seed,
        )
        job.save(directory / "job.json")
        command = [*pinned(self.options.core), str(python), str(peer.script)]
        run_script([*command, str(directory / "job.json")], directory, self.options.minutes)
        measured: dict[str, Any] = json.loads((directory / MEASURED).read_text(encoding="utf-8"))
        for found in (*measured["snapshots"], measured["end"], *measured.get("others", [])):
            found |= scored(self.test, directory / found.pop("trees"))
        return measured


def earlier_result(path: Path, setting: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a line that was measured before, if it did not fail."""
    if not path.exists():
        return None
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "failed" in result:
        return None
    if result["setting"] != setting:
        raise ConfigError(
            f"{path} was measured with other options ({result['setting']}, now {setting}); "
            "remove it or choose another --output"
        )
    return result


def plain(sentence: Sentence, *, tree: bool) -> str:
    """The words of a sentence as CoNLL-U, without comments, ranges and empty nodes.

    Without its tree it gets a chain, which every reader accepts and which gives nothing away.
    """
    lines = []
    for word, index in enumerate(sentence.word_lines, 1):
        columns = sentence.lines[index].rstrip("\r\n").split("\t")
        if not tree:
            columns[HEAD : HEAD + 2] = str(word - 1), "dep" if word > 1 else "root"
        columns[HEAD + 2 :] = "_", "_"  # enhanced graphs hold the tree too
        lines.append("\t".join(columns) + "\n")
    return "".join(lines) + "\n"


def scored(gold: list[Sentence], path: Path) -> dict[str, float]:
    """UAS and LAS of the heads and labels in a file, whether they are trees or not."""
    found = read_columns(path)
    if [s.form for s in found] != [s.form for s in gold]:
        raise RunError(f"{path.name} has other words than test")
    try:
        predicted = [s.with_tree(f.head, f.label) for s, f in zip(gold, found, strict=True)]
        scores = attachment_scores(gold, predicted)
    except TreebankError as error:
        raise RunError(f"{path.name}: {error}") from error
    return {"uas": scores.uas, "las": scores.las}


def as_json(content: Any) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()


def print_line(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
