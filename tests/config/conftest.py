"""A module with choices that is not part of the package."""

import importlib
import sys

import pytest

OUTSIDE = """
from dataclasses import dataclass, field
from pathlib import Path

from dyparse.loss.hinge import Hinge


@dataclass(frozen=True)
class Steep(Hinge):
    slope: float = 1.0


@dataclass(frozen=True)
class WithName(Hinge):
    name: str = "a"


@dataclass(frozen=True)
class WithPath(Hinge):
    path: Path = Path("x")


@dataclass(frozen=True)
class WithState(Hinge):
    state: float = field(default=1.0, init=False)


@dataclass(frozen=True)
class NoLoss:
    slope: float = 1.0


@dataclass
class NotFrozen:
    def __call__(self, scores, legal, cost):
        return scores.sum()


class Outer:
    @dataclass(frozen=True)
    class Inner(Hinge):
        pass
"""


@pytest.fixture
def mylab(tmp_path, monkeypatch):
    """A module outside the package."""
    (tmp_path / "mylab_losses.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("mylab_losses")
    sys.modules.pop("mylab_losses", None)
