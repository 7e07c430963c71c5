"""Time of the oracles: CPU microseconds per state for the costs of all moves.

    python benchmarks/oracle.py --root DIR                       # LinES and Gothic-PROIEL
    python benchmarks/oracle.py --root DIR --projective --system arc_eager:single_root=false
    python benchmarks/oracle.py --root DIR --treebank all --split all --system attardi

Every sentence is rolled out once: a random best move, or with probability --mistakes any legal
move. In every state the costs of all moves are timed on the thread's own clock, tables that are
filled in the first state of a sentence included; the time of reading the clock is subtracted.

    cost     mean, 99th percentile and maximum over the states of this rollout, including the
             preference among best moves of a system that has one (nonmonotonic)
    prepare  allocation of the oracle's tables, per state
    static   costs and choice of the canonical move, mean over the canonical derivations
    states   states per word, of the rollout with mistakes
    words    cost + prepare, per word, and as a percentage of one step of the encoder (forward
             and backward, one thread) per word
"""

# mypy: allow-untyped-calls, allow-untyped-defs
# (kernels are typed by use)

import dyparse.runtime.entry  # noqa: I001 - before torch is imported: how OpenMP waits

import argparse
import ctypes
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray

import dyparse.system
from dyparse.data.batch import Collator
from dyparse.data.sampler import group_by_length
from dyparse.cli.arguments import chosen_system
from dyparse.evaluation.coverage import nonprojective
from dyparse.encoder.bilstm import BiLSTM
from dyparse.errors import DyparseError, NoSplitError
from dyparse.exploration import uniform
from dyparse.data.sentence import Sentence
from dyparse.system import System, cost, is_finished, legal, prefer, static, take_move
from dyparse.treebank.ud import UD
from dyparse.feature import load_features

READ = ["word", "subword", "upos"]  # as experiment=gold_tags
TREEBANKS = ("UD_English-LinES", "UD_Gothic-PROIEL")
SYSTEMS = (
    "arc_eager",
    "arc_eager:single_root=false",
    "nonmonotonic",
    "nonmonotonic:single_root=false",
    "buffer",
    "buffer:single_root=false",
    "arc_hybrid",
    "arc_standard",
    "attardi",
    "covington",
    "swap",
)
MAX_TOKENS_PER_BATCH = 2000
THREAD_CLOCK = 3  # CLOCK_THREAD_CPUTIME_ID of Linux

clock_gettime = ctypes.CDLL(None).clock_gettime
clock_gettime.argtypes = [ctypes.c_int, ctypes.c_void_p]
clock_gettime.restype = ctypes.c_int


class Times(NamedTuple):
    """Nanoseconds of one system on one treebank."""

    cost: NDArray[np.int64]  # [states]
    prepare: float  # per state
    static: float  # per state of the canonical derivations
    words: int


def main() -> None:
    options = command_line().parse_args()
    try:
        run(options)
    except DyparseError as error:
        sys.exit(f"error: {error}")


def run(options: argparse.Namespace) -> None:
    """A table per treebank."""
    torch.set_num_threads(1)
    names = options.treebank or list(TREEBANKS)
    if names == ["all"]:
        names = sorted(path.name for path in Path(options.root).glob("UD_*"))
    systems = {name: chosen_system(name) for name in options.system or SYSTEMS}
    clock = clock_cost()
    for name in names:
        sentences = list(read(UD(options.root, name), options))
        if not sentences:
            print_line(f"{name}, {options.split}: no such sentences\n\n")
            continue
        encoder = encoder_time(sentences)
        print_line(
            f"{name}, {options.split}: {len(sentences):,} sentences, encoder {encoder:,.0f} µs "
            f"per word; µs per state\n"
        )
        print_line(
            f"{'system':<32}{'cost':>7}{'p99':>8}{'max':>9}{'prepare':>9}{'static':>8}{'states':>8}"
            f"{'words':>7}\n"
        )
        for label, system in systems.items():
            times = measure(system, sentences, options, clock)
            print_line(f"{label:<32}{row(times, encoder)}\n")
        print_line("\n")


def row(times: Times, encoder: float) -> str:
    """The figures of one system; microseconds."""
    micro = times.cost / 1000
    states = len(micro) / times.words
    per_word = (micro.mean() + times.prepare / 1000) * states
    return (
        f"{micro.mean():7.2f}{np.percentile(micro, 99):8.1f}{micro.max():9.0f}"
        f"{times.prepare / 1000:9.2f}{times.static / 1000:8.2f}{states:8.2f}"
        f"{per_word:7.1f} = {per_word / encoder:.1%}"
    )


def command_line() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--root", required=True, metavar="DIR", help="directory of UD treebanks")
    options.add_argument(
        "--treebank", nargs="+", metavar="NAME", help=f"default: {' '.join(TREEBANKS)}; or all"
    )
    options.add_argument("--split", default="train", help="or all (default: %(default)s)")
    options.add_argument(
        "--system", nargs="+", metavar="NAME[:OPTION=VALUE,…]", help=f"of {dyparse.system.names()}"
    )
    options.add_argument(
        "--projective", action="store_true", help="only sentences with projective trees"
    )
    options.add_argument("--mistakes", type=float, default=0.1, help="default: %(default)s")
    options.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    return options


