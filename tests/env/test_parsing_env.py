"""Parsing as a Gymnasium environment."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from helpers.tiny import sample

from dyparse.data.sentence import Sentence
from dyparse.env import Observations, ParsingEnv
from dyparse.evaluation.coverage import lost_arcs, trees_of
from dyparse.system import load
from dyparse.trajectories import Oracle, collect

DEV = sample("dev")[:20]
EAGER = load("arc_eager")
F, M = len(EAGER.slots), len(EAGER.moves)


@pytest.fixture
def env():
    return ParsingEnv(EAGER, DEV)


def episode(env, row, choose):
    """All that happens in one sentence: observations, moves, rewards, infos."""
    observation, info = env.reset(options={"sentence": row})
    happened, terminated = [], False
    while not terminated:
        move = choose(info)
        before = observation, info
        observation, reward, terminated, truncated, info = env.step(move)
        assert not truncated
        happened.append((*before, move, reward))
    return happened, info


@pytest.mark.filterwarnings("ignore:.*alternative render modes")
@pytest.mark.parametrize("system", ["arc_eager", "covington"])
def test_gymnasium_finds_no_fault(system):
    check_env(ParsingEnv(system, DEV))


def test_it_runs_in_a_vector_of_environments():
    envs = gymnasium.vector.SyncVectorEnv([lambda: ParsingEnv(EAGER, DEV)] * 2)
    observations, infos = envs.reset(seed=1)
    for _ in range(100):
        observations, rewards, _, _, infos = envs.step(np.maximum(infos["expert"], 0))
    assert observations.shape == (2, F * 2 + M)
    assert rewards.shape == (2,)


def test_the_expert_takes_the_derivation_of_trajectories(env):
    expected, t = collect(Oracle(EAGER), DEV), 0
    for row in range(len(DEV)):
        happened, end = episode(env, row, lambda info: info["expert"])
        for _, info, move, reward in happened:
            assert (move, -reward) == (expected.move[t], expected.paid[t])
            np.testing.assert_array_equal(info["slots"], expected.slots[t])
            np.testing.assert_array_equal(info["cost"], expected.cost[t])
            np.testing.assert_array_equal(info["action_mask"], expected.legal[t])
            assert info["sentence"] == row
            t += 1
        words = slice(*expected.word_offsets[row : row + 2])
        np.testing.assert_array_equal(end["heads"], expected.head[words])
        assert (end["expert"], end["action_mask"].sum()) == (-1, 0)
    assert t == len(expected.move)


def test_the_return_is_minus_the_arcs_that_moves_have_lost(env):
    env.action_space.seed(3)
    unreachable = lost_arcs(EAGER, trees_of(DEV))
    for row, sentence in enumerate(DEV):
        happened, end = episode(env, row, lambda _: env.action_space.sample())
        wrong = (end["heads"] != sentence.head).sum()
        assert -sum(reward for *_, reward in happened) == wrong - unreachable[row]
    assert wrong > 0


def test_an_observation_has_the_words_and_tags_of_the_slots_and_legal_moves(env):
    entries = [["", "?", "root", *env.observations.entries[name]] for name in ("form", "upos")]
    for row, sentence in enumerate(DEV):
        for observation, info, *_ in episode(env, row, lambda info: info["expert"])[0]:
            assert env.observation_space.contains(observation)
            np.testing.assert_array_equal(observation[F * 2 :], info["action_mask"])
            slots = observation[: F * 2].reshape(F, 2)
            for (form, upos), token in zip(slots.tolist(), info["slots"].tolist(), strict=True):
                if token > 0:
                    assert entries[0][form] in (sentence.form[token - 1], "?")
                    assert entries[1][upos] in (sentence.upos[token - 1], "?")
                else:
                    assert form == upos == (2 if token == 0 else 0)


def test_observations_of_other_sentences_have_the_same_numbers(env):
    other = ParsingEnv(EAGER, sample("train")[:5], observations=env.observations)
    assert other.observation_space == env.observation_space
    rare = Observations.of(DEV, ["form"], min_count=1).entries["form"]
    often = Observations.of(DEV, ["form"], min_count=3).entries["form"]
    forms = [form for sentence in DEV for form in sentence.form]
    assert set(rare) == set(forms)
    assert set(often) == {form for form in forms if forms.count(form) >= 3}
    with pytest.raises(ValueError, match="columns have 'head', expected some of form, upos"):
        Observations.of(DEV, ["head"])


def test_seeds_and_options_choose_the_sentence(env):
    drawn = [env.reset(seed=1)[1]["sentence"] for _ in range(3)]
    assert len(set(drawn)) == 1
    assert len({env.reset()[1]["sentence"] for _ in range(40)}) > 10
    assert env.reset(options={"sentence": np.int64(7)})[1]["sentence"] == 7
    for wrong in (len(DEV), -1, "3", 1.0):
        with pytest.raises(
            ValueError, match=r"options\['sentence'\] is .*, expected a number 0..19"
        ):
            env.reset(options={"sentence": wrong})


def test_a_move_that_is_not_legal_is_refused_and_changes_nothing(env):
    with pytest.raises(ValueError, match=r"there is no sentence yet; call reset\(\)"):
        env.step(0)
    first, info = env.reset(options={"sentence": 0})
    assert env.action_masks().tolist() == [True, False, False, False]
    with pytest.raises(ValueError, match=r"action is 2 \(LEFT\), which is not .* 0 SHIFT; see"):
        env.step(2)
    for wrong in (M, -1, 0.5, None):
        with pytest.raises(ValueError, match=r"action is .*, expected a legal move: 0 SHIFT"):
            env.step(wrong)
    np.testing.assert_array_equal(env.step(info["expert"])[4]["slots"][0], 1)
    np.testing.assert_array_equal(env.reset(options={"sentence": 0})[0], first)
    episode(env, 0, lambda _: env.expert())
    with pytest.raises(ValueError, match=r"the sentence is finished; call reset\(\)"):
        env.step(0)


def test_actions_that_are_drawn_are_legal(env):
    env.reset(options={"sentence": 0})
    env.step(0)
    legal = np.flatnonzero(env.action_masks())
    assert len(legal) == 3
    drawn = [env.action_space.sample() for _ in range(60)]
    assert set(map(int, drawn)) == set(legal)
    only = np.array([0, 0, 0, 1], dtype=np.int8)
    assert env.action_space.sample(only) == 3


def test_sentences_without_trees_and_none_at_all_are_refused():
    with pytest.raises(ValueError, match="there are no sentences"):
        ParsingEnv(EAGER, [])
    with pytest.raises(ValueError, match="has no gold tree, expected the head of every word; read"):
        ParsingEnv(EAGER, [Sentence.from_words(["a", "b"])])
    long = Sentence.from_words(["a"] * 2001).with_tree([0] + [1] * 2000, ["dep"] * 2001)
    with pytest.raises(ValueError, match="has 2001 words, expected at most 2000"):
        ParsingEnv(EAGER, [long])


def python(program):
    """The result of a Python of its own."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_needs_no_torch_and_says_which_extra_is_missing():
    without = "import sys; sys.modules['torch'] = None\n"
    program = f"{without}import dyparse.env; print(dyparse.env.ParsingEnv.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "ParsingEnv\n"
    program = "import sys; sys.modules['gymnasium'] = None\nimport dyparse, dyparse.env"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "dyparse.errors.ConfigError: dyparse.env needs gymnasium, which is not installed; install "
        'it: pip install "dyparse[env]"'
    )
