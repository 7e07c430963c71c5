"""Every encoder of conf/encoder: the same vectors in any batch, any features, any words."""

import dataclasses

import numpy as np
import pytest
import torch
from helpers.tiny import sample, small_encoder, yamls
from helpers.tiny_transformers import WITHOUT_DROPOUT
from omegaconf import OmegaConf
from torch import nn

from dyparse.config import choices
from dyparse.config.build import build
from dyparse.data.batch import Collator
from dyparse.data.sentence import Sentence
from dyparse.encoder._bilstm_network import BiLSTMLayer, ByLength, Mirror, reading_order
from dyparse.encoder.bilstm import BiLSTM
from dyparse.feature import load_features

TRAIN = sample("train")[:50]
STRANGE = Sentence.from_words(
    ["\U0001f642", "的", "x" * 90, "Zzyzx"],
    upos=["NEW", "_", "NOUN", "X"],
    xpos=["?", "_", "NN", "!"],
    feats=["New=Yes", "_", "Number=Sing|New=Yes", "A=B"],
)
MIXED = [TRAIN[0], STRANGE, *TRAIN[1:6], Sentence.from_words(["Hm"])]
ALL = choices.names("feature")

encoders = pytest.mark.parametrize("path", yamls("encoder"), ids=lambda path: path.stem)


@pytest.fixture
def choice_of(tiny_pretrained):
    """choice_of(path): the encoder of a yaml, with other features if given; one that needs a
    pretrained model has a tiny one, without dropout of its own.
    """

    def choice(path, features=None):
        options = OmegaConf.to_container(OmegaConf.load(path))
        if options.get("pretrained") == "":
            options["pretrained"] = str(tiny_pretrained(**WITHOUT_DROPOUT))
        choice = build(options, "encoder")
        return dataclasses.replace(choice, features=features) if features else choice

    return choice


def built(choice):
    """The encoder's module, always with the same weights, and the collator that feeds it."""
    torch.manual_seed(5)
    features = [f.build(f.entries(TRAIN)) for f in load_features(choice.features, "features")]
    encoder = choice.build(features, {})
    return encoder, Collator([*features, *encoder.own_features()])


def keys_for(sentences, first=0):
    """A key for each sentence."""
    return np.arange(first, first + len(sentences), dtype=np.uint64)


@encoders
def test_there_is_a_vector_of_the_promised_width_for_every_token(path, choice_of):
    encoder, collator = built(choice_of(path))
    batch = collator.batch(MIXED, keys_for(MIXED))
    assert encoder(batch).shape == (*batch.shape, encoder.width)


@encoders
def test_a_sentence_has_the_same_vectors_in_every_batch(path, choice_of):
    encoder, collator = built(choice_of(path, ALL))
    encoder.eval()
    together = encoder(collator.batch(MIXED))
    backwards = encoder(collator.batch(MIXED[::-1])).flip(0)
    for b, sentence in enumerate(MIXED):
        alone = encoder(collator.batch([sentence]))[0]
        assert alone.abs().max() > 0.01
        for other in (together[b, : len(sentence) + 1], backwards[b, : len(sentence) + 1]):
            torch.testing.assert_close(other, alone, atol=1e-5, rtol=0)


@encoders
@pytest.mark.parametrize(
    "features",
    [*([name] for name in ALL), ["word", "subword"], ["feats", "character", "xpos"], ALL],
    ids="-".join,
)
def test_features_are_switched_by_name(path, features, choice_of):
    encoder, collator = built(choice_of(path, features))
    vectors = encoder(collator.batch(MIXED, keys_for(MIXED)))
    assert vectors.isfinite().all()


