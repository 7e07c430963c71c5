"""Words and sentences by rules, for any language; nothing is learned.

A sentence ends at a full stop or the like, with quotes and brackets that close after it, if white
space follows and no small letter. A full stop after a single capital letter, as in initials, ends
none. Tokens are never split into several words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dyparse.data.sentence import Sentence
from dyparse.data.word_rules import word_spans
from dyparse.tokenizer._protocol import Progress
from dyparse.tokenizer._spans import Token

STOPS = ".!?…‥؟۔।॥։።፧។៕။｡。！？"
ALWAYS_END = "。！？｡"  # of scripts that write no space after them
STOP = re.compile(rf"[{STOPS}]+[\W]*")
CLOSING = re.compile(r"[\"'’”»›)\]}」』）】]+[\W]*")


@dataclass(frozen=True)
class Plain:
    """The rules; there are no options."""

    def train(
        self,
        train: Sequence[Sentence],  # noqa: ARG002 - rules learn nothing
        dev: Sequence[Sentence],  # noqa: ARG002 - the same
        seed: int,  # noqa: ARG002 - the same
        progress: Progress | None = None,  # noqa: ARG002 - the same
    ) -> "Plain":
        """The same rules."""
        return self

    def build(self, files: Mapping[str, bytes]) -> "Plain":
        """The same rules; they need no files."""
        if files:
            raise ValueError(f"tokenizer plain has no files; found {', '.join(sorted(files))[:80]}")
        return self

    def files(self) -> dict[str, bytes]:
        """None."""
        return {}

    def sentences(self, passages: Sequence[str]) -> list[list[list[Token]]]:
        """The sentences of each passage, as lists of tokens."""
        return [list(_sentences(passage)) for passage in passages]

    def words(self, lines: Sequence[str]) -> list[list[Token]]:
        """The tokens of texts that are one sentence each."""
        return [[Token(*span) for span in word_spans(line)] for line in lines]


def _sentences(text: str) -> Iterator[list[Token]]:
    """The tokens of a text, sentence by sentence."""
    tokens = [Token(*span) for span in word_spans(text)]
    first = 0
    for k in range(len(tokens)):
        if not STOP.fullmatch(text, *tokens[k][:2]) or k < first:
            continue
        last = _with_closing(text, tokens, k)
        if last + 1 < len(tokens) and _is_end(text, tokens, k, last):
            yield tokens[first : last + 1]
            first = last + 1
    if tokens[first:]:
        yield tokens[first:]


def _with_closing(text: str, tokens: list[Token], k: int) -> int:
    """The last of the stops and closing quotes that follow token k without white space."""
    while k + 1 < len(tokens) and tokens[k + 1].start == tokens[k].end:
        span = tokens[k + 1][:2]
        if not STOP.fullmatch(text, *span) and not CLOSING.fullmatch(text, *span):
            break
        k += 1
    return k


def _is_end(text: str, tokens: list[Token], k: int, last: int) -> bool:
    """Whether a sentence ends at stop k with what closes after it; another token follows."""
    after = tokens[last + 1]
    if text[tokens[k].start] in ALWAYS_END:
        return True
    if after.start == tokens[last].end or text[after.start].islower():
        return False
    return not _is_initial(text, tokens, k)


def _is_initial(text: str, tokens: list[Token], k: int) -> bool:
    """Whether stop k is the full stop after a single capital letter."""
    if not k or text[tokens[k].start : tokens[k].end] != ".":
        return False
    before = tokens[k - 1]
    return (
        before.end == tokens[k].start
        and before.end - before.start == 1
        and (text[before.start].isupper())
    )
