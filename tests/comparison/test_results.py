"""docs/study: grids of one setting each, and the source of the tables in the docs."""

import importlib
import json
from collections import Counter
from dataclasses import replace
from itertools import product
from statistics import mean

import numpy as np
import pytest
from helpers.made_results import made_result
from helpers.tiny import PROJECT
from scipy.stats import permutation_test

from dyparse.errors import DyparseError
from dyparse.evaluation.provenance import training_sources
from dyparse.evaluation.run_result import finished_results

STUDY = PROJECT / "docs" / "study"
MEASURED = ("hungarian", "turkish")  # treebanks of docs/study/peers
CELLS = {"A": 450 + 90 + 216, "B": 108, "C": 6, "D": 27, "E": 6}  # that the protocol plans


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


def test_the_comparisons_are_those_of_the_protocol(study):
    assert [len(family) for family in study.FAMILIES] == [5, 10, 30, 10, 12, 8]
    assert {grid: len(study.planned_cells(grid)) for grid in CELLS} == CELLS
    assert all(len(planned.seeds) == 5 for planned in study.PRIMARY)


@pytest.mark.parametrize("grid", CELLS)
def test_a_grid_of_the_protocol_has_one_setting_and_commit_and_its_planned_cells(study, grid):
    results = [result for _, result in finished_results([STUDY / grid])]
    assert len(study.results(grid)) == len(results)
    assert set(study.results(grid)) <= study.planned_cells(grid)
    assert len(results) == CELLS[grid]
    for of in ("setting_name", "commit"):
        assert len({getattr(result, of) for result in results}) <= 1
    assert all(result.sources and result.machine and result.command for result in results)


def test_every_encoder_of_the_table_has_all_its_cells(study):
    tables = importlib.import_module("elsewhere_tables")
    assert len(tables.encoders_table().rows) == len(tables.ENCODERS)
    for grid in "JK":
        results = study.results(grid).values()
        assert len({(result.setting_name, result.commit) for result in results}) == 1


def test_every_comparison_of_grid_a_has_all_its_cells(study):
    for plans in (study.PRIMARY, study.OTHER_TRAININGS, study.OF_PARTS):
        assert all(study.pairs_of(planned) for planned in plans)


def test_scipy_finds_the_p_values_over_runs(study):
    """Of the primary comparisons, and of those on one treebank, whose exchanges are all tried."""
    for planned in (*study.PRIMARY, *study.BY_TREEBANK):
        both = [
            [
                study.results("A")[(side, *place)].test["las"]
                for place in product(planned.treebanks, planned.seeds)
            ]
            for side in (planned.new, planned.base)
        ]
        other = permutation_test(  # the mean over treebanks, which have as many seeds each
            both, lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
            vectorized=True, n_resamples=10_000, rng=np.random.default_rng(1),
        )  # fmt: skip
        found = study.difference(planned)
        is_exact = len(planned.treebanks) == 1
        error = 0 if is_exact else np.sqrt(other.pvalue * (1 - other.pvalue) / 10_000)
        assert found.mean == pytest.approx(other.statistic)
        assert found.p_seeds == pytest.approx(other.pvalue, abs=1e-12 + 6 * error)


@pytest.mark.parametrize("metric", ["las", "uas", "clas"])
def test_scores_computed_from_counts_are_those_of_the_runs(study, metric):
    planned = replace(study.PRIMARY[0], metric=metric)
    treebank = planned.treebanks[:1]
    runs = study.runs("A", planned.new, treebank, planned.seeds)
    found = study.difference(replace(planned, treebanks=treebank)).new
    assert found == pytest.approx(mean(run.test[metric] for run in runs))


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
        (-0.303, 0.2, 0.2, "no difference"),  # as printed: −0.30
        (-0.306, 0.2, 0.2, "not known"),
        (-0.1, 0.4, 0.01, "not known"),
    ],
)
def test_what_counts_as_an_answer_is_that_of_the_protocol(study, low, high, p, answer):
    difference = study.difference(study.PRIMARY[0])
    found = replace(difference, mean=(low + high) / 2, low=low, high=high)
    assert study.Outcome(study.PRIMARY[0], found, {}, p_runs=p).answer == answer


def test_of_a_single_treebank_the_interval_is_marked_by_p_over_sentences(study):
    tables = importlib.import_module("study_tables")
    plan = replace(study.PRIMARY[0], treebanks=study.SIX[:1])
    difference = replace(study.difference(plan), mean=0.5, low=0.25, high=0.75)
    clear = study.Outcome(plan, difference, {}, p_runs=0.25, p_sentences=0.01)
    assert (clear.verdict, clear.answer) == ("better", "see the interval")
    assert tables.marked_interval(clear) == "**+0.50 [+0.25, +0.75]**"
    unclear = replace(clear, p_sentences=0.2)
    assert (unclear.verdict, tables.marked_interval(unclear)) == ("", "+0.50 [+0.25, +0.75]")


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


