"""CPU time of training epochs under several explorations and losses, relative to `explore`.

    python benchmarks/explorations.py ud/UD_English-LinES

All are trained side by side with the small model of experiment=static_vs_dynamic, on one thread and
on the same batches: each of them takes its step on a batch before any takes the next one. So
whatever else the machine does slows down all alike. The first epoch is not counted: functions are
compiled in it, and most explorations follow the model from the second on.
"""

from dyparse.runtime.entry import clear_errors  # noqa: I001 - before torch is imported: how OpenMP waits

import argparse
import sys
import time

from dyparse.config.application import compose_options
from dyparse.training.run import build_run, from_disk
from dyparse.training.session import Session
from dyparse.treebank._names import with_named_treebanks

SMALL = "static_vs_dynamic"
COMPARED = {
    "explore": ["exploration=explore"],
    "dagger_replay": ["exploration=dagger_replay"],
    "aggrevate": [f"experiment=[{SMALL},aggrevate]"],
    "aggrevated": [f"experiment=[{SMALL},aggrevated]"],
    "lols": ["exploration=lols"],
    "lols, cost_regression": ["exploration=lols", "loss=cost_regression"],
    "lols, all states": ["exploration=lols", "exploration.followed_states=1000"],
}


def main() -> None:
    options = command_line().parse_args()
    with clear_errors():
        sessions = {name: session(COMPARED[name], options) for name in COMPARED}
    spent = dict.fromkeys(COMPARED, 0.0)
    states = dict.fromkeys(COMPARED, 0)
    for epoch in range(1, options.epochs + 2):
        for number, group in enumerate(sessions["explore"].batches.groups(epoch)):
            for name in turned(list(COMPARED), number):
                start = time.process_time()
                batch = sessions[name].batches.make(group, epoch, number)
                result = sessions[name].step(batch, 0.5)
                if epoch > 1:
                    spent[name] += time.process_time() - start
                    states[name] += result.states
    sys.stdout.write(f"{'':<24}CPU seconds per epoch   ratio   states learned from\n")
    for name, seconds in spent.items():
        per_epoch, ratio = seconds / options.epochs, seconds / spent["explore"]
        learned = states[name] // options.epochs
        sys.stdout.write(f"{name:<24}{per_epoch:21.2f}   {ratio:5.2f}   {learned:19,}\n")


def command_line() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("treebank", nargs="?", default="sample", help="default: %(default)s")
    options.add_argument("--sentences", type=int, default=1000, help="default: %(default)s")
    options.add_argument("--epochs", type=int, default=3, help="default: %(default)s")
    return options


def session(overrides: list[str], options: argparse.Namespace) -> Session:
    """A training of the small model that has not started yet."""
    chosen = [] if overrides[0].startswith("experiment") else [f"experiment={SMALL}"]
    fixed = ["threads=1", f"trainer.max_sentences={options.sentences}"]
    named = with_named_treebanks([*chosen, *overrides, *fixed, f"treebank={options.treebank}"])
    run = build_run(compose_options("train", named), from_disk)
    run.parser.model.train()
    return Session(run.settings, run.parser, run.plan)


def turned(names: list[str], by: int) -> list[str]:
    """The same names, beginning with another one: none is always the first."""
    by %= len(names)
    return names[by:] + names[:by]


if __name__ == "__main__":
    main()
