"""Coverage of treebanks by systems: figures, table, and the `dyparse coverage` command."""

import csv
import functools
import subprocess
import sys

import numpy as np
import pytest
from helpers.random_trees import is_projective, most_gold_arcs, random_tree
from helpers.tiny import sample

from dyparse import system as systems
from dyparse.data.columns.pseudo_projective import PROJECTIVITIES, decoded, encoded
from dyparse.data.sentence import Sentence
from dyparse.evaluation import coverage as module
from dyparse.evaluation.coverage import Coverage, Row, coverage, lost_arcs, nonprojective, table
from dyparse.evaluation.exhaustive import (
    all_trees,
    least_losses,
    reachable_states,
    root_children,
)

DEV = sample("dev")[:30]
CROSSED = "".join(  # 1 → 3 and 2 → 4 cross
    f"{word}\tw\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for word, head in enumerate((0, 1, 1, 2), 1)
)
QUICK = ("arc_eager", "arc_hybrid", "attardi", "covington")  # to compile


def mixed_trees(count=60, longest=20):
    """Trees of many lengths, unsorted: projective, nearly projective, arbitrary."""
    rng = np.random.default_rng(7)
    kinds = ("projective", "displaced", "any")
    return [
        random_tree(rng, int(rng.integers(1, longest + 1)), kinds[k % 3], one_root=True)[1:]
        for k in range(count)
    ]


def sentence_with(heads):
    return Sentence.from_words(["w"] * len(heads)).with_tree(heads, ["dep"] * len(heads))


@pytest.fixture
def command(dyparse_command):
    """command(*arguments, stdin=…) → (exit status, standard output, standard error)."""
    return functools.partial(dyparse_command, "coverage")


@pytest.fixture
def treebank(tmp_path):
    """A directory like that of a UD treebank."""
    directory = tmp_path / "UD_Tiny-One"
    directory.mkdir()
    for split, sentences in (("train", DEV[:20]), ("dev", DEV[20:])):
        path = directory / f"xx_one-ud-{split}.conllu"
        path.write_text("".join(s.to_conllu() for s in sentences))
    return directory


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- figures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in systems.names()
    ],
)
def test_the_canonical_moves_lose_as_few_arcs_as_any_moves(name):
    system, trees = systems.load(name), all_trees(3)
    if not system.exact:  # then only trees that the options allow are meant to be reached
        trees = trees[root_children(trees) == 1]
    least = least_losses(system, reachable_states(system, 3), trees)[0][0]
    np.testing.assert_array_equal(lost_arcs(system, trees[:, 1:]), least)


def test_arc_eager_loses_what_the_nearest_projective_tree_lacks():
    trees = mixed_trees()
    nearest = [len(t) - most_gold_arcs(np.array([0, *t]), one_root=True) for t in trees]
    assert max(nearest) > 1
    np.testing.assert_array_equal(lost_arcs(systems.load("arc_eager"), trees), nearest)


def test_batches_change_neither_the_lost_arcs_nor_their_order(monkeypatch):
    system, trees, done = systems.load("arc_eager"), mixed_trees(), []
    together = lost_arcs(system, trees, done.append)
    assert sum(done) == sum(map(len, trees))
    monkeypatch.setattr(module, "MOST_SENTENCES_PER_BATCH", 7)
    monkeypatch.setattr(module, "MOST_CELLS_PER_BATCH", 600)
    apart = []
    np.testing.assert_array_equal(lost_arcs(system, trees, apart.append), together)
    assert sum(apart) == sum(done)
    assert len(apart) > len(done)
    np.testing.assert_array_equal([lost_arcs(system, [tree])[0] for tree in trees], together)


def test_the_figures_are_those_of_the_lost_arcs():
    trees = [[0, 1, 1, 2], [2, 0], [0, 1, 1, 2], [0]]  # the long one is not projective
    found = coverage(systems.load("arc_eager"), [sentence_with(tree) for tree in trees])
    assert found == Coverage(sentences=4, words=11, built=2, lost=2, most_lost=1, exact=True)
    assert (found.built_share, found.arc_share, found.mean_lost) == (0.5, 1 - 2 / 11, 1.0)
    built = coverage(systems.load("arc_eager"), [sentence_with([2, 0])])
    assert (built.built_share, built.arc_share, built.mean_lost) == (1.0, 1.0, 0.0)


def test_options_of_a_system_change_its_coverage():
    trees = [np.array([0, 0])]
    assert lost_arcs(systems.load("arc_eager", single_root=True), trees) == [1]
    assert lost_arcs(systems.load("arc_eager", single_root=False), trees) == [0]


