"""What the papers found, and whether it was found here: figures for the table in docs/papers.md.

Claims and verdicts are written by hand in the page: read them again when figures change.
"""

from __future__ import annotations

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
LEFT_BUFFER, RIGHT_BUFFER, LEFT_NONPROJECTIVE, RIGHT_NONPROJECTIVE = study.PARTS[2:]
PROJECTIVE = (LEFT_BUFFER, RIGHT_BUFFER)
NONPROJECTIVE = (LEFT_NONPROJECTIVE, RIGHT_NONPROJECTIVE)
HUNGARIAN, TURKISH = study.HUNGARIAN, study.TURKISH


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
    training = (system, exploration)
    found = study.runs(Planned("A", training, training, seeds=seeds), training, study.SIX)
    return summed([run.analysis for run in found if run])


@cache
def rates(system: str, exploration: str, seeds: tuple[int, ...] = THREE) -> Mapping[str, Any]:
    """The same as percentages."""
    return rates_of(counts(system, exploration, seeds))


def precision(system: str, exploration: str, move: str) -> str:
    """Labelled precision of the arcs of a move."""
    found = rates(system, exploration)["moves"].get(move, {}).get("labelled_arcs")
    return "–" if found is None else f"{found:.1f}"


def pops(system: str, exploration: str) -> dict[str, Counter[str]]:
    """The pops counted, by move, over five seeds."""
    found = counts(system, exploration, FIVE)["pops"]
    return {move: Counter(of_move) for move, of_move in found.items()}


def seconds(system: str, exploration: str) -> float:
    """Of training, over treebanks and seeds."""
    training = (system, exploration)
    found = study.runs(Planned("A", training, training), training, study.SIX)
    return sum(epoch["seconds"] for run in found if run for epoch in run.curve)


def repairs_made(exploration: str) -> str:
    """How many of the pops counted were repairs."""
    found = sum(pops("nonmonotonic", exploration).values(), Counter())
    made, counted = found["right"] + found["wrong"], found.total() - found["neither"]
    return f"{made:,} of {counted:,} pops counted, {100 * made / counted:.2f} %"


def repairs_right(exploration: str) -> str:
    """The share of right ones among repairs, by move."""
    found = pops("nonmonotonic", exploration)
    texts = []
    for move in ("LEFT", "REDUCE"):
        right, made = found[move]["right"], found[move]["right"] + found[move]["wrong"]
        share = f" ({100 * right / made:.0f} %)" if made else ""
        texts.append(f"{right:,} of {made:,} by `{move}`{share}")
    return " and ".join(texts) + " are right"


def repairs_missed(exploration: str) -> str:
    """The share of right repairs that were not made."""
    found = sum(pops("nonmonotonic", exploration).values(), Counter())
    missed, wanted = found["missed"], found["missed"] + found["right"]
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


def times(system: str, exploration: str, base: str, base_exploration: str) -> str:
    """Seconds of training, as a ratio."""
    return f"{seconds(system, exploration) / seconds(base, base_exploration):.2f}"


def scores(exploration: str, system: str) -> str:
    """What a training gains in UAS and in LAS."""
    uas = gain(system, exploration, metric="uas")
    return f"UAS {mean_of(uas)}, LAS {shown(gain(system, exploration))}"


