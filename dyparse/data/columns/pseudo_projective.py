"""Pseudo-projective trees: crossing arcs are lifted, and labels say how to put them back.

Nivre & Nilsson (2005), Pseudo-Projective Dependency Parsing. While a tree has an arc that is not
projective, the shortest one is lifted: its dependent hangs from the head of its head. Of arcs of
equal length, that of the leftmost dependent comes first. Labels then hold two marks:

| projectivity | label of a lifted word | label of a word past which others were lifted |
|---|---|---|
| head | `obl↑acl`: its head was an `acl` | as it was |
| path | `obl↑` | `acl↓` |
| head+path | `obl↑acl` | `acl↓` |

The inverse searches for the head of a lifted word below the head that it was lifted to, breadth
first and from left to right.
"""

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from dyparse.data.columns.heads import is_projective
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError

AS_IT_IS, HEAD, PATH, HEAD_PATH = "none", "head", "path", "head+path"
PROJECTIVITIES = (AS_IT_IS, HEAD, PATH, HEAD_PATH)
LIFTED, PASSED = "↑", "↓"


class Marks(NamedTuple):
    """A label with its marks taken off."""

    label: str
    above: str | None  # of a lifted word: the label of its head, empty if that is not known
    passed: bool  # whether others were lifted past it


class Lifting(NamedTuple):
    """A projective tree, and what was lifted."""

    head: list[int]  # head[w - 1] of word w
    passed: set[int]  # words past whose arcs others were lifted


def encoded(sentences: Iterable[Sentence], projectivity: str) -> list[Sentence]:
    """The sentences with projective trees and marks in their labels; as they are with `none`.

    TreebankError if a label holds an arrow already.
    """
    if projectivity == AS_IT_IS:
        return list(sentences)
    return [_encoded(sentence, projectivity) for sentence in sentences]


def lifted(sentences: Iterable[Sentence], projectivity: str) -> list[Sentence]:
    """The sentences with the trees that moves are to build, and their own labels."""
    if projectivity == AS_IT_IS:
        return list(sentences)
    return [s.with_tree(lift(s.head).head, s.label) for s in sentences]


def decoded(sentences: Iterable[Sentence], projectivity: str) -> list[Sentence]:
    """The sentences with lifted words put back, and labels without marks."""
    if projectivity == AS_IT_IS:
        return list(sentences)
    return [_decoded(sentence, projectivity) for sentence in sentences]


def require_decodable(labels: Iterable[str]) -> None:
    """ValueError if a label with its marks taken off is none."""
    for label in labels:
        own = marks_of(label).label
        if own in ("", "_") or LIFTED in own or PASSED in own:
            raise ValueError(f"heads: the label {label!a} cannot be decoded")


def _encoded(sentence: Sentence, projectivity: str) -> Sentence:
    for label in sentence.label:
        if LIFTED in label or PASSED in label:
            raise TreebankError(
                f"{sentence.place} has the label {label!r}, but projectivity={projectivity} marks "
                f"labels with {LIFTED} and {PASSED}; rename it, or train with projectivity=none"
            )
    if sentence.is_projective():
        return sentence
    return sentence.with_tree(*encoded_tree(sentence.head, sentence.label, projectivity))


def _decoded(sentence: Sentence, projectivity: str) -> Sentence:
    if not any(LIFTED in label or PASSED in label for label in sentence.label):
        return sentence
    return sentence.with_tree(*decoded_tree(sentence.head, sentence.label, projectivity))


def encoded_tree(
    head: Sequence[int], label: Sequence[str], projectivity: str
) -> tuple[list[int], list[str]]:
    """Heads of the projective tree, and labels with marks."""
    lifting, marked = lift(head), list(label)
    for word, (old, new) in enumerate(zip(head, lifting.head, strict=True), 1):
        if old != new:
            marked[word - 1] += LIFTED + (label[old - 1] if projectivity != PATH else "")
        if projectivity != HEAD and word in lifting.passed:
            marked[word - 1] += PASSED
    return lifting.head, marked


