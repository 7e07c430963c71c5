"""Pretrained encoders: every family trains, is saved and parses the same without its directory;
vectors are those of transformers.
"""

import copy
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.programs import python
from helpers.tiny import sample
from helpers.tiny_transformers import (
    SIZES,
    TOKENIZERS,
    WITHOUT_DROPOUT,
    short_training,
    tiny_options,
    tiny_parser,
    write_pretrained,
)
from safetensors.torch import load_file
from torch.nn.functional import layer_norm

import dyparse
from dyparse.config import choices
from dyparse.data.batch import Collator
from dyparse.data.sentence import Sentence
from dyparse.encoder._architecture import FAMILIES
from dyparse.encoder.transformer import Transformer

TRAIN, DEV = sample("train")[:20], sample("dev")[:6]
ODD = Sentence.from_words(["\u200b", "[SEP]", "</s>", "x" * 5000, "的"], upos=["X"] * 5)


def test_every_family_is_tried():
    assert set(SIZES) == set(TOKENIZERS) == set(FAMILIES)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_trained_saved_and_loaded_without_its_directory(family, tmp_path):
    directory = write_pretrained(tmp_path / family, family)
    session = short_training(tiny_options(directory, frozen="none"), TRAIN, DEV)
    parser = session.averaged_parser()
    start = tiny_parser(tiny_options(directory), TRAIN).model.state_dict()
    learned = [not t.equal(start[k]) for k, t in session.parser.model.state_dict().items()]
    assert sum(learned) > 0.9 * len(learned)
    shutil.rmtree(directory)
    parser.save(tmp_path / "model", {})  # the directory is not needed any more
    trees = parser.parse([*DEV, ODD])
    loaded = dyparse.load(tmp_path / "model")
    assert loaded.parse([*DEV, ODD]) == trees
    for one, other in zip(
        parser.model.state_dict().values(), loaded.model.state_dict().values(), strict=True
    ):
        assert torch.equal(one, other)
    loaded.save(tmp_path / "again", {})  # a loaded one can be saved again
    names = [path.relative_to(tmp_path / "model") for path in (tmp_path / "model").rglob("*.*")]
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


WITHOUT_NETWORK = """
import json, os, random, socket, sys

class Forbidden(socket.socket):
    def __init__(self, *_, **__):
        raise AssertionError("a socket")

os.environ.pop("HF_HUB_OFFLINE", None)
socket.socket = Forbidden
import dyparse, torch
from helpers.tiny import sample
torch.set_num_threads(1)
before = torch.random.get_rng_state()
parser = dyparse.load(MODEL)
assert torch.equal(before, torch.random.get_rng_state())
print(json.dumps([s.to_conllu() for s in parser.parse(sample("dev")[:6])]))
"""


def test_a_fresh_process_parses_the_same_without_a_network_and_prints_nothing(tmp_path):
    directory = write_pretrained(tmp_path / "mine", "modernbert")
    parser = short_training(tiny_options(directory), TRAIN, DEV).averaged_parser()
    shutil.rmtree(directory)
    parser.save(tmp_path / "model", {})
    program = WITHOUT_NETWORK.replace("MODEL", repr(str(tmp_path / "model")))
    path = os.pathsep.join(
        [str(dyparse.__path__[0] + "/.."), str(dyparse.__path__[0]) + "/../tests"]
    )
    found = python(program, PYTHONPATH=path, PYTHONWARNINGS="error::UserWarning")
    assert found == [s.to_conllu() for s in parser.parse(DEV)]


def encoder_over(options):
    """An encoder in eval mode, and the collator that feeds it."""
    torch.manual_seed(3)
    encoder = options.build([], {})
    return encoder.eval(), Collator(encoder.own_features())


def reference_vectors(directory, tokenizer, sentence, weights, pooling):
    """As one would write it with transformers alone.  [words, width]"""
    import transformers

    model = transformers.AutoModel.from_pretrained(directory, local_files_only=True).eval()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    encoded = fast(sentence.form, is_split_into_words=True, return_tensors="pt")
    inputs = {name: encoded[name] for name in ("input_ids", "attention_mask")}
    with torch.no_grad():
        states = model(**inputs, output_hidden_states=True).hidden_states[-len(weights) :]
    mixed = sum(w * layer_norm(s, s.shape[-1:]) for w, s in zip(weights, states, strict=True))[0]
    of_word = [
        [i for i, w in enumerate(encoded.word_ids()) if w == k] for k in range(len(sentence))
    ]
    rows = [mixed[places[:1] if pooling == "first" else places].mean(0) for places in of_word]
    return torch.stack([mixed[0], *rows])


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "deberta-v2", "modernbert", "electra"])
@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_vectors_are_those_of_transformers(family, pooling, tiny_pretrained):
    directory = tiny_pretrained(family)
    encoder, collator = encoder_over(
        tiny_options(directory, features=[], mixed_layers=3, layers=0, pooling=pooling)
    )
    vectors = encoder.vectors
    with torch.no_grad():
        vectors.mix.copy_(torch.tensor([0.5, -1.0, 2.0]))
        vectors.scale.fill_(1.7)
        weights = 1.7 * torch.softmax(vectors.mix, 0)
        found = encoder(collator.batch(TRAIN[:6]))
    tokenizer = copy.copy(vectors.pieces.tokenizer.tokenizer)
    for row, sentence in zip(found, TRAIN[:6], strict=True):
        expected = reference_vectors(directory, tokenizer, sentence, weights, pooling)
        torch.testing.assert_close(row[: len(sentence) + 1], expected, atol=2e-5, rtol=0)