def here() -> list[str]:
    """The figures for each claim, in the order of the table."""
    explore, both = gain("arc_eager", EXPLORE), over_arc_eager("nonmonotonic", REPLAY, FIVE)
    attardi, covington = gain("attardi", EXPLORE), gain("covington", EXPLORE)
    return [
        # Goldberg & Nivre 2012
        f"LAS {shown(gain('arc_eager', AMBIGUITY, THREE))}; buffer "
        f"{mean_of(gain('buffer', AMBIGUITY, THREE))}, covington "
        f"{mean_of(gain('covington', AMBIGUITY, THREE))}",
        f"LAS {shown(explore)}; dagger_replay {shown(gain('arc_eager', REPLAY))}",
        f"over ambiguity LAS {shown(of(('arc_eager', EXPLORE), ('arc_eager', AMBIGUITY)))}",
        f"explore, LAS: Hungarian {signed(explore[HUNGARIAN])}, Turkish "
        f"{signed(explore[TURKISH])}; least {extreme(explore, min)}",
        # Honnibal et al. 2013
        f"over arc_eager, both with dagger_replay, LAS: L {shown(over_arc_eager(L, REPLAY))}, D "
        f"{shown(over_arc_eager(D, REPLAY))}",
        f"L+D {shown(both)}",
        "all of these are on test data",
        f"L+D from {extreme(both, min)} to {extreme(both, max)}",
        repairs_made(REPLAY),
        repairs_right(REPLAY),
        repairs_missed(REPLAY),
        f"static training: {repairs_right(STATIC)}",
        "not tried",
        # Fernández-González & Gómez-Rodríguez 2012
        f"the move that is better on test, LAS: static {better_of(PROJECTIVE, STATIC)}, "
        f"dagger_replay {better_of(PROJECTIVE, REPLAY)}",
        "LAS: " + "; ".join(each(PROJECTIVE, exploration) for exploration in (STATIC, REPLAY)),
        "arcs of length 1 go left more often in all six training sets (26 to 32 % of all words "
        "against 7 to 21 %), so `RIGHT_BUFFER` should fit; it is better than `LEFT_BUFFER` on "
        + " and ".join(f"{right_is_better(e)} with {e}" for e in (STATIC, REPLAY)),
        f"static: `RIGHT` {precision('arc_eager', STATIC, 'RIGHT')}, with `LEFT_BUFFER` "
        f"{precision(LEFT_BUFFER, STATIC, 'RIGHT')}; `LEFT` "
        f"{precision('arc_eager', STATIC, 'LEFT')}, with `RIGHT_BUFFER` "
        f"{precision(RIGHT_BUFFER, STATIC, 'LEFT')}",
        "; ".join(precision_of_moves(exploration) for exploration in (STATIC, REPLAY)),
        f"the move that is better on test, LAS: static {better_of(NONPROJECTIVE, STATIC)}, "
        f"dagger_replay {better_of(NONPROJECTIVE, REPLAY)}",
        "LAS: " + "; ".join(each(NONPROJECTIVE, exploration) for exploration in (STATIC, REPLAY)),
        f"`LEFT_NONPROJECTIVE` with dagger_replay: {projective_change(LEFT_NONPROJECTIVE)}",
        "dagger_replay: " + "; ".join(map(nonprojective, (*NONPROJECTIVE, "buffer"))),
        f"all four against arc_eager, LAS: static {mean_of(over_arc_eager('buffer', STATIC))}, "
        f"dagger_replay {mean_of(over_arc_eager('buffer', REPLAY))}",
        "static training takes "
        + " and ".join(times(part, STATIC, "arc_eager", STATIC) for part in NONPROJECTIVE)
        + " of the time of arc_eager's",
        # Gómez-Rodríguez et al. 2014
        f"explore {scores(EXPLORE, 'attardi')}; dagger_replay {scores(REPLAY, 'attardi')}",
        f"Hungarian, LAS: explore {signed(attardi[HUNGARIAN])}, dagger_replay "
        f"{signed(gain('attardi', REPLAY)[HUNGARIAN])}",
        f"{times('attardi', REPLAY, 'attardi', STATIC)} of the seconds of static training",
        # Gómez-Rodríguez & Fernández-González 2015
        f"explore {scores(EXPLORE, 'covington')}; dagger_replay {scores(REPLAY, 'covington')}",
        f"LAS: explore {mean_of(covington)} against {mean_of(attardi)}, dagger_replay "
        f"{mean_of(gain('covington', REPLAY))} against {mean_of(gain('attardi', REPLAY))}",
    ]


def with_figures(page: str) -> str:
    """The page with the last cell of each line of its last table filled in.

    As it is while grid A is unfinished.
    """
    families = (study.PRIMARY, study.OTHER_TRAININGS, study.OF_PARTS)
    if not all(differences for plans in families for differences in map(study.differences, plans)):
        return page
    start, mark, table = page.partition("<!-- findings -->\n")
    figures = iter(here())
    lines = [
        f"{line.rstrip('| ').rpartition(' | ')[0]} | {next(figures)} |"
        if re.match(r"\| \d", line)
        else line
        for line in table.split("\n")
    ]
    if len(list(figures)):
        raise DyparseError("docs/papers.md: findings.py has figures for more claims than its table")
    return start + mark + "\n".join(lines)
