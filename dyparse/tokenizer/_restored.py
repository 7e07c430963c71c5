"""The text of sentences: the one that they were made from, or the raw text of a treebank."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dyparse.data.sentence import Sentence
from dyparse.tokenizer._spans import Token

PARAGRAPH = "\n\n"
NEW_PARAGRAPH = re.compile(r"#\s*new(?:par|doc)\b")
ESCAPE = re.compile(r"\\(?:([strnp\\])|u([0-9A-Fa-f]{4}))")  # \u00A0 is EWT's
MEANING = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}
MISC = 9


class SurfaceToken(NamedTuple):
    """A token as CoNLL-U has it."""

    text: str
    words: tuple[str, ...]  # if it is a multiword token
    before: str  # white space, known only at the start of a text
    after: str
    has_spaces_after: bool  # MISC says what the white space after it is


def restored_text(sentences: Iterable[Sentence]) -> str:
    """The text of sentences, with all its white space as far as MISC has it.

    It is the text that `tokenize` was given, except that white space alone makes no sentence. For
    sentences of a treebank it is their raw text: a space between them, unless MISC knows better,
    and a blank line before `# newpar` and `# newdoc`.
    """
    return "".join(piece for pieces, _ in _pieces(sentences) for piece in pieces)


def text_with_tokens(sentences: Iterable[Sentence]) -> tuple[str, list[list[Token]]]:
    """The text of sentences, and the tokens of each as spans of it."""
    pieces: list[str] = []
    found: list[list[Token]] = []
    position = 0
    for between, tokens in _pieces(sentences):
        spans = []
        for index, piece in enumerate(between):
            if index % 2:  # white space and tokens take turns
                words = tokens[index // 2].words
                spans.append(Token(position, position + len(piece), words))
            position += len(piece)
        pieces += between
        found.append(spans)
    return "".join(pieces), [spans for spans in found if spans]


def _pieces(sentences: Iterable[Sentence]) -> Iterator[tuple[list[str], list[SurfaceToken]]]:
    """Of each sentence white space, token, white space, token, …; at the end white space alone."""
    last: SurfaceToken | None = None
    for sentence in sentences:
        tokens = list(surface_tokens(sentence))
        pieces = []
        for number, token in enumerate(tokens):
            is_first = not number and _begins_paragraph(sentence)
            pieces += [_between(last, token, is_first), token.text]
            last = token
        yield pieces, tokens
    if last:
        yield [last.after], []


def _between(last: SurfaceToken | None, token: SurfaceToken, begins_paragraph: bool) -> str:  # noqa: FBT001 - private
    if last is None:
        return token.before
    if begins_paragraph and not last.has_spaces_after:
        return PARAGRAPH
    return last.after + token.before


def _begins_paragraph(sentence: Sentence) -> bool:
    return any(NEW_PARAGRAPH.match(line) for line in sentence.lines[: sentence.word_lines[0]])


def surface_tokens(sentence: Sentence) -> Iterator[SurfaceToken]:
    """The tokens of a sentence; of a multiword token the range, with its words."""
    covered = word = 0
    for line in sentence.lines[: sentence.word_lines[-1] + 1]:
        number, tab, rest = line.rstrip("\r\n").partition("\t")
        first, dash, last = number.partition("-")
        if number.startswith("#") or not tab or "." in number:
            continue
        cells = rest.split("\t")
        if dash:
            covered = int(last)
            yield _surface(cells, tuple(sentence.form[int(first) - 1 : covered]))
        else:
            word += 1
            if word > covered:
                yield _surface(cells, ())


def _surface(cells: list[str], words: tuple[str, ...]) -> SurfaceToken:
    misc = dict(part.partition("=")[::2] for part in cells[MISC - 1].split("|"))
    after = "" if misc.get("SpaceAfter") == "No" else " "
    is_known = unescaped(misc.get("SpacesAfter", "")).isspace()  # else a treebank's mistake
    return SurfaceToken(
        text=unescaped(misc["SpacesInToken"]) if "SpacesInToken" in misc else cells[0],
        words=words,
        before=unescaped(misc.get("SpacesBefore", "")),
        after=unescaped(misc["SpacesAfter"]) if is_known else after,
        has_spaces_after=is_known,
    )


def unescaped(value: str) -> str:
    """The text that `escaped` wrote as a value of MISC, or a treebank."""
    return ESCAPE.sub(lambda found: MEANING.get(found[1]) or chr(int(found[2], 16)), value)
