"""Labels that come with the moves: training, parsing, saving, probabilities."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from helpers.tiny import SETTINGS, fresh_parser, plan, sample, yamls

from dyparse import system as systems
from dyparse.config.choices import load as load_choice
from dyparse.data.sentence import Sentence
from dyparse.decoding.greedy import Greedy
from dyparse.errors import ConfigError
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.evaluation.measure import calibrate, measure_errors, record_derivations
from dyparse.head import load_heads
from dyparse.head.joint_labels import JointLabels
from dyparse.model.parser import Parser
from dyparse.rollout.replay import replay
from dyparse.training.session import Session
from dyparse.trajectories.sources import Model
from dyparse.web.models import MoveProbabilities

TRAIN, DEV = sample("train")[:30], sample("dev")[:15]
JOINT = ["joint_labels"]


def joint_parser(**config):
    return fresh_parser(TRAIN, heads=JOINT, **config)


def session(parser, **changed):
    return Session(SETTINGS, parser, plan(TRAIN, DEV, **changed))


def train(parser, epochs, **changed):
    """A session after some epochs."""
    found = session(parser, **changed)
    for epoch in range(1, epochs + 1):
        for done, batch, visit in found.stream(epoch):
            found.step(batch, (epoch - 1 + done) / epochs, visit)
    return found


def test_the_network_scores_a_move_with_every_label_and_has_no_head_for_them():
    parser = joint_parser()
    labels = parser.vocabulary.heads["labels"]
    assert len(parser.parts.scored_system.moves) == 4 + 2 * len(labels)
    assert parser.model.output.out_features == len(parser.parts.scored_system.moves)
    assert not parser.model.heads
    assert parser.system == systems.load("arc_eager")
    assert list(parser.parts.columns) == ["labels"]


def test_a_parser_learns_heads_and_labels():
    parser = train(joint_parser(), 25).parser
    parsed = parser.parse(TRAIN)
    assert attachment_scores(TRAIN, parsed).las > 60


@pytest.mark.parametrize("name", [path.stem for path in yamls("exploration")])
def test_every_exploration_visits_states_of_moves_with_labels(name):
    exploration = load_choice("exploration", name)
    found = train(joint_parser(), 2, exploration=exploration)
    batch = next(iter(found.batches.stream(2)))[1]
    result = found.step(batch, 0.9)
    assert torch.isfinite(result.loss)
    assert result.states > 0


@pytest.mark.parametrize("name", [path.stem for path in yamls("loss")])
def test_every_loss_takes_moves_with_labels(name):
    found = session(joint_parser(), loss=load_choice("loss", name))
    result = found.step(next(iter(found.batches.stream(1)))[1], 0.5)
    assert torch.isfinite(result.loss)


def test_static_training_aims_at_the_gold_label_of_every_arc():
    parser = joint_parser()
    found = session(parser, exploration=load_choice("exploration", "static"))
    _, batch, _ = next(iter(found.batches.stream(1)))
    encoded = parser.encode([TRAIN[k] for k in batch.indices])
    states = found.visit(batch, lambda: encoded.scorer).visited
    moves = [parser.parts.scored_system.moves[move] for move in states.move]
    given = sorted(name.partition("-")[2] for name in moves if "-" in name)
    assert given == sorted(label for k in batch.indices for label in TRAIN[k].label)
    assert (states.cost[np.arange(len(moves)), states.move] == 0).all()
    assert not states.paid.any()


def test_a_wrong_label_is_paid_for():
    parser = joint_parser(system=systems.load("covington"))  # which builds all trees
    found = session(parser, exploration=load_choice("exploration", "explore:first_epochs=0"))
    _, batch, _ = next(iter(found.batches.stream(2)))
    sentences = [TRAIN[k] for k in batch.indices]
    visited = found.visit(batch, lambda: parser.encode(sentences).scorer).visited
    words = np.array([len(s) for s in sentences], dtype=np.int32)
    trees, _ = replay(parser.parts.scored_system, words, visited.sentence, visited.move)
    wrong = (trees != parser.parts.gold(sentences)).any(-1)
    is_word = np.arange(wrong.shape[1]) > 0
    is_word = is_word & (np.arange(wrong.shape[1]) <= [[len(s)] for s in sentences])
    assert visited.paid.sum() == (wrong & is_word).sum() > 0


@pytest.mark.parametrize("name", ["arc_eager", "covington", "nonmonotonic"])
def test_recording_derivations_parses_exactly_as_parsing_does(name):
    parser = joint_parser(system=systems.load(name))
    parsed, derivations = record_derivations(parser, DEV)
    assert parsed == list(parser.parse_sentences(DEV))
    assert derivations.move.max() < len(parser.system.moves)
    assert set(measure_errors(parser, DEV).analysis.moves) == set(parser.system.moves)


def test_every_word_on_top_is_labelled_root_and_no_other():
    for name in ("arc_eager", "covington"):
        for s in joint_parser(system=systems.load(name)).parse(DEV):
            assert [label == "root" for label in s.label] == [head == 0 for head in s.head]


def test_a_saved_model_gives_the_same_trees(tmp_path):
    parser = joint_parser()
    parser.save(tmp_path / "model", {})
    loaded = Parser.load(tmp_path / "model")
    assert loaded.parts.config == parser.parts.config
    assert loaded.parts.config.heads == [JointLabels(root="top")]
    assert loaded.parse(DEV) == parser.parse(DEV)


# --- probabilities -------------------------------------------------------------------------------


def test_confidences_are_those_of_moves_and_can_be_calibrated():
    parser = dataclasses.replace(train(joint_parser(), 3).parser, confidence=True)
    (odds,) = (odds for _, odds in parser.parse_with_odds(DEV[:1]))
    assert len(odds.head) == len(odds.label) == len(DEV[0])
    assert len(set(odds.label.tolist())) > 1
    parsed = parser.parse(DEV[:1])[0]
    assert "LabelConfidence" in parsed.to_conllu()
    assert calibrate(parser, DEV).figures["labels"]["calibration_error"] >= 0


def test_the_explorer_sees_moves_without_labels():
    parser = joint_parser()
    of_moves = MoveProbabilities(parser, DEV[0])
    states = parser.system.start([len(DEV[0])])
    parser.system.step(states, [parser.system.moves.index("SHIFT")])
    found = of_moves(states)
    assert found.shape == (1, len(parser.system.moves))
    np.testing.assert_allclose(found.sum(-1), 1)
    assert ((found > 0) == parser.system.legal(states)).all()


# --- errors --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeadsOnly:
    """A decoding that does not know of labels."""

    def decode(self, system, scorer, n_words, *, n_threads=1):
        return Greedy().decode(system, scorer, n_words, n_threads=n_threads)[..., 0]


def test_a_decoding_without_labels_is_refused():
    parser = dataclasses.replace(joint_parser(), decoding=HeadsOnly())
    with pytest.raises(ConfigError, match="HeadsOnly gives no labels, but the moves of this model"):
        parser.parse(DEV)


def test_trajectories_have_no_labels():
    with pytest.raises(ConfigError, match="trajectories have no labels"):
        Model(joint_parser())


@pytest.mark.parametrize("heads", [["labels", "joint_labels"], ["upos"]])
def test_there_is_one_head_for_labels(heads):
    with pytest.raises(ValueError, match="expected labels and others, each once"):
        fresh_parser(TRAIN, heads=heads)


def test_a_wrong_value_is_refused():
    with pytest.raises(ValueError, match="root of labels is 'below', expected one of anywhere"):
        load_heads(["joint_labels:root=below"])


def test_words_without_labels_are_refused():
    with pytest.raises(ValueError, match="a word has no label; label the treebank"):
        fresh_parser([Sentence.from_words(["a"]).with_tree([0], ["_"])], heads=JOINT)