def test_sentences_with_a_nonprojective_arc_are_those_whose_arcs_cross():
    trees = mixed_trees()
    crossing = [tree for tree in trees if not is_projective(np.array([0, *tree]))]
    sentences, arcs = nonprojective(trees)
    assert 0 < sentences == len(crossing) < arcs
    assert nonprojective([np.array([0, 1, 1, 2])]) == (1, 1)


def test_sentences_without_trees_are_refused():
    system = systems.load("arc_eager")
    with pytest.raises(ValueError, match="no sentences"):
        coverage(system, [])
    with pytest.raises(ValueError, match="heads outside"):
        coverage(system, [Sentence.from_words(["no", "tree"])])


# --- table ---------------------------------------------------------------------------------------


def row(system, built, *, exact=True, lost=7):
    return Row("T", system, Coverage(1000, 9000, built, lost, 3, exact), 5, 6)


def test_the_best_system_comes_first_and_bounds_are_marked():
    lines = list(table([row("a", 900), row("b", 990, exact=False), row("c", 900)]))
    assert lines[0] == "T: 1,000 sentences, 9,000 words"
    assert lines[1] == "non-projective: 0.50% of sentences, 0.07% of arcs"
    assert [line.split()[0] for line in lines[3:6]] == ["b", "a", "c"]
    assert lines[3].split()[1:] == ["≥", "99.00%", "≥", "99.92%", "≈", "0.70", "≤", "3"]
    assert lines[4].split()[1:] == ["90.00%", "99.92%", "0.07", "3"]
    assert "not exact" in lines[6]


def test_only_a_treebank_that_is_built_completely_shows_100_percent_and_it_is_no_bound():
    lines = list(table([row("all", 1000, exact=False, lost=0)]))
    assert lines[3].split() == ["all", "100.00%", "100.00%", "-", "-"]
    assert len(lines) == 4
    nearly = Row("T", "nearly", Coverage(10**6, 10**7, 10**6 - 1, 1, 1, exact=True), 5, 6)
    assert list(table([nearly]))[3].split() == ["nearly", "99.99%", "99.99%", "1.00", "1"]


def test_a_line_has_at_most_100_columns():
    lines = list(table([row("arc_eager:root=first,single_root=false", 1000, exact=False)]))
    assert len({len(line) for line in lines[2:4]}) == 1  # aligned
    assert max(map(len, lines)) <= 100


# --- command -------------------------------------------------------------------------------------


def test_directories_files_and_standard_input_are_treebanks(command, treebank):
    dev = treebank / "xx_one-ud-dev.conllu"
    text = dev.read_text()
    status, out, err = command("--system", "arc_eager", treebank, dev, "-", stdin=text)
    assert (status, err) == (0, "")
    blocks = [block.splitlines() for block in out.split("\n\n")]
    assert [block[0].split(": ")[0] for block in blocks] == ["UD_Tiny-One", str(dev), "<stdin>"]
    assert f": {len(DEV)} sentences, {sum(map(len, DEV))} words" in blocks[0][0]
    assert blocks[1][1:] == blocks[2][1:]
    projective = sum(s.is_projective() for s in DEV) / len(DEV)
    assert 0 < projective < 1
    assert blocks[0][3].split()[:2] == ["arc_eager", f"{projective:.2%}"]


def test_csv_has_a_line_per_treebank_and_system(command, treebank, tmp_path):
    crossed, out = tmp_path / "crossed.conllu", tmp_path / "out.csv"
    crossed.write_text(CROSSED)
    out.write_text("old")
    wanted = ["arc_eager", "arc_eager:root=first,single_root=false"]
    options = [part for name in wanted for part in ("--system", name)]
    assert command(treebank, *options, crossed, "--csv", out)[0] == 0
    rows = rows_of(out)
    assert [(r["treebank"], r["system"]) for r in rows] == [
        (name, system) for name in ("UD_Tiny-One", str(crossed)) for system in wanted
    ]
    assert rows[2] == {
        "treebank": str(crossed),
        "system": "arc_eager",
        "exact": "true",
        "sentences": "1",
        "words": "4",
        "nonprojective_sentences": "1",
        "nonprojective_arcs": "1",
        "built_sentences": "0",
        "built_percent": "0.0000",
        "gold_arcs": "3",
        "gold_arcs_percent": "75.0000",
        "lost_arcs_mean": "1.0000",
        "lost_arcs_most": "1",
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == ["UD_Tiny-One", crossed.name, out.name]


def test_all_systems_are_compared_unless_some_are_named(command, treebank, monkeypatch):
    monkeypatch.setattr(systems, "names", lambda: ["arc_eager"])  # others take long to compile
    status, out, _ = command(treebank / "xx_one-ud-dev.conllu")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[3:]] == ["arc_eager"]


