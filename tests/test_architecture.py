"""Imports point down the order of packages; the rules about torch and numba; the size of things."""

import ast
from pathlib import Path

import pytest
from helpers.tiny import PROJECT

ROOT = PROJECT / "dyparse"
ORDER = (  # top to bottom; one line of the plan
    "cli > web > publishing | integration > comparison > training | parsing > evaluation > "
    "trajectories | env > model > decoding > rollout > "
    "system | exploration | loss | encoder | head | treebank | tokenizer | logger > feature > "
    "compiled > data > drawing > tensors > config > runtime > errors | version"
)
LEVEL = {
    name: level for level, names in enumerate(ORDER.split(" > ")) for name in names.split(" | ")
}
CHOICES = ("system", "exploration", "loss", "encoder", "head", "treebank", "tokenizer", "logger")
LISTS = (*CHOICES, "feature", "decoding", "cli")  # of alternatives and commands: they may grow
WITHOUT = {  # libraries that a package knows nothing of
    "torch": (
        "system",
        "exploration",
        "rollout",
        "compiled",
        "decoding",
        "config",
        "drawing",
        "comparison/report",
    ),
    "numba": (
        "encoder",
        "head",
        "loss",
        "tokenizer",
        "feature",
        "data",
        "config",
        "drawing",
        "comparison/report",
    ),
}
FILES = sorted(ROOT.rglob("*.py"))
MOST_LINES, MOST_MODULES, MOST_FLAT = 400, 12, 5

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PROJECT)))


def package_of(path: Path) -> str:
    """The package below dyparse that a file belongs to; its own name if it lies flat."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


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


def module_of(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}
IMPORTS = {
    name: {other for other in imports_of(path) if other in MODULES and other != name}
    for name, path in MODULES.items()
}


@each_file
def test_imports_point_down_and_no_choice_imports_another(path):
    package = package_of(path)
    if package.startswith("__"):
        return  # the public list and `python -m dyparse` stand above everything
    assert package in LEVEL, f"{package} has no place in ORDER"
    imported = {name.split(".")[1] for name in IMPORTS[module_of(path)] if "." in name}
    above = {name for name in imported if LEVEL[name] < LEVEL[package]}
    assert not above, f"imports packages above it: {', '.join(sorted(above))}"
    beside = {name for name in imported if LEVEL[name] == LEVEL[package]} - {package}
    assert not beside, f"imports packages beside it: {', '.join(sorted(beside))}"


def test_no_module_imports_itself_through_others():
    """Also where an import hides in a function or under TYPE_CHECKING."""
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for other in IMPORTS[name] - {"dyparse"}:
                visit(other, (*trail, name))
            done.add(name)

    for name in MODULES:
        visit(name, ())


@pytest.mark.parametrize(
    ("library", "package"), [(lib, name) for lib, names in WITHOUT.items() for name in names]
)
def test_a_package_knows_nothing_of_a_library(library, package):
    for path in sorted((ROOT / package).rglob("*.py")):
        assert library not in {name.split(".")[0] for name in imports_of(path)}, path


def test_every_choice_has_a_group_of_options_of_the_same_name():
    groups = {path.name for path in (PROJECT / "conf").iterdir()}
    assert set(CHOICES) - {"head"} <= groups  # heads are listed: heads=[labels]


@pytest.mark.parametrize("name", [*CHOICES, "feature", "decoding"])
def test_the_init_of_a_choice_imports_no_alternative(name):
    inside = {other for other in IMPORTS[f"dyparse.{name}"] if other.startswith(f"dyparse.{name}.")}
    assert not {other for other in inside if not other.split(".")[2].startswith("_")}


def test_the_house_stays_small_enough_to_find_ones_way():
    flat = [path for path in FILES if path.parent == ROOT and not path.name.startswith("__")]
    assert len(flat) <= MOST_FLAT
    for folder in {path.parent for path in FILES} - {ROOT}:
        modules = [p for p in folder.glob("*.py") if p.name != "__init__.py"]
        is_list = folder.relative_to(ROOT).parts[0] in LISTS
        assert is_list or len(modules) <= MOST_MODULES, folder


@each_file
def test_no_module_is_too_long_or_called_after_nothing(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    assert path.stem not in {"utils", "helpers", "common", "misc", "base"}


def test_every_package_says_in_its_first_paragraph_what_it_is_for():
    for folder in {path.parent for path in FILES}:
        docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
        assert docstring, folder
        assert len(docstring.split("\n\n")[0].split()) >= 5, folder


def test_no_test_imports_another():
    for path in (PROJECT / "tests").rglob("*.py"):
        tests = {name for name in imports_of(path) if name.split(".")[-1].startswith("test_")}
        assert not {name for name in tests if "." not in name or name.startswith("tests.")}, path
