"""The derivations of a source, sentence by sentence; memory does not grow with their number."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.data.batch import gold_heads, n_words
from dyparse.data.sampler import group_by_length, windows
from dyparse.data.sentence import MOST_WORDS, NONE, Sentence
from dyparse.errors import TreebankError
from dyparse.rollout.rollout import rollout
from dyparse.trajectories.arrays import Derivation, Trajectories, flattened
from dyparse.trajectories.record import Recorded, record
from dyparse.trajectories.sources import Source

WORDS_PER_WINDOW = 20_000  # read ahead, so that sentences of similar length meet in a batch


def collect(source: Source, sentences: Iterable[Sentence], *, seed: int = 0) -> Trajectories:
    """The derivations of all sentences as flat arrays; see `derivations`."""
    return flattened(source, list(derivations(source, sentences, seed=seed)))


def derivations(
    source: Source,
    sentences: Iterable[Sentence],
    *,
    seed: int = 0,
    max_tokens_per_batch: int = 2000,
) -> Iterator[Derivation]:
    """The derivation of each sentence, in order; TreebankError for one without a gold tree.

    What is random depends on the seed and the number of the sentence only, not on the batches.
    """
    random = np.random.default_rng(seed)
    for window in windows(map(_checked, sentences), len, WORDS_PER_WINDOW):
        keys = random.integers(2**64, size=len(window), dtype=np.uint64)
        found: dict[int, Derivation] = {}
        for places in group_by_length(source.lengths(window), max_tokens_per_batch):
            batch = [window[k] for k in places]
            found.update(zip(places, _batch(source, batch, keys[places]), strict=True))
        yield from (found[k] for k in range(len(window)))


def _checked(sentence: Sentence) -> Sentence:
    """The sentence; TreebankError if it has no tree, or is too long for oracles."""
    n = len(sentence)
    if not all(0 <= head <= n for head in sentence.head):
        raise TreebankError(f"{sentence.place} has no gold tree, expected the head of every word")
    if n > MOST_WORDS:
        raise TreebankError(
            f"{sentence.place} has {n} words, for which oracles take too long; expected at most "
            f"{MOST_WORDS}: split it, or leave it out"
        )
    return sentence


def _batch(
    source: Source, sentences: Sequence[Sentence], keys: NDArray[np.uint64]
) -> Iterator[Derivation]:
    """The derivations of one batch."""
    system, scorer = source.system, source.scorer(sentences)
    words, gold = n_words(sentences), gold_heads(sentences)
    visited = rollout(
        system, source.exploration, scorer, words, gold, epoch=source.epoch, seed=keys
    )
    heads, states = record(system, scorer, words, gold, visited.sentence, visited.move)
    whole = _compact(states, visited.move, visited.paid)
    n_states = np.bincount(visited.sentence, minlength=len(words))
    ends = np.cumsum(n_states)
    stack_ends, buffer_ends = (
        np.concatenate([[0], np.cumsum(size)]) for size in (states.stack_size, states.buffer_size)
    )
    for b, (sentence, stop) in enumerate(zip(sentences, ends.tolist(), strict=True)):
        rows = slice(stop - int(n_states[b]), stop)
        yield Derivation(
            sentence=sentence,
            head=heads[b, 1 : len(sentence) + 1].astype(np.int16),
            stack=whole["stack"][stack_ends[rows.start] : stack_ends[stop]],
            buffer=whole["buffer"][buffer_ends[rows.start] : buffer_ends[stop]],
            score=states.score[rows] if source.has_scores else None,
            **{name: whole[name][rows] for name in whole.keys() - {"stack", "buffer"}},
        )


def _compact(
    states: Recorded, move: NDArray[np.int32], paid: NDArray[np.int32]
) -> dict[str, NDArray[Any]]:
    """The arrays of a batch in the types of `Derivation`; stacks and buffers without padding."""
    token = np.arange(states.stack.shape[1])
    small = {
        "stack": states.stack[states.stack_size[:, None] > token],
        "buffer": states.buffer[states.buffer_size[:, None] > token],
        "slots": states.slots,
        "cost": np.where(states.legal, states.cost, NONE),
        "canonical": states.canonical,
        "move": move,
        "paid": paid,
        "arc_head": states.head,
        "arc_dependent": states.dependent,
    }
    return {name: array.astype(np.int16) for name, array in small.items()} | {
        "legal": states.legal,
        "stack_size": states.stack_size,
        "buffer_size": states.buffer_size,
    }
