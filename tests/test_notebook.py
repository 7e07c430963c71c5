"""docs/tutorial.ipynb runs, and has the outputs of a run."""

from __future__ import annotations

import os

import nbformat
import pytest
from helpers.tiny import PROJECT
from nbclient import NotebookClient

NOTEBOOK = nbformat.read(PROJECT / "docs" / "tutorial.ipynb", as_version=4)
CODE = [cell for cell in NOTEBOOK.cells if cell.cell_type == "code"]


def test_it_runs_from_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    notebook = nbformat.from_dict(NOTEBOOK)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    assert os.listdir(tmp_path) == ["outputs"]


@pytest.mark.parametrize("cell", CODE, ids=lambda cell: cell.source.splitlines()[0])
def test_it_is_saved_with_outputs_and_without_paths_of_a_machine(cell):
    assert cell.outputs, "run scripts/run_notebook.py"
    texts = [str(output) for output in cell.outputs]
    assert not [text for text in texts if "/tmp/" in text or "/home/" in text]