LONG = Sentence.from_words([w for s in sample("train")[:40] for w in s.form][:400])
LOCAL = {"layer_types": ["sliding_attention"] * 3, "local_attention": 4}  # 2 to each side and layer


def test_words_far_from_borders_of_windows_have_the_vectors_of_the_whole_sentence(tmp_path):
    """Of a model that looks 6 pieces to each side only, all words if windows share enough."""
    found = []
    for positions in (4000, 64):
        directory = write_pretrained(
            tmp_path / str(positions), "modernbert", max_position_embeddings=positions, **LOCAL
        )
        encoder, collator = encoder_over(tiny_options(directory, features=[], layers=0, overlap=31))
        batch = collator.batch([LONG, TRAIN[0]])
        assert (len(batch.features["pieces"].ids) > 2) == (positions == 64)
        with torch.no_grad():
            found.append(encoder(batch))
    torch.testing.assert_close(found[0], found[1], atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "mpnet", "distilbert", "deberta"])
def test_a_sentence_longer_than_the_model_can_read_is_parsed(family, tiny_pretrained):
    parser = tiny_parser(tiny_options(tiny_pretrained(family)), TRAIN)
    pieces = parser.collator.batch([LONG]).features["pieces"]
    assert pieces.lengths.max() > 85  # full windows, up to the last position
    tree, short = parser.parse([LONG.with_columns({"upos": ["X"] * len(LONG)}), TRAIN[0]])
    assert len(tree.head) == len(LONG)
    assert [short.head] == [s.head for s in parser.parse([TRAIN[0]])]


def test_a_model_reads_its_last_position(tiny_pretrained):
    for family in FAMILIES:
        parser = tiny_parser(tiny_options(tiny_pretrained(family), features=[]), TRAIN)
        feature = parser.model.encoder.vectors.pieces
        piece = next(w for w in ("a", "i", "of", "the") if len(feature.tokenizer.of_word[w]) == 1)
        full = Sentence.from_words([piece] * feature.room)
        ids = parser.collator.batch([full]).features["pieces"].ids
        assert ids.shape[0] == 1, family
        assert parser.model.encoder.eval()(parser.collator.batch([full])).isfinite().all()


def test_threads_side_by_side_have_the_same_vectors(tiny_pretrained):
    parser = tiny_parser(tiny_options(tiny_pretrained("modernbert")), TRAIN)
    groups = [TRAIN[k : k + 3] for k in range(0, 18, 3)] * 4
    with torch.no_grad():
        alone = [parser.encode(group).encoded.vectors for group in groups]

        def encode(group):
            with torch.no_grad():
                return parser.encode(group).encoded.vectors

        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(encode, groups))
    assert all(map(torch.equal, alone, together))


