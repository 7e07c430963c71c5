"""The hash of the sources that decide training: what changes it and what does not."""

import shutil

import pytest

from dyparse.evaluation import provenance as sources
from dyparse.evaluation.run_result import Cell

CELL = Cell("arc_eager", "dagger_replay", "set_nll", "UD_A", 1)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package's sources, which the hash is made from."""
    copied = tmp_path / "dyparse"
    shutil.copytree(sources.ROOT, copied, ignore=shutil.ignore_patterns("__pycache__", "*.html"))
    monkeypatch.setattr(sources, "ROOT", copied)
    return copied


def append(path, text):
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_all_files_and_packages_that_decide_are_there():
    assert [name for name in sources.DECIDING if not (sources.ROOT / name).exists()] == []


@pytest.mark.parametrize(
    "changed",
    [
        "training/step.py",
        "tensors/adamw.py",
        "system/arc_eager.py",
        "system/_best_gains.py",
        "exploration/dagger.py",  # dagger_replay is derived from it
        "loss/__init__.py",
    ],
)
def test_code_that_a_cell_uses_changes_its_hash(package, changed):
    before = sources.training_sources(CELL, {})
    append(package / changed, "\nMORE = 1\n")
    assert sources.training_sources(CELL, {}) != before


@pytest.mark.parametrize(
    "changed", ["system/attardi.py", "exploration/sample.py", "cli/main.py", "web/playing.py"]
)
def test_code_that_a_cell_does_not_use_leaves_its_hash(package, changed):
    before = sources.training_sources(CELL, {})
    append(package / changed, "\nMORE = 1\n")
    assert sources.training_sources(CELL, {}) == before


@pytest.mark.parametrize(
    ("setting", "changed"),
    [
        ({"heads": ["joint_labels:root=train"]}, "system/_labelled.py"),
        ({"projectivity": "head"}, "data/columns/pseudo_projective.py"),
    ],
)
def test_code_that_only_an_option_uses_changes_its_hash_alone(package, setting, changed):
    before, plain = sources.training_sources(CELL, setting), sources.training_sources(CELL, {})
    append(package / changed, "\nMORE = 1\n")
    assert sources.training_sources(CELL, setting) != before
    assert sources.training_sources(CELL, {}) == plain


def test_a_new_alternative_leaves_the_hash(package):
    before = sources.training_sources(CELL, {})
    (package / "system" / "other.py").write_text("NEW = 1\n")
    assert sources.training_sources(CELL, {}) == before


def test_comments_docstrings_and_empty_lines_leave_the_hash(package):
    before = sources.training_sources(CELL, {})
    path = package / "training" / "step.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(f'"""More."""\n\n# A remark.\n{text}\n\n# At the end.\n', encoding="utf-8")
    assert sources.training_sources(CELL, {}) == before


def test_cells_of_a_class_from_outside_have_a_hash_too():
    outside = Cell("mylab.systems.Mine", "explore", "set_nll", "UD_A", 1)
    assert len(sources.training_sources(outside, {})) == 12
