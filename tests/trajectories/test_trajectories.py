"""Derivations as arrays, in memory and in files, and the `dyparse trajectories` command."""

from __future__ import annotations

import io
import json
import re
import sys

import numpy as np
import pyarrow.parquet
import pytest
from helpers.malformed import MALFORMED
from helpers.random_trees import random_tree
from helpers.tiny import sample

from dyparse import system as systems
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.evaluation.coverage import lost_arcs, trees_of
from dyparse.evaluation.oracle_trace import derive
from dyparse.exploration.explore import Explore
from dyparse.exploration.sample import Sample
from dyparse.trajectories import (
    Model,
    Oracle,
    collect,
    derivations,
    files,
    rollouts,
    write_npz,
    write_parquet,
)
from dyparse.version import __version__

QUICK = ("arc_eager", "swap", "covington")  # to compile
NAMES = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in systems.names()
]
DEV = sample("dev")[:40]
EAGER = systems.load("arc_eager")


def made_sentences(count=6):
    """Sentences with trees: projective, nearly projective, arbitrary."""
    rng = np.random.default_rng(5)
    made = []
    for k in range(count):
        heads = random_tree(rng, 3 + k, ("projective", "displaced", "any")[k % 3], one_root=True)
        words = Sentence.from_words([f"w{w}" for w in range(1, len(heads))])
        made.append(words.with_tree(heads[1:].tolist(), ["dep"] * (len(heads) - 1)))
    return made


def same(first, second):
    """Whether two sets of arrays are equal, also in their types."""
    for name, array in first._asdict().items():
        other = getattr(second, name)
        assert (array is None) == (other is None)
        if array is not None:
            assert array.dtype == other.dtype
            np.testing.assert_array_equal(array, other, err_msg=name)
    return True


# --- the oracle ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_states_of_the_oracle_are_those_of_dyparse_oracle(name):
    system, sentences = systems.load(name), made_sentences()
    found = collect(Oracle(system), sentences)
    for s, sentence in enumerate(sentences):
        steps, heads = derive(system, sentence.head), {}
        first, end = found.state_offsets[s : s + 2]
        assert end - first == len(steps)
        for t, step in enumerate(steps, int(first)):
            stack, buffer = (
                values[offsets[t] : offsets[t + 1]].tolist()
                for values, offsets in (
                    (found.stack, found.stack_offsets),
                    (found.buffer, found.buffer_offsets),
                )
            )
            costs = zip(system.moves, found.cost[t].tolist(), strict=True)
            assert (found.sentence[t], found.step[t]) == (s, t - first)
            assert (tuple(stack), tuple(buffer)) == (step.stack, step.buffer)
            assert {move: cost for move, cost in costs if cost != -1} == step.costs
            assert system.moves[found.move[t]] == step.taken
            assert found.canonical[t] == found.move[t]
            assert found.paid[t] == step.paid
            assert tuple((h, w) for w, h in sorted(heads.items())) == step.arcs
            if found.arc_dependent[t] != -1:
                heads[int(found.arc_dependent[t])] = int(found.arc_head[t])
        assert found.head[slice(*found.word_offsets[s : s + 2])].tolist() == [*step.heads]
    assert found.score is None
    np.testing.assert_array_equal(found.legal, found.cost != -1)


def test_words_are_those_of_the_sentences():
    found = collect(Oracle(EAGER), DEV)
    for s, sentence in enumerate(DEV):
        words = slice(*found.word_offsets[s : s + 2])
        assert found.sent_id[s] == sentence.sent_id
        assert found.n_words[s] == len(sentence)
        assert found.forms[found.form[words]].tolist() == sentence.form
        assert found.upos_tags[found.upos[words]].tolist() == sentence.upos
        assert found.gold_head[words].tolist() == sentence.head
    about = found.about()
    assert about["moves"] == list(EAGER.moves)
    assert about["slots"] == list(EAGER.slots)
    assert (about["system"], about["dyparse"]) == ("arc_eager", __version__)
    assert (about["source"], about["follow"], about["mistakes"]) == ("oracle", "canonical", 0.0)


