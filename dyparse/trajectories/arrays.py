"""Derivations as arrays: of one sentence, and flat ones of many, the schema of the files."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.config.choices import text_of
from dyparse.data.sentence import Sentence
from dyparse.trajectories.sources import Source
from dyparse.version import __version__

SCHEMA = 1  # counts changes of names, types and meanings


class Derivation(NamedTuple):
    """The derivation of one sentence of n words: t states before their moves."""

    sentence: Sentence
    head: NDArray[np.int16]  # [n]  of every word at the end
    stack: NDArray[np.int16]  # of all states in a row, bottom first
    stack_size: NDArray[np.int32]  # [t]
    buffer: NDArray[np.int16]  # of all states in a row, front first
    buffer_size: NDArray[np.int32]  # [t]
    slots: NDArray[np.int16]  # [t, F]
    legal: NDArray[np.bool_]  # [t, M]
    cost: NDArray[np.int16]  # [t, M]  NONE where a move is not legal
    score: NDArray[np.float32] | None  # [t, M]
    canonical: NDArray[np.int16]  # [t]
    move: NDArray[np.int16]  # [t]
    paid: NDArray[np.int16]  # [t]
    arc_head: NDArray[np.int16]  # [t]
    arc_dependent: NDArray[np.int16]  # [t]


class Trajectories(NamedTuple):
    """Derivations of S sentences, as docs/trajectories.md explains them.

    Rows of sentence s: words word_offsets[s] … word_offsets[s + 1] − 1, states in the same way.
    Tokens are numbered within their sentence: 0 is the root, 1 the first word, −1 none.
    """

    metadata: NDArray[np.str_]  # []  a JSON object
    # sentences
    sent_id: NDArray[np.str_]  # [S]
    n_words: NDArray[np.int32]  # [S]
    word_offsets: NDArray[np.int64]  # [S + 1]
    state_offsets: NDArray[np.int64]  # [S + 1]
    # words
    form: NDArray[np.int32]  # [W]  number in forms
    forms: NDArray[np.str_]
    upos: NDArray[np.int32]  # [W]  number in upos_tags
    upos_tags: NDArray[np.str_]
    gold_head: NDArray[np.int16]  # [W]
    head: NDArray[np.int16]  # [W]  at the end of the derivation
    # states, before their moves
    sentence: NDArray[np.int32]  # [T]
    step: NDArray[np.int32]  # [T]  counted from 0 in every sentence
    stack: NDArray[np.int16]  # of all states in a row, bottom first
    stack_offsets: NDArray[np.int64]  # [T + 1]
    buffer: NDArray[np.int16]  # of all states in a row, front first
    buffer_offsets: NDArray[np.int64]  # [T + 1]
    slots: NDArray[np.int16]  # [T, F]  token in every feature slot
    legal: NDArray[np.bool_]  # [T, M]
    cost: NDArray[np.int16]  # [T, M]  −1 where a move is not legal
    canonical: NDArray[np.int16]  # [T]  the move of the static oracle
    move: NDArray[np.int16]  # [T]  the move taken
    paid: NDArray[np.int16]  # [T]  its cost
    arc_head: NDArray[np.int16]  # [T]  of the arc that it adds, −1 if it adds none
    arc_dependent: NDArray[np.int16]  # [T]
    score: NDArray[np.float32] | None  # [T, M]  of a model, for every move; None for oracles

    def about(self) -> dict[str, Any]:
        """The metadata: names of moves and slots, system, source, version."""
        found: dict[str, Any] = json.loads(str(self.metadata))
        return found


def metadata(source: Source, **more: str | int) -> dict[str, Any]:
    """Metadata of a file."""
    return {
        "schema": SCHEMA,
        "dyparse": __version__,
        "system": text_of(source.system),
        "moves": list(source.system.moves),
        "slots": list(source.system.slots),
        **source.describe(),
        **more,
    }


def flattened(source: Source, derivations: Sequence[Derivation], **more: str | int) -> Trajectories:
    """The derivations one after the other; ValueError if there are none."""
    if not derivations:
        raise ValueError("there are no sentences, expected one or more")
    sentences = [each.sentence for each in derivations]
    n_words, n_states = list(map(len, sentences)), [len(each.move) for each in derivations]
    joined = {
        name: np.concatenate([getattr(each, name) for each in derivations])
        for name in derivations[0]._fields
        if name not in ("sentence", "score")
    }
    sizes = {name: joined.pop(f"{name}_size") for name in ("stack", "buffer")}
    form, upos = (_numbered(getattr(s, column) for s in sentences) for column in ("form", "upos"))
    has_scores = derivations[0].score is not None
    return Trajectories(
        metadata=np.array(json.dumps(metadata(source, **more), ensure_ascii=False)),
        sent_id=np.array([sentence.sent_id for sentence in sentences]),
        n_words=np.array(n_words, dtype=np.int32),
        word_offsets=_offsets(n_words),
        state_offsets=_offsets(n_states),
        form=form[1],
        forms=form[0],
        upos=upos[1],
        upos_tags=upos[0],
        gold_head=np.concatenate([np.array(s.head, dtype=np.int16) for s in sentences]),
        sentence=np.repeat(np.arange(len(sentences), dtype=np.int32), n_states),
        step=np.concatenate([np.arange(n, dtype=np.int32) for n in n_states]),
        stack_offsets=_offsets(sizes["stack"]),
        buffer_offsets=_offsets(sizes["buffer"]),
        score=np.concatenate([each.score for each in derivations]) if has_scores else None,
        **joined,
    )


def _offsets(sizes: Any) -> NDArray[np.int64]:
    """Where each of several pieces starts, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _numbered(columns: Iterable[Sequence[str]]) -> tuple[NDArray[np.str_], NDArray[np.int32]]:
    """The distinct values of a column, sorted, and the number of every word's."""
    values = [value for column in columns for value in column]
    entries = sorted(set(values))
    number = {entry: k for k, entry in enumerate(entries)}
    return np.array(entries), np.array([number[value] for value in values], dtype=np.int32)
