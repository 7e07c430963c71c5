"""The wheel and the sdist, built offline from a copy of the sources."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from helpers.tiny import PROJECT


def build_distributions(directory: Path) -> None:
    """Build both into a directory."""
    source = directory / "source"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("dyparse", "conf"):
        shutil.copytree(PROJECT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, source)
    build = "from setuptools import build_meta as b; b.build_wheel('..'); b.build_sdist('..')"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
