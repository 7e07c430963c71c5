"""The models that are loaded: what they are, and how probable they find moves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.config.choices import name_of
from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError, DyparseError
from dyparse.evaluation.run_result import RESULT, read_result
from dyparse.model.parser import Parser
from dyparse.model.sources import find_model
from dyparse.rollout.move_scores import move_scores
from dyparse.system import States, System
from dyparse.system._labelled import Labelled
from dyparse.web.catalog import options_of


@dataclass(frozen=True)
class LoadedModel:
    """A parser with the name that requests call it by."""

    name: str
    parser: Parser
    exploration: str | None = None  # of its training, if that is known

    def describe(self, *, is_default: bool) -> dict[str, Any]:
        """The model as plain data."""
        system = self.parser.system
        return {
            "name": self.name,
            "system": name_of(system),
            "options": options_of(system),
            "exploration": self.exploration,
            "heads": list(self.parser.parts.columns),
            "default": is_default,
        }


class MoveProbabilities:
    """How probable a model finds the legal moves in states of one sentence."""

    def __init__(self, parser: Parser, sentence: Sentence) -> None:
        self.system, self.scorer = parser.parts.scored_system, parser.encode([sentence]).scorer

    def __call__(self, states: States) -> NDArray[np.float64]:
        """[B, M]: the softmax over the scores of legal moves; 0 where a move is not legal.

        Moves that differ in the label alone count as one.
        """
        is_legal = self.system.legal(states)
        scores = move_scores(self.system, self.scorer, states).astype(np.float64)
        highest = np.where(is_legal, scores, -np.inf).max(-1, keepdims=True)
        odds = np.where(is_legal, np.exp(np.minimum(scores - highest, 0)), 0)
        found: NDArray[np.float64] = odds / np.maximum(odds.sum(-1, keepdims=True), 1e-300)
        return self.system.summed(found) if isinstance(self.system, Labelled) else found


class Models:
    """The loaded models by name; the first is the one that serves where none is named."""

    def __init__(self, models: Sequence[LoadedModel]) -> None:
        self.by_name = {model.name: model for model in models}

    def describe(self) -> list[dict[str, Any]]:
        """All models as plain data."""
        return [
            model.describe(is_default=number == 0)
            for number, model in enumerate(self.by_name.values())
        ]

    def find(self, name: str | None) -> LoadedModel:
        """The model of this name, or the first; ConfigError if there is none."""
        if not self.by_name:
            raise ConfigError("no model is loaded; start the server with one: dyparse serve MODEL")
        found = next(iter(self.by_name.values())) if name is None else self.by_name.get(name)
        if found is None:
            raise ConfigError(f"no model {name!r}; there is {', '.join(self.by_name)}")
        return found

    def of_system(self, system: System, name: str | None) -> LoadedModel | None:
        """The model of this name, or the first, that has the same system; None if there is none."""
        wanted = self.by_name.values() if name is None else [self.find(name)]
        return next((model for model in wanted if model.parser.system == system), None)


def names_and_places(given: Iterable[str]) -> dict[str, str]:
    """The models that `MODEL` or `NAME=MODEL` mean: their places, by their names.

    A model without a name is called after its directory; of a run, after that of the run.
    """
    found: dict[str, str] = {}
    for text in given:
        name, sign, place = text.partition("=")
        if not sign or "/" in name:
            place, name = text, _usual_name(text)
        if name in found:
            raise ConfigError(f"two models are called {name!r}; name one of them: NAME={place}")
        found[name] = place
    return found


def _usual_name(place: str) -> str:
    path = Path(place)
    if path.is_dir():
        path = path.resolve()
    return path.parent.name if path.name == "model" else path.name


def exploration_of(place: str) -> str | None:
    """The exploration that a model was trained with, from the result of its run beside it."""
    directory = Path(find_model(place))
    for path in (directory / RESULT, directory.parent / RESULT):
        try:
            return read_result(path).cell.exploration
        except (DyparseError, OSError):
            continue
    return None
