"""Subjects and objects: kinds of labels of which a head usually has one at most."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from dyparse.data.columns.pseudo_projective import marks_of
from dyparse.data.sentence import Sentence

SUBJECT, OBJECT = "subject", "object"
KINDS = (SUBJECT, OBJECT)


@lru_cache(maxsize=10_000)
def core_argument(label: str) -> str:
    """`subject`, `object`, or nothing.

    An outer subject, as in "the problem is that *he* left", is neither: a nominal predicate may
    have it beside a subject of its own. Nor is an iobj, which comes beside an obj; nor what was
    lifted (`pseudo_projective`), for it belongs to another head.
    """
    marks = marks_of(label)
    if marks.above is not None:
        return ""
    universal, *subtypes = marks.label.split(":")
    if universal in ("nsubj", "csubj") and "outer" not in subtypes:
        return SUBJECT
    return OBJECT if universal == "obj" else ""


def heads_with_several(sentences: Sequence[Sentence]) -> dict[str, int]:
    """How many words have two subjects or more, and how many two objects or more."""
    found = Counter(
        (number, head, kind)
        for number, s in enumerate(sentences)
        for head, label in zip(s.head, s.label, strict=True)
        if head > 0 and (kind := core_argument(label))
    )
    several = Counter(kind for (_, _, kind), times in found.items() if times > 1)
    return {kind: several[kind] for kind in KINDS}