def test_the_headline_says_how_many_systems_have_which_answer(study):
    tables = importlib.import_module("study_tables")
    found = study.family(study.PRIMARY)
    assert "is **better than static training with all five systems** (by" in tables.headline(found)
    worse = replace(
        found[0], difference=replace(found[0].difference, mean=-1.0, low=-1.5, high=-0.5)
    )
    text = tables.headline([worse, *found[1:]])
    assert "**better than static training with 4 of the five systems**" in text
    assert "**worse with 1 of the five systems** (by 1.00 LAS)" in text
    assert tables.headline([replace(found[0], difference=None)]) is None


@pytest.mark.parametrize("name", MEASURED)
def test_other_parsers_were_all_measured_on_one_commit_and_machine(name):
    tables = importlib.import_module("peer_tables")
    words, text = (tables.measured(task, tables.TREEBANKS[name]) for task in ("words", "text"))
    of_english = {"dyparse-finetuned"} if name != "lines" else set()  # MiniLM is an English model
    expected = {line for both in tables.PARSERS.values() for line in both if line}
    assert set(words) == expected - of_english
    assert {"dyparse-text-default", "dyparse-text-fast", "udpipe-text"} <= set(text)
    lines = {**words, **text}
    assert not any("failed" in line for line in lines.values())
    assert len({line["machine"] for line in lines.values()}) == 1
    own = [line for name, line in lines.items() if name.startswith("dyparse")]
    assert len({line["commit"] for line in own}) == 1  # others run none of its code


def test_other_parsers_are_compared_with_and_without_tags(study, tmp_path, monkeypatch):
    tables = importlib.import_module("peer_tables")
    monkeypatch.setattr(study, "STUDY", tmp_path)
    assert set(tables.peer_tables().values()) == {None}
    (tmp_path / "peers").mkdir()
    about = {"title": "", "commit": "abc", "sources": "0", "machine": "a machine"}
    measured = {
        "parsing": {}, "training_words": 1, "training_seconds": 1, "snapshots": [],
        "model_bytes": 1, "peak_bytes": 1, "versions": {"it": "1.0"}, "startup_seconds": 1,
    }  # fmt: skip
    ends = {"supar": (70.123, False), "spacy": (80.0, True)}  # the first with tags, stopped
    rows = [
        about | measured | {"row": row, "reads": row}
        | {"end": {"las": las, "complete": complete, "cpu_seconds": 60, "reason": ""}}
        for row, (las, complete) in ends.items()
    ]  # fmt: skip
    path = tmp_path / "peers" / f"words-{study.HUNGARIAN}.json"
    path.write_text(json.dumps({"rows": rows}), encoding="utf-8")
    made = tables.peer_tables()
    cells = {row[0]: row for row in made["peers"].rows}
    column = made["peers"].header.index("Hungarian, gold tags")
    assert cells["SuPar, biaffine"][column : column + 2] == ("70.12*", "")
    assert cells["spaCy, arc-eager"][column : column + 2] == ("", "80.00")
    assert "| supar |" in made["peers_hungarian_tags"]
    assert "| spacy |" not in made["peers_hungarian_tags"]
    assert "| spacy |" in made["peers_hungarian_none"]
    assert made["peers_origin"].startswith("Commit abc, on a machine, with it 1.0; the code")


def test_repairs_are_counted_as_in_the_paper():
    """Table 2 of Honnibal et al. (2013)."""
    findings = importlib.import_module("findings")
    pops = {
        "LEFT": Counter(right=60, wrong=14, missed=285, rightly_none=18466, neither=9),
        "REDUCE": Counter(right=52, wrong=26, missed=250, rightly_none=14066, neither=9),
    }
    assert findings.repairs_made(pops) == "152 of 33,219 pops counted, 0.46 %"
    assert findings.repairs_missed(pops) == "535 of 647, 82.7 %"
    assert "60 of 74 by `LEFT` (81 %) and 52 of 78 by `REDUCE` (67 %)" in findings.repairs_right(
        pops
    )


def test_figures_go_to_the_lines_of_their_claims_and_none_is_left_over():
    findings = importlib.import_module("findings")
    page = "| 1 | A | no |\n<!-- findings -->\n| paper | claim | x |\n| 1 | A | yes | old |\n"
    filled = findings.filled_in(page, {"A": "LAS +1"})
    assert filled == page.replace("| old |", "| LAS +1 |")
    with pytest.raises(DyparseError, match=r"line 4: .*no such claim"):
        findings.filled_in(page, {})
    with pytest.raises(DyparseError, match="no line for B"):
        findings.filled_in(page, {"A": "", "B": ""})
