"""docs/study: complete grids of one setting each, and the source of the tables in the docs."""

import importlib
from dataclasses import replace
from itertools import product
from statistics import mean

import numpy as np
import pytest
from helpers.made_results import made_result
from helpers.tiny import PROJECT
from scipy.stats import permutation_test

from dyparse.evaluation.provenance import training_sources
from dyparse.evaluation.run_result import finished_results

PROTOCOL = {  # cells of the grids that have been finished
    "A": 450 + 90 + 216,
    "D": 27,
    "E": 6,
}


@pytest.fixture(scope="module", autouse=True)
def scripts():
    """The folder scripts/, from which modules are imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "scripts"))
        yield


@pytest.fixture(scope="module")
def script():
    """scripts/make_results.py, which writes the tables."""
    return importlib.import_module("make_results")


@pytest.fixture(scope="module")
def study():
    """scripts/study.py, which computes the comparisons of the protocol."""
    return importlib.import_module("study")


@pytest.mark.parametrize("grid", sorted(PROTOCOL))
def test_a_grid_of_the_protocol_is_complete_and_has_one_setting_and_commit(grid):
    results = [result for _, result in finished_results([PROJECT / "docs" / "study" / grid])]
    assert len({result.cell for result in results}) == len(results) == PROTOCOL[grid]
    assert len({result.setting_name for result in results}) == 1
    assert len({result.commit for result in results}) == 1
    assert all(result.sources and result.machine and result.command for result in results)


def test_every_comparison_of_grid_a_has_an_answer(study):
    for plans in (study.PRIMARY, study.OTHER_TRAININGS, study.OF_PARTS):
        assert all(study.pairs_of(planned) for planned in plans)


def test_scipy_finds_the_p_values_over_runs_of_the_primary_comparisons(study):
    for planned in study.PRIMARY:
        found = study.difference(planned)
        las = {
            (cell.system, cell.exploration, cell.treebank, cell.seed): result.test["las"]
            for result in study.results("A").values()
            for cell in [result.cell]
        }
        both = [
            [las[(*side, *place)] for place in product(planned.treebanks, planned.seeds)]
            for side in (planned.new, planned.base)
        ]
        other = permutation_test(  # the mean over treebanks, which have as many seeds each
            both, lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
            vectorized=True, n_resamples=10_000, rng=np.random.default_rng(1),
        )  # fmt: skip
        assert found.mean == pytest.approx(other.statistic)
        error = np.sqrt(other.pvalue * (1 - other.pvalue) / 10_000)
        assert found.p_seeds == pytest.approx(other.pvalue, abs=6 * error)


@pytest.mark.parametrize("metric", ["las", "uas", "clas"])
def test_scores_computed_from_counts_are_those_of_the_runs(study, metric):
    planned = replace(study.PRIMARY[0], metric=metric)
    runs = study.runs(planned, planned.new, planned.treebanks)
    found = study.difference(replace(planned, treebanks=planned.treebanks[:1])).new
    assert found == pytest.approx(mean(run.test[metric] for run in runs[: len(planned.seeds)]))


def test_a_comparison_without_all_its_cells_is_incomplete_and_counts_in_its_family(
    study, tmp_path, monkeypatch
):
    monkeypatch.setattr(study, "STUDY", tmp_path)
    cells = [("static", 1, 2), ("static", 2, 3), ("explore", 1, 4), ("explore", 2, 5)]
    for exploration, seed, right in cells:
        result = made_result([1, right, 3], exploration=exploration, seed=seed)
        place = tmp_path / "made" / f"{exploration}{seed}"
        place.mkdir(parents=True)
        result.save(place)

    def against_static(exploration):
        training = ("arc_eager", exploration)
        return study.Planned("made", training, ("arc_eager", "static"), ("UD_Made-Up",), (1, 2))

    whole, missing = study.family((against_static("explore"), against_static("sample")))
    assert whole.difference.mean == pytest.approx(10)
    assert whole.difference.p_seeds == 0.5
    assert whole.p_runs == 1.0  # twice that: two comparisons were planned
    assert (missing.difference, missing.answer) == (None, "incomplete")


@pytest.mark.parametrize(
    ("low", "high", "p", "answer"),
    [
        (0.1, 0.5, 0.01, "better"),
        (-0.5, -0.1, 0.01, "worse"),
        (0.1, 0.5, 0.2, "not known"),
        (-0.1, 0.2, 0.2, "no difference"),
        (-0.1, 0.4, 0.01, "not known"),
    ],
)
def test_what_counts_as_an_answer_is_that_of_the_protocol(study, low, high, p, answer):
    difference = study.difference(study.PRIMARY[0])
    found = replace(difference, mean=(low + high) / 2, low=low, high=high)
    assert study.Outcome(study.PRIMARY[0], found, {}, p_runs=p).answer == answer


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


def test_variants_of_other_settings_are_compared_once_all_their_cells_are_finished():
    tables = importlib.import_module("learning_tables")
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
