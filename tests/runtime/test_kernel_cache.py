"""Compiled code on disk: used again by other processes, never out of date, never in the way."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.programs import python
from helpers.tiny import PROJECT

MOVES = """
import json
from dyparse import system
found = system.load("arc_eager")
print(json.dumps(found.legal(found.start([1, 2, 3])).tolist()))
"""
FIRST_MOVES = [[True, False, False, False]] * 3
TOTAL = """
import json, sys
from totals import total
print(json.dumps([total(__import__(name).Shape(2.0)) for name in {names}]))
"""
TOTALS = """
from dyparse.runtime.kernels import cached_njit, kernel

@kernel
def area(shape):
    "The area of a shape."

@cached_njit
def total(shape):
    return area(shape)
"""
SHAPE = """
from typing import NamedTuple
from dyparse.runtime.kernels import njit

class Shape(NamedTuple):
    side: float

@njit
def area(shape):
    return {formula}
"""


@pytest.fixture
def totals(tmp_path):
    """totals(*names): the areas of shapes in these modules, in a process with a cache of ours."""
    (tmp_path / "totals.py").write_text(TOTALS)
    for name, formula in (("squares", "shape.side * shape.side"), ("lines", "shape.side")):
        (tmp_path / f"{name}.py").write_text(SHAPE.format(formula=formula))

    def run(*names):
        cache = str(tmp_path / "cache")
        return python(TOTAL.format(names=names), tmp_path, DYPARSE_CACHE=cache)

    return run


def kept(directory: Path) -> dict[Path, int]:
    """All files of the cache, and when they were written."""
    return {path: path.stat().st_mtime_ns for path in directory.rglob("*.nbc")}


def test_code_that_one_process_compiled_is_used_by_others(totals, tmp_path):
    assert totals("squares") == [4.0]
    files = kept(tmp_path)
    assert len(files) == 1
    assert totals("squares") == [4.0]
    assert kept(tmp_path) == files
    assert totals("squares", "lines") == [4.0, 2.0]
    assert len(kept(tmp_path)) == 2


@pytest.mark.parametrize("order", [("squares", "lines"), ("lines", "squares")])
def test_classes_of_the_same_name_are_kept_apart_in_the_cache_too(totals, tmp_path, order):
    """Compiled in processes that saw only one of them, then used by one that sees both."""
    expected = {"squares": 4.0, "lines": 2.0}
    for name in order:
        assert totals(name) == [expected[name]]
    files = kept(tmp_path)
    assert totals(*order) == [expected[name] for name in order]
    assert kept(tmp_path) == files


def test_a_class_that_is_gone_is_in_nobodys_way(totals, tmp_path):
    totals("squares")
    (tmp_path / "squares.py").unlink()
    assert totals("lines") == [2.0]


def test_a_class_of_the_program_itself_is_not_kept(totals, tmp_path):
    totals("lines")
    files = kept(tmp_path)
    program = SHAPE.format(formula="shape.side * 3") + TOTAL.format(names=("lines", "__main__"))
    cache = str(tmp_path / "cache")
    assert python(program, tmp_path, DYPARSE_CACHE=cache) == [2.0, 6.0]
    assert kept(tmp_path) == files


def test_many_processes_may_compile_at_once(totals, tmp_path):
    program = TOTAL.format(names=("squares", "lines"))
    together = "import os, json\nfor _ in range(2): os.fork()\n" + program
    done = subprocess.run(
        [sys.executable, "-c", together],
        cwd=tmp_path,
        env={"PYTHONPATH": str(PROJECT), "DYPARSE_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.split("\n").count("[4.0, 2.0]") == 4, done.stderr
    assert len(kept(tmp_path)) == 2
    assert totals("lines", "squares") == [2.0, 4.0]


def test_a_changed_kernel_of_the_package_is_compiled_again(tmp_path):
    package = shutil.copytree(
        PROJECT / "dyparse",
        tmp_path / "dyparse",
        ignore=shutil.ignore_patterns("__pycache__", "sample_data"),
    )
    environment = {"DYPARSE_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    assert python(MOVES, tmp_path, **environment) == FIRST_MOVES
    source = package / "system" / "arc_eager.py"
    changed = source.read_text().replace("out[SHIFT] = b > 0\n", "out[SHIFT] = b > 1\n")
    assert changed != source.read_text()
    source.write_text(changed)
    assert python(MOVES, tmp_path, **environment) == [[False] * 4] * 3


def test_without_a_place_for_the_cache_everything_still_works(tmp_path):
    (tmp_path / "file").touch()
    assert python(MOVES, DYPARSE_CACHE=str(tmp_path / "file" / "cache")) == FIRST_MOVES
