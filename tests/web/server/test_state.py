"""States over HTTP: everything is what the system and the model themselves say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.server import serving
from helpers.system_variants import NAMES
from helpers.tiny import fresh_parser, sample
from starlette.testclient import TestClient

from dyparse import system as systems
from dyparse.data.sentence import NONE
from dyparse.system import System

each_system = pytest.mark.parametrize("name", NAMES)
WORDS = ["The", "old", "dog", "barks", "."]


@pytest.fixture(scope="module")
def client():
    with serving() as found:
        yield found


def arcs(words: np.ndarray, gold: list[int]) -> list[list[int]]:
    return [[gold[word - 1], word] for word in np.flatnonzero(words).tolist()]


def require_oracle(state: dict[str, Any], system: System, states: Any, heads: list[int]) -> None:
    """Costs and arcs of an answer are those of the system."""
    gold = [[0, *heads]]
    legal = np.flatnonzero(system.legal(states)[0]).tolist()
    costs = system.cost(states, gold)[0]
    assert [move["move"] for move in state["legal"]] == [system.moves[m] for m in legal]
    for move, found in zip(legal, state["legal"], strict=True):
        lost = system.lost(states, gold, [move])
        assert found["cost"] == costs[move]
        assert found["lost"] == arcs(lost.arcs[0], heads)
        assert found["gained"] == arcs(lost.gained[0], heads)
        assert found["best"] == (costs[move] == costs[legal].min())
        after = states.copy()
        system.step(after, [move])
        new = np.flatnonzero((after.head[0] != states.head[0]) & (after.head[0] != NONE))
        assert found["adds"] == [[after.head[0, word], word] for word in new if word]
    static = int(system.static(states, gold)[0])
    assert state["static"] == (system.moves[static] if legal else None)
    assert state["best_heads"] == system.best_heads(states, gold)[0, 1:].tolist()
    illegal = {move["move"]: move["why"] for move in state["illegal"]}
    assert set(illegal) == (
        set(system.moves) - {system.moves[m] for m in legal} if legal else set()
    )
    assert all(illegal.values())


def walk(client: TestClient, name: str, seed: int) -> None:
    """A walk to the end by random moves, with the answer compared in every state."""
    random = np.random.default_rng(seed)
    n_words, kind = int(random.integers(1, 9)), random.choice(["projective", "displaced", "any"])
    heads = random_tree(random, n_words, str(kind), one_root=True)[1:].tolist()
    system, moves, paid = systems.load(name), [], 0
    states = system.start([n_words])
    while True:
        request = {"system": name, "words": ["w"] * n_words, "gold": heads, "moves": moves}
        state = client.post("/api/state", json=request).json()
        require_oracle(state, system, states, heads)
        assert state["cost_so_far"] == paid == sum(move["cost"] for move in state["history"])
        assert [move["move"] for move in state["history"]] == moves
        if state["final"]:
            break
        move = state["legal"][random.integers(len(state["legal"]))]
        moves.append(move["move"])
        paid += move["cost"]
        system.step(states, [system.moves.index(move["move"])])
    assert system.finished(states)[0]
    assert state["heads"] == system.heads(states)[0, 1:].tolist()
    wrong = {(head, word) for word, head in enumerate(heads, 1) if state["heads"][word - 1] != head}
    assert {tuple(arc) for arc in state["lost"]} == wrong


@each_system
@pytest.mark.parametrize("seed", range(3))
def test_costs_and_lost_arcs_are_those_of_the_system(client, name, seed):
    walk(client, name, seed)


@pytest.mark.slow  # 200 walks of each system
@each_system
def test_costs_and_lost_arcs_are_those_of_the_system_in_many_walks(client, name):
    for seed in range(3, 203):
        walk(client, name, seed)


@each_system
def test_canonical_and_zero_cost_moves_lead_to_the_gold_tree(client, name):
    heads = [3, 3, 4, 0, 4]
    for policy in ("static", "best"):
        request = {"system": name, "words": WORDS, "gold": heads}
        played = client.post("/api/play", json={**request, "policy": policy, "seed": 2}).json()
        assert played["costs"] == [0] * len(played["moves"])
        state = client.post("/api/state", json={**request, "moves": played["moves"]}).json()
        assert (state["final"], state["heads"]) == (True, heads)


def test_covington_has_its_lists_and_others_have_none(client):
    request = {"system": "covington", "words": WORDS, "moves": ["SHIFT", "NO_ARC"]}
    lists = client.post("/api/state", json={**request, "moves": []}).json()["lists"]
    assert lists == {"λ1": [], "λ2": []}
    state = client.post("/api/state", json=request | {"moves": ["SHIFT"]}).json()
    assert (state["lists"], state["buffer"]) == ({"λ1": [1], "λ2": []}, [2, 3, 4, 5])
    other = client.post("/api/state", json={"system": "arc_hybrid", "words": WORDS}).json()
    assert other["lists"] == {}


def test_without_a_gold_tree_there_are_no_costs(client):
    state = client.post("/api/state", json={"system": "arc_eager", "words": WORDS}).json()
    assert {move["cost"] for move in state["legal"]} == {None}
    assert (state["best_heads"], state["static"], state["cost_so_far"]) == (None, None, None)
    assert not any(move["best"] or move["lost"] for move in state["legal"])


def test_options_change_the_system(client):
    request = {"words": WORDS, "system": "arc_eager", "options": {"root": "first"}}
    assert client.post("/api/state", json=request).json()["stack"] == [0]
    state = client.post("/api/state", json=request | {"options": {}}).json()
    assert (state["stack"], state["buffer"]) == ([], [1, 2, 3, 4, 5, 0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"system": "os.path.Mine"}, "system is 'os.path.Mine', expected one of arc_eager"),
        ({"options": {"depth": 1}}, "no option 'depth'"),
        ({"options": {"root": "left"}}, "expected 'last' or 'first'"),
        ({"options": {"single_root": 1}}, "expected true or false"),
        ({"gold": [0]}, "gold has 1 heads, expected 5"),
        ({"gold": [2, 1, 0, 3, 3]}, "word 1 is in a cycle"),
        ({"gold": [9, 3, 4, 0, 4]}, "head 9 of word 1"),
        ({"moves": ["SHIFT", "REDUCE"]}, "move 2, REDUCE, is not legal"),
        ({"moves": ["JUMP"]}, "move 1 is 'JUMP', expected one of SHIFT, RIGHT, LEFT, REDUCE"),
        ({"models": ["x"]}, "no model is loaded"),
        ({"words": []}, "words: "),
        ({"words": ["w"] * 101}, "words: "),
        ({"gold": "0"}, "gold: "),
        ({"extra": 1}, "extra: "),
    ],
)
def test_a_wrong_request_gets_one_clear_message(client, change, message):
    request = {"system": "arc_eager", "words": WORDS, "gold": [3, 3, 4, 0, 4]} | change
    answer = client.post("/api/state", json=request)
    assert (answer.status_code, list(answer.json())) == (422, ["error"])
    assert message in answer.json()["error"]


@each_system
def test_the_model_plays_the_tree_that_it_parses(name):
    parser = fresh_parser(sample("train")[:30], system=systems.load(name))
    with serving(parser) as client:
        for number, sentence in enumerate(sample("dev")[:3]):
            request = {"system": name, "words": sentence.form, "tags": sentence.upos}
            asked = {**request, "policy": "model", "model": "a-1"}
            moves = client.post("/api/play", json=asked).json()["moves"]
            asked = {**request, "moves": moves[: 2 * number], "models": ["a-1"]}
            state = client.post("/api/state", json=asked).json()
            scores = state["scores"]["a-1"]
            assert set(scores) == {move["move"] for move in state["legal"]}
            assert sum(scores.values()) == pytest.approx(1)
            assert max(scores, key=scores.get) == moves[2 * number]
            state = client.post("/api/state", json={**request, "moves": moves}).json()
            (parsed,) = parser.parse([sentence])
            assert (state["final"], state["heads"]) == (True, parsed.head)


def test_a_model_of_another_system_gives_no_scores_and_does_not_play():
    other = systems.load("arc_eager", single_root=False)
    with serving(fresh_parser(sample("train")[:30], system=other)) as client:
        request = {"system": "arc_eager", "words": WORDS}
        assert client.post("/api/state", json={**request, "models": ["a-1"]}).json()["scores"] == {}
        answer = client.post("/api/play", json={**request, "policy": "model"})
        assert (answer.status_code, answer.json()["error"]) == (
            422,
            "the policy model needs a model of this system; load one",
        )
        options = {"single_root": False}
        state = client.post("/api/state", json={**request, "options": options, "models": ["a-1"]})
        assert set(state.json()["scores"]) == {"a-1"}


def test_mistakes_are_as_frequent_as_asked_and_the_same_for_a_seed():
    with serving(fresh_parser(sample("train")[:30])) as client:
        request = {"system": "arc_eager", "words": WORDS * 8, "policy": "mistakes"}

        def played(**more: Any) -> list[str]:
            moves: list[str] = client.post("/api/play", json=request | more).json()["moves"]
            return moves

        right = played(policy="model")
        assert played(probability=0.0) == right
        assert played(seed=1, probability=0.5) == played(seed=1, probability=0.5) != right
        assert played(seed=1, probability=0.5) != played(seed=2, probability=0.5)
        second = {"moves": right[:1], "steps": 1}
        assert played(policy="model", **second) == right[1:2]
        assert played(probability=1.0, **second) not in ([], right[1:2])


@pytest.mark.parametrize("name", ["arc_standard", "attardi"])
def test_a_tree_that_takes_a_search_too_long_is_refused(client, name):
    heads = random_tree(np.random.default_rng(1), 40, "any", one_root=True)[1:].tolist()
    request = {"system": name, "words": ["w"] * 40, "gold": heads}
    answer = client.post("/api/state", json=request)
    assert answer.status_code == 422
    assert "arcs have to change for a projective tree" in answer.json()["error"]
    assert client.post("/api/state", json=request | {"system": "arc_hybrid"}).status_code == 200


def test_play_without_a_gold_tree_says_what_is_missing(client):
    answer = client.post("/api/play", json={"system": "arc_eager", "words": WORDS})
    assert answer.json() == {"error": "the policy static needs a gold tree; give one"}


@pytest.mark.parametrize("name", ["arc_standard", "attardi"])
def test_long_sentences_are_refused_where_costs_are_searched_for(client, name):
    request = {"system": name, "words": ["x"] * 51, "gold": list(range(51)), "moves": []}
    answer = client.post("/api/state", json=request)
    assert answer.status_code == 422
    assert "51 words" in answer.json()["error"]
    assert client.post("/api/state", json={**request, "gold": None}).status_code == 200
