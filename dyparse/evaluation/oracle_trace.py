"""Oracle traces: a derivation of a gold tree step by step, with the cost of every legal move.

for step in derive(dyparse.system.load("arc_eager"), [3, 3, 0, 3], mistakes=0.1, seed=1):
    print(step.stack, step.buffer, step.costs, step.lost, step.taken)
"""

import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE, Sentence
from dyparse.drawing.latex import booktabs, comment, escaped
from dyparse.runtime.console import columns
from dyparse.system import States, System

ROOT_FORM = "ROOT"
GAP = "…"
INDENT = 6
LEGEND = "stack | buffer, then legal moves with their costs (* best) → the move taken, its arc"
LOST_LEGEND = (
    "then the gold arcs that each move with a cost loses; one choice, if others could be lost"
)
NOT_EXACT = "(costs of this system are not exact: it may lose more arcs than it costs, or fewer)"
MOST_WORDS = 100  # of sentences whose lost arcs are named: the time is cubic, here some seconds
TOO_LONG = f"(the gold arcs that moves lose are named in sentences of up to {MOST_WORDS} words)"
LATEX_HEADER = ("step", "stack", "buffer", "costs of legal moves", "move", "arc", "gold arcs lost")
LATEX_LEGEND = "bold: the legal moves of least cost"
LATEX_ARROW = r"$\rightarrow$"
BOLD, RED, PLAIN = "\033[1m", "\033[31m", "\033[0m"

Arcs = tuple[tuple[int, int], ...]  # (head, dependent) of each, by dependent
LostAndGained = tuple[dict[str, Arcs], dict[str, Arcs]] | tuple[None, None]  # by moves


@dataclass(frozen=True)
class Step:
    """A state, the costs of its legal moves, and the move taken."""

    stack: tuple[int, ...]  # bottom first
    buffer: tuple[int, ...]  # front first
    arcs: Arcs  # built so far
    costs: dict[str, int]  # of every legal move, by name
    best: tuple[str, ...]  # legal moves of least cost
    taken: str
    added: Arcs  # arcs that are new after the move, usually one or none
    heads: tuple[int, ...]  # of words 1..n, if the derivation ended after the move
    # Gold arcs that each legal move with a cost loses, and those it gains in turn, mostly none, by
    # `System.lost`; None in sentences of more than MOST_WORDS words.
    lost: dict[str, Arcs] | None
    gained: dict[str, Arcs] | None

    @property
    def paid(self) -> int:
        """Cost of the move taken."""
        return self.costs[self.taken]

    def to_dict(self) -> dict[str, Any]:
        """The step as dictionaries and numbers, for JSON."""
        return {
            "stack": self.stack,
            "buffer": self.buffer,
            "arcs": self.arcs,
            "legal": tuple(self.costs),
            "costs": self.costs,
            "best": self.best,
            "taken": self.taken,
            "added": self.added,
            "lost": self.lost,
            "gained": self.gained,
        }


def derive(
    system: System, sentence_heads: Sequence[int], mistakes: float = 0.0, seed: int = 0
) -> list[Step]:
    """The steps of a derivation; words 1..n have these gold heads.

    Each step takes the canonical move, or with probability `mistakes` a random legal move that has
    a cost (any legal move where none has).
    """
    return list(Derivation(system, sentence_heads, mistakes, seed))


