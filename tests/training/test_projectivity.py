"""Pseudo-projective parsing from training to trees: options, models, scores, confidence."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.configured import configured
from helpers.saved_models import assert_refused, rewrite_config
from helpers.tiny import SETTINGS, fresh_parser, plan, sample, trained

from dyparse import system as systems
from dyparse.data.columns.pseudo_projective import LIFTED, PASSED, PROJECTIVITIES, encoded
from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError, TreebankError
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.evaluation.measure import calibrate, record_derivations
from dyparse.model.compiled_model import CompiledModel
from dyparse.model.parser import Parser
from dyparse.training.run import train

CROSSING = [s for split in ("train", "dev", "test") for s in sample(split) if not s.is_projective()]
TRAIN = CROSSING[:40]
PROJECTIVE = [name for name in systems.names() if systems.load(name).trees == "projective"]
"""Systems that lifting is for."""


def without_marks(sentences):
    return not any(LIFTED in label or PASSED in label for s in sentences for label in s.label)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A model that knows some crossing sentences by heart, saved: (parser, directory)."""
    train_trees = encoded(TRAIN, "head+path")
    parser = fresh_parser(train_trees, projectivity="head+path")
    best, _ = trained(parser, plan(train_trees, TRAIN), replace(SETTINGS, epochs=40))
    directory = tmp_path_factory.mktemp("learned") / "model"
    best.save(directory, {})
    return best, directory


def test_a_projective_system_learns_crossing_arcs(learned):
    parser, _ = learned
    found = parser.parse(TRAIN)
    assert without_marks(found)
    crossing = [not s.is_projective() for s in found]
    assert sum(crossing) > 0.9 * len(TRAIN)
    assert attachment_scores(TRAIN, found).las > 95


def test_kernels_and_torch_and_all_ways_to_parse_give_the_same_trees(learned):
    parser, directory = learned
    found = [s.to_conllu() for s in parser.parse(TRAIN)]
    loaded = Parser.load(directory)
    assert loaded.projectivity == "head+path"
    assert [s.to_conllu() for s in loaded.parse(TRAIN)] == found
    kernels = Parser.load(directory, precision="auto")
    assert isinstance(kernels.network, CompiledModel)
    of_kernels = kernels.parse(TRAIN)
    assert without_marks(of_kernels)
    assert any(not s.is_projective() for s in of_kernels)
    same = [s.to_conllu() for s in of_kernels]
    assert sum(a == b for a, b in zip(same, found, strict=True)) >= len(TRAIN) - 2  # int8 rounds
    recorded = record_derivations(parser, TRAIN)
    assert [s.to_conllu() for s in recorded.parsed] == found
    sure = replace(parser, confidence=True).parse(TRAIN)
    assert [(s.head, s.label) for s in sure] == [(s.head, s.label) for s in parser.parse(TRAIN)]


def test_moves_of_the_lifted_tree_are_no_mistakes(learned):
    parser, _ = learned
    recorded = record_derivations(parser, TRAIN)
    right = [k for k, s in enumerate(recorded.parsed) if s.head == TRAIN[k].head]
    assert len(right) > 0.8 * len(TRAIN)
    paid = np.bincount(recorded.derivations.sentence, recorded.derivations.paid, len(TRAIN))
    assert not paid[right].any()


def test_confidence_is_about_the_tree_that_is_given_out(learned):
    parser, _ = learned
    found = calibrate(parser, TRAIN)
    assert found.figures["heads"]["calibration_error"] < 5
    calibrated = replace(
        parser, confidence=True, parts=replace(parser.parts, calibration=found.calibration)
    )
    for s in calibrated.parse(TRAIN):
        assert all(0 <= t.head_confidence <= 1 and 0 <= t.label_confidence <= 1 for t in s)


@pytest.mark.parametrize("name", systems.names())
def test_lifting_is_for_systems_whose_trees_are_projective(name):
    system = systems.load(name)
    if name in PROJECTIVE:
        assert fresh_parser(TRAIN[:2], system=system, projectivity="head").projectivity == "head"
        return
    with pytest.raises(ValueError, match=f"expected none with system {name}, which builds trees"):
        fresh_parser(TRAIN[:2], system=system, projectivity="head")


def test_an_unknown_encoding_is_a_message(tmp_path):
    with pytest.raises(ConfigError) as caught:
        train(configured("projectivity=pseudo", f"output={tmp_path}"))
    assert str(caught.value) == (
        f"projectivity is 'pseudo', expected one of {', '.join(PROJECTIVITIES)}"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("label", ["↑obl", "obl↓↓", "_↑acl", "ob↓l↑acl"])
def test_a_model_with_labels_that_cannot_be_decoded_is_refused(label, tmp_path):
    s = Sentence.from_words(["a", "b"], upos=["X", "X"]).with_tree([2, 0], [label, "root"])
    parser = fresh_parser([s])
    parser.save(tmp_path, {})
    rewrite_config(tmp_path, lambda config: config.update(projectivity="head"))
    assert_refused(tmp_path, tmp_path / "vocabulary.json", "cannot be decoded")


@pytest.mark.parametrize("value", ["pseudo", None, ["head"], 1])
def test_a_model_with_an_unknown_projectivity_is_refused(value, tmp_path):
    fresh_parser(TRAIN[:2]).save(tmp_path, {})
    path = rewrite_config(tmp_path, lambda config: config.update(projectivity=value))
    assert_refused(tmp_path, path, "projectivity is")


def test_training_with_it_from_options_to_scores(tmp_path):
    with_arrow = TRAIN[0].with_columns({"label": ["odd↑one", *TRAIN[0].label[1:]]})
    options = [
        *("trainer=debug", "tokenizer=plain", "heads=[labels]", "encoder.hidden=16"),
        *("network.hidden=16", "encoder.layers=1", "trainer.epochs=1", "threads=1"),
        *("exploration=explore", "projectivity=head+path"),
    ]
    config = configured(*options, f"output={tmp_path / 'run'}")
    splits = {"train": TRAIN, "dev": TRAIN[:5], "test": TRAIN[5:10]}
    with pytest.raises(TreebankError, match="has the label 'odd↑one', but projectivity=head"):
        train(config, read=lambda _treebank, split: [with_arrow, *splits[split]])
    assert not (tmp_path / "run").exists()
    results = train(config, read=lambda _treebank, split: splits[split])
    parser = Parser.load(tmp_path / "run")
    assert parser.projectivity == "head+path"
    assert any(LIFTED in label for label in parser.vocabulary.heads["labels"])
    scores = attachment_scores(TRAIN[:5], parser.parse(TRAIN[:5]))
    assert results["dev"]["las"] == pytest.approx(scores.las)
