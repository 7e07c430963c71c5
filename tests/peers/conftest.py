"""The scripts of benchmarks/peers can be imported: they are no package."""

from __future__ import annotations

import sys
from argparse import Namespace

import pytest
from helpers.tiny import PROJECT, sample

sys.path.insert(0, str(PROJECT / "benchmarks" / "peers"))


@pytest.fixture
def treebank(tmp_path):
    directory = tmp_path / "treebanks" / "UD_Fake-Tiny"
    directory.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        text = "".join(s.to_conllu() for s in sample(split)[:5])
        (directory / f"x-ud-{split}.conllu").write_text(text, encoding="utf-8")
    return tmp_path / "treebanks"


@pytest.fixture
def options(tmp_path, treebank):
    return Namespace(
        root=str(treebank),
        name="UD_Fake-Tiny",
        task="words",
        output=tmp_path / "out" / "all.json",
        environments=tmp_path / "environments",
        minutes=0.001,
        budget=[],
        core=None,
        parse_seconds=0.001,
        seed=1,
    )
