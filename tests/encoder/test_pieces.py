"""Words as pieces of a pretrained model's tokenizer, and sentences as windows of pieces."""

import copy
import json
import pickle
from itertools import pairwise

import numpy as np
import pytest
import torch
from helpers.tiny import sample
from helpers.tiny_transformers import byte_level, tiny_options, tiny_parser, unigram, word_piece
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from dyparse.data.batch import Collator
from dyparse.data.sentence import Sentence
from dyparse.encoder._pieces import (
    PieceSequences,
    PieceTokenizer,
    for_given_words,
    windows,
)
from dyparse.training.batches import Batches

ODD = ["Zzyzx", "的", "\U0001f642", "e\u0301a", "don't", "-", "...", "3,14", "İstanbul", "ﬁn"]
SENTENCES = [*(s.form for s in sample("train")[:20]), ODD, ["Hm"], ["\u200b", "x"]]


def after_spaces(make):
    """A tokenizer for words that are given, as its makers would configure it."""
    tokenizer = make()
    if make is byte_level:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    elif make is unigram:
        always = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), always]
        )
    return tokenizer


@pytest.fixture(scope="module", params=[word_piece, byte_level, unigram], ids=lambda f: f.__name__)
def kind(request):
    """A tokenizer of transformers, and ours of the same file, which says nothing of spaces."""
    import transformers

    reference = transformers.PreTrainedTokenizerFast(tokenizer_object=after_spaces(request.param))
    content = request.param().to_str().encode()
    return reference, PieceTokenizer(for_given_words(content))


def sequences(tokenizer, *, positions=512, overlap=64, pooling="mean"):
    return PieceSequences(tokenizer, positions=positions, overlap=overlap, pooling=pooling)


def arrays(feature, words):
    sentences = [Sentence.from_words(w) for w in words]
    return feature.arrays(sentences, np.array([len(w) for w in words], dtype=np.int32))


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_sequences_and_places_of_words_are_those_of_transformers(kind, pooling):
    reference, tokenizer = kind
    found = arrays(sequences(tokenizer, pooling=pooling), SENTENCES)
    n_tokens = max(map(len, SENTENCES)) + 1
    ends = [*found.offsets.tolist()[1:], len(found.places)]
    bags = [found.places[a:b].tolist() for a, b in zip(found.offsets.tolist(), ends, strict=True)]
    width = found.ids.shape[1]
    for b, words in enumerate(SENTENCES):
        encoded = reference(words, is_split_into_words=True)
        size = int(found.lengths[b])
        whole = set(encoded.word_ids()) - {None} == set(range(len(words)))
        if whole:  # transformers leaves out words without pieces
            assert found.ids[b, :size].tolist() == encoded["input_ids"]
        assert not found.ids[b, size:].any()
        of_tokens = bags[b * n_tokens : (b + 1) * n_tokens]
        assert of_tokens[0] == [b * width]  # the root: what stands before every sentence
        assert all(places == [b * width] for places in of_tokens[len(words) + 1 :])
        column = len(tokenizer.prefix)
        for k in range(len(words)):
            expected = [i for i, word in enumerate(encoded.word_ids()) if word == k] or [column]
            taken = expected[:1] if pooling == "first" else expected
            if whole:
                assert of_tokens[k + 1] == [b * width + i for i in taken]
            column += len(expected)


def test_the_sentences_of_these_tests_have_words_of_several_pieces_and_of_none():
    tokenizer = PieceTokenizer(for_given_words(word_piece().to_str().encode()))
    assert max(len(tokenizer.of_word[word]) for words in SENTENCES for word in words) > 3
    assert tokenizer.of_word["\u200b"] == [tokenizer.unknown]
    raw = tokenizer.tokenizer.encode(["\u200b"], is_pretokenized=True, add_special_tokens=False)
    assert raw.ids == []


