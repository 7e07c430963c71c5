"""The hash of compiled code changes with everything that takes part, and with nothing else."""

import importlib
import sys
from typing import NamedTuple

import pytest

from dyparse.runtime.kernel_sources import hash_of_sources

GENERIC = """
from dyparse.runtime.kernels import cached_njit, kernel

@kernel
def area(shape, factor):
    "Declared."

@cached_njit
def total(shape, factor):
    return area(shape, factor)
"""
SHAPES = """
from enum import IntEnum
from typing import NamedTuple

import numba
import numpy as np

import corners
from bonus import bonus, Result
from dyparse.runtime.kernels import njit
from settings import SCALE, WEIGHTS, Kind, NAMES

class Shape(NamedTuple):
    side: float

@njit
def area(shape, factor):
    return compiled(shape) * factor * SCALE * WEIGHTS[0] + corners.how_many(shape) * inner(1.0)

@numba.njit
def compiled(shape):
    names = len(NAMES[1])
    if Kind.SOLID == 1:
        return Result(shape.side + names).value * np.sqrt(shape.side)
    return bonus(shape)

def makes(step):
    @njit
    def inner(x):
        return x + step
    return inner

inner = makes(2.0)

def not_compiled():
    return open
"""
FILES = {
    "generic.py": GENERIC,
    "shapes.py": SHAPES,
    "bonus.py": """
from typing import NamedTuple
from dyparse.runtime.kernels import njit

class Result(NamedTuple):
    value: float

@njit
def bonus(shape, more=1.0):
    return shape.side + more
""",
    "corners.py": """
from dyparse.runtime.kernels import njit

@njit
def how_many(shape):
    return 4
""",
    "settings.py": """
from enum import IntEnum
import numpy as np
SCALE = 2.0
WEIGHTS = np.array([1.0, 2.0])
NAMES = ("a", ("b", "c"))

class Kind(IntEnum):
    SOLID = 1
""",
    "other.py": "UNUSED = 1\n",
}


@pytest.fixture
def hashed(tmp_path, monkeypatch):
    """hashed(file=…, old=…, new=…): the hash after an edit, in modules that are imported again."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def import_again(edited="", old="", new=""):
        for name, text in FILES.items():
            changed = text.replace(old, new) if name == edited else text
            assert name != edited or changed != text
            (tmp_path / name).write_text(changed)
            sys.modules.pop(name.removesuffix(".py"), None)
        importlib.invalidate_caches()
        total = importlib.import_module("generic").total
        shape = importlib.import_module("shapes").Shape
        return hash_of_sources(total.py_func, (shape,))

    yield import_again
    for name in FILES:
        sys.modules.pop(name.removesuffix(".py"), None)


EDITS = [
    ("generic.py", "area(shape, factor)\n", "area(shape, factor) + 1\n"),
    ("shapes.py", "* factor", "+ factor"),
    ("shapes.py", "side: float", "length: float"),
    ("shapes.py", "@numba.njit\n", "@numba.njit(fastmath=True)\n"),
    ("shapes.py", "inner = makes(2.0)", "inner = makes(3.0)"),
    ("bonus.py", "shape.side + more", "shape.side - more"),
    ("bonus.py", "more=1.0", "more=1.5"),
    ("bonus.py", "value: float", "value: int"),
    ("corners.py", "return 4", "return 5"),
    ("settings.py", "SCALE = 2.0", "SCALE = 3.0"),
    ("settings.py", "[1.0, 2.0]", "[1.0, 2.5]"),
    ("settings.py", '("b", "c")', '("b", "d")'),
    ("settings.py", "SOLID = 1", "SOLID = 2"),
]


@pytest.mark.parametrize(("file", "old", "new"), EDITS)
def test_an_edit_of_anything_that_takes_part_changes_the_hash(hashed, file, old, new):
    before = hashed()
    assert before is not None
    assert hashed(file, old, new) != before


def test_what_takes_no_part_leaves_the_hash_as_it_is(hashed):
    assert hashed() == hashed() == hashed("other.py", "1", "2")


def test_constants_count_as_they_are_in_memory(hashed, monkeypatch):
    before = hashed()
    monkeypatch.setattr(sys.modules["shapes"], "SCALE", 2.5)
    generic, shapes = sys.modules["generic"], sys.modules["shapes"]
    assert hash_of_sources(generic.total.py_func, (shapes.Shape,)) != before


def test_code_counts_as_it_was_imported(hashed, tmp_path):
    """An edit after the import must not put old code under the hash of new code."""
    edit = ("return 4", "return 5")
    before = hashed()
    generic, shapes = sys.modules["generic"], sys.modules["shapes"]
    (tmp_path / "corners.py").write_text(FILES["corners.py"].replace(*edit))
    old_code = hash_of_sources(generic.total.py_func, (shapes.Shape,))
    assert old_code not in (None, before, hashed("corners.py", *edit))


class OfATest(NamedTuple):
    side: float


def test_what_another_process_cannot_find_has_no_hash(hashed, monkeypatch):
    class Local(NamedTuple):
        side: float

    hashed()
    total, shapes = sys.modules["generic"].total.py_func, sys.modules["shapes"]
    assert hash_of_sources(total, (Local,)) is None
    monkeypatch.setattr(OfATest, "__module__", "__main__")
    assert hash_of_sources(total, (OfATest,)) is None
    monkeypatch.setattr(shapes, "SCALE", {"neither": "code nor constant"})
    assert hash_of_sources(total, (shapes.Shape,)) is None
