"""Run directories: named after the options that decide what is learned."""

from pathlib import Path

import pytest
from helpers.configured import configured
from helpers.tiny import run

from dyparse.training.run_directory import differences, learned_options, run_directory


def named(*overrides, treebank="sample"):
    """The run directory of a command line."""
    return run_directory(configured(*overrides), treebank)


def test_the_same_options_have_the_same_directory():
    assert named() == named()
    assert named("seed=3", "trainer.epochs=4") == named("trainer.epochs=4", "seed=3")
    assert named().parent == Path("outputs")
    parts = named("seed=7").name.split("-")
    assert parts[:4] == ["arc_eager", "dagger_replay", "sample", "seed7"]


@pytest.mark.parametrize(
    "override",
    [
        "seed=2",
        "trainer.epochs=26",
        "trainer=debug",
        "exploration=static",
        "exploration.decay=0.8",
        "encoder.features=[word]",
        "network.hidden=64",
        "system.root=first",
        "projectivity=path",
        "treebank=ud",
    ],
)
def test_another_option_has_another_directory(override):
    assert named(override) != named()


@pytest.mark.parametrize(
    "override",
    [
        "logger=wandb",
        "device=cpu",
        "threads=1",
        "system._target_=dyparse.system.moved.arc_eager.ArcEager",
    ],
)
def test_options_that_do_not_change_what_is_learned_keep_the_directory(override):
    assert named(override) == named()
    assert differences(configured(override), configured()) == []


def test_output_overrides_the_directory():
    assert named("output=some/where", "seed=4") == Path("some/where")


def test_system_exploration_and_treebank_are_part_of_the_name():
    name = named("system=swap", "exploration=static", treebank="UD_English-EWT").name
    assert name.startswith("swap-static-UD_English-EWT-seed1-")


def test_a_class_outside_the_package_is_named_in_full():
    directory = named("system._target_=mylab.systems.Mine", treebank="a/b: c")
    assert directory.parent == Path("outputs")
    assert directory.name.startswith("mylab.systems.Mine-dagger_replay-a_b__c-seed1-")
    assert directory != named("system._target_=mylab.other.Mine", treebank="a/b: c")


def test_differences_are_named_as_options_are():
    other = configured("system=swap", "exploration.decay=0.9", "seed=2", "treebank=ud")
    assert differences(configured(), other) == [
        "exploration.decay",
        "seed",
        "system",
        "system.root",
        "treebank",
        "treebank.held_out",
        "treebank.name",
        "treebank.on_error",
    ]


def test_a_sweep_runs_every_combination_in_its_own_directory(tmp_path):
    small = ["trainer.max_sentences=12", "trainer.max_tokens_per_batch=30", "encoder.hidden=8"]
    sweep = ["exploration=static,explore", "seed=2", "threads=1"]
    done = run("train.py", "-m", "trainer=debug", *small, *sweep, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = [path for path in (tmp_path / "outputs").iterdir() if path.is_dir()]
    names = sorted(path.name.rpartition("-")[0] for path in runs)
    assert names == [
        f"arc_eager-{exploration}-sample-seed2" for exploration in ("explore", "static")
    ]
    models = list(tmp_path.glob("outputs/*/model/model.safetensors"))
    assert len({path.read_bytes() for path in models}) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"outputs"}


def test_runs_without_lifting_are_named_as_before_there_was_such_an_option():
    assert "projectivity" not in learned_options(configured())
    assert learned_options(configured("projectivity=path")).projectivity == "path"
