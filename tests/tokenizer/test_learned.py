"""The tokenizer that is learned from a treebank."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from helpers.small_tokenizer import SMALL
from helpers.tiny import UD, sample, yamls
from omegaconf import OmegaConf
from safetensors.torch import load, save

from dyparse.config.build import build, describe, restore
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.tokenizer import Tokenizer, restored_text, tokenize, tokenize_lines
from dyparse.tokenizer._learned_tokenizer import LearnedTokenizer
from dyparse.tokenizer._training import f1_scores
from dyparse.tokenizer._training_text import gold_text
from dyparse.tokenizer.learned import Learned

WEIGHTS, VOCABULARY = "tokenizer.safetensors", "tokenizer.json"


@pytest.mark.parametrize("path", yamls("tokenizer"), ids=lambda path: path.stem)
def test_every_yaml_makes_its_tokenizer_with_its_defaults(path) -> None:
    options = OmegaConf.to_container(OmegaConf.load(path))
    choice = build(options, "tokenizer")
    assert choice == type(choice)()
    assert restore("tokenizer", describe(choice)) == choice


def test_it_learns_tokens_and_sentences(learned: LearnedTokenizer) -> None:
    figures = f1_scores(learned, gold_text(sample("test")[:100], "test"))
    assert figures["tokens"] > 95
    assert figures["words"] > 93
    assert figures["sentences"] > 50


def test_training_is_deterministic_and_leaves_the_random_generator_alone() -> None:
    options = Learned(embedding=8, hidden=8, convolution=3, epochs=1)
    train = sample("train")[:20]
    before = torch.random.get_rng_state()
    reports: list[dict[str, float]] = []
    one = options.train(train, [], seed=3, progress=reports.append)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.rand(3)
    assert options.train(train, [], seed=3).files() == one.files()
    assert options.train(train, [], seed=4).files() != one.files()
    assert reports == [{"epoch": 1, "epochs": 1}]


def test_it_is_the_same_after_saving(learned: LearnedTokenizer) -> None:
    text = restored_text(sample("test")[:30])
    again = SMALL.build(learned.files())
    assert again.files() == learned.files()
    assert [s.lines for s in tokenize(again, text)] == [s.lines for s in tokenize(learned, text)]


def test_compiled_it_finds_the_same_sentences(
    learned: LearnedTokenizer, compiled: LearnedTokenizer
) -> None:
    text = restored_text(sample("test"))
    assert_same_sentences(learned, compiled, text)
    assert compiled.files() == learned.files()


@pytest.mark.skipif(not UD.is_dir(), reason=f"no UD treebanks at {UD}; set DYPARSE_UD")
def test_compiled_it_finds_the_same_sentences_in_texts_of_treebanks(
    learned: LearnedTokenizer, compiled: LearnedTokenizer
) -> None:
    """Also in languages that it has not learned, where scores are less sure."""
    for path in sorted(UD.glob("UD_*/*-ud-test.conllu")):
        text = restored_text(list(read_sentences(path, trees=False))[:300])
        assert_same_sentences(learned, compiled, text)


def assert_same_sentences(one: LearnedTokenizer, other: LearnedTokenizer, text: str) -> None:
    assert [s.lines for s in tokenize(one, text)] == [s.lines for s in tokenize(other, text)]


def test_sentences_do_not_depend_on_what_else_is_read(tokenizer: Tokenizer) -> None:
    texts = [s.text for s in sample("test")[:30]]
    alone = [tokenizer.sentences([text])[0] for text in texts]
    assert tokenizer.sentences(texts) == alone
    assert tokenizer.sentences(texts[::-1]) == alone[::-1]


def test_lines_are_one_sentence_each(learned: LearnedTokenizer) -> None:
    lines = [f"{a.text} {b.text}\n" for a, b in zip(*[iter(sample("test")[:10])] * 2, strict=True)]
    sentences = list(tokenize_lines(learned, lines))
    assert len(sentences) == len(lines)
    assert restored_text(sentences) == "".join(lines)


def test_tokens_with_spaces_are_learned() -> None:
    """As in Vietnamese: a word may be several syllables with spaces between them."""
    sentence = Sentence.from_words(["Tôi", "đi", "Hà Nội", "."], text="Tôi đi Hà Nội .")
    options = Learned(embedding=16, hidden=16, epochs=30, learning_rate=0.01)
    tokenizer = options.train([sentence] * 60, [], seed=1)
    assert tokenizer.most_spaces == 1
    (found, *_) = tokenize(tokenizer, "Tôi đi Hà\tNội . Tôi đi Hà Nội .")
    assert "Hà Nội" in found.form
    assert any("SpacesInToken=Hà\\tNội" in line for line in found.lines)


def test_a_treebank_without_text_is_refused() -> None:
    words = [Sentence.from_words(["a", "b"])]
    with pytest.raises(TreebankError, match="use tokenizer=plain"):
        Learned().train(words, [], seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"hidden": 10_000}, "hidden is 10000"),
        ({"convolution": 4}, "an odd number"),
        ({"dropout": 1.0}, "dropout"),
        ({"learning_rate": 0.0}, "learning_rate"),
    ],
)
def test_wrong_options_are_refused(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        Learned(**options)


def damaged_vocabulary(learned: LearnedTokenizer, **changed) -> dict[str, bytes]:
    files = learned.files()
    vocabulary = json.loads(files[VOCABULARY]) | changed
    return files | {VOCABULARY: json.dumps(vocabulary).encode()}


@pytest.mark.parametrize(
    "changed",
    [
        {"format": 1},
        {"characters": 3},
        {"characters": "aa"},
        {"characters": "ab"},  # weights of another size
        {"words": ["a", "a"]},
        {"words": [1]},
        {"words": {}},
        {"exceptions": ["Mr.", "Mr."]},
        {"exceptions": [None]},
        {"most_spaces": -1},
        {"most_spaces": True},
        {"most_spaces": 10**9},
        {"multiword": {"always": {"x": ["\n", "y"]}, "sometimes": {}, "suffixes": {}, "whole": []}},
        {"multiword": []},
        {"more": 1},
    ],
)
def test_a_damaged_vocabulary_is_refused(learned: LearnedTokenizer, changed) -> None:
    with pytest.raises(ValueError, match="tokenizer"):
        SMALL.build(damaged_vocabulary(learned, **changed))


def test_damaged_files_are_refused(learned: LearnedTokenizer) -> None:
    files = learned.files()
    weights = load(files[WEIGHTS])
    name = next(iter(weights))
    wrong = [
        {},
        {VOCABULARY: files[VOCABULARY]},
        files | {"more.json": b""},
        files | {VOCABULARY: b"[" * 100_000},
        files | {VOCABULARY: b"\xff"},
        files | {WEIGHTS: b""},
        files | {WEIGHTS: files[WEIGHTS][:-9]},
        files | {WEIGHTS: b"\xff" * 100},
        files | {WEIGHTS: save({k: v for k, v in weights.items() if k != name})},
        files | {WEIGHTS: save(weights | {name: weights[name].double()})},
        files | {WEIGHTS: save(weights | {name: weights[name] * np.inf})},
        files | {WEIGHTS: save(weights | {name: weights[name][:1].contiguous()})},
    ]
    for damaged in wrong:
        with pytest.raises(ValueError, match="tokenizer"):
            SMALL.build(damaged)
