"""Classes outside the package: a directory with modules, as another repository would have them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.extend_page import write_files
from helpers.tiny import run

MODELS = '''
from dataclasses import dataclass

from dyparse.encoder.bilstm import BiLSTM


@dataclass(frozen=True)
class Narrow(BiLSTM):
    """The default encoder with other defaults."""

    hidden: int = 8
    layers: int = 1
    word_width: int = 8
'''
TREEBANKS = '''
from dataclasses import dataclass

from dyparse.treebank.sample import Sample


@dataclass(frozen=True)
class Part:
    """Sentences of the sample treebank."""

    n_sentences: int = 12

    @property
    def name(self):
        return "part of sample"

    def read(self, split):
        return Sample().read(split)[: self.n_sentences]

    def describe(self):
        return "a part of the sample treebank"
'''
CHOSEN = {
    "system": "short_stack.ShortStack",
    "encoder": "mylab.models.Narrow",
    "treebank": "mylab.treebanks.Part",
    "exploration": "my_training.Anneal",
    "loss": "my_training.SquaredHinge",
}


@pytest.fixture(scope="session")
def outside_run(once: Callable[..., Path]) -> Path:
    """A directory with modules of others, and in `run` a training of nothing but their classes."""

    def make(path: Path) -> None:
        write_files(path)
        (path / "mylab").mkdir()
        (path / "mylab" / "models.py").write_text(MODELS)
        (path / "mylab" / "treebanks.py").write_text(TREEBANKS)
        chosen = [f"~{choice}" for choice in CHOSEN]
        chosen += [f"+{choice}._target_={name}" for choice, name in CHOSEN.items()]
        small = ["+treebank.n_sentences=10", "trainer=debug", "tokenizer=plain", "network.hidden=8"]
        small += ["threads=1"]
        done = run("train.py", *chosen, *small, "output=run", cwd=path)
        assert done.returncode == 0, done.stderr
        (path / "printed.txt").write_text(done.stdout)

    return once("outside", make)


@pytest.fixture
def importable(outside_run: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same directory, from which this process can import too; it forgets what it imported."""
    monkeypatch.syspath_prepend(outside_run)
    before = set(sys.modules)
    yield outside_run
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None):
            place = Path(str(sys.modules[name].__file__))
            if place.is_relative_to(outside_run):
                del sys.modules[name]
    sys.modules.pop("mylab", None)
