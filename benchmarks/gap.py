"""How often the bound on gaps in `buffer` matters: its costs compared with exact ones.

    python benchmarks/gap.py --root ud --name UD_Gothic-PROIEL UD_Hungarian-Szeged

In sentences of up to EXACT_WORDS words the oracle considers gaps of any length and is exact. Here
it is limited to gaps of `system.gap` words there too, and the states are counted in which a legal
move then has another cost, or another move is best. There is one derivation of every sentence of 3
to EXACT_WORDS words; it takes a random best move, or with probability --mistakes any legal one.
"""

import argparse
import sys

import numpy as np

import dyparse.system
from dyparse.data.sampler import group_by_length
from dyparse.runtime.entry import clear_errors
from dyparse.system._buffer_tables import make_gold
from dyparse.system.buffer import EXACT_WORDS
from dyparse.treebank.ud import UD

FEWEST_WORDS = 3  # shorter sentences have no gap
NEVER = 1_000_000


def main() -> None:
    options = command_line().parse_args()
    with clear_errors():
        for name in options.name:
            for text in options.system:
                states, costs, best = count(UD(options.root, name), text, options)
                sys.stdout.write(
                    f"{name} {options.split}, {text}: {states:,} states, another cost in {costs}, "
                    f"another best move in {best}\n"
                )


def command_line() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--root", required=True, metavar="DIR", help="directory of UD treebanks")
    options.add_argument("--name", required=True, nargs="+", help="treebanks in root")
    options.add_argument("--split", default="train", help="default: %(default)s")
    options.add_argument(
        "--system",
        nargs="+",
        default=["buffer"],
        help="buffer, with options (default: %(default)s)",
    )
    options.add_argument("--mistakes", type=float, default=0.1, help="default: %(default)s")
    options.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    return options


def count(treebank: UD, text: str, options: argparse.Namespace) -> tuple[int, int, int]:
    """Number of states, of those where costs differ, and of those where best moves differ."""
    system, rng = dyparse.system.load(text), np.random.default_rng(options.seed)
    heads = [s.head for s in treebank.read(options.split) if FEWEST_WORDS <= len(s) <= EXACT_WORDS]
    total = np.zeros(3, dtype=np.int64)
    for group in group_by_length([len(h) for h in heads], 2000):
        words = np.array([len(heads[k]) for k in group], dtype=np.int32)
        gold = np.zeros((len(group), int(words.max()) + 1), dtype=np.int32)
        for row, k in zip(gold, group, strict=True):
            row[1 : len(heads[k]) + 1] = heads[k]
        exact, bounded = system.prepare(gold), make_gold(system.options, gold, 0)
        states = system.start(words)
        while not system.finished(states).all():
            legal = system.legal(states)
            true = np.where(legal, system.cost(states, exact), NEVER)
            limited = np.where(legal, system.cost(states, bounded), NEVER)
            is_other = ((true == 0) != (limited == 0)).any(-1)
            total += legal.any(-1).sum(), (true != limited).any(-1).sum(), is_other.sum()
            errs = rng.random((len(words), 1)) < options.mistakes
            allowed = legal & ((true == 0) | errs)
            system.step(states, np.where(allowed, rng.random(legal.shape), -1).argmax(-1))
    states_met, costs, best = total.tolist()
    return states_met, costs, best


if __name__ == "__main__":
    main()
