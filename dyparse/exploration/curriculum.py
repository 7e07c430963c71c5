"""A curriculum: one exploration first, another after it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from dyparse.config.choices import load
from dyparse.exploration import Completions, Exploration
from dyparse.exploration import follow as follow_stage
from dyparse.runtime.kernels import njit


class CurriculumPolicy(NamedTuple):
    """Options as numbers, for the compiled kernel."""

    first: Any  # policies of the two stages
    then: Any
    first_epochs: int


@dataclass(frozen=True)
class Curriculum(Exploration):
    """The exploration `first` for `first_epochs`, then the exploration `then`.

    From easy to hard, as in Bengio et al. (2009): states of the gold tree before those that
    mistakes lead to. A stage is a name, with options if need be, joined by `+` where there are
    several: `explore:probability=0.8+first_epochs=2`. It counts epochs from the start of training.
    """

    first: str = "static"
    then: str = "explore"
    first_epochs: int = 3

    def __post_init__(self) -> None:
        if self.first_epochs < 0:
            raise ValueError(f"exploration.first_epochs is {self.first_epochs}, expected 0 or more")
        for name in ("first", "then"):
            stage = self.stage(name)
            if stage.keeps_states or isinstance(stage, Curriculum):
                raise ValueError(
                    f"exploration.{name} is {getattr(self, name)!r}, which cannot be a stage; "
                    "expected an exploration that keeps no states"
                )

    def stage(self, name: str) -> Exploration:
        """The exploration of a stage, `first` or `then`."""
        text = getattr(self, name)
        try:
            if "," in text:
                raise ValueError(f"{text!r}: options of a stage are joined by + instead of commas")
            stage: Exploration = load("exploration", text.replace("+", ","))
        except ValueError as error:
            raise ValueError(f"exploration.{name}: {error}") from error
        return stage

    @property
    def policy(self) -> CurriculumPolicy:
        return CurriculumPolicy(
            self.stage("first").policy, self.stage("then").policy, self.first_epochs
        )

    def completions(self, epoch: int) -> Completions | None:
        stage = self.stage("first" if epoch <= self.first_epochs else "then")
        return stage.completions(epoch)


@njit
def follow(policy, epoch, choice, random, i):
    """The move of the stage that the epoch is in."""
    if epoch <= policy.first_epochs:
        return follow_stage(policy.first, epoch, choice, random, i)
    return follow_stage(policy.then, epoch, choice, random, i)
