"""Where a result comes from: the commit of the source tree, a hash of the sources that decide what
a training learns, and the kind of machine.

Where today's hash is not that of a result, the result may be out of date.
"""

import ast
import hashlib
import io
import os
import platform
import subprocess
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dyparse.evaluation.run_result import Cell

SECONDS = 10  # git answers at once, unless a disk hangs
ROOT = Path(__file__).resolve().parents[1]
DECIDING = (  # files and packages; of the choices of a cell only what it uses
    "data/batch.py",
    "data/sampler.py",
    "data/token_arrays.py",
    "data/vocabulary.py",
    "data/word_vectors",
    "encoder",
    "feature",
    "head",
    "model/inputs.py",
    "model/network.py",
    "model/sizes.py",
    "rollout",
    "tensors",
    "training/batches.py",
    "training/replay_buffer.py",
    "training/session.py",
    "training/settings.py",
    "training/step.py",
)
CHOICES = ("system", "exploration", "loss")
OF_LABELS_ON_MOVES = ("system/_labelled.py",)
OF_LIFTED_TREES = ("data/columns/heads.py", "data/columns/pseudo_projective.py")


def commit() -> str:
    """Hash of the commit that dyparse runs from, with `+` if files differ from it.

    Empty where dyparse is installed and not run from a clone.
    """
    root = ROOT.parent
    if not (root / ".git").exists():
        return ""
    head = _git(root, "rev-parse", "--short=12", "HEAD")
    changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", "dyparse", "conf")
    return f"{head}+" if head and changed else head


def machine() -> str:
    """Architecture, processor, number of cores and operating system; nothing that names it."""
    n_cores = os.cpu_count() or 1
    return f"{platform.machine()}, {_processor()}, {n_cores} cores, {platform.system()}"


def _processor() -> str:
    """The processor's name as Linux knows it, or what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "processor unknown")


def _git(root: Path, *arguments: str) -> str:
    """What git answers; empty if there is no git, or no answer."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True, text=True, timeout=SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()


def training_sources(cell: Cell, setting: Mapping[str, Any]) -> str:
    """The hash for a cell with its other options; comments, docstrings and empty lines do not
    change it.

    Classes from outside the package do not take part, nor do versions of libraries, which a result
    names.
    """
    digest = hashlib.sha256()
    for path in sorted({*_shared_files(), *_chosen_files(cell), *_files_of_setting(setting)}):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\n{_code(path)}\n".encode())
    return digest.hexdigest()[:12]


def _shared_files() -> Iterator[Path]:
    for name in DECIDING:
        path = ROOT / name
        yield from path.rglob("*.py") if path.is_dir() else [path]


def _chosen_files(cell: Cell) -> Iterator[Path]:
    """The modules of the cell's choices, and those of the same folders that they import."""
    for choice in CHOICES:
        name = getattr(cell, choice).partition(":")[0]
        yield from _with_imports({ROOT / choice / "__init__.py", ROOT / choice / f"{name}.py"})


def _files_of_setting(setting: Mapping[str, Any]) -> Iterator[Path]:
    """Modules that take part only where these options ask for them."""
    if any("joint_labels" in head for head in setting.get("heads", ())):
        yield from (ROOT / name for name in OF_LABELS_ON_MOVES)
    if setting.get("projectivity"):
        yield from (ROOT / name for name in OF_LIFTED_TREES)


def _with_imports(paths: Iterable[Path]) -> set[Path]:
    """Files that are there, and what they import from their own folders, and so on."""
    found: set[Path] = set()
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        prefix = f"dyparse.{path.parent.name}."
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith(prefix):
                waiting.append(path.parent / f"{str(node.module).removeprefix(prefix)}.py")
    return found


def _code(path: Path) -> str:
    """The text of a module without comments, docstrings and empty lines."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for first, last in _docstrings(text):
        lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _docstrings(text: str) -> Iterator[tuple[int, int]]:
    """First and last lines of strings that stand alone."""
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.lineno, value.end_lineno or value.lineno