@encoders
def test_only_the_chosen_features_are_seen(path, choice_of):
    known = {
        name: list(choices.load("feature", name).entries(TRAIN)[:2])
        for name in ("upos", "xpos", "feats")
    }
    same_words = [
        Sentence.from_words(["A", "dog"], **tags)
        for tags in (known, {name: ["?", "!"] for name in known})
    ]
    same_tags = [Sentence.from_words(words, **known) for words in (["A", "dog"], ["The", "cat"])]
    for features, pair, is_equal in [
        (["word", "subword", "character"], same_words, True),
        (["upos", "xpos", "feats"], same_tags, True),
        (["upos"], same_words, False),
        (["xpos"], same_words, False),
        (["feats"], same_words, False),
        (["subword"], same_tags, False),
        (["character"], same_tags, False),
    ]:
        encoder, collator = built(choice_of(path, features))
        if any(feature.column == "form" for feature in encoder.own_features()):
            is_equal &= pair is same_words  # it reads words whatever the features
        one, other = encoder.eval()(collator.batch(pair))
        assert torch.equal(one, other) == is_equal, features


@encoders
def test_everything_unknown_still_has_finite_vectors(path, choice_of):
    encoder, collator = built(choice_of(path, ALL))
    for module in (encoder.train(), encoder.eval()):
        assert module(collator.batch([STRANGE], keys_for([STRANGE]))).isfinite().all()


@encoders
def test_the_gradient_reaches_every_parameter(path, choice_of):
    encoder, collator = built(choice_of(path, ALL))
    encoder.eval()(collator.batch(MIXED)).square().sum().backward()
    for name, parameter in encoder.named_parameters():
        if not parameter.requires_grad:
            assert parameter.grad is None, name
            continue
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().sum() > 0, name


@encoders
def test_vectors_are_random_in_training_only(path, choice_of):
    encoder, collator = built(choice_of(path, ALL))
    batch, other = (collator.batch(MIXED, keys_for(MIXED, first)) for first in (0, 100))
    encoder.eval()
    assert torch.equal(encoder(batch), encoder(other))
    encoder.train()
    assert torch.equal(encoder(batch), encoder(batch))
    assert not torch.equal(encoder(batch), encoder(other))


@encoders
def test_a_sentence_loses_the_same_components_in_every_batch(path, choice_of):
    encoder, collator = built(choice_of(path, ALL))
    encoder.train()
    keys = keys_for(MIXED)
    together = encoder(collator.batch(MIXED, keys))
    for b, sentence in enumerate(MIXED):
        alone = encoder(collator.batch([sentence], keys[b : b + 1]))[0]
        torch.testing.assert_close(together[b, : len(sentence) + 1], alone, atol=1e-5, rtol=0)


@encoders
def test_a_word_far_away_changes_a_vector(path, choice_of):
    encoder, collator = built(choice_of(path))
    words = ["The"] * 12
    ends = [Sentence.from_words([*words, last]) for last in ("dog", "Zzyzx")]
    one, other = encoder.eval()(collator.batch(ends))
    assert not torch.equal(one[1], other[1])
    begins = [Sentence.from_words([first, *words]) for first in ("dog", "Zzyzx")]
    one, other = encoder(collator.batch(begins))
    assert not torch.equal(one[-1], other[-1])


def input_of_first_lstm(encoder, batch):
    """What the first LSTM reads, [N, B, ·], and the encoder's result."""
    seen = []
    first = next(module for module in encoder.modules() if isinstance(module, BiLSTMLayer))
    handle = first.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach()))
    try:
        return encoder(batch), seen[0]
    finally:
        handle.remove()


def test_mirroring_equals_a_bidirectional_lstm_over_each_sentence():
    encoder, collator = built(small_encoder(hidden=7, layers=3))
    encoder.eval()
    lstms = [module for module in encoder.modules() if isinstance(module, nn.LSTM)]
    assert len(lstms) == 3
    vectors = encoder(collator.batch(MIXED))
    for b, sentence in enumerate(MIXED):
        _, x = input_of_first_lstm(encoder, collator.batch([sentence]))
        for lstm in lstms:
            x, _ = lstm(x)
        torch.testing.assert_close(vectors[b, : len(sentence) + 1], x[:, 0], atol=1e-5, rtol=0)


