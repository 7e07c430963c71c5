"""`dyparse train`: train a parser; Hydra reads its options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dyparse.cli.arguments import Commands
from dyparse.cli.hydra_command import run_hydra_command
from dyparse.errors import ConfigError
from dyparse.runtime.entry import clear_errors

if TYPE_CHECKING:
    from omegaconf import DictConfig

OPTUNA = "hydra/sweeper=optuna"


def register(commands: Commands) -> None:
    """The name of the command; Hydra reads its arguments and answers --help."""
    commands.add_parser("train", help="train a parser on a treebank", add_help=False)


def main(arguments: Sequence[str]) -> int:
    """Train with the options of a command line."""
    return run_hydra_command(train_as_configured, "train", with_direction(arguments))


def with_direction(arguments: Sequence[str]) -> list[str]:
    """The arguments, with Optuna maximizing unless they give a direction: by default it minimizes,
    and would search for the worst parser. ConfigError if it would not search at all.
    """
    direction = "hydra.sweeper.direction"
    if OPTUNA in arguments and not {"-m", "--multirun"} & set(arguments):
        raise ConfigError(f"{OPTUNA}: without -m there is one training only; add -m")
    names = [argument.lstrip("+").partition("=")[0] for argument in arguments]
    is_lacking = OPTUNA in arguments and direction not in names
    return [*arguments, *([f"{direction}=maximize"] if is_lacking else [])]


def train_as_configured(config: "DictConfig") -> float | None:
    """Train as configured; LAS on dev, which sweepers maximize, or None on all ranks but the first.

    A launcher may run this in another process.
    """
    with clear_errors():
        from dyparse.training.run import train  # it imports torch, which is slow

        results = train(config)
    return float(results["dev"]["las"]) if results else None
