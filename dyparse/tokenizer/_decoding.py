"""Tokens and sentences from the scores of characters."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dyparse.tokenizer._characters import code_points, is_white
from dyparse.tokenizer._multiword import MultiwordRules, Words
from dyparse.tokenizer._scores import MULTIWORD, SENTENCE_END, TOKEN_END, WORD_END
from dyparse.tokenizer._spans import Token
from dyparse.tokenizer._windows import Scores


def decode(text: str, scores: Scores, rules: MultiwordRules, most_spaces: int) -> list[list[Token]]:
    """The sentences of a passage; a token may have up to `most_spaces` gaps of white space."""
    white = is_white(code_points(text))
    visible = np.flatnonzero(~white)
    if not len(visible):
        return []
    best = scores[visible, : SENTENCE_END + 1].argmax(-1)
    is_end = best >= TOKEN_END
    is_end[-1] = True
    before_gap = np.append(np.diff(visible) > 1, True)
    is_end = _with_gaps(is_end, before_gap, most_spaces)
    last = np.flatnonzero(is_end)
    starts = visible[np.append(0, last[:-1] + 1)]
    ends = visible[last] + 1
    tokens = _tokens(text, starts, ends, scores, rules)
    borders = np.flatnonzero(best[last] == SENTENCE_END) + 1
    edges = [0, *borders.tolist(), len(tokens)]
    return [tokens[a:b] for a, b in pairwise(edges) if a < b]


def _with_gaps(
    is_end: NDArray[np.bool_], before_gap: NDArray[np.bool_], most_spaces: int
) -> NDArray[np.bool_]:
    """Ends of tokens, with an end at every gap of a token that has too many of them."""
    if not most_spaces:
        return is_end | before_gap
    token = np.append(0, np.cumsum(is_end)[:-1])
    gaps = np.bincount(token[before_gap & ~is_end], minlength=token[-1] + 1)
    has_too_many: NDArray[np.bool_] = gaps[token] > most_spaces
    return is_end | (before_gap & has_too_many)


def _tokens(
    text: str,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    scores: Scores,
    rules: MultiwordRules,
) -> list[Token]:
    multiword = scores[ends - 1, MULTIWORD]
    word_ends = scores[:, WORD_END]
    inside = np.maximum.reduceat(word_ends, np.stack([starts, ends - 1], 1).ravel())[::2]
    may_be_split = ((multiword > 0) | (multiword + inside > 0)).tolist()
    tokens, always = [], rules.always
    for start, end, may_be in zip(starts.tolist(), ends.tolist(), may_be_split, strict=True):
        words: Words = ()
        if may_be or (always and text[start:end].lower() in always):
            words = rules.split(text[start:end], scores[end - 1, MULTIWORD], word_ends[start:end])
        tokens.append(Token(start, end, words))
    return tokens
