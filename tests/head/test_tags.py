"""Tag heads: predicted inside the encoder, read by its last layer, learned with the parser."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.tiny import SETTINGS, fresh_parser, model_config, plan, sample, trained
from helpers.toy_parts import Sums

from dyparse.data.batch import Batch
from dyparse.data.columns.kept import filled_in
from dyparse.data.sentence import NONE, Sentence
from dyparse.head import load_heads
from dyparse.head._tag_head import settled
from dyparse.head.upos import Upos
from dyparse.model.parser import Parser
from dyparse.model.parts import ModelConfig

TRAIN, DEV = sample("train")[:60], sample("dev")[:15]
HEADS = ("labels", "upos:fed=5", "xpos:fed=0", "feats:fed=3", "lemma")
NO_TAGS = ["word", "subword:buckets=400"]


@pytest.fixture(scope="module")
def parser():
    return fresh_parser(TRAIN, heads=HEADS, features=NO_TAGS, layers=2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_best_entry_is_predicted_and_the_first_of_several(dtype):
    head = Upos().build(4, ("ADJ", "NOUN", "VERB"), hidden=1, dropout=0.0)
    scores = torch.tensor([[[0, 2, 1], [1, 0, 1]], [[0, 0, 3], [2, 2, 2]]], dtype=dtype)
    assert head.predict(scores, np.zeros((2, 2), np.int32)) == [[1, 0], [2, 0]]


def test_soft_tags_are_the_mean_embedding_of_the_entries():
    head = Upos(fed=3).build(4, ("ADJ", "NOUN"), hidden=1, dropout=0.0)
    scores = torch.tensor([[[0.0, 0.0], [50.0, 0.0], [math.log(3), 0.0]]])
    one, other = head.embeddings
    expected = torch.stack([(one + other) / 2, one, 0.75 * one + 0.25 * other])
    torch.testing.assert_close(head.fed(scores)[0], expected)
    assert Upos(fed=0).build(4, ("ADJ",), hidden=1, dropout=0.0).fed(scores) is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_tag_that_is_given_is_read_as_if_it_were_certain(dtype):
    head = Upos(fed=3).build(4, ("ADJ", "NOUN"), hidden=1, dropout=0.0).to(dtype)
    scores = torch.tensor([[[0.0, 90.0], [3.0, 90.0], [0.0, 0.0]]], dtype=dtype)
    fed = head.fed(settled(scores, torch.tensor([[0, 1, NONE]])))
    assert torch.equal(fed[0, :2], head.embeddings)
    assert torch.equal(fed[0, 2], head.fed(scores)[0, 2])


def test_words_without_a_value_or_with_an_unknown_one_are_given_nothing(parser):
    head = parser.model.heads["feats"]
    assert "_" in head.number
    feats, known = head.entries[0], Sentence.from_words(["a"] * 3)
    given = known.with_columns({"feats": ["_", feats, "New=Yes"]})
    assert head.given([given, known]).tolist() == [[NONE, NONE, 0, NONE], [NONE] * 4]


def test_trees_and_other_tags_fit_the_tags_that_are_kept(parser):
    keeping = replace(parser, keep=("upos",))
    upos = [["DET"] * len(s) for s in DEV]
    tagged = [s.with_columns({"upos": tags}) for s, tags in zip(DEV, upos, strict=True)]
    kept = keeping.parse(tagged)
    assert [s.upos for s in kept] == upos
    seen = set(parser.vocabulary.analyses)
    words = [tags for s in kept for tags in zip(s.upos, s.xpos, s.feats, strict=True)]
    assert {"\t".join(tags) for tags in words} <= seen
    read, predicted = (p.encode(tagged).encoded.vectors for p in (keeping, parser))
    assert not torch.allclose(read, predicted)  # trees depend on these


def test_kept_tags_that_were_never_seen_change_nothing_else(parser):
    keeping = replace(parser, keep=("upos", "lemma"))
    tagged = [s.with_columns({"upos": ["FOO"] * len(s), "lemma": ["_"] * len(s)}) for s in DEV]
    expected = [
        s.with_columns({"upos": filled_in(t, "upos", s.upos)})
        for s, t in zip(parser.parse(DEV), tagged, strict=True)
    ]
    for kept, free in zip(keeping.parse(tagged), expected, strict=True):
        assert kept.upos == ["FOO"] * len(kept)
        assert (kept.head, kept.xpos, kept.lemma) == (free.head, free.xpos, free.lemma)


def test_kept_tags_that_were_never_seen_together_still_have_others_chosen_by_score(parser):
    analyses = [analysis.split("\t") for analysis in parser.vocabulary.analyses]
    upos, xpos = (
        "DET",
        next(x for u, x, _ in analyses if not {("DET", x)} & {(a, b) for a, b, _ in analyses}),
    )
    tagged = [s.with_columns({"upos": [upos] * len(s), "xpos": [xpos] * len(s)}) for s in DEV]
    parsed = replace(parser, keep=("upos", "xpos")).parse(tagged)
    feats = {value for s in parsed for value in s.feats}
    assert feats <= {f for u, x, f in analyses if u == upos or x == xpos}
    assert len(feats) > 1


def test_the_last_layer_reads_what_was_predicted_below_it(parser):
    encoder, batch = parser.model.encoder.eval(), parser.collator.batch(DEV[:2])
    B, N = batch.shape
    first, last = (layer.lstm.input_size for layer in encoder.layers)
    assert (encoder.tag_width, last) == (first + 40, 40 + 8)
    seen = []

    def tag(value):
        def called(vectors):
            seen.append(vectors)
            return torch.full((B, N, 8), value)

        return called

    one, other = (encoder(batch, tag(value)) for value in (0.0, 1.0))
    assert not torch.allclose(one, other)
    assert torch.equal(seen[0], seen[1])
    assert seen[0].shape == (B, N, encoder.tag_width)


def test_the_parser_teaches_the_tagger_through_soft_tags(parser):
    model = parser.model
    model.zero_grad()
    model.encode(parser.collator.batch(TRAIN[:3])).vectors.square().sum().backward()
    assert model.heads["upos"].output.weight.grad.abs().sum() > 0
    assert model.heads["xpos"].output.weight.grad is None  # the encoder does not read it


def test_the_gradient_of_all_losses_reaches_every_parameter_of_the_heads(parser):
    model = parser.model
    model.zero_grad()
    encoded = model.encode(parser.collator.batch(TRAIN[:9]))
    assert list(encoded.tags) == ["upos", "xpos", "feats", "lemma"]
    losses = [
        model.heads[name].loss(scores, torch.from_numpy(model.heads[name].targets(TRAIN[:9])))
        for name, scores in encoded.tags.items()
    ]
    (sum(losses) + encoded.vectors.sum()).backward()
    for name in encoded.tags:
        for parameter in model.heads[name].parameters():
            assert parameter.grad.abs().sum() > 0, name


def test_a_correction_adds_what_the_last_layer_knows_and_teaches_nothing_else(parser):
    model, batch = parser.model, parser.collator.batch(TRAIN[:3])
    assert set(model.corrections) == {"upos"}
    weights = model.corrections["upos"]
    torch.nn.init.normal_(weights)
    model.zero_grad()
    encoded = model.encode(batch)
    below, corrected = model.learned_scores("upos", encoded, tree=None)
    torch.testing.assert_close(corrected, below + encoded.vectors @ weights.T)
    assert torch.equal(model.head_scores("upos", encoded, tree=None), corrected)
    corrected.logsumexp(-1).sum().backward()
    assert [n for n, p in model.named_parameters() if p.grad is not None] == ["corrections.upos"]


def test_training_learns_the_correction():
    few = TRAIN[:10]
    parser, _ = trained(fresh_parser(few, heads=HEADS, features=NO_TAGS), plan(few, few))
    assert parser.model.corrections["upos"].abs().max() > 0


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_tags_are_the_same_in_any_batch(layers):
    model = fresh_parser(TRAIN, heads=HEADS, features=NO_TAGS, layers=layers)
    together = list(model.parse_sentences(DEV))
    assert together == [model.parse([s])[0] for s in DEV]


def test_tags_are_learned_with_the_parser_and_kept_in_the_model_directory(parser, tmp_path):
    best, figures = trained(parser, plan(TRAIN, TRAIN[:30]), SETTINGS)
    last = figures[-1]
    for column in ("upos", "xpos", "feats", "lemma"):
        assert last[f"dev_{column}_accuracy"] > 70, column
    best.save(tmp_path / "model", {})
    bare = [type(s).from_words(s.form) for s in DEV]
    parsed = best.parse(bare)
    assert parsed == Parser.load(tmp_path / "model").parse(bare)
    assert all("_" not in s.upos for s in parsed)
    assert [s.upos for s in parsed] == [t.upos for t in best.parse(DEV)]  # it reads no tags


def test_a_column_without_tags_is_predicted_to_be_empty():
    bare = [s.with_columns({"xpos": ["_"] * len(s), "lemma": ["_"] * len(s)}) for s in TRAIN]
    parsed = fresh_parser(bare, heads=HEADS, features=NO_TAGS).parse(DEV)
    assert {tag for s in parsed for tag in s.xpos} == {"_"}
    assert {lemma for s in parsed for lemma in s.lemma} <= {"_"} | {w for s in DEV for w in s.form}


@pytest.mark.parametrize("column", ["upos", "xpos", "feats", "lemma"])
def test_a_column_that_the_gold_sentences_leave_empty_has_no_accuracy(parser, column):
    bare = [s.with_columns({column: ["_"] * len(s)}) for s in DEV]
    head = parser.model.heads[column]
    assert head.score(bare, bare) == {}
    assert head.score(DEV, DEV) == {f"{column}_accuracy": 100}
    assert head.score(DEV, bare)[f"{column}_accuracy"] < 100


def test_other_encoders_have_tags_predicted_from_their_vectors(tmp_path):
    (tmp_path / "alphabet").write_text("abc")
    small = model_config()
    encoder = Sums(["word"], alphabet=str(tmp_path / "alphabet"))

    def parser(*heads):
        config = ModelConfig(small.system, encoder, load_heads(heads), small.sizes)
        return Parser.untrained(config, TRAIN)

    found = parser("labels", "upos:fed=0").model
    assert found.heads["upos"].output.in_features == encoder.width
    with pytest.raises(ValueError, match=r"cannot read tags.*upos:fed=0"):
        parser("labels", "upos:fed=2")


def test_tags_stay_on_the_device_of_the_batch(parser):
    model = fresh_parser(TRAIN, heads=HEADS, features=NO_TAGS, layers=2).model.to("meta").train()
    keys = np.arange(2, dtype=np.uint64)
    batch: Batch = parser.collator.batch(DEV[:2], keys).to(torch.device("meta"))
    encoded = model.encode(batch)
    assert {scores.device.type for scores in encoded.tags.values()} == {"meta"}
