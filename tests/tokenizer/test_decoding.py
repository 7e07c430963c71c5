"""Tokens and sentences from the scores of characters."""

from __future__ import annotations

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st

from dyparse.tokenizer._decoding import decode
from dyparse.tokenizer._multiword import learn_rules
from dyparse.tokenizer._scores import INSIDE, MULTIWORD, N_SCORES, WORD_END

RULES = learn_rules(
    [
        ("du", ("de", "le")),
        ("des", ("de", "les")),
        ("des", ()),
        ("verlo", ("ver", "lo")),
        ("darlo", ("dar", "lo")),
        ("darlo", ()),
        ("can", ()),
    ]
)
WORDS = st.sampled_from(["du", "des", "darlo", "can", "can't", "mandarlo", "x"])


@given(st.lists(WORDS, min_size=1), st.integers(0, 10**6))
def test_every_token_is_split_as_the_rules_say(forms: list[str], seed: int) -> None:
    text = " ".join(forms)
    scores = np.random.default_rng(seed).normal(size=(len(text), N_SCORES)).astype(np.float32)
    scores[:, INSIDE] = 9  # tokens end at spaces
    ((*tokens,),) = decode(text, scores, RULES, 0)
    assert [text[token.start : token.end] for token in tokens] == forms
    for start, end, words in tokens:
        ends = scores[start:end, WORD_END]
        assert words == RULES.split(text[start:end], scores[end - 1, MULTIWORD], ends)
        event(f"{len(words)} words")
