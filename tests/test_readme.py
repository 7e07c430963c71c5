"""README, CONTRIBUTING, CHANGELOG and CITATION are true: targets, links and versions are right.

Code and commands of the README are tested with those of docs/, in test_doc_pages.py.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest
import yaml
from helpers.documents import commands_starting, dead_links
from helpers.tiny import PROJECT

import dyparse
from dyparse.evaluation.run_result import finished_results
from dyparse.system import _kernels

README = (PROJECT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RESULTS = PROJECT / "docs" / "study" / "A"
MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")


def test_make_targets_exist() -> None:
    targets = re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)
    used = [words[0] for words in commands_starting("make", text=README)]
    assert used[:2] == ["train", "test"], "the two commands come first"
    used += [words[0] for words in commands_starting("make", text=CONTRIBUTING)]
    assert set(used) <= set(targets)


def test_it_has_one_or_two_screens_and_its_pictures() -> None:
    assert len(README.splitlines()) <= 110
    assert "](docs/figures/tree.svg)" in README
    (table,) = re.findall(r"<!-- readme -->\n(.*?)<!-- /readme -->", README, re.DOTALL)
    assert "static_vs_dynamic.svg" in table


def test_the_table_has_the_mean_scores_of_300_runs() -> None:
    """P-values are checked with scipy, in tests/comparison/test_results.py."""
    las = defaultdict(list)
    for _, result in finished_results([RESULTS]):
        if result.cell.exploration in ("static", "dagger_replay"):
            las[result.cell.system, result.cell.exploration].append(result.test["las"])
    (table,) = re.findall(r"<!-- readme -->\n(.*?)<!-- /readme -->", README, re.DOTALL)
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if "|" in line][2:]
    assert len(rows) == 5
    for system, static, dynamic, gain, *_ in rows:
        assert float(gain.split()[0]) == pytest.approx(float(dynamic) - float(static), abs=0.011)
        for exploration, shown in (("static", static), ("dagger_replay", dynamic)):
            runs = las[system, exploration]
            assert len(runs) == 6 * 5  # treebanks and seeds: a mean of means is the mean
            assert shown == f"{mean(runs):.2f}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    assert dead_links(PROJECT / name) == []


def test_table_of_kernels_is_complete_and_has_their_parameters() -> None:
    listed = dict(re.findall(r"^\| `(\w+)(\([\w, ]+\))` \|", CONTRIBUTING, re.MULTILINE))
    declared = {
        name: str(inspect.signature(kernel))
        for name, kernel in vars(_kernels).items()
        if inspect.isfunction(kernel) and hasattr(kernel, "__wrapped__")  # by @kernel
    }
    assert declared
    assert listed == declared


@pytest.mark.parametrize(
    "page", [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")], ids=lambda page: page.name
)
def test_there_are_no_unfinished_words_and_no_paths_of_a_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"TODO|FIXME|VERDICT|before commit|older code|/work/|/home/", text) == []


def test_versions_agree() -> None:
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)
    newest = next(release for release in releases if release != "Unreleased")
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    (in_readme,) = re.findall(r"^ *version += \{(.*)\}", README, re.MULTILINE)
    assert {newest, citation["version"], in_readme} == {dyparse.__version__}


def test_citation_has_what_its_format_requires() -> None:
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation.keys() >= {"message", "title", "authors", "license", "type"}
    assert citation["references"]
    for reference in citation["references"]:
        assert reference.keys() >= {"type", "title", "authors", "year"}
        assert reference.keys() & {"url", "doi"}
        assert all(
            {"family-names", "given-names"} <= author.keys() for author in reference["authors"]
        )
