"""The code of docs/extend.md: the files that it shows, and what is to be run."""

from __future__ import annotations

import re
from pathlib import Path

from helpers.tiny import PROJECT

PAGE = (PROJECT / "docs" / "extend.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(
    r"^```(python|yaml|bash)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


def file_of(block: str) -> str:
    """The path in the first line of a block that is a file; empty for code to run."""
    found = re.match(r"# (\S+\.(py|yaml))\n", block)
    return found[1] if found else ""


def write_files(directory: Path) -> None:
    """Write the files of the page."""
    for _, block in BLOCKS:
        if name := file_of(block):
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block, encoding="utf-8")