def lift(head: Sequence[int]) -> Lifting:
    """The tree with arcs lifted until it is projective."""
    heads, passed = [0, *head], set[int]()
    while not is_projective(heads[1:]):
        word = _shortest_nonprojective(heads)
        passed.add(heads[word])
        heads[word] = heads[heads[word]]
    return Lifting(heads[1:], passed)


def _shortest_nonprojective(heads: Sequence[int]) -> int:
    """The dependent of the shortest arc over a word that its head does not dominate.

    There is one in every tree with crossing arcs.
    """
    first, end = _intervals(heads)
    for word in sorted(range(1, len(heads)), key=lambda word: abs(word - heads[word])):
        head = heads[word]
        between = first[min(word, head) + 1 : max(word, head)]
        if between and (min(between) < first[head] or max(between) >= end[head]):
            return word
    raise ValueError("no tree: its arcs cross, but each head dominates what is between")


def _intervals(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """Numbers of all tokens in preorder; first[d] <= number < end[d] are those that d dominates."""
    first, end, waiting, number = [0] * len(heads), [0] * len(heads), [0], 0
    children = children_of(heads)
    while waiting:
        token = waiting.pop()
        if token < 0:
            end[~token] = number
            continue
        first[token], number = number, number + 1
        waiting += [~token, *children[token]]
    return first, end


def children_of(heads: Sequence[int]) -> list[list[int]]:
    """The dependents of every token, from left to right; heads[0] is not looked at."""
    children: list[list[int]] = [[] for _ in heads]
    for word in range(1, len(heads)):
        children[heads[word]].append(word)
    return children


def marks_of(label: str) -> Marks:
    """A label taken apart."""
    own, is_lifted, above = label.removesuffix(PASSED).partition(LIFTED)
    return Marks(own, above if is_lifted else None, label.endswith(PASSED))


def decoded_tree(
    head: Sequence[int], label: Sequence[str], projectivity: str
) -> tuple[list[int], list[str]]:
    """Heads with lifted words put back where that is possible, and labels without marks.

    Words higher up come first, and those whose head is not found are tried again after others. No
    word is put below itself.
    """
    heads, marks = [0, *head], [Marks("", None, passed=False), *map(marks_of, label)]
    children = children_of(heads)
    waiting = [word for word in _top_down(children) if marks[word].above is not None]
    found = True
    while found:
        found = False
        for word in list(waiting):
            target = _head_of_lifted(word, heads[word], children, marks, projectivity)
            if target:
                children[heads[word]].remove(word)
                insort(children[target], word)
                heads[word] = target
                waiting.remove(word)
                found = True
    return heads[1:], [mark.label for mark in marks[1:]]


def _top_down(children: Sequence[Sequence[int]]) -> list[int]:
    """All words, level by level, from left to right."""
    tokens = [0]
    for token in tokens:
        tokens += children[token]
    return tokens[1:]


def _head_of_lifted(
    word: int,
    above: int,
    children: Sequence[Sequence[int]],
    marks: Sequence[Marks],
    projectivity: str,
) -> int:
    """The head that a word was lifted from, below the one that it was lifted to; 0 if none fits."""

    def was_passed(token: int) -> bool:
        return marks[token].passed

    def has_label(token: int) -> bool:
        return marks[token].label == marks[word].above

    def ends_path(token: int) -> bool:
        return not any(was_passed(child) for child in children[token] if child != word)

    if projectivity == PATH:
        return _search(word, above, children, was_passed, ends_path)
    found = projectivity == HEAD_PATH and _search(word, above, children, was_passed, has_label)
    return found or _search(word, above, children, lambda _token: True, has_label)


def _search(
    word: int,
    above: int,
    children: Sequence[Sequence[int]],
    follows: Callable[[int], bool],
    fits: Callable[[int], bool],
) -> int:
    """The first token below `above`, breadth first, that fits; not below the word. 0 if none."""
    waiting = deque([above])
    while waiting:
        for token in children[waiting.popleft()]:
            if token != word and follows(token):
                if fits(token):
                    return token
                waiting.append(token)
    return 0