def test_recomputing_activations_gives_the_same_gradients(tiny_pretrained):
    gradients = []
    for recompute in (False, True):
        options = tiny_options(tiny_pretrained(), frozen="embeddings", recompute=recompute)
        parser = tiny_parser(options, TRAIN)
        parser.model.train()
        keys = np.arange(6, dtype=np.uint64)
        parser.model.encoder(parser.collator.batch(TRAIN[:6], keys)).square().sum().backward()
        gradients.append([p.grad for p in parser.model.encoder.parameters() if p.requires_grad])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_dropout_inside_the_model_follows_the_key_of_the_batch(tiny_pretrained):
    parser = tiny_parser(tiny_options(tiny_pretrained(), features=[], layers=0), TRAIN)
    vectors = parser.model.encoder.vectors.train()
    batches = [
        parser.collator.batch(
            TRAIN[:4], np.arange(first, first + 4, dtype=np.uint64) << np.uint64(9)
        )
        for first in (1, 1, 2)
    ]
    before = torch.random.get_rng_state()
    one, same, other = (vectors(batch) for batch in batches)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    options = tiny_options(tiny_pretrained(**WITHOUT_DROPOUT), word_dropout=0.0)
    still = tiny_parser(options, TRAIN)
    one, _, other = (still.model.encoder.vectors.train()(batch) for batch in batches)
    assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        ({"pooling": "max"}, "encoder.pooling is 'max'"),
        ({"frozen": "some"}, "encoder.frozen is 'some'"),
        ({"frozen": "-1"}, "encoder.frozen is '-1'"),
        ({"mixed_layers": 0}, "encoder.mixed_layers is 0"),
        ({"rate": -0.1}, "encoder.rate is -0.1"),
        ({"rate": float("nan")}, "encoder.rate is nan"),
        ({"rate": float("inf")}, "encoder.rate is inf"),
        ({"kept_gigabytes": float("nan")}, "encoder.kept_gigabytes is nan"),
        ({"layer_decay": 0.0}, "encoder.layer_decay is 0.0"),
        ({"layer_decay": float("nan")}, "encoder.layer_decay is nan"),
        ({"overlap": -1}, "encoder.overlap is -1"),
        ({"layers": -1}, "encoder.layers is -1"),
        ({"layers": 101}, "encoder.layers is 101"),
        ({"hidden": 0}, "encoder.hidden is 0"),
        ({"features": ["tag"]}, "encoder.features: no feature 'tag'"),
        ({"word_dropout": 1.0}, "encoder.word_dropout is 1.0"),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(options, finding):
    with pytest.raises(ValueError, match=finding):
        Transformer(**options)


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        ({"mixed_layers": 5}, "encoder.mixed_layers is 5, expected at most 4"),
        ({"frozen": "4"}, "encoder.frozen is 4, expected at most 3"),
    ],
)
def test_more_layers_than_the_model_has_are_refused(options, finding, tiny_pretrained):
    with pytest.raises(ValueError, match=finding):
        tiny_options(tiny_pretrained(), **options).build([], {})


def test_the_encoder_is_known_by_its_name_and_its_options_come_back(tiny_pretrained):
    assert "transformer" in choices.names("encoder")
    options = tiny_options(tiny_pretrained())
    named = options.without_places()
    assert named.without_places() == named == replace(options, pretrained=named.pretrained)
    assert json.dumps(named.pretrained).startswith('"bert@')


def test_words_are_masked_in_training_only_by_their_keys_and_never_the_root(tiny_pretrained):
    parser = tiny_parser(tiny_options(tiny_pretrained("bert"), word_dropout=0.5), TRAIN)
    vectors = parser.model.encoder.vectors
    keys = np.arange(len(TRAIN), dtype=np.uint64)
    batch = parser.collator.batch(TRAIN, keys)
    pieces, mask = batch.features["pieces"], vectors.pieces.tokenizer.mask
    parser.model.eval()
    assert torch.equal(vectors.read(pieces, batch), pieces.ids)
    parser.model.train()
    read = vectors.read(pieces, batch)
    assert torch.equal(read, vectors.read(pieces, batch))
    changed = read != pieces.ids
    assert (read[changed] == mask).all()
    assert 0.4 < changed.sum() / (pieces.lengths - 2).sum() < 0.6
    assert not changed[:, 0].any()
    other = parser.collator.batch(TRAIN, keys + np.uint64(1))
    assert not torch.equal(vectors.read(pieces, other), read)


def test_a_model_of_the_hub_keeps_its_name_whatever_the_cache_calls_it(
    tiny_pretrained, tmp_path, monkeypatch
):
    snapshot = shutil.copytree(tiny_pretrained("bert"), tmp_path / "a81f3c")
    asked = []
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download",
        lambda name, allow_patterns: asked.append((name, allow_patterns)) or str(snapshot),
    )
    named = tiny_options("mylab/tiny-bert").without_places()
    assert named.pretrained.startswith("mylab/tiny-bert@")
    assert named.without_places() == named
    ((name, patterns),) = asked
    assert name == "mylab/tiny-bert"
    assert not [pattern for pattern in patterns if pattern.endswith((".py", ".bin", "*"))]


@pytest.mark.parametrize(("saved_in", "n_bytes"), [("float16", 2), ("bfloat16", 2), ("float32", 4)])
def test_a_model_keeps_its_encoder_in_the_precision_that_was_chosen(
    saved_in, n_bytes, tiny_pretrained, tmp_path
):
    parser = tiny_parser(tiny_options(tiny_pretrained("bert"), saved_in=saved_in), TRAIN)
    parser.save(tmp_path / "model", {})
    saved = load_file(tmp_path / "model" / "model.safetensors")
    sizes = {(name.startswith("encoder."), t.itemsize) for name, t in saved.items()}
    assert sizes == {(True, n_bytes), (False, 4)}
    loaded = dyparse.load(tmp_path / "model").model.state_dict()
    assert {t.dtype for t in loaded.values()} == {torch.float32}
    for name, tensor in parser.model.state_dict().items():
        expected = tensor.to(getattr(torch, saved_in)).float() if "encoder." in name else tensor
        assert torch.equal(loaded[name], expected), name
