"""Sentences as CoNLL-U: numbering, multiword tokens, empty nodes, comments."""

from __future__ import annotations

from itertools import pairwise

from sample_grammar.tree import Word

VOWELS = "aeiou"
SILENT_H = ("honest", "hour")
SOUNDED_Y = ("uni", "use")


def finish(root: Word) -> list[Word]:
    """The words of the sentence in order; heads, articles, commas and capital put right."""
    root.hang()
    sequence = _without_idle_commas(list(root.block()))
    for word, following in pairwise(sequence):
        if word.form == "a" and word.upos == "DET" and _starts_with_vowel(following.form.lower()):
            word.form = "an"
    first = next(word for word in sequence if word.upos != "PUNCT")
    first.form = first.form[0].upper() + first.form[1:]
    return sequence


def _starts_with_vowel(form: str) -> bool:
    return form.startswith(SILENT_H) or (form[0] in VOWELS and not form.startswith(SOUNDED_Y))


def _without_idle_commas(sequence: list[Word]) -> list[Word]:
    """Drop commas that stand before other punctuation."""
    kept: list[Word] = []
    for word in sequence:
        if word.upos == "PUNCT" and not word.opening and kept and kept[-1].form == ",":
            kept.pop()
        kept.append(word)
    return kept


def conllu(sequence: list[Word], sent_id: str) -> str:
    """The lines of one sentence, blank line included."""
    numbers = _numbers(sequence)
    tokens = _tokens(sequence)
    has_graph = any(word.copied for word in sequence)
    lines = [f"# sent_id = {sent_id}", f"# text = {_text(tokens)}"]
    for k, token in enumerate(tokens):
        misc = (
            "SpaceAfter=No" if k + 1 < len(tokens) and not _has_space(token, tokens[k + 1]) else "_"
        )
        surface = [word for word in token if not word.copied]
        if len(surface) > 1:
            span = f"{numbers[id(surface[0])]}-{numbers[id(surface[-1])]}"
            form = "".join(word.form for word in surface)
            lines.append("\t".join([span, form, *"_" * 7, misc]))
            misc = "_"
        lines += [_line(word, numbers, misc, has_graph=has_graph) for word in token]
    return "\n".join(lines) + "\n\n"


def _numbers(sequence: list[Word]) -> dict[int, str]:
    numbers: dict[int, str] = {}
    count = 0
    for word in sequence:
        count += word.copied is None
        numbers[id(word)] = str(count) if word.copied is None else f"{count}.1"
    return numbers


def _tokens(sequence: list[Word]) -> list[list[Word]]:
    """Words grouped by orthographic token; an empty node goes with the token before it."""
    tokens: list[list[Word]] = []
    for word in sequence:
        if word.joined or word.copied:
            tokens[-1].append(word)
        else:
            tokens.append([word])
    return tokens


def _has_space(token: list[Word], following: list[Word]) -> bool:
    return not (token[-1].opening or following[0].close)


def _text(tokens: list[list[Word]]) -> str:
    text = ""
    for k, token in enumerate(tokens):
        space = " " if k and _has_space(tokens[k - 1], token) else ""
        text += space + "".join(word.form for word in token if not word.copied)
    return text


def _line(word: Word, numbers: dict[int, str], misc: str, *, has_graph: bool) -> str:
    number = numbers[id(word)]
    columns = [number, word.form, word.lemma, word.upos, word.xpos, word.feats]
    head = numbers[id(word.head)] if word.head else "0"
    graph = "_"
    if has_graph:
        above, relation = word.enhanced or (word.head, word.relation)
        graph = f"{numbers[id(above)] if above else '0'}:{relation}"
    if word.copied:
        return "\t".join([*columns, "_", "_", graph, f"CopyOf={numbers[id(word.copied)]}"])
    return "\t".join([*columns, head, word.relation, graph, misc])
