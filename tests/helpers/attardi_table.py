"""The loss of a state of Attardi's system by the paper's table, slowly, as a reference.

Gómez-Rodríguez, Sartorio & Satta (2014), Algorithm 1 and its two stages, in plain Python, for
systems without the single-root rule. Two sentences of the paper are wrong as printed; `corrected`
fixes them:

* section 5.2 reduces a subtree in the buffer that contains words whose gold head is not in the
  buffer: they would get a wrong head at no cost;
* lines 18, 21, 24, 27 ask whether the head of the new arc is still there; the gold head of its
  dependent is meant.

Even then it holds only for gold trees that the system can build. `exhaustive` leaves out the
first stage and the restriction of those lines, and so holds for every gold tree.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

BOTTOM = -1  # $, below the root
VERSIONS = ("printed", "corrected", "exhaustive")
Item = tuple[int, int, int]
Cell = dict[Item, int]


class Table(NamedTuple):
    """Cells, and the inputs that the algorithm looks up while it fills them."""

    cells: dict[tuple[int, int], Cell]
    gold: list[int]
    nodes: list[int]  # γ: the stack, then the reduced buffer
    boundary: int  # ℓ: the size of the stack
    version: str


def table_loss(
    gold: list[int], stack: list[int], front: int, head: list[int], version: str = "corrected"
) -> int:
    """The loss of (stack, front … n, arcs so far); head[w] < 0 where word w has none yet."""
    assert version in VERSIONS
    buffer = list(range(front, len(gold)))
    if version != "exhaustive":
        buffer = reduced_buffer(gold, stack, buffer, version)
    nodes, boundary = stack + buffer, len(stack)
    cells = {(i, j): {} for i, j in itertools.combinations(range(len(nodes) + 1), 2)}
    table = Table(cells, gold, nodes, boundary, version)
    fill_diagonal(table)
    for width in range(2, len(nodes) + 1):
        for i in range(max(0, boundary - width), len(nodes) - width + 1):
            j = i + width
            for k in sorted({i + 1, *range(max(i + 2, boundary), j)}):
                process_cell(table, i, k, j)
    wrong = sum(head[w] >= 0 and head[w] != gold[w] for w in range(1, len(gold)))
    return wrong + cells[0, len(nodes)][BOTTOM, BOTTOM, 0]


def fill_diagonal(table: Table) -> None:
    """Lines 1 to 6: a node of the stack lies on the one before it, another on any before it."""
    nodes = table.nodes
    table.cells[0, 1][BOTTOM, BOTTOM, 0] = 0
    for i in range(1, len(nodes)):
        for h in [i - 1] if i < table.boundary else range(i):
            table.cells[i, i + 1][nodes[h], nodes[h], nodes[i]] = 0


def process_cell(table: Table, i: int, k: int, j: int) -> None:
    """Lines 14 to 28: two pieces of a derivation, one after the other, and a move with an arc."""
    target = table.cells[i, j]
    for (h1, h2, h3), loss in table.cells[i, k].items():
        for (above, h4, h5), more in table.cells[k, j].items():
            if above != h3:
                continue
            moves = [
                (h5, h4, (h1, h2, h5)),  # LEFT
                (h4, h5, (h1, h2, h4)),  # RIGHT
                (h5, h2, (h1, h4, h5)),  # LEFT2
                (h2, h5, (h1, h2, h4)),  # RIGHT2
            ]
            for head, dependent, item in moves:
                if head >= 0 and dependent > 0 and is_tried(table, i, head, dependent):
                    total = loss + more + (table.gold[dependent] != head)
                    target[item] = min(total, target.get(item, total))


def is_tried(table: Table, i: int, head: int, dependent: int) -> bool:
    """Lines 18, 21, 24, 27: within the buffer, no wrong arc while the right head is there."""
    if i < table.boundary or table.version == "exhaustive" or table.gold[dependent] == head:
        return True
    asked = head if table.version == "printed" else table.gold[dependent]
    return asked not in table.nodes


def reduced_buffer(gold: list[int], stack: list[int], buffer: list[int], version: str) -> list[int]:
    """Section 5.2: the buffer, complete subtrees replaced by their tops where that is safe."""
    removed: set[int] = set()
    for top in buffer:
        subtree = {w for w in range(1, len(gold)) if top in ancestors(gold, w)}
        inside = [w for w in buffer if w in subtree]
        is_complete = not any(gold[w] in buffer and gold[w] != top for w in subtree & set(stack))
        is_gapless = inside == list(range(inside[0], inside[-1] + 1))
        heads_are_inside = all(gold[w] in buffer for w in inside if w != top)
        if is_complete and is_gapless and (heads_are_inside or version == "printed"):
            removed |= set(inside) - {top}
    return [w for w in buffer if w not in removed]


def ancestors(gold: list[int], word: int) -> list[int]:
    """The word and all above it."""
    found = [word]
    while found[-1] > 0:
        found.append(gold[found[-1]])
    return found
