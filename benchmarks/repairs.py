"""Repairs of a trained non-monotonic parser: how often they are made, and how often they are right.

    python benchmarks/repairs.py MODEL --root ud --name UD_Gothic-PROIEL

The parser walks through a split as it does when it parses, and its moves are watched:

    LEFT    replaces the head of a word: was the old head gold, is the new one?
    REDUCE  gives a head to a word that had none: is it gold? and if so, is its label?

Labels are scored from head and dependent when the tree is complete, so an arc that REDUCE adds is
labelled like any other; the last column compares the two.
"""

# mypy: allow-untyped-calls
# (kernels are typed by use)

from dyparse.entry import clear_errors  # noqa: I001 - before torch: it tells OpenMP how to wait

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from dyparse.batch import group_by_length
from dyparse.errors import ConfigError
from dyparse.parser import Parser
from dyparse.scorer import Scorer
from dyparse.sentence import NONE, Sentence
from dyparse.system import States, System, features
from dyparse.system.arc_eager import LEFT, REDUCE
from dyparse.system.nonmonotonic import NonMonotonic
from dyparse.treebank.ud import UD


def main() -> None:
    options = command_line().parse_args()
    with clear_errors():
        run(options)


def command_line() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("model", metavar="MODEL", help="directory of a model, system nonmonotonic")
    options.add_argument("--root", required=True, metavar="DIR", help="directory of UD treebanks")
    options.add_argument("--name", required=True, help="treebank in root")
    options.add_argument("--split", default="test", help="default: %(default)s")
    return options


def run(options: argparse.Namespace) -> None:
    """Count over a split, and print."""
    parser = Parser.load(options.model)
    if not isinstance(parser.system, NonMonotonic):
        raise ConfigError(f"{options.model} is no model of the system nonmonotonic")
    sentences = UD(options.root, options.name).read(options.split)
    count: Counter[str] = Counter()
    for group in group_by_length([len(s) for s in sentences], 2000):
        count += watch(parser, [sentences[k] for k in group])
    words = count["words"]
    say(f"{options.name}, {options.split}: {words:,} words\n")
    say(
        f"LEFT replaced a head    {share(count['left'], words)} of words: "
        f"{count['left wrong→right']} wrong→right, {count['left right→wrong']} right→wrong, "
        f"{count['left wrong→wrong']} wrong→wrong\n"
        f"REDUCE added a head     {share(count['reduce'], words)} of words: "
        f"{share(count['reduce right'], count['reduce'])} of them right\n"
        f"label right, given head {share(count['reduce label'], count['reduce right'])} of arcs "
        f"that REDUCE added, {share(count['other label'], count['other right'])} of others\n"
    )


@torch.inference_mode()
def watch(parser: Parser, sentences: Sequence[Sentence]) -> Counter[str]:
    """Parse a batch move by move; what happened."""
    system, count = parser.system, Counter({"words": sum(map(len, sentences))})
    batch = parser.batcher.batch(sentences)
    encoded = parser.model.encode(batch)
    scorer = parser.model.scorer(parser.model.table(encoded))
    states = system.start(batch.words)
    gold = np.zeros_like(states.head)
    for b, sentence in enumerate(sentences):
        gold[b, 1 : len(sentence) + 1] = sentence.head
    added = np.zeros(gold.shape, dtype=np.bool_)  # by REDUCE, to a word without head
    while not system.finished(states).all():
        legal, before = system.legal(states), states.head.copy()
        moves = np.where(legal, scores(system, states, scorer), -np.inf).argmax(-1)
        tops = states.stack[np.arange(len(moves)), np.maximum(states.stack_size - 1, 0)]
        system.step(states, moves)
        for b in np.flatnonzero(legal.any(-1)).tolist():
            word, old = tops[b], before[b, tops[b]]
            if moves[b] == LEFT and old != NONE:
                count["left"] += 1
                change = (old == gold[b, word], states.head[b, word] == gold[b, word])
                names = ["right" if is_right else "wrong" for is_right in change]
                count[f"left {names[0]}→{names[1]}"] += 1
            added[b, word] |= moves[b] == REDUCE and old == NONE
    heads = system.heads(states)
    numbers = parser.model.labeller(encoded, torch.from_numpy(heads).long()).argmax(-1)  # [B, N]
    for b, sentence in enumerate(sentences):
        for w in range(1, len(sentence) + 1):
            kind = "reduce" if added[b, w] else "other"
            is_right = int(heads[b, w]) == int(gold[b, w])
            count[kind] += 1
            count[f"{kind} right"] += is_right
            label = parser.vocabulary.labels[int(numbers[b, w])]
            count[f"{kind} label"] += is_right and label == sentence.relation[w - 1]
    return count


def scores(system: System, states: States, scorer: Scorer) -> NDArray[np.float32]:
    """[B, M]: the scores of every state's moves."""
    B, N = states.head.shape
    slots = np.empty((B, scorer.table.shape[1]), dtype=np.int32)
    for b in range(B):
        features(system.options, states, b, slots[b])
    rows = np.where(slots == NONE, len(scorer.table) - 1, slots + np.arange(B)[:, None] * N)
    hidden = scorer.bias + scorer.table[rows, np.arange(slots.shape[1])].sum(1)
    result: NDArray[np.float32] = np.maximum(hidden, 0) @ scorer.output.T + scorer.output_bias
    return result


def share(part: int, whole: int) -> str:
    return f"{part:,} = {part / max(whole, 1):.1%}"


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
