"""Where a result comes from: the commit of the source tree, and the kind of machine."""

import os
import platform
import subprocess
from pathlib import Path

SECONDS = 10  # git answers at once, unless a disk hangs


def commit() -> str:
    """Hash of the commit that dyparse runs from, with `+` if files differ from it.

    Empty where dyparse is installed and not run from a clone.
    """
    root = Path(__file__).resolve().parents[2]
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
