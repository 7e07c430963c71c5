"""What the papers found, and whether it was found here: figures for the table in docs/papers.md.

Claims and verdicts are written by hand in the page: read them again when figures change.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import mean
from typing import Any

import study
from study import AMBIGUITY, EXPLORE, FIVE, REPLAY, STATIC, THREE, Planned, Training

from dyparse.comparison.error_rates import rates_of, summed
from dyparse.comparison.report.table import signed
from dyparse.errors import DyparseError

L, D, *_ = study.PARTS
Differences = Mapping[str, float]  # by treebank
Pops = Mapping[str, Counter[str]]  # by move
LEFT_BUFFER, RIGHT_BUFFER, LEFT_NONPROJECTIVE, RIGHT_NONPROJECTIVE = study.PARTS[2:]
PROJECTIVE = (LEFT_BUFFER, RIGHT_BUFFER)
NONPROJECTIVE = (LEFT_NONPROJECTIVE, RIGHT_NONPROJECTIVE)
HUNGARIAN, TURKISH = study.HUNGARIAN, study.TURKISH
BOTH = (STATIC, REPLAY)
TABLE = "<!-- findings -->"


def of(
    new: Training, base: Training, seeds: tuple[int, ...] = THREE, metric: str = "las"
) -> Differences:
    """The differences between two trainings of grid A on test."""
    return study.differences(Planned("A", new, base, seeds=seeds, metric=metric))


def gain(
    system: str, exploration: str, seeds: tuple[int, ...] = FIVE, metric: str = "las"
) -> Differences:
    """What a training gains over static training."""
    return of((system, exploration), (system, STATIC), seeds, metric)


def over_arc_eager(system: str, exploration: str, seeds: tuple[int, ...] = THREE) -> Differences:
    """What a system gains over arc-eager with the same training."""
    return of((system, exploration), ("arc_eager", exploration), seeds)


def shown(found: Differences) -> str:
    """The mean difference, and on how many treebanks it is positive."""
    return f"{mean_of(found)} (up on {sum(gain > 0 for gain in found.values())} of {len(found)})"


def mean_of(found: Differences) -> str:
    """The mean difference."""
    return signed(mean(found.values()))


def extreme(found: Differences, choose: Any) -> str:
    """The treebank with the least (min) or greatest (max) difference, and the difference."""
    treebank = choose(found, key=found.__getitem__)
    return f"{study.short(treebank)}, {signed(found[treebank])}"


def better_of(systems: Sequence[str], exploration: str) -> str:
    """The gains over arc-eager of the one that is better on test, for each treebank."""
    found = [over_arc_eager(system, exploration) for system in systems]
    best = [max(gains[treebank] for gains in found) for treebank in study.SIX]
    return f"{signed(mean(best))} (up on {sum(g > 0 for g in best)} of {len(best)})"


@cache
def counts(system: str, exploration: str, seeds: tuple[int, ...] = THREE) -> dict[str, Any]:
    """The counts of errors over treebanks and seeds."""
    found = study.runs("A", (system, exploration), study.SIX, seeds)
    return summed(run.analysis for run in found if run)


@cache
def rates(system: str, exploration: str, seeds: tuple[int, ...] = THREE) -> Mapping[str, Any]:
    """The same as percentages."""
    return rates_of(counts(system, exploration, seeds))


def precision(system: str, exploration: str, move: str) -> str:
    """Labelled precision of the arcs of a move."""
    found = rates(system, exploration)["moves"].get(move, {}).get("labelled_arcs")
    return "–" if found is None else f"{found:.1f}"


def pops(exploration: str) -> Pops:
    """The pops of nonmonotonic that were counted, by move."""
    found = counts("nonmonotonic", exploration)["pops"]
    return {move: Counter(of_move) for move, of_move in found.items()}


def repairs_made(found: Pops) -> str:
    """How many of the pops counted were repairs."""
    total = sum(found.values(), Counter())
    made, counted = total["right"] + total["wrong"], total.total() - total["neither"]
    return f"{made:,} of {counted:,} pops counted, {100 * made / counted:.2f} %"


def repairs_right(found: Pops) -> str:
    """The share of right ones among repairs, by move."""
    texts = []
    for move in ("LEFT", "REDUCE"):
        right, made = found[move]["right"], found[move]["right"] + found[move]["wrong"]
        share = f" ({100 * right / made:.0f} %)" if made else ""
        texts.append(f"{right:,} of {made:,} by `{move}`{share}")
    return " and ".join(texts) + " are right"


def repairs_missed(found: Pops) -> str:
    """The share of right repairs that were not made."""
    total = sum(found.values(), Counter())
    missed, wanted = total["missed"], total["missed"] + total["right"]
    return f"{missed:,} of {wanted:,}, {100 * missed / wanted:.1f} %"


def each(systems: Sequence[str], exploration: str) -> str:
    """The gain of each move over arc-eager, and its worst treebank."""
    texts = []
    for system in systems:
        found = over_arc_eager(system, exploration)
        texts.append(f"`{move_of(system)}` {mean_of(found)} (least {extreme(found, min)})")
    return f"{exploration} {', '.join(texts)}"


def right_is_better(exploration: str) -> str:
    """On how many treebanks RIGHT_BUFFER is better than LEFT_BUFFER."""
    found = of((RIGHT_BUFFER, exploration), (LEFT_BUFFER, exploration))
    return f"{sum(gain > 0 for gain in found.values())} of {len(found)}"


def move_of(system: str) -> str:
    """The single buffer move of a system."""
    return study.name(system).partition(", ")[2].upper()


def precision_of_moves(exploration: str) -> str:
    """Buffer moves beside the standard moves of arc-eager."""
    texts = [
        f"`{move_of(system)}` {precision(system, exploration, move_of(system))} (`{standard}` "
        f"without it {precision('arc_eager', exploration, standard)})"
        for system, standard in ((LEFT_BUFFER, "LEFT"), (RIGHT_BUFFER, "RIGHT"))
    ]
    return f"{exploration}: {', '.join(texts)}"


def projective_change(system: str) -> str:
    """Labelled precision and recall of projective arcs, minus those of arc-eager."""
    new, base = (
        rates(of_system, REPLAY)["by_projectivity"]["projective"]
        for of_system in (system, "arc_eager")
    )
    return ", ".join(f"{rate} {signed(new[rate] - base[rate])}" for rate in ("precision", "recall"))


def nonprojective(system: str) -> str:
    """Labelled precision and recall of non-projective arcs."""
    found = rates(system, REPLAY)["by_projectivity"]["nonprojective"]
    right = "–" if found["precision"] is None else f"{found['precision']:.1f}"
    name = "all four" if system == "buffer" else f"`{move_of(system)}`"
    return f"{name} precision {right}, recall {found['recall']:.1f}"


def scores(exploration: str, system: str) -> str:
    """What a training gains in UAS and in LAS."""
    uas = gain(system, exploration, metric="uas")
    return f"UAS {mean_of(uas)}, LAS {shown(gain(system, exploration))}"


def goldberg_2012() -> dict[str, str]:
    """Figures for the claims of Goldberg & Nivre (2012)."""
    explore, uas = gain("arc_eager", EXPLORE), gain("arc_eager", EXPLORE, metric="uas")
    return {
        "Ambiguity alone gains little": (
            f"LAS {shown(gain('arc_eager', AMBIGUITY, THREE))}; buffer "
            f"{mean_of(gain('buffer', AMBIGUITY, THREE))}, covington "
            f"{mean_of(gain('covington', AMBIGUITY, THREE))}"
        ),
        "Exploration gains a lot": (
            f"LAS {shown(explore)}; dagger_replay {shown(gain('arc_eager', REPLAY))}"
        ),
        "The gain comes from exploration": (
            f"over ambiguity LAS {shown(of(('arc_eager', EXPLORE), ('arc_eager', AMBIGUITY)))}"
        ),
        "Some languages gain nothing": (
            f"Hungarian LAS {signed(explore[HUNGARIAN])}, UAS {signed(uas[HUNGARIAN])}; Turkish "
            f"{signed(explore[TURKISH])}, {signed(uas[TURKISH])}; least LAS {extreme(explore, min)}"
        ),
    }


def honnibal_2013() -> dict[str, str]:
    """Figures for the claims of Honnibal, Goldberg & Johnson (2013)."""
    both = over_arc_eager("nonmonotonic", REPLAY, FIVE)
    return {
        "L and D each help": (
            "over arc_eager, both with dagger_replay, LAS: "
            f"L {shown(over_arc_eager(L, REPLAY))}, D {shown(over_arc_eager(D, REPLAY))}"
        ),
        "Their gains add up": f"L+D, three seeds, {shown(over_arc_eager('nonmonotonic', REPLAY))}",
        "The gain holds on test data": "all of these are on test data",
        "It holds across languages": f"L+D from {extreme(both, min)} to {extreme(both, max)}",
        "Repairs are rare": repairs_made(pops(REPLAY)),
        "Repairs are mostly right": repairs_right(pops(REPLAY)),
        "Most chances to repair are missed": repairs_missed(pops(REPLAY)),
        "Repairs need dynamic training": (
            "static training: LAS over arc_eager "
            f"{shown(over_arc_eager('nonmonotonic', STATIC, FIVE))}; {repairs_right(pops(STATIC))}"
        ),
        "Training should prefer monotonic moves": "",
    }


def fernandez_2012() -> dict[str, str]:
    """Figures for the claims of Fernández-González & Gómez-Rodríguez (2012)."""
    all_four = [mean_of(over_arc_eager("buffer", exploration, FIVE)) for exploration in BOTH]
    return {
        "One projective buffer move helps, if it is the right one": (
            "the move that is better on test, LAS: "
            + ", ".join(f"{e} {better_of(PROJECTIVE, e)}" for e in BOTH)
        ),
        "The wrong one hurts": "LAS: " + "; ".join(each(PROJECTIVE, e) for e in BOTH),
        "The right one goes against the main direction of arcs of length 1": (
            "`RIGHT_BUFFER` should fit all six (see above); it is better than `LEFT_BUFFER` on "
            + " and ".join(f"{right_is_better(e)} with {e}" for e in BOTH)
        ),
        "It makes the standard move of the other direction more precise": (
            f"static: `RIGHT` {precision('arc_eager', STATIC, 'RIGHT')}, with `LEFT_BUFFER` "
            f"{precision(LEFT_BUFFER, STATIC, 'RIGHT')}; `LEFT` "
            f"{precision('arc_eager', STATIC, 'LEFT')}, with `RIGHT_BUFFER` "
            f"{precision(RIGHT_BUFFER, STATIC, 'LEFT')}"
        ),
        "Buffer moves are the most precise ones": "; ".join(map(precision_of_moves, BOTH)),
        "One non-projective buffer move helps everywhere": (
            "the move that is better on test, LAS: "
            + ", ".join(f"{e} {better_of(NONPROJECTIVE, e)}" for e in BOTH)
        ),
        "`LEFT_NONPROJECTIVE` is mostly the better one": (
            "LAS: " + "; ".join(each(NONPROJECTIVE, e) for e in BOTH)
        ),
        "It helps projective arcs too": (
            f"`LEFT_NONPROJECTIVE` with dagger_replay: {projective_change(LEFT_NONPROJECTIVE)}"
        ),
        "It finds few non-projective arcs, but precisely": (
            "dagger_replay: " + "; ".join(map(nonprojective, (*NONPROJECTIVE, "buffer")))
        ),
        "Both moves of a pair are worse than one": (
            f"all four against arc_eager, LAS: static {all_four[0]}, dagger_replay {all_four[1]}"
        ),
        "Non-projective moves cost some time": "",
    }


def gomez_2014() -> dict[str, str]:
    """Figures for the claims of Gómez-Rodríguez, Sartorio & Satta (2014)."""
    explore, replay = (gain("attardi", e)[HUNGARIAN] for e in (EXPLORE, REPLAY))
    return {
        "Attardi's system gains from a dynamic oracle": (
            f"explore {scores(EXPLORE, 'attardi')}; dagger_replay {scores(REPLAY, 'attardi')}"
        ),
        "But not in Basque and Hungarian": (
            f"Hungarian, LAS: explore {signed(explore)}, dagger_replay {signed(replay)}"
        ),
        "Its dynamic training is slow": "",
    }


def gomez_2015() -> dict[str, str]:
    """Figures for the claims of Gómez-Rodríguez & Fernández-González (2015)."""
    pairs = (
        f"{e} {mean_of(gain('covington', e))} against {mean_of(gain('attardi', e))}"
        for e in (EXPLORE, REPLAY)
    )
    return {
        "Covington's system gains from a dynamic oracle": (
            f"explore {scores(EXPLORE, 'covington')}; dagger_replay {scores(REPLAY, 'covington')}"
        ),
        "It gains more than Attardi's": f"LAS: {', '.join(pairs)}",
    }


def with_figures(page: str) -> str:
    """The page with the last cell of each line of its table of findings filled in.

    As it is while grid A is unfinished.
    """
    families = (study.PRIMARY, study.OTHER_TRAININGS, study.OF_PARTS)
    if not all(map(study.differences, itertools.chain(*families))):
        return page
    papers = (goldberg_2012, honnibal_2013, fernandez_2012, gomez_2014, gomez_2015)
    return filled_in(page, {claim: text for paper in papers for claim, text in paper().items()})


def filled_in(page: str, figures: Mapping[str, str]) -> str:
    """The page with figures in the last cell of the lines of these claims."""
    lines, open_claims = page.split("\n"), set(figures)
    for number in range(lines.index(TABLE), len(lines)):
        cells = lines[number].split(" | ")
        if len(cells) > 1 and cells[1] in figures:
            open_claims.remove(cells[1])
            lines[number] = " | ".join([*cells[:-1], f"{figures[cells[1]] or '–'} |"])
        elif re.match(r"\| \d", lines[number]):
            raise DyparseError(f"docs/papers.md, line {number + 1}: findings.py has no such claim")
    if open_claims:
        raise DyparseError(f"docs/papers.md: no line for {', '.join(sorted(open_claims))}")
    return "\n".join(lines)
