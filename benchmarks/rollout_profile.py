"""Where the time of a rollout goes, kernel by kernel; throughput.py prints it.

A rollout is one compiled function, in which no clock can be read. So the same loop is compiled with
a number of extra calls of each kernel; the extra time is that of the kernel.
"""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.exploration import Choice, follow
from dyparse.exploration.explore import Explore
from dyparse.rollout.scorer import Scorer, score, table_rows
from dyparse.runtime.kernels import cached_njit
from dyparse.system import (
    System,
    cost,
    features,
    is_finished,
    legal,
    prefer,
    static,
    take_move,
)

KERNELS = ("features", "legal moves", "scores", "oracle", "choice")
EXTRA_CALLS = 20  # of the kernel that is measured
POLICY = Explore(first_epochs=0, probability=0.9).policy


@cached_njit
def _rollout(choices: Any, scorer: Any, batch: Any, gold: Any, calls: Any) -> int:
    """The loop of dyparse.rollout.rollout; kernel k is called calls[k] times in each state."""
    options, policy = choices
    states, random = batch
    N, F = states.stack.shape[1], scorer.table.shape[1]
    M, D = scorer.output.shape
    slots, rows = np.empty(F, dtype=np.int32), np.empty(F, dtype=np.int32)
    is_legal, costs = np.empty(M, dtype=np.bool_), np.zeros(M, dtype=np.int32)
    hidden, scores = np.empty(D, dtype=np.float32), np.empty(M, dtype=np.float32)
    t = move = 0
    for i in range(states.length.shape[0]):
        while not is_finished(options, states, i):
            for _ in range(calls[0]):
                features(options, states, i, slots)
            for _ in range(calls[1]):
                legal(options, states, i, is_legal)
            table_rows(slots, i * N, scorer.table.shape[0] - 1, rows)
            for _ in range(calls[2]):
                score(scorer, rows, hidden, scores)
            canonical = NONE
            for _ in range(calls[3]):
                if gold is not None:
                    cost(options, states, i, gold, costs)
                    prefer(options, states, i, gold, is_legal, costs)
                    canonical = static(options, states, i, gold, is_legal, costs)
            before = random[i]
            for _ in range(calls[4]):
                random[i] = before
                move = follow(policy, 2, Choice(scores, is_legal, costs, canonical), random, i)
            take_move(options, states, i, move)
            t += 1
    return t


def kernel_fractions(
    system: System, scorer: Scorer, words: NDArray[np.int32], gold: NDArray[np.int32] | None
) -> dict[str, float]:
    """Fractions of a rollout's time; `step` is the rest: changing states, and the loop."""

    def seconds(calls: NDArray[np.int64]) -> float:
        best = np.inf
        for _ in range(5):
            states = system.start(words)
            random = np.arange(len(words), dtype=np.uint64)
            prepared = None if gold is None else system.prepare(gold)
            start = time.perf_counter()
            _rollout((system.options, POLICY), scorer, (states, random), prepared, calls)
            best = min(best, time.perf_counter() - start)
        return best

    once = np.ones(len(KERNELS), dtype=np.int64)
    seconds(once)  # compiles
    whole = seconds(once)
    spent = {
        name: max(seconds(once + EXTRA_CALLS * (np.arange(len(KERNELS)) == k)) - whole, 0.0)
        / EXTRA_CALLS
        for k, name in enumerate(KERNELS)
        if gold is not None or name != "oracle"
    }
    spent["step"] = max(whole - sum(spent.values()), 0.0)
    return {name: value / sum(spent.values()) for name, value in spent.items()}