def test_packed_sentences_as_on_a_gpu_have_the_vectors_of_mirrored_ones_and_their_gradients():
    encoder, collator = built(small_encoder(hidden=7))
    (layer,) = encoder.layers
    batch = collator.batch(MIXED)
    _, x = input_of_first_lstm(encoder.eval(), batch)
    is_word = (torch.arange(x.shape[0]).unsqueeze(1) < batch.length).unsqueeze(-1)  # [N, B, 1]
    results = []
    for order in (reading_order(batch, x), ByLength.of(batch, x.device)):
        inputs = x.clone().requires_grad_()
        vectors = layer(inputs, order) * is_word
        vectors.square().sum().backward()
        gradients = [parameter.grad.clone() for parameter in layer.parameters()]
        layer.zero_grad()
        results.append([vectors, inputs.grad * is_word, *gradients])
    for mirrored, packed in zip(*results, strict=True):
        torch.testing.assert_close(mirrored, packed, atol=1e-5, rtol=1e-4)
        assert mirrored.abs().max() > 0


def test_the_layout_is_chosen_by_the_device():
    _, collator = built(small_encoder())
    batch = collator.batch(MIXED)
    x = torch.zeros(batch.shape[1], batch.shape[0], 1)
    assert isinstance(reading_order(batch, x), Mirror)
    on_device = reading_order(batch.to(torch.device("meta")), x.to("meta"))
    assert isinstance(on_device, ByLength)
    assert on_device.tokens.device.type == "cpu"  # packing reads it on the host, without a wait


def test_dropout_takes_the_same_components_at_every_position():
    encoder, collator = built(
        small_encoder(features=["upos"], widths={"upos": 400}, input_dropout=0.3, word_dropout=0.0)
    )
    batch = collator.batch(TRAIN[:8], keys_for(TRAIN[:8]))
    _, without = input_of_first_lstm(encoder.eval(), batch)
    _, dropped = input_of_first_lstm(encoder.train(), batch)
    for b, sentence in enumerate(TRAIN[:8]):
        mask = dropped[: len(sentence) + 1, b] == 0
        assert (mask == mask[0]).all()
        kept = ~mask
        torch.testing.assert_close(
            dropped[: len(sentence) + 1, b][kept],
            without[: len(sentence) + 1, b][kept] / 0.7,
            rtol=5e-3,  # probabilities go in steps of 1/256
            atol=0,
        )
    fraction = (dropped[0] == 0).float().mean()
    assert 0.25 < fraction < 0.35
    assert not torch.equal(dropped[0, 0] == 0, dropped[0, 1] == 0)


def test_word_dropout_reads_a_fraction_of_known_words_as_unknown_and_the_root_never():
    encoder, collator = built(
        small_encoder(features=["word"], widths={"word": 8}, input_dropout=0.0, word_dropout=0.4)
    )
    assert "the" in choices.load("feature", "word").entries(TRAIN)
    sentences = [Sentence.from_words(["the"] * 20)] * 50
    batch = collator.batch(sentences, keys_for(sentences))
    _, plain = input_of_first_lstm(encoder.eval(), batch)
    _, dropped = input_of_first_lstm(encoder.train(), batch)
    _, unknown = input_of_first_lstm(encoder.eval(), collator.batch([STRANGE]))
    changed = (dropped != plain).any(-1)  # [N, B]
    assert not changed[0].any()
    assert 0.3 < changed[1:].float().mean() < 0.5
    assert (dropped[changed] == unknown[1, 0]).all()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"features": []}, "encoder.features"),
        ({"features": ["word", "tag"]}, "encoder.features: no feature 'tag'"),
        ({"features": ["word", "word"]}, "encoder.features"),
        ({"hidden": 0}, "encoder.hidden is 0"),
        ({"layers": 0}, "encoder.layers is 0"),
        ({"features": ["subword:buckets=0"]}, "encoder.features: buckets is 0"),
        ({"widths": {"upos": -1}}, r"encoder\.widths\.upos is -1"),
        ({"input_dropout": 1.0}, "encoder.input_dropout is 1.0"),
        ({"layer_dropout": -0.1}, "encoder.layer_dropout is -0.1"),
        ({"word_dropout": float("nan")}, "encoder.word_dropout is nan"),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(options, name):
    with pytest.raises(ValueError, match=name):
        BiLSTM(**options)