def test_feature_slots_are_filled_from_the_state():
    found = collect(Oracle(EAGER), DEV)
    s0, b0 = EAGER.slots.index("s0"), EAGER.slots.index("b0")
    for t in range(0, len(found.move), 7):
        stack = found.stack[found.stack_offsets[t] : found.stack_offsets[t + 1]]
        buffer = found.buffer[found.buffer_offsets[t] : found.buffer_offsets[t + 1]]
        assert found.slots[t, s0] == (stack[-1] if len(stack) else -1)
        assert found.slots[t, b0] == buffer[0]


@pytest.mark.parametrize(("follow", "mistakes"), [("canonical", 0.3), ("best", 0.0), ("best", 0.2)])
def test_arcs_lost_are_those_paid_for_and_those_out_of_reach(follow, mistakes):
    found = collect(Oracle(EAGER, follow, mistakes), DEV, seed=3)
    wrong = found.head != found.gold_head
    of_sentence = np.add.reduceat(wrong.astype(int), found.word_offsets[:-1])
    paid = np.add.reduceat(found.paid.astype(int), found.state_offsets[:-1])
    np.testing.assert_array_equal(of_sentence, lost_arcs(EAGER, trees_of(DEV)) + paid)
    assert (paid.sum() > 0) == (mistakes > 0)


def test_best_moves_are_drawn_with_equal_probability():
    found = collect(Oracle(EAGER, "best"), sample("train")[:300])
    best = found.legal & (found.cost == 0)
    pair = (best.sum(1) == 2) & best[:, 0]  # SHIFT and another one
    assert pair.sum() > 300
    assert abs((found.move[pair] == 0).mean() - 0.5) < 0.1


def test_a_mistake_is_a_move_that_costs_where_there_is_one():
    found = collect(Oracle(EAGER, mistakes=1.0), DEV)
    np.testing.assert_array_equal(found.paid > 0, (found.cost > 0).any(1))


def test_seeds_decide_and_batches_do_not(monkeypatch):
    def moves(seed, **batches):
        found = derivations(Oracle(EAGER, mistakes=0.2), DEV, seed=seed, **batches)
        return [each.move.tolist() for each in found]

    first = moves(1)
    assert moves(2) != first
    assert moves(1, max_tokens_per_batch=40) == first
    monkeypatch.setattr(rollouts, "WORDS_PER_WINDOW", 50)
    assert moves(1) == first


def test_sentences_are_read_as_they_are_needed(monkeypatch):
    monkeypatch.setattr(rollouts, "WORDS_PER_WINDOW", 50)
    left = iter(DEV)
    next(derivations(Oracle(EAGER), left))
    assert len(list(left)) > len(DEV) / 2


def test_options_of_an_oracle_are_checked():
    with pytest.raises(ValueError, match=r"mistakes is 1\.1, expected a probability 0\.\.1"):
        Oracle(EAGER, mistakes=1.1)
    with pytest.raises(ValueError, match="follow is 'any', expected canonical or best"):
        Oracle(EAGER, "any")


def test_a_sentence_needs_a_gold_tree_and_oracles_a_bearable_length():
    with pytest.raises(TreebankError, match="has no gold tree, expected the head of every word"):
        collect(Oracle(EAGER), [Sentence.from_words(["a", "b"])])
    long = Sentence.from_words(["a"] * 2001).with_tree([0] + [1] * 2000, ["dep"] * 2001)
    with pytest.raises(TreebankError, match=r"has 2001 words.*expected at most 2000"):
        collect(Oracle(EAGER), [long])
    with pytest.raises(ValueError, match="there are no sentences"):
        collect(Oracle(EAGER), [])


