"""Imports point down the spine, never up, and a choice imports no other choice."""

import ast
from pathlib import Path

import pytest
from helpers.tiny import PROJECT

CHOICES = ("treebank", "encoder", "system", "exploration", "loss", "logger")
PLAIN = (
    *("sentence", "vocabulary", "batch", "scorer", "tokenizer", "dropout", "network"),
    *("transfer", "processes", "device_load", "out_of_memory", "precision"),
    *("errors", "compiled", "entry", "version", "choice", "output_file", "signals"),
    *("model_files", "plain_yaml"),
    *("significance", "tree_picture", "tree_drawing", "tree_layout", "tree_text"),
)
SPINE = [  # top to bottom; "" is the package itself, which only offers `load`
    ("", "cli", "commands", "draw_command", "compare_command", "parse_command", "corpus_command"),
    ("compare", "on_ray"),
    ("corpus",),
    ("workers",),
    ("grid",),
    ("report_page", "experiment", "evaluation"),
    ("run_files", "splits"),
    ("run_text",),
    ("report_text", "sentence_browser", "result_tables", "error_tables", "printed_table"),
    ("result_files", "figures"),
    ("comparison",),
    ("error_rates",),
    ("result_groups",),
    ("run_result",),
    ("trainer", "training_state", "course"),
    ("exercise", "moving_average"),
    ("parser", "shares"),
    ("state_memory",),
    ("walk", "replay", "coverage", "derivation"),
    ("checkpoint",),
    ("error_analysis",),
    ("score_report", "attachment_scores"),
    ("option_errors", "machine"),
    ("config",),
    ("model",),
    CHOICES,
    PLAIN,
]
LEVEL = {name: level for level, names in enumerate(SPINE) for name in names}
FOREIGN = {"system": "torch", "exploration": "torch", "encoder": "numba", "loss": "numba"}
FILES = sorted((PROJECT / "dyparse").rglob("*.py"))


def part_of(path: Path) -> str:
    """The place of a file on the spine: its folder, or its own name."""
    first = path.relative_to(PROJECT / "dyparse").parts[0]
    return first.removesuffix(".py").replace("__init__", "")


def imports_of(path: Path) -> set[str]:
    """Modules that a file imports, anywhere in it; of `from a import b` both a and a.b."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import in line {node.lineno}"
            found |= {str(node.module), *(f"{node.module}.{a.name}" for a in node.names)}
    return found


def parts_imported(path: Path) -> set[str]:
    """Places on the spine that a file imports."""
    names = {name.split(".")[1] for name in imports_of(path) if name.startswith("dyparse.")}
    return names & set(LEVEL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_imports_point_down_and_no_choice_imports_another(path):
    part = part_of(path)
    assert part in LEVEL, f"{part} has no place on the spine: add it to SPINE"
    up = {other for other in parts_imported(path) if LEVEL[other] < LEVEL[part]}
    assert not up, f"imports what is above it: {', '.join(up)}"
    if part in CHOICES:
        assert parts_imported(path) & set(CHOICES) <= {part}


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if part_of(path) in FOREIGN],
    ids=lambda path: str(path.relative_to(PROJECT)),
)
def test_kernels_know_no_torch_and_modules_no_numba(path):
    foreign = FOREIGN[part_of(path)]
    assert foreign not in {name.split(".")[0] for name in imports_of(path)}


def test_every_folder_is_a_choice_with_a_group_of_the_same_name():
    folders = {path.parent.name for path in FILES if path.name == "__init__.py"} - {"dyparse"}
    assert folders == set(CHOICES)
    assert folders <= {path.name for path in (PROJECT / "conf").iterdir()}


def test_no_module_is_called_after_nothing():
    assert not {"utils", "helpers", "common", "misc", "base"} & {path.stem for path in FILES}


def test_the_init_of_a_choice_imports_no_alternative():
    for choice in CHOICES:
        inside = {
            name
            for name in imports_of(PROJECT / "dyparse" / choice / "__init__.py")
            if name.startswith(f"dyparse.{choice}.")
        }
        assert not inside, choice
