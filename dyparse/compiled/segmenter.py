"""The network of the learned tokenizer in compiled kernels: scores of every character."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dyparse.compiled.lstm import Layer, Sentences, new_states, pack_layer, run_lstm
from dyparse.compiled.network import Linear, two_ways
from dyparse.compiled.products import ONE, Activations, Added

EMBEDDED = ("character", "word", "rule")


class CompiledSegmenter:
    """scores = W · (BiLSTM(x) + relu(convolution(x))) + b,  x = character + word + rule

    In float32 on every processor, so that tokens do not depend on it. The scores of a window do not
    depend on the other windows.
    """

    def __init__(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """From the weights of torch's network, by name."""
        self.tables = [weights[f"{name}.weight"] for name in EMBEDDED]
        layer = Layer.of(weights, "lstm")
        self.lstm = pack_layer(layer.below, layer.before, is_int8=False)
        self.gate_bias = layer.bias[None]
        kernel, bias = weights["convolution.weight"], weights["convolution.bias"]  # [2 H, D, taps]
        units = weights["lstm.weight_hh_l0"].shape[1]
        side_by_side = kernel.transpose(2, 1, 0).reshape(-1, 2 * units)  # [taps · D, 2 H]
        self.convolution = Linear.of(
            two_ways(side_by_side, units).T, two_ways(bias[None], units)[0], is_int8=False
        )
        self.margin = kernel.shape[2] // 2  # characters that it sees on each side of one
        output = two_ways(weights["output.weight"], units)
        self.output = Linear.of(output, weights["output.bias"], is_int8=False)

    def window_scores(self, windows: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        """Scores of the characters of windows, the longest first.  [3, n] each → [n, 5] each"""
        length = np.array([window.shape[1] for window in windows])
        first = np.cumsum(length + self.margin) - length - self.margin
        x = self._embedded(windows, first)
        near = self._convolved(x)
        states = new_states(len(near), near.shape[1], is_int8=False)
        added = Added(self.gate_bias, np.zeros(len(near), np.int64))
        run_lstm(self.lstm, Sentences(first, length), x[self.margin :], added, states)
        near += states[:-1]
        scores = np.empty((len(near), self.output.outputs), np.float32)
        self.output(Activations(near, ONE), scores)
        return [scores[start : start + n] for start, n in zip(first, length, strict=True)]

    def _embedded(
        self, windows: Sequence[NDArray[np.int64]], first: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """[margin + rows + margin, D]: windows begin at these rows, with zeros between them."""
        rows = int(first[-1]) + windows[-1].shape[1]
        x = np.zeros((rows + 2 * self.margin, self.tables[0].shape[1]), np.float32)
        for start, window in zip(first + self.margin, windows, strict=True):
            of_window = x[start : start + window.shape[1]]
            for table, numbers in zip(self.tables, window, strict=True):
                of_window += table[numbers]
        return x

    def _convolved(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """relu(convolution(x)): a product with rows that overlap.  → [rows, both directions]"""
        width, taps = x.shape[1], 2 * self.margin + 1
        inputs = sliding_window_view(x.reshape(-1), taps * width, writeable=True)[::width]
        found = np.empty((len(inputs), self.convolution.outputs), np.float32)
        self.convolution(Activations(inputs, ONE), found)
        return np.maximum(found, 0, out=found)
