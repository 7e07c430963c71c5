"""Column HEAD: the shape of a tree."""

from collections.abc import Sequence


def is_projective(heads: Sequence[int]) -> bool:
    """Whether no two arcs cross, including the arc from position 0 to the root; words whose head is
    negative have no arc.
    """
    arcs = sorted(
        (min(word, head), -max(word, head)) for word, head in enumerate(heads, 1) if head >= 0
    )
    open_ends: list[int] = []
    for left, negative_right in arcs:
        while open_ends and open_ends[-1] <= left:
            open_ends.pop()
        if open_ends and open_ends[-1] < -negative_right:
            return False
        open_ends.append(-negative_right)
    return True