# --- models --------------------------------------------------------------------------------------


def test_a_model_takes_the_derivation_that_it_parses_by(parser):
    found = collect(Model(parser), DEV)
    heads = [head for sentence in parser.parse(DEV) for head in sentence.head]
    assert found.head.tolist() == heads
    assert found.score.dtype == np.float32
    favourite = np.where(found.legal, found.score, -np.inf).argmax(1)
    np.testing.assert_array_equal(found.move, favourite)
    taken = found.cost[np.arange(len(found.move)), found.move]
    np.testing.assert_array_equal(found.paid, taken)
    assert found.about()["exploration"] == "greedy"


def test_an_exploration_may_choose(parser):
    drawn = Model(parser, Sample(temperature=2.0))
    found = collect(drawn, DEV, seed=4)
    favourite = np.where(found.legal, found.score, -np.inf).argmax(1)
    assert 0.02 < (found.move != favourite).mean() < 0.9
    assert same(found, collect(drawn, DEV, seed=4))
    about = found.about()
    assert (about["exploration"], about["epoch"]) == ("sample:temperature=2.0", 100)


def test_the_epoch_is_the_exploration_s(parser):
    first = collect(Model(parser, Explore(probability=1.0), epoch=1), DEV)
    assert first.paid.sum() == 0  # in its first epoch the oracle chooses
    late = collect(Model(parser, Explore(probability=1.0)), DEV)
    assert late.paid.sum() == collect(Model(parser), DEV).paid.sum() > 0
    with pytest.raises(ValueError, match="epoch is 0, expected 1 or more"):
        Model(parser, epoch=0)


# --- files ---------------------------------------------------------------------------------------


def test_npz_has_the_arrays_and_needs_no_pickle(parser, tmp_path):
    for source in (Oracle(EAGER), Model(parser)):
        path = tmp_path / "x.npz"
        write_npz(path, source, derivations(source, DEV))
        with np.load(path, allow_pickle=False) as read:
            expected = collect(source, DEV)
            assert same(expected, type(expected)(**{"score": None, **read}))


