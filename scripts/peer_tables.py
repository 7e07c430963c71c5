"""Tables of docs/peers.md: dyparse beside other parsers.

docs/study/peers has the output of scripts/peers.sh for each treebank: `words-NAME.json` with gold
words, `text-NAME.json` from raw text.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import study

from dyparse.comparison.report.table import Table
from dyparse.evaluation.provenance import training_sources

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks" / "peers"))

import table as table_of_words
import text_table as table_of_text
from run import DYPARSE

TREEBANKS = {"lines": study.LINES, "hungarian": study.HUNGARIAN, "turkish": study.TURKISH}
WORDS, TEXT = "words", "text"
TAGS, NONE = "gold tags", "no tags"
PARSERS = {  # lines that read gold tags, and lines without
    "dyparse, default model": ("dyparse-gold_tags", "dyparse-default"),
    "dyparse, small model": ("dyparse-fast_gold_tags", "dyparse-fast"),
    "dyparse, MiniLM fine-tuned": ("", "dyparse-finetuned"),
    "UDPipe 1, arc-standard, beam 5": ("udpipe-dynamic", "udpipe-dynamic-no-tags"),
    "spaCy, arc-eager": ("spacy-upos", "spacy"),
    "UUParser, arc-hybrid": ("uuparser", "uuparser-no-tags"),
    "MaltParser, arc-eager": ("maltparser-nivreeager", "maltparser-nivreeager-no-tags"),
    "MaltParser, Covington": ("maltparser-covnonproj", "maltparser-covnonproj-no-tags"),
    "MaltParser, 2-planar": ("maltparser-2planar", "maltparser-2planar-no-tags"),
    "SuPar, biaffine": ("supar", "supar-no-tags"),
    "Stanza, biaffine": ("stanza-graph", "stanza-graph-no-tags"),
}
STOPPED = "*"  # marks a training whose CPU minutes were over before it had ended

Lines = dict[str, dict[str, Any]]  # results by line


def peer_tables() -> dict[str, Table | str | None]:
    """All tables and sentences by name."""
    made: dict[str, Table | str | None] = {"peers": overview(), "peers_origin": origin()}
    for name, treebank in TREEBANKS.items():
        words, text = measured(WORDS, treebank), measured(TEXT, treebank)
        for tags, column in (("tags", 0), ("none", 1)):
            rows = [words[both[column]] for both in PARSERS.values() if both[column] in words]
            made[f"peers_{name}_{tags}"] = table_of_words.as_table(rows) if rows else None
        made[f"peers_{name}_text"] = table_of_text.as_table(list(text.values())) if text else None
    return made


def measured(task: str, treebank: str) -> Lines:
    """The results of a run; none if it is not there."""
    path = study.STUDY / "peers" / f"{task}-{treebank}.json"
    if not path.exists():
        return {}
    return {line["row"]: line for line in json.loads(path.read_text(encoding="utf-8"))["rows"]}


def overview() -> Table | None:
    """LAS on gold words at the end of training, with gold tags and without."""
    treebanks = TREEBANKS.values()
    runs = [measured(WORDS, treebank) for treebank in treebanks]
    if not any(runs):
        return None
    rows = [
        (parser, *(las(lines, line) for lines in runs for line in both))
        for parser, both in PARSERS.items()
    ]
    columns = [f"{study.short(name)}, {tags}" for name in treebanks for tags in (TAGS, NONE)]
    return Table("peers", "", ("parser", *columns), rows, text_columns=1)


def las(lines: Lines, name: str) -> str:
    """LAS at the end of training; empty if the line was not measured."""
    if name not in lines:
        return ""
    end = lines[name]["end"]
    return f"{end['las']:.2f}{'' if end['complete'] else STOPPED}"


def origin() -> str | None:
    """The code, machine and packages of all runs, and whether the code is still the same."""
    lines = [
        line
        for task in (WORDS, TEXT)
        for treebank in TREEBANKS.values()
        for line in measured(task, treebank).values()
    ]
    if not lines:
        return None
    own = [line for line in lines if line["row"].startswith("dyparse")] or lines
    commits, machines = (sorted({line[of] for line in own}) for of in ("commit", "machine"))
    packages = {f"{name} {number}" for line in lines for name, number in line["versions"].items()}
    is_stale = {line["sources"] for line in own} != {training_sources(DYPARSE, {})}
    since = "; the code that decides training has changed since" if is_stale else ""
    return (
        f"Commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}, on {'; '.join(machines)}, "
        f"with {', '.join(sorted(packages, key=str.lower))}{since}.\n"
    )
