"""Kernels: found by the class of their first argument, whatever that class is called."""

import importlib
import sys
from types import ModuleType
from typing import NamedTuple

import numba
import pytest
from helpers.programs import python

from dyparse.errors import DyparseError
from dyparse.runtime.kernels import cached_njit, kernel, optional_kernel

ROLLOUT = """
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
SHAPE = """
from typing import NamedTuple
from dyparse.runtime.kernels import njit

class Shape(NamedTuple):
    side: float

@njit
def area(shape, factor):
    return factor * {formula}
"""


@kernel
def area(shape, factor):
    """The area of a shape, times a factor."""


@optional_kernel
def corners(shape):  # noqa: ARG001 - a shape without corners
    return 0


@cached_njit
def describe(pair, factor):
    """The area of both shapes, and the corners of the first."""
    one, other = pair
    return area(one, factor) + area(other, factor), corners(one)


class Square(NamedTuple):
    side: float


class Circle(NamedTuple):
    radius: float


class Triangle(NamedTuple):
    side: float


@pytest.fixture
def shapes(monkeypatch):
    """A square and a circle whose kernels live in modules of their own."""
    for cls, function in (
        (Square, lambda shape, factor: factor * shape.side * shape.side),
        (Circle, lambda shape, factor: factor * 3.0 * shape.radius * shape.radius),
    ):
        module = ModuleType(f"module_of_{cls.__name__}")
        module.area = numba.njit(function)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(cls, "__module__", module.__name__)
    monkeypatch.setattr(sys.modules["module_of_Square"], "corners", lambda _: 4, raising=False)
    return Square(2.0), Circle(2.0)


@pytest.fixture
def same_names(tmp_path, monkeypatch):
    """Instances of two classes that have the same name and fields, but other kernels."""
    monkeypatch.syspath_prepend(tmp_path)
    formulas = {"squares": "shape.side * shape.side", "cubes": "shape.side * shape.side * 6.0"}
    made = []
    for name, formula in formulas.items():
        (tmp_path / f"{name}.py").write_text(SHAPE.format(formula=formula))
        made.append(importlib.import_module(name).Shape(2.0))
    yield made
    for name in formulas:
        del sys.modules[name]


def test_a_kernel_is_the_namesake_in_the_module_of_the_first_argument(shapes):
    square, circle = shapes
    assert area(square, 1.0) == 4.0
    assert area(circle, 2.0) == 24.0
    assert describe((square, square), 1.0) == (8.0, 4)
    assert describe((circle, circle), 2.0) == (48.0, 0)
    assert describe((square, circle), 1.0) == (16.0, 4)
    assert describe((circle, square), 1.0) == (16.0, 0)
    assert area.__doc__ == "The area of a shape, times a factor."


def test_a_missing_kernel_is_an_error_that_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "triangles", ModuleType("triangles"))
    monkeypatch.setattr(Triangle, "__module__", "triangles")
    message = "triangles has no kernel area, which Triangle needs; write it as declared in"
    with pytest.raises(DyparseError, match=message):
        area(Triangle(3.0), 1.0)
    with pytest.raises(DyparseError, match=message):
        describe((Triangle(3.0), Triangle(3.0)), 1.0)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_classes_of_the_same_name_keep_their_own_kernels(same_names, order):
    one, other = (same_names[k] for k in order)
    expected = {type(same_names[0]): 4.0, type(same_names[1]): 24.0}
    for pair in ((one, one), (other, other), (one, other), (other, one), (one, one)):
        assert describe(pair, 1.0)[0] == sum(expected[type(shape)] for shape in pair)


def test_calls_stay_fast_for_classes_of_the_same_name(same_names, monkeypatch):
    """Not through the compiler: numba's dispatcher knows the types of both."""
    pairs = [(shape, shape) for shape in same_names]
    assert [describe(pair, 1.0) for pair in pairs] == [(8.0, 0), (48.0, 0)]
    with monkeypatch.context() as patch:
        patch.setattr(numba.core.dispatcher.Dispatcher, "_compile_for_args", None)
        assert [describe(pair, 1.0) for pair in pairs] == [(8.0, 0), (48.0, 0)]


def test_kernels_run_as_plain_python_with_the_same_result():
    assert python(ROLLOUT, NUMBA_DISABLE_JIT="1") == python(ROLLOUT)


FIRST_KERNEL = """
import json, sys
import numpy as np
import numba
from dyparse.runtime.kernels import cached_njit

@cached_njit
def total(numbers):
    return numbers.sum()

assert total(np.ones(3)) == 3
has_scipy = "scipy.linalg" in sys.modules

@numba.njit
def product(matrix):
    return matrix @ matrix

print(json.dumps([has_scipy, product(np.eye(2)).tolist()]))
"""


def test_kernels_do_not_import_scipy_and_the_products_of_others_find_it():
    pytest.importorskip("scipy")
    assert python(FIRST_KERNEL) == [False, [[1, 0], [0, 1]]]