@dataclass(frozen=True)
class Derivation:
    """A derivation whose steps are made while iterating: each holds a whole state."""

    system: System
    gold: Sequence[int]  # heads of words 1..n
    mistakes: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.mistakes <= 1:
            raise ValueError(f"mistakes is {self.mistakes}, expected a probability 0..1")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}, expected 0 or more")

    def __iter__(self) -> Iterator[Step]:
        system, random = self.system, np.random.default_rng(self.seed)
        states = system.start([len(self.gold)])
        gold = system.prepare([[0, *self.gold]])
        while not system.finished(states)[0]:
            is_legal, costs = system.legal(states)[0], system.cost(states, gold)[0]
            move = int(system.static(states, gold)[0])
            if random.random() < self.mistakes:
                costly = is_legal & (costs > 0)
                move = int(random.choice(np.flatnonzero(costly if costly.any() else is_legal)))
            before = states.copy()
            system.step(states, [move])
            lost = self._lost(before, np.flatnonzero(is_legal & (costs > 0)))
            yield _step(system, (before, states), np.where(is_legal, costs, NONE), move, lost)

    def _lost(self, states: States, moves: NDArray[np.intp]) -> LostAndGained:
        """The gold arcs that each of these moves loses and gains, by its name."""
        if len(self.gold) > MOST_WORDS:
            return None, None
        gold, names = [[0, *self.gold]] * len(moves), [self.system.moves[m] for m in moves]
        if not names:
            return {}, {}
        lost = self.system.lost(states.take([0] * len(moves)), gold, moves)
        return self._arcs(names, lost.arcs), self._arcs(names, lost.gained)

    def _arcs(self, names: list[str], is_in: NDArray[np.bool_]) -> dict[str, Arcs]:
        """The gold arcs of the words that each row marks."""
        words = (np.flatnonzero(row).tolist() for row in is_in)
        arcs = (tuple((int(self.gold[w - 1]), w) for w in each) for each in words)
        return dict(zip(names, arcs, strict=True))


def _step(
    system: System,
    around: tuple[States, States],
    costs: NDArray[np.int32],
    move: int,
    lost: LostAndGained,
) -> Step:
    """The step between two states; the cost of an illegal move is NONE."""
    before, after = around
    by_name = {n: int(c) for n, c in zip(system.moves, costs, strict=True) if c != NONE}
    least = min(by_name.values())
    old, new = before.head[0].tolist(), after.head[0].tolist()
    return Step(
        stack=tuple(before.stack[0, : before.stack_size[0]].tolist()),
        buffer=tuple(before.buffer[0, before.front[0] : before.end[0]].tolist()),
        arcs=tuple((head, word) for word, head in enumerate(old) if head != NONE),
        costs=by_name,
        best=tuple(name for name, each in by_name.items() if each == least),
        taken=system.moves[move],
        added=tuple((h, w) for w, h in enumerate(new) if h not in (NONE, old[w])),
        heads=tuple(system.heads(after)[0, 1:].tolist()),
        lost=lost[0],
        gained=lost[1],
    )


class Outcome(NamedTuple):
    """How a derivation ended; if costs are exact, lost arcs = out of reach + paid."""

    heads: tuple[int, ...]
    wrong: tuple[int, ...]  # words whose head is not gold: the lost arcs
    out_of_reach: int  # arcs lost before the first move: the system cannot build the gold tree
    paid: int  # total cost of the moves taken
    exact: bool

    @property
    def adds_up(self) -> bool:
        """False if the oracle is wrong."""
        return not self.exact or len(self.wrong) == self.out_of_reach + self.paid


def outcome(derivation: Derivation, last: Step, paid: int) -> Outcome:
    """The outcome of a derivation, from its last step and the total cost of its moves."""
    system, gold = derivation.system, derivation.gold
    best = system.best_heads(system.start([len(gold)]), [[0, *gold]])[0, 1:].tolist()
    out_of_reach = len(wrong_words(best, gold))
    exact = system.is_exact(len(gold))
    return Outcome(last.heads, wrong_words(last.heads, gold), out_of_reach, paid, exact)


def wrong_words(heads: Sequence[int], gold: Sequence[int]) -> tuple[int, ...]:
    """Words whose head is not gold."""
    both = enumerate(zip(heads, gold, strict=True), 1)
    return tuple(word for word, (head, right) in both if head != right)


