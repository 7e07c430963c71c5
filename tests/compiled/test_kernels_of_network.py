"""The compiled kernels against numpy in float64; and rows that know nothing of their neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyparse.compiled import processor
from dyparse.compiled.embeddings import Embedding, WordProducts
from dyparse.compiled.labels import label_scores
from dyparse.compiled.lstm import (
    Layer,
    Sentences,
    in_whole_blocks,
    new_states,
    pack_layer,
    run_lstm,
)
from dyparse.compiled.products import (
    ONE,
    Activations,
    Added,
    Packed,
    _multiply,
    activations,
    multiply,
    pack,
    padded_rows,
)
from dyparse.compiled.tags import TagHeads, best_entries
from dyparse.compiled.tile import STEPS, ZERO, largest_weight
from dyparse.data.sentence import Sentence
from dyparse.runtime.kernel_sources import hash_of_sources

needs_int8 = pytest.mark.skipif(
    not processor.has_int8(), reason="the processor has no instructions for int8"
)
both = pytest.mark.parametrize(
    "is_int8", [False, pytest.param(True, marks=needs_int8)], ids=["float32", "int8"]
)
few = settings(max_examples=25, deadline=None)  # what is compiled first takes long


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def numbers_of(inputs):
    """What activations stand for, in float64."""
    if inputs.values.dtype == np.float32:
        return inputs.values.astype(np.float64)
    return (inputs.values.astype(np.float64) - ZERO) / STEPS * inputs.factor[:, None]


def rounded(matrix, *, is_int8):
    """What packed weights stand for, in float64."""
    exact = matrix.astype(np.float64)
    if not is_int8:
        return exact
    step = np.abs(exact).max(-1, keepdims=True) / largest_weight()
    return np.rint(exact / step) * step


def product(matrix, inputs, bias, *, is_int8):
    out = np.empty((len(inputs.values), len(matrix)), np.float32)
    (packed,) = pack([matrix], is_int8=is_int8)
    added = Added(padded_rows(bias), np.arange(len(out)))
    multiply(packed, inputs, added, out, np.arange(len(out)))
    return out


@both
@few
@given(st.integers(1, 14), st.integers(1, 70), st.integers(1, 140), st.integers(0, 99))
def test_a_product_is_that_of_numpy_with_the_rounded_numbers(is_int8, rows, inputs, outputs, seed):
    given = activations(normal(seed, rows, inputs), is_int8=is_int8)
    matrix, bias = normal(seed + 1, outputs, inputs), normal(seed + 2, rows, outputs)
    found = product(matrix, given, bias, is_int8=is_int8)
    expected = numbers_of(given)[:, :inputs] @ rounded(matrix, is_int8=is_int8).T + bias
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5 * (1 + inputs**0.5))


@needs_int8
def test_bytes_change_a_product_by_less_than_a_percent():
    x, matrix = normal(1, 50, 200), normal(2, 100, 200)
    found = product(matrix, activations(x, is_int8=True), np.zeros((50, 100)), is_int8=True)
    error = found - x.astype(np.float64) @ matrix.T.astype(np.float64)
    assert 1e-6 < np.sqrt((error**2).mean() / 200) < 0.02


@both
def test_a_row_of_a_product_does_not_depend_on_the_others(is_int8):
    given = activations(normal(3, 23, 33), is_int8=is_int8)
    matrix, bias = normal(4, 80, 33), normal(5, 23, 80)
    whole = product(matrix, given, bias, is_int8=is_int8)
    for count in range(1, 9):
        factor = given.factor if given.factor is ONE else given.factor[:count]
        some = Activations(given.values[:count], factor)
        assert (product(matrix, some, bias[:count], is_int8=is_int8) == whole[:count]).all()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_in_numpy(weights, inputs, lengths, units):
    """[tokens, 2 · units], in float64."""
    out, first = np.zeros((len(inputs), 2 * units)), 0
    for length in lengths:
        for way, suffix in enumerate(("", "_reverse")):
            below, before, bias, more = (
                weights[f"lstm.{kind}_l0{suffix}"].astype(np.float64)
                for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            state, cell = np.zeros(units), np.zeros(units)
            for t in range(length)[:: -1 if way else 1]:
                gates = below @ inputs[first + t] + before @ state + bias + more
                i, f, g, o = np.split(gates, 4)
                cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
                state = sigmoid(o) * np.tanh(cell)
                out[first + t, way * units : (way + 1) * units] = state
        first += length
    return out


def lstm_weights(units, inputs):
    weights = {}
    for k, suffix in enumerate(("", "_reverse")):
        weights[f"lstm.weight_ih_l0{suffix}"] = normal(k, 4 * units, inputs) / 3
        weights[f"lstm.weight_hh_l0{suffix}"] = normal(k + 2, 4 * units, units) / units**0.5
        weights[f"lstm.bias_ih_l0{suffix}"] = normal(k + 4, 4 * units)
        weights[f"lstm.bias_hh_l0{suffix}"] = normal(k + 6, 4 * units)
    return weights


def run_layer(weights, states, lengths, *, is_int8):
    """The bytes or numbers of a layer over sentences one after the other."""
    layer = Layer.of(weights, "lstm")
    lengths, tokens = np.array(lengths), sum(lengths)
    order = np.argsort(-lengths, kind="stable")
    first = np.cumsum(lengths) - lengths
    packed = pack_layer(layer.below, layer.before, is_int8=is_int8)
    out = new_states(tokens, 2 * layer.before.shape[1], is_int8=is_int8)
    added = Added(layer.bias[None], np.zeros(tokens, np.int64))
    run_lstm(packed, Sentences(first[order], lengths[order]), states, added, out)
    return out[:-1]


def states_between(seed, tokens, width, *, is_int8):
    x = np.tanh(normal(seed, tokens, width))
    return np.rint(x * STEPS + ZERO).astype(np.uint8) if is_int8 else x


@both
@few
@given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(1, 40))
def test_an_lstm_is_that_of_numpy(is_int8, lengths, units):
    weights, width = lstm_weights(units, 24), in_whole_blocks(units)
    states = states_between(1, sum(lengths), 24, is_int8=is_int8)
    found = run_layer(weights, states, lengths, is_int8=is_int8).astype(np.float64)
    inputs = (states.astype(np.float64) - ZERO) / STEPS if is_int8 else states.astype(np.float64)
    found = (found - ZERO) / STEPS if is_int8 else found
    found = np.concatenate([found[:, :units], found[:, width : width + units]], axis=1)
    expected = lstm_in_numpy(weights, inputs, lengths, units)
    assert np.abs(found - expected).max() < (0.1 if is_int8 else 1e-5)
    assert np.abs(found - expected).mean() < (0.01 if is_int8 else 1e-6)


@both
def test_a_sentence_of_an_lstm_does_not_depend_on_the_others(is_int8):
    weights, lengths = lstm_weights(20, 16), [3, 7, 7, 1, 12, 7, 5, 4]
    states = states_between(2, sum(lengths), 16, is_int8=is_int8)
    whole, first = run_layer(weights, states, lengths, is_int8=is_int8), 0
    for length in lengths:
        part = slice(first, first + length)
        assert (run_layer(weights, states[part], [length], is_int8=is_int8) == whole[part]).all()
        first += length


def test_embeddings_are_the_mean_of_vectors_or_a_convolution_over_them():
    table, kernel, bias = normal(1, 9, 8), normal(2, 8, 8, 3), normal(3, 8)
    values = {"a": [1], "b": [2, 5, 8], "c": [3, 3], "d": [4, 0, 7, 6, 2]}
    mean, convolved = np.empty((4, 8), np.float32), np.empty((4, 8), np.float32)
    Embedding.mean("form", values.__getitem__, table).embed(list(values), mean)
    convolution = Embedding.convolution("form", values.__getitem__, table, (kernel, bias))
    convolution.embed(list(values), convolved)
    for row, (_, numbers) in enumerate(values.items()):
        vectors = table[numbers].astype(np.float64)
        assert np.allclose(mean[row], vectors.mean(0), atol=1e-6)
        around = np.pad(vectors, ((1, 1), (0, 0)))
        places = [
            bias + sum(kernel[:, :, tap].astype(np.float64) @ around[k + tap] for tap in range(3))
            for k in range(len(numbers))
        ]
        assert np.allclose(convolved[row], np.tanh(np.max(places, axis=0)), atol=1e-5)


def test_numbers_beyond_the_embeddings_are_refused():
    embedding = Embedding.mean("form", lambda _: [3], normal(1, 3, 4))
    with pytest.raises(IndexError, match="beyond its embeddings"):
        embedding.embed(["a"], np.empty((1, 4), np.float32))


@both
def test_products_of_words_are_the_same_when_they_are_met_again(is_int8, monkeypatch):
    monkeypatch.setattr("dyparse.compiled.embeddings.MOST_BYTES", 0)
    monkeypatch.setattr("dyparse.compiled.embeddings.LEAST_ROWS", 4)
    embedding = Embedding.mean("form", lambda form: list(form.encode()), normal(1, 256, 8))
    words = WordProducts([embedding], [(normal(2, 70, 8), normal(3, 70))], is_int8=is_int8)
    texts = [["one", "two"], ["three", "two", "four"], ["one"], ["a", "b", "c", "d", "e", "two"]]
    rows = {}
    for _ in range(2):
        for forms in texts:
            (added,) = words([Sentence.from_words(forms)])
            assert len(added.rows) == len(forms) + 1
            for form, row in zip(forms, added.table[added.rows[1:]], strict=True):
                assert (rows.setdefault(form, row.copy()) == row).all()
    assert len({row.tobytes() for row in rows.values()}) == len(rows)


@both
def test_tags_are_fed_as_the_mean_of_embeddings_by_probability(is_int8):
    sizes, inputs = {"upos": (17, 6), "feats": (40, 5)}, 12
    weights = {}
    for k, (name, (entries, fed)) in enumerate(sizes.items()):
        weights[f"heads.{name}.output.weight"] = normal(k, entries, inputs)
        weights[f"heads.{name}.output.bias"] = normal(k + 3, entries)
        weights[f"heads.{name}.embeddings"] = normal(k + 5, entries, fed)
    tags = TagHeads.of(weights, list(sizes), is_int8=is_int8)
    x = normal(9, 7, inputs)
    scores = np.ascontiguousarray(x @ tags.weight.T + tags.bias)
    states = new_states(6, tags.fed_width, is_int8=is_int8)
    tags.feed(scores, states)
    fed = (states.astype(np.float64) - ZERO) / STEPS if is_int8 else states
    fed, column = fed[:, : len(tags.bound)] * tags.bound, 0
    for name, (_, width) in sizes.items():
        best = np.empty(7, np.int64)
        best_entries(scores, tags.places[name], best)
        own = x @ weights[f"heads.{name}.output.weight"].T + weights[f"heads.{name}.output.bias"]
        assert best.tolist() == own.argmax(-1).tolist()
        chance = np.exp(own.astype(np.float64))
        mean = chance / chance.sum(-1, keepdims=True) @ weights[f"heads.{name}.embeddings"]
        assert np.allclose(fed[:, column : column + width], mean, atol=0.02 if is_int8 else 1e-5)
        column += width


def test_labels_are_scored_by_one_hidden_layer_over_head_and_dependent():
    parts, output, bias = normal(1, 11, 2 * 20), normal(2, 70, 20), normal(3, 70)
    heads, found = np.arange(11)[::-1].copy(), np.empty((11, 70), np.float32)
    (packed,) = pack([output], is_int8=False)
    label_scores(parts, heads, packed, padded_rows(bias[None])[0], found)
    hidden = np.maximum(parts[heads, :20].astype(np.float64) + parts[:, 20:], 0)
    assert np.allclose(found, hidden @ output.T.astype(np.float64) + bias, atol=1e-4)


def test_a_processor_without_the_instructions_has_no_int8(monkeypatch):
    def with_features(*names):
        monkeypatch.setattr(processor, "processor_features", lambda: frozenset(names))
        return processor.has_int8(), processor.has_vnni(), largest_weight()

    assert with_features("sse2", "avx") == (False, False, 63)
    assert with_features("sse2", "avx2") == (True, False, 63)
    assert with_features("avx2", *processor.VNNI) == (True, True, 127)
    for missing in processor.VNNI:
        assert with_features(*processor.VNNI - {missing}) == (False, False, 63)


@needs_int8
@pytest.mark.parametrize("sign", [1, -1])
def test_sums_of_the_largest_bytes_and_weights_are_exact(sign):
    inputs = Activations(np.full((7, 8), 255, np.uint8), ONE)
    found = product(
        np.full((3, 8), sign, np.float32), inputs, np.zeros((7, 3), np.float32), is_int8=True
    )
    assert np.allclose(found, sign * 8, rtol=1e-6)


def test_compiled_kernels_can_be_kept_on_disk():
    assert hash_of_sources(_multiply.py_func, [Packed, Activations, Added])
    assert hash_of_sources(run_lstm.py_func, [Added, Sentences])
