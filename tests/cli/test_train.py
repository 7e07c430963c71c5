"""`dyparse train -m`: searches by Optuna, and what is printed if a run fails."""

import os

import pytest
from helpers.messages import assert_one_message

from dyparse.cli.sweep import SweepTable
from dyparse.cli.train import require_multirun, train_as_configured
from dyparse.config.application import compose_options

SEARCH = "hydra/sweeper=optuna"
SMALL = ("trainer=debug", "trainer.max_sentences=12", "encoder.hidden=8", "network.hidden=8")


def test_a_search_without_multirun_is_one_message(dyparse_command):
    result = dyparse_command("train", SEARCH, "seed=1")
    assert_one_message(result, "without -m there is one training only")
    for flag in ("-m", "--multirun", "hydra.mode=MULTIRUN", "+hydra.mode=MULTIRUN"):
        require_multirun([SEARCH, flag])


def test_optuna_maximizes_wherever_it_is_chosen_unless_it_is_given_a_direction(tmp_path):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment/search.yaml").write_text(
        "# @package _global_\ndefaults:\n  - override /hydra/sweeper: optuna\n"
    )
    for given, direction in (
        ([SEARCH], "maximize"),
        (["experiment=search"], "maximize"),
        ([SEARCH, "hydra.sweeper.direction=minimize"], "minimize"),
        ([SEARCH, "hydra.sweeper.direction=[minimize]"], "['minimize']"),
    ):
        config = compose_options("train", given, tmp_path, return_hydra_config=True)
        SweepTable().on_multirun_start(config)
        found = config.hydra.sweeper.direction
        assert str(getattr(found, "name", found)) == direction


def test_finished_runs_are_listed_also_if_another_one_fails(tmp_path, monkeypatch, dyparse_command):
    monkeypatch.chdir(tmp_path)
    status, out, err = dyparse_command("train", "-m", *SMALL, "seed=4,-1", "treebank=sample")
    assert status == 2
    assert "error: seed is -1" in err
    (runs,) = (tmp_path / "outputs").glob("sweep-*.txt")
    assert f"report    dyparse report $(cat outputs/{runs.name})" in out
    assert out.count("report    dyparse report") == 1
    assert "LAS" in out.rpartition("evaluate  dyparse")[2]


def test_training_keeps_few_compiled_shapes_unless_told_otherwise(monkeypatch):
    names = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"
    for name in names:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr("dyparse.training.run.train", lambda _config: {})
    train_as_configured(None)
    assert [os.environ[name] for name in names] == ["32", "32"]
    monkeypatch.setenv(names[0], "1024")
    train_as_configured(None)
    assert os.environ[names[0]] == "1024"
