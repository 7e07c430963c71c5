"""Run docs/tutorial.ipynb and save it with its outputs: `python scripts/run_notebook.py`.

It runs in a temporary directory; paths of this machine and times of execution are not saved.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "tutorial.ipynb"
SECONDS = 300


def executed() -> Any:
    """The notebook, with the outputs of a run in an empty directory."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with tempfile.TemporaryDirectory() as directory:
        resources = {"metadata": {"path": directory}}
        NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if "outputs" in cell:
            cell.outputs = joined(cell.outputs)
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def joined(outputs: list[Any]) -> list[Any]:
    """Outputs in which what was printed piece by piece is one text."""
    whole: list[Any] = []
    for output in outputs:
        if whole and output.get("name") and whole[-1].get("name") == output.name:
            whole[-1].text += output.text
        else:
            whole.append(output)
    return whole


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
