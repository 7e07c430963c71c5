"""What a parser might make of the text of a treebank: other tokens and sentences, wrong columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dyparse.data.columns.cells import RANGE
from dyparse.data.sentence import DEPREL, HEAD, Sentence

COLUMNS = (2, 3, 4, 5, DEPREL)  # LEMMA, UPOS, XPOS, FEATS and DEPREL, which may be wrong
CHANGED_TOKENS, CHANGED_SENTENCES, WRONG = 0.04, 0.1, 0.1  # how much of each


@dataclass
class Word:
    """A word of the output, and which words of the treebank it and its head are."""

    cells: list[str]
    place: tuple[int, int] = (-1, -1)  # sentence, word
    head: tuple[int, int] = (-1, -1)


@dataclass
class Token:
    """A token with its words: one, or several if it is a multiword token."""

    form: str
    words: list[Word]


@dataclass
class Perturbation:
    """Random changes to the sentences of a treebank."""

    rng: np.random.Generator
    seen: dict[int, list[str]] = field(default_factory=dict)  # values of each column

    def conllu(self, sentences: list[Sentence]) -> str:
        """The sentences as a bad parser would write them; trees with one root each."""
        split = [tokens_of(sentence, number) for number, sentence in enumerate(sentences)]
        words = [word for tokens in split for token in tokens for word in token.words]
        for column in COLUMNS:
            self.seen[column] = sorted({word.cells[column] for word in words})
        return "".join(self.written(tokens) for tokens in self.other_sentences(split))

    def other_sentences(self, sentences: list[list[Token]]) -> Iterator[list[Token]]:
        """Some sentences joined with the next, some split."""
        held: list[Token] = []
        for tokens in sentences:
            held += self.other_tokens(tokens)
            if self.rng.random() < CHANGED_SENTENCES:
                continue
            cut = int(self.rng.integers(1, len(held))) if len(held) > 1 else 0
            if cut and self.rng.random() < CHANGED_SENTENCES:
                yield held[:cut]
                held = held[cut:]
            yield held
            held = []
        if held:
            yield held

    def other_tokens(self, tokens: list[Token]) -> list[Token]:
        """Some tokens joined, split, expanded to several words, or multiword tokens left whole."""
        changed: list[Token] = []
        for token in tokens:
            kind = self.rng.random() / CHANGED_TOKENS
            if kind < 0.25 and changed:
                form = changed.pop().form + token.form
                changed.append(Token(form, [self.new_word(form)]))
            elif kind < 0.5 and len(token.form) > 1:
                cut = int(self.rng.integers(1, len(token.form)))
                parts = token.form[:cut].strip() or "x", token.form[cut:].strip() or "x"
                is_cut = "".join(parts) == token.form.replace(" ", "")
                forms = parts if is_cut else (token.form,)
                changed += [Token(form, [self.new_word(form)]) for form in forms]
            elif kind < 0.75:
                extra = self.new_word(str(self.rng.choice(["the", token.form[-1].strip() or "x"])))
                changed.append(Token(token.form, [*token.words, extra]))
            elif kind < 1:
                changed.append(Token(token.form, [self.new_word(token.form)]))
            else:
                changed.append(token)
        return changed

    def new_word(self, form: str) -> Word:
        """A word that no gold word stands behind, with random columns."""
        cells = ["", form, *["_"] * 8]
        for column in COLUMNS:
            cells[column] = self.seen_value(column)
        return Word(cells)

    def seen_value(self, column: int) -> str:
        """A random value of a column."""
        values = self.seen[column]
        return values[self.rng.integers(len(values))]

    def written(self, tokens: list[Token]) -> str:
        """A sentence in CoNLL-U."""
        words = [word for token in tokens for word in token.words]
        heads = self.heads(words)
        lines, number = [], 0
        for token in tokens:
            if len(token.words) > 1:
                lines.append(f"{number + 1}-{number + len(token.words)}\t{token.form}" + "\t_" * 8)
            for word in token.words:
                cells = self.with_errors(word.cells)
                cells[0], cells[HEAD] = str(number + 1), str(heads[number])
                lines.append("\t".join([*cells[: DEPREL + 1], "_", "_"]))
                number += 1
        return "\n".join([*lines, "", ""])

    def with_errors(self, cells: list[str]) -> list[str]:
        """The cells of a word, some of them wrong."""
        cells = list(cells)
        for column in COLUMNS:
            if self.rng.random() < WRONG:
                cells[column] = self.seen_value(column)
        return cells

    def heads(self, words: list[Word]) -> list[int]:
        """The heads, counted from 1: those of the treebank where they can be, some wrong."""
        number = {word.place: k for k, word in enumerate(words, 1)}
        number[-1, -1] = 0
        found = [number.get(word.head, 0) for word in words]
        root = found.index(0) + 1
        for k in range(len(words)):
            if self.rng.random() < WRONG:
                found[k] = int(self.rng.integers(1, len(words) + 1))
        heads = [head or root for head in found]
        heads[root - 1] = 0
        for k in range(1, len(words) + 1):  # cut cycles
            if k != root and not reaches_root(heads, k):
                heads[k - 1] = root
        return heads


def reaches_root(heads: list[int], word: int) -> bool:
    """Whether the way up from a word ends."""
    for _ in heads:
        word = heads[word - 1]
        if word == 0:
            return True
    return False


def tokens_of(sentence: Sentence, number: int) -> list[Token]:
    """The tokens of a sentence of a treebank."""
    tokens: list[Token] = []
    last = word = 0
    for line in sentence.lines:
        cells = line.rstrip("\r\n").split("\t")
        if found := RANGE.fullmatch(cells[0]):
            last = int(found[2])
            tokens.append(Token(cells[1], []))
        elif cells[0].isdecimal():
            word += 1
            if word > last:
                tokens.append(Token(cells[1], []))
            head = (number, int(cells[HEAD]))
            tokens[-1].words.append(Word(cells, (number, word), head))
    return tokens
