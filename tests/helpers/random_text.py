"""Random texts for tokenizers: words, and whatever Unicode has that is not a letter."""

from __future__ import annotations

import hypothesis.strategies as st

WHITE = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000"
ODD = "\ufeff\u200b\u200c\u200d\u2060\u00ad\u0301\u0903\u20dd\ufe0f\x01\x7f\x9f|\\#_-=\U000e0041"
SIGNS = ".,;:!?…'\"’”«»()[]。؟।%$@/+*"
LETTERS = "abcXYZéßıİǅñжЖאבשعقहिन्दीதமிกำ漢字한🇸🇪👩🏽🚀0123٣१"
WORDS = (
    "the", "don't", "Mr.", "U.S.", "https://a.org/b", "www.x.se", "a@b.org", "cannot", "hotel's",
    "\r\n", "\n\n", "\n \n", "  ", "e\u0301", "1,000.5", "...", "--", "SpaceAfter=No", "1-2\tx",
)  # fmt: skip

CHARACTERS = st.one_of(
    st.sampled_from(WHITE + ODD + SIGNS + LETTERS),
    st.characters(exclude_categories=("Cs",), exclude_characters="\0"),
)
TEXTS = st.lists(
    st.one_of(st.sampled_from(WORDS), st.sampled_from([" ", "\n", ". "]), st.text(CHARACTERS)),
    max_size=12,
).map("".join)