@pytest.mark.parametrize("word", ["[SEP]", "[CLS]", "[PAD]", "</s>", "<s>", "<pad>", "<mask>"])
def test_the_name_of_a_special_piece_is_a_word_like_others(kind, word):
    _, tokenizer = kind
    special = {tokenizer.tokenizer.token_to_id(w) for w in (word, "[SEP]", "</s>")} - {None}
    for same in (tokenizer, copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        same.of_word.clear()
        pieces = same.of_word[word]
        if type(same.tokenizer.model).__name__ == "BPE":  # it knows every letter
            assert len(pieces) > 1
            assert same.unknown not in pieces
        assert not special & set(pieces)


def test_words_that_are_long_or_no_unicode_have_pieces(kind):
    _, tokenizer = kind
    assert 0 < len(tokenizer.of_word["x" * 100_000]) <= 1000
    assert tokenizer.of_word["a\ud800b"] == tokenizer.of_word["a?b"]
    feature = sequences(tokenizer, positions=16)
    longest = max(1, feature.room // 2)
    (of_long, of_short) = feature.words(Sentence.from_words(["xqzj" * 30, "a"]))
    assert 0 < len(of_long) <= longest
    assert of_short == tokenizer.of_word["a"]


def test_padding_and_truncation_of_the_file_do_not_matter():
    plain, changed = word_piece(), word_piece()
    changed.enable_padding(length=50)
    changed.enable_truncation(5)
    one, other = (PieceTokenizer(for_given_words(t.to_str().encode())) for t in (plain, changed))
    words = sample("train")[0].form
    assert arrays(sequences(one), [words]).ids.equal(arrays(sequences(other), [words]).ids)
    assert (
        PieceTokenizer(changed.to_str().encode()).of_word["winterfriend"]
        == (one.of_word["winterfriend"])
    )


def test_a_tokenizer_that_refuses_a_word_has_an_unknown_piece_for_it():
    content = json.loads(word_piece().to_str())
    content["added_tokens"] = [t for t in content["added_tokens"] if t["content"] != "[UNK]"]
    del content["model"]["vocab"]["[UNK]"]
    tokenizer = PieceTokenizer(json.dumps(content).encode())
    assert tokenizer.of_word["的"] == [tokenizer.unknown]
    content["pre_tokenizer"] = {  # matches no end without trying everything: the library panics
        **{"type": "Split", "behavior": "Isolated", "invert": False},
        "pattern": {"Regex": "(a+)+$"},
    }
    tokenizer = PieceTokenizer(json.dumps(content).encode())
    assert tokenizer.of_word["a" * 50 + "!"] == [tokenizer.unknown]


def test_every_word_of_a_sentence_is_asked_for_once():
    tokenizer = PieceTokenizer(for_given_words(word_piece().to_str().encode()))
    asked, compute = [], tokenizer.of_word.compute
    tokenizer.of_word.compute = lambda form: asked.append(form) or compute(form)
    arrays(sequences(tokenizer), [["a", "b", "a"], ["b"]])
    assert asked == ["a", "b"]


ROOMS = st.integers(4, 40)


@st.composite
def cut(draw):
    """Sizes of words, the room of a window, and the overlap as an encoder would ask for it."""
    room = draw(ROOMS)
    sizes = draw(st.lists(st.integers(1, room // 2), min_size=1, max_size=60))
    return sizes, room, draw(st.integers(0, room // 2))


@given(cut())
@settings(max_examples=300, deadline=None)
def test_windows_own_every_word_once_fit_into_the_room_and_overlap_as_promised(case):
    sizes, room, overlap = case
    found = windows(sizes, room, overlap)
    owned = [k for w in found for k in range(w.own_first, w.own_last)]
    assert owned == list(range(len(sizes)))
    for window in found:
        assert window.first <= window.own_first <= window.own_last <= window.last
        assert 0 < sum(sizes[window.first : window.last]) <= room
    for one, other in pairwise(found):
        assert one.first < other.first <= one.last < other.last  # each reads something new
        assert sum(sizes[one.first : one.last]) + sizes[one.last] > room  # as much as there is room
        shared = sum(sizes[other.first : one.last])
        assert shared <= overlap
        assert other.first == one.first + 1 or shared + sizes[other.first - 1] > overlap
        left, right = one.own_last - other.first, one.last - one.own_last
        assert 0 <= left - right <= 1  # the border is in the middle
    assert (found[0].first, found[-1].last) == (0, len(sizes))


@given(cut())
@settings(max_examples=100, deadline=None)
def test_a_sentence_that_fits_is_one_window(case):
    sizes, _, overlap = case
    assert windows(sizes, sum(sizes), overlap) == [(0, len(sizes), 0, len(sizes))]


def test_an_overlap_as_large_as_the_window_does_not_read_everything_again_and_again(kind):
    _, tokenizer = kind
    words = ["a"] * 200
    rows = arrays(sequences(tokenizer, positions=20, overlap=1000), [words]).ids.numel()
    assert rows < 4 * sequences(tokenizer).length(Sentence.from_words(words))


@pytest.mark.parametrize("positions", [2, 3, 5])
def test_a_model_without_room_for_words_is_refused(kind, positions):
    _, tokenizer = kind
    with pytest.raises(ValueError, match=f"reads {positions} pieces at a time, which leaves"):
        sequences(tokenizer, positions=positions)


def test_lengths_are_counted_in_pieces_and_batches_are_bounded_in_them(tiny_pretrained):
    train = sample("train")[:60]
    parser = tiny_parser(tiny_options(tiny_pretrained()), train)
    lengths = parser.collator.lengths(train)
    assert Collator([]).lengths(train) == [len(s) for s in train]
    of_pieces = [int(parser.collator.batch([s]).features["pieces"].lengths.sum()) for s in train]
    assert lengths == of_pieces
    assert sum(lengths) > 1.5 * sum(map(len, train))
    batches = Batches(parser, train, max_tokens=200, seed=1)
    groups = batches.groups(1)
    assert sorted(k for group in groups for k in group) == list(range(len(train)))
    assert max(map(len, groups)) > 1
    for group in groups:
        ids = batches.make(group, 1, 0).inputs.features["pieces"].ids
        assert ids.numel() <= 200 or len(group) == 1


def test_pieces_of_dropped_words_are_masked_and_no_others(kind):
    feature = sequences(kind[1])
    pieces = arrays(feature, [["The", "unforgettable", "dogs"], ["Cats"]])
    dropped = torch.tensor([[False, False, True, True], [False, False, False, False]])
    mask = feature.tokenizer.mask
    masked = pieces.masked(dropped, mask)
    of_word = feature.tokenizer.of_word
    first = [*feature.tokenizer.prefix, *of_word["The"]]
    n_dropped = len(of_word["unforgettable"]) + len(of_word["dogs"])
    expected = pieces.ids[0].tolist()
    expected[len(first) : len(first) + n_dropped] = [mask] * n_dropped
    assert masked[0].tolist() == expected
    assert torch.equal(masked[1], pieces.ids[1])