def read(treebank: UD, options: argparse.Namespace) -> Iterator[Sentence]:
    """The sentences of a split, or of all that there are; on request only projective ones."""
    for name in ("train", "dev", "test") if options.split == "all" else (options.split,):
        try:
            sentences = treebank.read(name)
        except NoSplitError:
            if options.split != "all":
                raise
            continue
        for sentence in sentences:
            if not options.projective or nonprojective([np.array(sentence.head)])[1] == 0:
                yield sentence


def measure(
    system: System, sentences: Sequence[Sentence], options: argparse.Namespace, clock: int
) -> Times:
    """Roll out all sentences twice: with mistakes, and canonically."""
    roll_out(system, sentences[:1], options.mistakes, options.seed)  # compilation
    exploring, prepare = roll_out(system, sentences, options.mistakes, options.seed)
    canonical, _ = roll_out(system, sentences, -1.0, options.seed)
    return Times(
        cost=np.maximum(exploring - clock, 0),
        prepare=prepare / len(exploring),
        static=float(np.maximum(canonical - clock, 0).mean()),
        words=sum(map(len, sentences)),
    )


def roll_out(
    system: System, sentences: Sequence[Sentence], mistakes: float, seed: int
) -> tuple[NDArray[np.int64], float]:
    """Nanoseconds of every state's costs, and of preparing all gold trees together."""
    times, preparing = [], 0.0
    room = np.empty(len(system.moves), dtype=np.bool_), np.empty(len(system.moves), dtype=np.int32)
    for group in group_by_length([len(s) for s in sentences], MAX_TOKENS_PER_BATCH):
        words = np.array([len(sentences[k]) for k in group], dtype=np.int32)
        gold = np.zeros((len(group), int(words.max()) + 1), dtype=np.int32)
        for heads, k in zip(gold, group, strict=True):
            heads[1 : len(sentences[k]) + 1] = sentences[k].head
        start = time.thread_time()
        prepared = system.prepare(gold)
        preparing += time.thread_time() - start
        spent = np.empty(sum(system.most_moves(n) for n in words.tolist()), dtype=np.int64)
        random = np.arange(len(words), dtype=np.uint64) + np.uint64(seed + group[0])
        states = system.start(words)
        t = _rollout(system.options, states, prepared, (mistakes, random), room, spent)
        times.append(spent[:t].copy())
    return np.concatenate(times), preparing * 1e9


@njit
def now(room):
    """Nanoseconds on the clock of this thread."""
    clock_gettime(THREAD_CLOCK, room.ctypes)
    return room[0] * 1_000_000_000 + room[1]


@njit
def _rollout(options, states, gold, chance, room, spent):
    """Roll out all rows; mistakes < 0 means canonically, with the choice timed too."""
    mistakes, random = chance
    is_legal, costs = room
    clock, t = np.zeros(2, dtype=np.int64), 0
    for i in range(states.length.shape[0]):
        while not is_finished(options, states, i):
            legal(options, states, i, is_legal)
            start = now(clock)
            cost(options, states, i, gold, costs)
            prefer(options, states, i, gold, is_legal, costs)
            if mistakes < 0:
                move = static(options, states, i, gold, is_legal, costs)
                spent[t] = now(clock) - start
            else:
                spent[t] = now(clock) - start
                best_only = uniform(random, i) >= mistakes
                move = any_move(is_legal, costs, best_only, uniform(random, i))
            take_move(options, states, i, move)
            t += 1
    return t


@njit
def any_move(is_legal, costs, best_only, chance):
    """One of the legal moves, or of the best among them; chance in [0, 1) decides which."""
    least = 1 << 30
    for move in range(costs.shape[0]):
        if is_legal[move]:
            least = min(least, costs[move])
    allowed = 0
    for move in range(costs.shape[0]):
        allowed += is_legal[move] and (not best_only or costs[move] == least)
    which = int(chance * allowed)
    for move in range(costs.shape[0]):
        if is_legal[move] and (not best_only or costs[move] == least):
            if which == 0:
                return move
            which -= 1
    return -1


def clock_cost() -> int:
    """Nanoseconds between two readings of the clock with nothing between them."""
    return int(np.median(_readings(np.empty(10_001, dtype=np.int64))))


@njit
def _readings(spent):
    clock = np.zeros(2, dtype=np.int64)
    for t in range(spent.shape[0]):
        start = now(clock)
        spent[t] = now(clock) - start
    return spent


def encoder_time(sentences: Sequence[Sentence], words: int = 20_000) -> float:
    """CPU microseconds per word of the default encoder's forward and backward, on one thread."""
    choice = BiLSTM(features=READ)
    features = [f.build(f.entries(sentences)) for f in load_features(choice.features, "features")]
    encoder, collator = choice.build(features, {}), Collator(features)
    groups = group_by_length([len(s) for s in sentences], MAX_TOKENS_PER_BATCH)
    np.random.default_rng(1).shuffle(groups)
    spent, done = 0.0, 0
    for number, group in enumerate([groups[0], *groups]):
        keys = np.arange(len(group), dtype=np.uint64)  # of dropout
        batch = collator.batch([sentences[k] for k in group], keys)
        start = time.thread_time()
        encoder(batch).sum().backward()
        if number == 0:  # warm-up
            continue
        spent += time.thread_time() - start
        done += int(batch.words.sum())
        if done > words:
            break
    return spent / done * 1e6


def print_line(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