def test_parquet_has_the_same_in_a_row_per_sentence(parser, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "WORDS_PER_ROW_GROUP", 100)
    for source in (Oracle(EAGER), Model(parser)):
        path, expected = tmp_path / "x.parquet", collect(source, DEV)
        write_parquet(path, source, derivations(source, DEV), seed=7)
        table = pyarrow.parquet.read_table(path)
        assert pyarrow.parquet.ParquetFile(path).num_row_groups > 3
        assert json.loads(table.schema.metadata[b"dyparse"]) == expected.about() | {"seed": 7}
        assert table["form"].to_pylist() == [sentence.form for sentence in DEV]
        assert table["upos"].to_pylist() == [sentence.upos for sentence in DEV]
        assert table["sent_id"].to_pylist() == expected.sent_id.tolist()
        assert table["n_words"].to_pylist() == expected.n_words.tolist()
        rows = ["slots", "legal", "cost"] + ["score"] * (expected.score is not None)
        for name in (*rows, "move", "canonical", "paid", "arc_head", "arc_dependent"):
            read = [row for sentence in table[name].to_pylist() for row in sentence]
            np.testing.assert_array_equal(np.array(read), getattr(expected, name), err_msg=name)
        for name in ("gold_head", "head"):
            read = [head for sentence in table[name].to_pylist() for head in sentence]
            assert read == getattr(expected, name).tolist()
        for name in ("stack", "buffer"):
            read = [state for sentence in table[name].to_pylist() for state in sentence]
            ends = getattr(expected, f"{name}_offsets")[1:-1]
            flat = np.split(getattr(expected, name), ends)
            assert read == [state.tolist() for state in flat]
        assert ("score" in table.column_names) == source.has_scores


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_file_is_written_whole_or_not_at_all(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(files, "WORDS_PER_ROW_GROUP", 50)
    write = write_npz if suffix == ".npz" else write_parquet
    path = tmp_path / f"x{suffix}"
    path.write_text("before")

    def failing():
        yield from derivations(Oracle(EAGER), DEV)
        raise TreebankError("a fault")

    with pytest.raises(TreebankError, match="a fault"):
        write(path, Oracle(EAGER), failing())
    assert [p.read_text() for p in tmp_path.iterdir()] == ["before"]


# --- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_the_command_writes_an_oracle_s_derivations(dyparse_command, tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    options = ("--mistakes", 0.1, "--seed", 3, "-o", path)
    status, out, err = dyparse_command("trajectories", "arc_eager:root=first", "sample", *options)
    assert (status, err) == (0, "")
    found = re.fullmatch(
        r"([\d,]+) sentences, ([\d,]+) states, moves cost ([\d,]+) arcs; in .*\n", out
    )
    n_sentences, n_states, paid = (int(number.replace(",", "")) for number in found.groups())
    if suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        about = json.loads(table.schema.metadata[b"dyparse"])
        written = [cost for sentence in table["paid"].to_pylist() for cost in sentence]
        n_written = table.num_rows
    else:
        with np.load(path, allow_pickle=False) as data:
            about, written = json.loads(str(data["metadata"])), data["paid"]
            n_written = len(data["sent_id"])
    assert (n_written, len(written), sum(written)) == (n_sentences, n_states, paid)
    assert (about["system"], about["mistakes"], about["seed"]) == ("arc_eager:root=first", 0.1, 3)


MINE = """
from dataclasses import dataclass
from dyparse.system.arc_eager import ArcEager

@dataclass(frozen=True)
class Mine(ArcEager):
    root: str = "first"
"""


@pytest.mark.parametrize("imports", [(), ("--import", "my_systems")])
def test_the_command_takes_a_system_of_one_s_own(dyparse_command, tmp_path, monkeypatch, imports):
    (tmp_path / "my_systems.py").write_text(MINE)
    (tmp_path / "dev.conllu").write_text("".join("".join(s.lines) for s in DEV[:3]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    given = ("my_systems.Mine:single_root=false", "dev.conllu", "-o", "x.npz", *imports)
    assert dyparse_command("trajectories", *given)[::2] == (0, "")
    with np.load("x.npz") as data:
        assert json.loads(str(data["metadata"]))["system"] == given[0]
        assert data["move"].size


def test_a_model_with_a_dot_in_its_name_is_no_class(
    dyparse_command, model_directory, tmp_path, monkeypatch
):
    (tmp_path / "my.model").symlink_to(model_directory)
    monkeypatch.chdir(tmp_path)
    assert dyparse_command("trajectories", "my.model", "sample", "-o", "x.npz")[::2] == (0, "")


def test_the_command_writes_a_model_s_derivations(
    dyparse_command, model_directory, tmp_path, parser
):
    text = "".join("".join(sentence.lines) for sentence in DEV)
    path = tmp_path / "x.npz"
    given = ("trajectories", model_directory, "-", "-o", path)
    assert dyparse_command(*given, stdin=text)[::2] == (0, "")
    read = list(read_sentences(io.BytesIO(text.encode()), trees=True))
    with np.load(path, allow_pickle=False) as data:
        assert data["head"].tolist() == collect(Model(parser), read).head.tolist()
        assert data["score"].shape == data["legal"].shape
    explored = (*given, "--exploration", "explore:probability=1", "--epoch", 1)
    assert dyparse_command(*explored, stdin=text)[1].startswith("40 sentences")
    with np.load(path) as data:
        assert data["paid"].sum() == 0


REFUSED = {
    "name of the output": (
        ["arc_eager", "sample", "-o", "x.csv"],
        r"--output is x\.csv, expected a name that ends in \.npz or \.parquet",
    ),
    "option of a model": (
        ["arc_eager", "sample", "-o", "x.npz", "--exploration", "explore"],
        "--exploration is explore, but arc_eager is an oracle; expected --follow or --mistakes",
    ),
    "option of an oracle": (
        ["MODEL", "sample", "-o", "x.npz", "--mistakes", "0"],
        r"--mistakes is 0\.0, but MODEL is a model; expected --exploration or --epoch",
    ),
    "option of the system": (
        ["arc_eager:root=middle", "sample", "-o", "x.npz"],
        "error: SYSTEM arc_eager:root=middle: system.root is 'middle', expected 'last' or 'first'",
    ),
    "neither": (
        ["arc_eagr", "sample", "-o", "x.npz"],
        "arc_eagr: no such model.*transition systems are arc_eager, ",
    ),
    "class that is not there": (
        ["nowhere.Mine", "sample", "-o", "x.npz"],
        "SYSTEM nowhere.Mine: cannot import nowhere .*; nor is there a model of this name",
    ),
    "class that is no system": (
        ["pathlib.Path", "sample", "-o", "x.npz"],
        "SYSTEM pathlib.Path: pathlib.Path is not a dataclass",
    ),
    "mistakes": (
        ["arc_eager", "sample", "-o", "x.npz", "--mistakes", "2"],
        r"--mistakes is 2\.0, expected a probability",
    ),
    "seed": (["arc_eager", "sample", "-o", "x.npz", "--seed", "-1"], "--seed is -1, expected 0"),
    "exploration": (
        ["MODEL", "sample", "-o", "x.npz", "--exploration", "explor"],
        "--exploration explor: no exploration 'explor'",
    ),
    "epoch": (
        ["MODEL", "sample", "-o", "x.npz", "--exploration", "explore", "--epoch", "0"],
        "--epoch is 0, expected 1 or more",
    ),
    "epoch of nothing": (
        ["MODEL", "sample", "-o", "x.npz", "--epoch", "3"],
        "--epoch is for an exploration; name one",
    ),
    "directory": (["arc_eager", "sample", "-o", "none/x.npz"], "no such directory to write to"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_command_refuses_what_cannot_be_meant(
    dyparse_command, model_directory, tmp_path, monkeypatch, name
):
    given, message = REFUSED[name]
    (tmp_path / "MODEL").symlink_to(model_directory)
    monkeypatch.chdir(tmp_path)
    status, out, err = dyparse_command("trajectories", *given)
    assert (status, out) == (2, "")
    assert re.search(message, err), err
    assert [path.name for path in tmp_path.iterdir()] == ["MODEL"]


def test_the_treebank_is_not_overwritten(dyparse_command, tmp_path):
    path = tmp_path / "x.npz"
    path.write_text("".join(DEV[0].lines))
    status, _, err = dyparse_command("trajectories", "arc_eager", path, "-o", path)
    assert status == 2
    assert "which is read" in err
    assert path.read_text() == "".join(DEV[0].lines)


def test_malformed_sentences_are_skipped_if_asked_for(dyparse_command, tmp_path):
    bad = tmp_path / "bad.conllu"
    bad.write_bytes("".join(DEV[0].lines).encode() + MALFORMED["cycle"].data)
    given = ("trajectories", "arc_eager", bad, "-o", tmp_path / "x.npz")
    assert dyparse_command(*given)[0] == 2
    assert not (tmp_path / "x.npz").exists()
    status, _, err = dyparse_command(*given, "--on-error", "skip")
    assert status == 0
    assert "skipped" in err


def test_parquet_without_pyarrow_is_refused_before_anything_is_read(
    dyparse_command, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, _, err = dyparse_command(
        "trajectories", "arc_eager", "none", "-o", tmp_path / "x.parquet"
    )
    assert status == 2
    assert (
        'needs pyarrow, which is not installed; install it: pip install "dyparse[parquet]"' in err
    )
    assert not list(tmp_path.iterdir())
