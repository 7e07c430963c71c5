"""Compiled kernels: found by the type of their first argument, cached without going stale."""

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from helpers.tiny import PROJECT, yamls
from numba import njit
from omegaconf import OmegaConf

from dyparse.config.build import build
from dyparse.runtime.kernels import kernel

MOVES = """
import json, sys
from dyparse import system
import dyparse.runtime.kernels
found = system.load("arc_eager")
states = found.start([1, 2, 3])
print(json.dumps(found.legal(states).tolist()))
"""
WALK = """
import json, sys
import numpy as np
from dyparse import system
from dyparse.exploration.explore import Explore
from dyparse.rollout.scorer import Scorer
from dyparse.rollout.rollout import rollout, decode_greedily
found = system.load("arc_eager")
words = np.array([1, 4, 3], dtype=np.int32)
gold = np.array([[0, 0, 0, 0, 0], [0, 3, 1, 0, 2], [0, 2, 0, 2, 0]], dtype=np.int32)
rng = np.random.default_rng(1)
shapes = [(16, len(found.slots), 5), (5,), (len(found.moves), 5), (len(found.moves),)]
scorer = Scorer(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))
with np.errstate(over="ignore"):  # random numbers wrap around
    visited = rollout(found, Explore(0, 0.5), scorer, words, gold, epoch=1, seed=2)
result = [visited.features, visited.legal, np.where(visited.legal, visited.cost, 0), visited.paid]
print(json.dumps([array.tolist() for array in (*result, decode_greedily(found, scorer, words))]))
assert "torch" not in sys.modules
"""


def python(program, cwd=PROJECT, **environment):
    """What a Python program prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@kernel
def area(shape, factor):
    """The area of a shape, times a factor."""


class Square(NamedTuple):
    side: float


class Circle(NamedTuple):
    radius: float


@pytest.fixture
def shapes(monkeypatch):
    """A square and a circle whose kernels live in modules of their own."""
    for cls, function in (
        (Square, lambda shape, factor: factor * shape.side * shape.side),
        (Circle, lambda shape, factor: factor * 3.0 * shape.radius * shape.radius),
    ):
        module = ModuleType(f"module_of_{cls.__name__}")
        module.area = njit(function)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(cls, "__module__", module.__name__)
    return Square(2.0), Circle(2.0)


def test_a_kernel_is_the_namesake_in_the_module_of_the_first_argument(shapes):
    square, circle = shapes
    assert area(square, 1.0) == 4.0
    assert area(circle, 2.0) == 24.0

    @njit
    def compiled(shape, factor):
        return area(shape, factor) + 1.0

    assert compiled(square, 1.0) == 5.0
    assert compiled(circle, 2.0) == 25.0
    assert area.__doc__ == "The area of a shape, times a factor."


def test_types_that_kernels_are_found_by_have_names_of_their_own():
    """Numba tells NamedTuples apart by name and fields, not by module."""
    types = [type(chosen("system", path).options) for path in yamls("system")]
    types += [type(chosen("exploration", path).policy) for path in yamls("exploration")]
    assert len({cls.__name__ for cls in types}) == len(set(types)) >= 4  # some share a policy


def chosen(choice, path):
    return build(OmegaConf.to_container(OmegaConf.load(path)), choice)


def test_kernels_run_as_plain_python_with_the_same_result():
    assert python(WALK, NUMBA_DISABLE_JIT="1") == python(WALK)


def test_the_cache_is_where_it_is_wanted_and_a_changed_kernel_is_compiled_anew(tmp_path):
    package = shutil.copytree(
        PROJECT / "dyparse",
        tmp_path / "dyparse",
        ignore=shutil.ignore_patterns("__pycache__", "sample_data"),
    )
    cache = {"DYPARSE_CACHE": str(tmp_path / "cache")}
    before = python(MOVES, tmp_path, **cache)
    assert list(Path(cache["DYPARSE_CACHE"]).rglob("*.nbi"))
    source = package / "system" / "arc_eager.py"
    changed = source.read_text().replace("out[SHIFT] = b > 0\n", "out[SHIFT] = b > 1\n")
    assert changed != source.read_text()
    source.write_text(changed)
    after = python(MOVES, tmp_path, **cache)
    assert before == [[True, False, False, False]] * 3
    assert after == [[False, False, False, False]] * 3


def test_without_a_place_for_the_cache_everything_still_works(tmp_path):
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "file" / "cache")
    assert python(MOVES, DYPARSE_CACHE=nowhere) == [[True, False, False, False]] * 3


def test_every_class_that_finds_kernels_is_another_one_for_numba():
    """numba tells NamedTuples apart by name and fields; two alike would share compiled code."""
    owners = {}
    for folder in ("system", "exploration"):
        package = importlib.import_module(f"dyparse.{folder}")
        for found in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            for name, member in vars(module).items():
                if hasattr(member, "_fields") and member.__module__ == module.__name__:
                    assert name not in owners, f"{name} is in {owners[name]} and {module.__name__}"
                    owners[name] = module.__name__
    assert {"ArcEagerOptions", "StaticPolicy"} <= set(owners)
