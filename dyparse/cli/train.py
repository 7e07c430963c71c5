"""`dyparse train`: train a parser; Hydra reads its options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dyparse.cli.arguments import Commands
from dyparse.cli.hydra_command import run_hydra_command
from dyparse.config.extras import require_training
from dyparse.errors import ConfigError
from dyparse.runtime.entry import clear_errors, limit_shape_caches

if TYPE_CHECKING:
    from omegaconf import DictConfig

OPTUNA = "hydra/sweeper=optuna"
MULTIRUN = ("-m", "--multirun", "hydra.mode=MULTIRUN")


def register(commands: Commands) -> None:
    """The name of the command; Hydra reads its arguments and answers --help."""
    commands.add_parser("train", help="train a parser on a treebank", add_help=False)


def main(arguments: Sequence[str]) -> int:
    """Train with the options of a command line."""
    require_training("dyparse train", "hydra", "torch")
    require_multirun(arguments)
    try:
        return run_hydra_command(train_as_configured, "train", arguments)
    except SystemExit as stop:
        if stop.code == 2:  # an error, perhaps of one run of a sweep
            from dyparse.cli.sweep import print_finished_runs

            print_finished_runs()
        raise


def require_multirun(arguments: Sequence[str]) -> None:
    """ConfigError if Optuna is chosen for a single training."""
    flags = {argument.lstrip("+") for argument in arguments}
    if OPTUNA in flags and not flags & set(MULTIRUN):
        raise ConfigError(f"{OPTUNA}: without -m there is one training only; add -m")


def train_as_configured(config: "DictConfig") -> float | None:
    """Train as configured; LAS on dev, which sweepers maximize, or None on all ranks but the first.

    A launcher may run this in another process.
    """
    limit_shape_caches()
    with clear_errors():
        from dyparse.training.run import train  # it imports torch, which is slow

        results = train(config)
    return float(results["dev"]["las"]) if results else None
