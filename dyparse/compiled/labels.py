"""The label head: one hidden layer over head and dependent."""

import numpy as np

from dyparse.compiled.products import add_tile, begin_sums, rows_at_once
from dyparse.compiled.tile import COLUMNS, ROWS
from dyparse.runtime.kernels import cached_njit


@cached_njit
def label_scores(parts, heads, output, bias, out):
    """out[t] = output · relu(parts[heads[t], :D] + parts[t, D:]) + bias.

    parts [tokens, 2 · D] has what each token contributes as a head and as a dependent; the weights
    of the output layer are packed as float32.
    """
    tokens, depth = parts.shape[0], parts.shape[1] // 2
    sums = np.empty((ROWS, COLUMNS), np.float32)
    hidden, rows = np.empty((ROWS, depth), np.float32), np.arange(ROWS)
    t = 0
    while t < tokens:
        n_rows = rows_at_once(tokens - t)
        for r in range(n_rows):
            head = heads[t + r]
            for d in range(depth):
                hidden[r, d] = max(parts[head, d] + parts[t + r, depth + d], np.float32(0))
        for block in range(output.weights.shape[0]):
            begin_sums(output.start, block, n_rows, sums)
            add_tile(output.weights, block, hidden, 0, rows, 0, n_rows, sums)
            column = block * COLUMNS
            for r in range(n_rows):
                for c in range(min(COLUMNS, out.shape[1] - column)):
                    out[t + r, column + c] = sums[r, c] + bias[column + c]
        t += n_rows
