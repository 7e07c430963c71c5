"""docs/results: complete, of one setting, and the source of the tables in docs/results.md."""

import csv
import importlib
from collections import defaultdict
from dataclasses import replace
from statistics import mean

import pytest
from helpers.made_results import made_result
from helpers.tiny import PROJECT
from scipy.stats import permutation_test

from dyparse.comparison.statistics import comparison_of
from dyparse.evaluation.provenance import training_sources
from dyparse.evaluation.run_result import finished_results

CELLS = PROJECT / "docs" / "results"
SIX = {
    "UD_English-LinES",
    "UD_Gothic-PROIEL",
    "UD_Hungarian-Szeged",
    "UD_Turkish-IMST",
    "UD_Greek-GDT",
    "UD_Afrikaans-AfriBooms",
}


@pytest.fixture(scope="module")
def results():
    """All finished cells, each with its directory."""
    return finished_results([CELLS])


def test_all_cells_have_one_setting_and_none_appears_twice(results):
    assert len({result.setting_name for _, result in results}) == 1
    assert len({result.cell for _, result in results}) == len(results)


@pytest.mark.parametrize("exploration", ["static", "explore"])
@pytest.mark.parametrize("system", ["arc_eager", "nonmonotonic", "buffer", "attardi", "covington"])
def test_every_system_of_the_papers_has_three_seeds_on_six_treebanks(results, system, exploration):
    seeds = defaultdict(set)
    for _, result in results:
        cell = result.cell
        if (cell.system, cell.exploration, cell.loss) == (system, exploration, "set_nll"):
            seeds[cell.treebank].add(cell.seed)
    assert set(seeds) >= SIX
    assert all({1, 2, 3} <= seeds[treebank] for treebank in SIX)


def test_means_in_the_csv_are_those_of_the_cells(results):
    las = defaultdict(list)
    for _, result in results:
        cell = result.cell
        las[cell.exploration, cell.loss, cell.treebank, cell.system].append(result.test["las"])
    with (PROJECT / "docs" / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["system"] in ("arc_eager", "attardi")]
    assert len(rows) >= 2 * 2 * len(SIX)
    for row in rows:
        runs = las[row["exploration"], row["loss"], row["treebank"], row["system"]]
        assert len(runs) == int(row["seeds"])
        assert float(row["las"]) == pytest.approx(mean(runs), abs=1e-4)


def test_scipy_finds_the_p_values_over_runs_of_the_readme_table():
    results = [result for _, result in finished_results([PROJECT / "docs" / "results_readme"])]
    las = {result.cell: result.test["las"] for result in results}
    compared = [row for row in comparison_of(results).pooled if row.effect]
    assert len(compared) == 6
    for row in compared:
        cells = [c for c in las if (c.system, c.exploration) == row.key[:2]]
        new = [las[cell] for cell in cells]
        base = [las[replace(cell, exploration="static")] for cell in cells]
        found = permutation_test(  # the mean over treebanks, which have as many seeds each
            (new, base), lambda x, y: mean(a - b for a, b in zip(x, y, strict=True)),
            permutation_type="samples", vectorized=False,
        )  # fmt: skip
        assert row.effect.las.mean == pytest.approx(found.statistic)
        assert row.effect.las.p_seeds == pytest.approx(found.pvalue, abs=1e-12)


@pytest.fixture(scope="module")
def script():
    """scripts/make_results.py, which writes the tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "scripts"))
        return importlib.import_module("make_results")


@pytest.mark.parametrize(
    ("sources", "ending"),
    [(None, "commit abc."), ("0", "; the code that decides training has changed since.")],
)
def test_results_say_which_code_they_are_of_and_whether_it_has_changed(script, sources, ending):
    result = made_result([1, 2, 3])
    here = sources or training_sources(result.cell, result.setting)
    versions = {"dyparse": "0.1.0"}
    result = replace(result, commit="abc", sources=here, versions=versions)
    assert script.origin([result]).startswith("Results of version 0.1.0, commit abc")
    assert script.origin([result]).strip().endswith(ending)


def test_variants_of_other_settings_are_compared_once_all_their_cells_are_finished(script):
    tables = script.sys.modules["learning_tables"]
    settings = [{}, {"projectivity": "head"}, {"projectivity": "path"}]
    cells = [
        (treebank, seed) for treebank in ("UD_A", "UD_B", "UD_C", "UD_D") for seed in (1, 2, 3)
    ]
    results = [
        made_result([right, 5, 3], treebank=treebank, seed=seed, setting=setting)
        for right, setting in zip((2, 3, 4), settings, strict=True)
        for treebank, seed in cells
    ]
    assert tables.listed("pseudo", results[: len(cells)]) == []  # the baseline alone
    table = tables.variants_table("pseudo", tables.listed("pseudo", results[:-1]))
    assert table.header[:3] == ("variant", "A", "B")
    assert [row[0] for row in table.rows] == ["arc_eager", "arc_eager, head"]
    assert table.rows[1][table.header.index("difference [95 %]")].startswith("+5.00")
    assert table.rows[1][-2:] == ("", "")  # no non-projective arcs
