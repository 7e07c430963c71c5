"""`dyparse evaluate`: score a saved parser; Hydra reads its options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dyparse.cli.arguments import Commands
from dyparse.cli.hydra_command import run_hydra_command
from dyparse.config.extras import require_training
from dyparse.runtime.entry import clear_errors

if TYPE_CHECKING:
    from omegaconf import DictConfig


def register(commands: Commands) -> None:
    """The name of the command; Hydra reads its arguments and answers --help."""
    commands.add_parser("evaluate", help="score a model on a treebank", add_help=False)


def main(arguments: Sequence[str]) -> int:
    """Evaluate with the options of a command line."""
    require_training("dyparse evaluate", "hydra", "torch")
    return run_hydra_command(evaluate_as_configured, "evaluate", arguments)


def evaluate_as_configured(config: "DictConfig") -> float:
    """Evaluate as configured; the LAS."""
    with clear_errors():
        from dyparse.evaluation.evaluate import evaluate  # it imports torch, which is slow
        from dyparse.evaluation.score_report import ScoreReport

        report = evaluate(config)
        return report.all_words.las if isinstance(report, ScoreReport) else report.las.f1
