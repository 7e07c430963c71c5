"""Tokens of a treebank that the rules of `plain` cut: abbreviations (*Mr.*), clitics (*d'*)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from dyparse.data.word_rules import word_spans
from dyparse.tokenizer._spans import Token

MOST_PIECES = 4  # that the rules cut a token into
LEAST_SEEN = 2  # times as a token in the training text
LEAST_SHARE = 0.5  # of the places where the pieces stand side by side


def joined_pieces(text: str, tokens: Sequence[Token], known: Collection[str]) -> Iterator[Token]:
    """Spans of known tokens in a text, which the rules have cut into these tokens."""
    k = 0
    while k < len(tokens) - 1:
        last = k
        while last + 1 < min(k + MOST_PIECES, len(tokens)) and (
            tokens[last].end == tokens[last + 1].start
        ):
            last += 1
        while last > k and text[tokens[k].start : tokens[last].end] not in known:
            last -= 1
        if last > k:
            yield Token(tokens[k].start, tokens[last].end)
        k = last + 1


def learn_exceptions(text: str, gold: Iterable[Token]) -> list[str]:
    """Tokens of a training text that the rules cut, though they are mostly whole in it."""
    spans = {(token.start, token.end) for token in gold}
    counts = Counter(text[start:end] for start, end in spans)
    cut = {
        form: count
        for form, count in counts.items()
        if count >= LEAST_SEEN and len(form.split()) == 1 < len(word_spans(form)) <= MOST_PIECES
    }
    rules = [Token(*span) for span in word_spans(text)]
    found = [text[token.start : token.end] for token in joined_pieces(text, rules, cut)]
    places = Counter(found)
    return sorted(form for form, count in cut.items() if count >= LEAST_SHARE * places[form])
