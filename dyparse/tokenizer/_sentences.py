"""Sentences in CoNLL-U from the tokens of a text, with all of its white space in MISC.

MISC has `TokenRange=start:end` in characters of the text, and what is not one space between tokens
as UDPipe writes it: `SpaceAfter=No`, else `SpacesAfter=`, `SpacesBefore=` at the start of a text,
and `SpacesInToken=` for a token with other white space inside than single spaces. There `\\s`,
`\\t`, `\\r`, `\\n`, `\\p` and `\\\\` are a space, a tab, line ends, a bar and a backslash.
"""

import re
from collections.abc import Sequence

from dyparse.data.columns.cells import NO_SPACE
from dyparse.data.sentence import NONE, Sentence
from dyparse.errors import TreebankError
from dyparse.tokenizer._spans import Token

ESCAPES = {" ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p", "\\": "\\\\"}
UNWRITABLE = re.compile("[\0\ud800-\udfff]")
QUOTED = 40  # characters of text in messages


def escaped(text: str) -> str:
    """White space, or a token with white space, as a value of MISC."""
    return "".join(ESCAPES.get(character, character) for character in text)


def require_writable(text: str) -> None:
    """TreebankError for a text that CoNLL-U cannot hold."""
    if odd := UNWRITABLE.search(text):
        near = text[max(0, odd.start() - QUOTED // 2) : odd.end() + QUOTED // 2]
        raise TreebankError(
            f"character {odd[0]!a} in {near!a} cannot be written in CoNLL-U; expected text that "
            "UTF-8 can encode, without NUL: clean the input"
        )


def to_sentence(
    text: str, tokens: Sequence[Token], span: range, *, offset: int = 0, marks: Sequence[str] = ()
) -> Sentence:
    """The sentence of tokens of a text, with the white space around them that is in `span`.

    The text begins at `offset` of the whole text; `marks` are `newdoc` and `newpar` if these begin
    here.
    """
    rows: list[str] = []
    surface: list[str] = []  # of # text
    words: list[str] = []
    word_rows: list[int] = []
    before = text[span.start : tokens[0].start]
    for number, token in enumerate(tokens, 1):
        next_start = tokens[number].start if number < len(tokens) else span.stop
        after = text[token.end : next_start]
        written = text[token.start : token.end]
        form = written if written.isalnum() else " ".join(written.split())
        surface += [form, " " if after else ""]
        misc = _misc(before, written if written != form else "", after)
        misc += f"TokenRange={offset + token.start}:{offset + token.end}"
        before = ""
        if token.words:
            last = len(words) + len(token.words)
            rows.append(_row(f"{len(words) + 1}-{last}", form, misc))
            misc = "_"
        for word in token.words or (form,):
            word_rows.append(len(rows))
            words.append(word)
            rows.append(_row(str(len(words)), word, misc))
    comments = [*(f"# {mark}\n" for mark in marks), f"# text = {''.join(surface).rstrip()}\n"]
    none = ["_"] * len(words)
    return Sentence(
        form=words,
        lemma=none,
        upos=list(none),
        xpos=list(none),
        feats=list(none),
        head=[NONE] * len(words),
        label=list(none),
        lines=[*comments, *rows, "\n"],
        word_lines=[len(comments) + row for row in word_rows],
    )


def _row(number: str, form: str, misc: str) -> str:
    return f"{number}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n"


def _misc(before: str, inside: str, after: str) -> str:
    """The values of MISC for white space, each with a bar after it."""
    if after == " " and not before and not inside:
        return ""
    parts = []
    if not after:
        parts.append(NO_SPACE)
    elif after != " ":
        parts.append(f"SpacesAfter={escaped(after)}")
    if before:
        parts.append(f"SpacesBefore={escaped(before)}")
    if inside:
        parts.append(f"SpacesInToken={escaped(inside)}")
    return "".join(part + "|" for part in parts)