def test_a_wrong_argument_is_one_message_and_leaves_no_file(command, treebank, tmp_path):
    out, empty, bad = tmp_path / "out.csv", tmp_path / "empty", tmp_path / "bad.conllu"
    empty.mkdir()
    bad.write_text(CROSSED.replace("\t0\t", "\t4\t"))
    for arguments, finding in [
        ([treebank, "--system", "arc_eagre"], "did you mean 'arc_eager'"),
        ([treebank, "--system", "arc_eager:rot=first"], "no option 'rot'"),
        ([treebank, "--system", "arc_eager:root=middle"], "'middle', expected 'last' or 'first'"),
        ([treebank, "--system", "arc_eager:single_root=no"], "'no', expected true or false"),
        ([treebank, "--system", "arc_eager:single_root"], "expected key=value"),
        ([treebank, "--system", "buffer:gap=wide"], "'wide', expected a whole number"),
        ([tmp_path / "none"], "no such file"),
        ([empty], "no *.conllu in it"),
        ([bad, "--system", "arc_eager"], f"{bad}:1: "),
    ]:
        status, shown, err = command(*arguments, "--csv", out)
        assert (status, shown) == (2, "")
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert finding in err
    status, _, err = command(treebank, "--system", "arc_eager", "--csv", tmp_path / "no" / "where")
    assert (status, err.count("\n")) == (2, 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["UD_Tiny-One", "bad.conllu", "empty"]


def test_a_wrong_command_line_shows_the_usage_and_help_has_examples(command):
    status, out, err = command()
    assert (status, out) == (2, "")
    assert "usage: dyparse coverage" in err
    status, out, _ = command("--help")
    assert status == 0
    assert "dyparse coverage ud/UD_* --csv coverage.csv" in out


def test_neither_coverage_nor_oracle_traces_need_torch():
    imports = "import sys, dyparse.evaluation.coverage, dyparse.evaluation.oracle_trace"
    program = f"{imports}; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_missing_treebank_is_reported_before_any_is_read(command, treebank, tmp_path):
    status, out, error = command(treebank, tmp_path / "none", "--system", "arc_eager")
    assert status == 2
    assert out == ""
    assert "none" in error


def test_a_table_is_not_written_over_the_treebank(dyparse_command, tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text("".join(s.to_conllu() for s in sample("dev")[:3]))
    before = path.read_bytes()
    status, _, err = dyparse_command("coverage", path, "--system", "arc_eager", "--csv", path)
    assert status == 2
    assert f"--csv is {path}, which is read" in err
    assert path.read_bytes() == before


# --- lifted trees --------------------------------------------------------------------------------


@pytest.mark.parametrize("projectivity", PROJECTIVITIES[1:])
@pytest.mark.parametrize("single_root", [False, True])
def test_with_lifted_trees_lost_are_the_arcs_that_do_not_come_back(projectivity, single_root):
    rng = np.random.default_rng(5)
    gold = [
        Sentence.from_words(["w"] * n).with_tree(
            random_tree(rng, n, "displaced", one_root=True)[1:], rng.choice(["acl", "obl"], n)
        )
        for n in rng.integers(2, 15, 60).tolist()
    ]
    back = decoded(encoded(gold, projectivity), projectivity)
    wrong = [
        sum(a != b for a, b in zip(old.head, new.head, strict=True))
        for old, new in zip(gold, back, strict=True)
    ]
    system = systems.load("arc_eager", single_root=single_root)
    read = module.Gold.read(gold, [projectivity])
    assert module.lost_words(system, read, projectivity).tolist() == wrong
    assert coverage(system, gold, projectivity).lost == sum(wrong) < coverage(system, gold).lost


def test_the_command_has_a_line_for_every_projectivity_of_projective_systems(command, tmp_path):
    path = tmp_path / "crossed.conllu"
    path.write_text(CROSSED + "\n")
    options = ["--system", "arc_eager", "--system", "covington"]
    encodings = ["--projectivity", "head+path", "--projectivity", "path"]
    status, out, _ = command(path, *options, *encodings, "--csv", tmp_path / "out.csv")
    assert status == 0
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert {row["system"]: row["built_sentences"] for row in rows} == {
        "arc_eager": "0",
        "arc_eager head+path": "1",
        "arc_eager path": "1",
        "covington": "1",
    }
    assert "arc_eager head+path" in out


def test_a_projectivity_without_a_system_that_needs_it_is_refused(command, tmp_path):
    systems = ["--system", "covington", "--system", "swap"]
    given = ("sample", *systems, "--projectivity", "head", "--csv", tmp_path / "out.csv")
    status, out, err = command(*given)
    assert (status, out) == (2, "")
    assert "--projectivity is head, but no tree is lifted for covington, swap; add" in err
    assert not list(tmp_path.iterdir())