class Page(NamedTuple):
    """Sentence, system and layout for writing a derivation as text, LaTeX or JSON."""

    sentence: Sentence
    system: str  # its name, and its options if any were given
    width: int = 0  # of a line, in LaTeX of stack and buffer together; 0: not limited
    colour: bool = False

    def token(self, index: int) -> str:
        """A word with its number; control characters are replaced."""
        form = ROOT_FORM if index == 0 else self.sentence.form[index - 1]
        clean = "".join("\ufffd" if unicodedata.category(c) == "Cc" else c for c in form)
        most = max(8, self.width // 4)
        if self.width and columns(clean) > most:
            clean = "".join(nearest(list(clean), most, ""))
        return f"{clean}_{index}"

    def painted(self, text: str, code: str) -> str:
        """The text in bold or in a colour, if the page has colours."""
        return f"{code}{text}{PLAIN}" if self.colour else text


def write_text(derivation: Derivation, page: Page, out: TextIO) -> Outcome:
    """Write a few lines per step, then the outcome."""
    out.writelines(f"{line}\n" for line in (_heading(page), LEGEND, *_lost_legend(derivation)))
    paid = 0
    for number, step in enumerate(derivation, 1):
        out.write(f"{number:>{INDENT - 2}}  {_state_line(step, page)}\n")
        out.writelines(f"{' ' * INDENT}{line}\n" for line in _move_lines(step, derivation, page))
        out.writelines(f"{' ' * INDENT}{line}\n" for line in _lost_lines(step, page))
        paid += step.paid
    end = outcome(derivation, step, paid)
    out.writelines(f"{line}\n" for line in _outcome_lines(end, derivation.gold, page))
    return end


def write_json(derivation: Derivation, page: Page, out: TextIO) -> Outcome:
    """Write one JSON object, on one line."""
    start = {
        "sent_id": page.sentence.sent_id,
        "system": page.system,
        "moves": derivation.system.moves,
        "mistakes": derivation.mistakes,
        "seed": derivation.seed,
        "forms": page.sentence.form,
        "gold": list(derivation.gold),
    }
    out.write(json.dumps(start, ensure_ascii=False)[:-1] + ', "steps": [')
    paid = 0
    for number, step in enumerate(derivation):
        out.write((", " if number else "") + json.dumps(step.to_dict()))
        paid += step.paid
    end = outcome(derivation, step, paid)
    out.write("], " + json.dumps(end._asdict() | {"adds_up": end.adds_up})[1:] + "\n")
    return end


def write_latex(derivation: Derivation, page: Page, out: TextIO) -> Outcome:
    """Write a booktabs table with a row per step; the outcome is a comment below it.

    The last column has the gold arcs that the move taken loses, if any does.
    """
    out.write(comment(r"needs \usepackage{booktabs}", _heading(page), LATEX_LEGEND))
    paid, rows = 0, []
    for number, step in enumerate(derivation, 1):
        rows.append(_latex_row(number, step, derivation, page))
        paid += step.paid
    n_columns = len(LATEX_HEADER) if any(row[-1] for row in rows) else len(LATEX_HEADER) - 1
    shown = [row[:n_columns] for row in rows]
    out.write(booktabs("rrlllll"[:n_columns], LATEX_HEADER[:n_columns], shown))
    end = outcome(derivation, step, paid)
    out.write(comment(*_outcome_lines(end, derivation.gold, page)))
    return end


def _latex_row(number: int, step: Step, derivation: Derivation, page: Page) -> list[str]:
    def token(index: int) -> str:
        return _latex_token(page.token(index))

    costs = [
        rf"\textbf{{{escaped(name)}~{cost}}}" if name in step.best else f"{escaped(name)}~{cost}"
        for name, cost in step.costs.items()
    ]
    stack, buffer = _stack_and_buffer(step, page, page.width)
    arcs = _arc_texts(step, derivation, token, LATEX_ARROW)
    lost = _lost_texts(step, step.taken, token, LATEX_ARROW)
    return [
        str(number),
        " ".join(map(_latex_token, stack)),
        " ".join(map(_latex_token, buffer)),
        ", ".join(costs),
        escaped(step.taken),
        ", ".join(arcs),
        ", ".join(lost).removeprefix("loses "),
    ]


def _latex_token(token: str) -> str:
    """A token of a page with its number as a subscript."""
    form, _, index = token.rpartition("_")
    return f"{escaped(form)}$_{{{index}}}$" if form else escaped(token)


def _heading(page: Page) -> str:
    name = page.sentence.sent_id or page.sentence.place
    return f"{name}: {len(page.sentence)} words, {page.system}"


def _state_line(step: Step, page: Page) -> str:
    room = page.width and page.width - INDENT - len(" | ")
    stack, buffer = _stack_and_buffer(step, page, room)
    return " ".join([*stack, "|", *buffer])


def _stack_and_buffer(step: Step, page: Page, room: int) -> tuple[list[str], list[str]]:
    """Their tokens from left to right; those far from where they meet are left out without room."""
    stack = [page.token(token) for token in reversed(step.stack)]
    buffer = [page.token(token) for token in step.buffer]
    if page.width:
        needs = [columns(" ".join(tokens)) for tokens in (stack, buffer)]
        for_stack = min(needs[0], max(room // 2, room - needs[1]))
        stack = nearest(stack, for_stack, " ")
        buffer = nearest(buffer, room - for_stack, " ")
    return stack[::-1], buffer


def nearest(tokens: Sequence[str], room: int, between: str) -> list[str]:
    """The first tokens that fit into the room, at least one; an ellipsis for the others."""
    if not tokens or columns(between.join(tokens)) <= room:
        return list(tokens)
    shown = list(tokens[:1])
    used = columns(tokens[0]) + columns(between) + columns(GAP)
    for token in tokens[1:]:
        used += columns(between) + columns(token)
        if used > room:
            break
        shown.append(token)
    return [*shown, GAP]


def _move_lines(step: Step, derivation: Derivation, page: Page) -> Iterator[str]:
    """The legal moves with their costs, and the move taken; on two lines if one is too short."""
    legal = "  ".join(
        f"{name} {cost}{'*' if name in step.best else ' '}" for name, cost in step.costs.items()
    ).rstrip()
    done = [f"→ {step.taken}"]
    if step.paid:
        done.append(f"costs {step.paid}")
    text = ", ".join([*done, *_arc_texts(step, derivation, page.token)])
    painted = page.painted(text, RED if step.paid else BOLD)
    if page.width and INDENT + columns(f"{legal}  {text}") > page.width:
        yield legal
        yield painted
    else:
        yield f"{legal}  {painted}"


def _lost_legend(derivation: Derivation) -> tuple[str, ...]:
    """Explanation of the lines about lost arcs, or why there are none."""
    n_words = len(derivation.gold)
    if n_words > MOST_WORDS:
        return (TOO_LONG,)
    return (LOST_LEGEND,) if derivation.system.is_exact(n_words) else (LOST_LEGEND, NOT_EXACT)


def _lost_lines(step: Step, page: Page) -> Iterator[str]:
    """The gold arcs that each move with a cost loses; the first ones, if they are too many."""
    for name in step.lost or ():
        texts = _lost_texts(step, name, page.token)
        room = page.width - INDENT - columns(f"{name} ")
        if texts:
            yield f"{name} " + ", ".join(nearest(texts, room, ", ") if page.width else texts)


def _lost_texts(step: Step, move: str, token: Callable[[int], str], arrow: str = "→") -> list[str]:
    """The gold arcs that a move loses, then those it gains; the first of each after its verb."""
    texts = []
    for verb, by_move in (("loses", step.lost), ("gains", step.gained)):
        arcs = (by_move or {}).get(move, ())
        named = [f"{token(head)} {arrow} {token(word)}" for head, word in arcs]
        texts += [f"{verb} {named[0]}", *named[1:]] if named else []
    return texts


def _arc_texts(
    step: Step, derivation: Derivation, token: Callable[[int], str], arrow: str = "→"
) -> Iterator[str]:
    """The arcs added by a move; for those that are wrong also the gold head."""
    for head, word in step.added:
        gold = derivation.gold[word - 1]
        right = "" if gold == head else f" (gold: {token(gold)})"
        yield f"{token(head)} {arrow} {token(word)}{right}"


def _outcome_lines(end: Outcome, gold: Sequence[int], page: Page) -> Iterator[str]:
    yield f"heads: {' '.join(map(str, end.heads))}"
    for word in end.wrong:
        head, right = page.token(end.heads[word - 1]), page.token(gold[word - 1])
        yield f"wrong: {page.token(word)} has head {head}, gold: {right}"
    parts = f"{end.out_of_reach} out of reach from the start, {end.paid} paid by moves"
    verdict = "" if end.exact else "; costs of this system are not exact and need not add up"
    if not end.adds_up:
        verdict = "; THE COSTS DO NOT ADD UP: the oracle of this system is wrong"
    yield f"lost arcs: {len(end.wrong)} of {len(gold)}; {parts}{verdict}"
