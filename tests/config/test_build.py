"""Options: checked by name, type and value; run directories named after what is run."""

import dataclasses
import importlib
import os
import re
import types
from pathlib import Path

import pytest
from helpers.tiny import CONF, PROJECT, run, yamls
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dyparse.config.build import (
    EvaluateOptions,
    TrainOptions,
    build,
    checked,
    construct,
    describe,
    restore,
    run_directory,
)
from dyparse.config.hydra_errors import clear_option_errors, explanation
from dyparse.errors import ConfigError
from dyparse.evaluation.evaluate import evaluate
from dyparse.model.sizes import ScorerSizes
from dyparse.training.run import train

CHOICES = ("encoder", "exploration", "logger", "loss", "system", "treebank")
FILES = [path for choice in CHOICES for path in yamls(choice)]


def configured(*overrides, name="train"):
    """The configuration of a command line."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose(name, overrides=list(overrides))


def named(*overrides, treebank="sample"):
    """The run directory of a command line."""
    choices = {"system": "arc_eager", "exploration": "explore"}
    return run_directory(configured(*overrides), choices, treebank)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_yaml_names_the_class_in_the_file_of_its_own_name_and_all_its_fields(path):
    node = OmegaConf.to_container(OmegaConf.load(path))
    module, _, name = node["_target_"].rpartition(".")
    assert module == f"dyparse.{path.parent.name}.{path.stem}"
    target = getattr(importlib.import_module(module), name)
    assert {*node} - {"_target_"} == {field.name for field in dataclasses.fields(target)}
    chosen = build(node, path.parent.name)
    assert type(chosen) is target
    assert dataclasses.is_dataclass(chosen)
    with pytest.raises(dataclasses.FrozenInstanceError):
        chosen.anything = 1


@pytest.mark.parametrize("choice", CHOICES)
def test_every_alternative_of_a_choice_has_a_yaml(choice):
    folder = Path(importlib.import_module(f"dyparse.{choice}").__file__).parent
    helpers = {"check", "conllu_check", "conllu_file", "skipped", "split"}
    helpers |= {"archive", "download", "fetch", "partial_file", "web_answer"}
    modules = {path.stem for path in folder.glob("[!_]*.py")} - helpers
    assert {path.stem for path in yamls(choice)} == modules


@pytest.mark.parametrize("path", yamls("trainer"), ids=lambda path: path.stem)
def test_every_trainer_yaml_can_be_built(path):
    config = configured(f"trainer={path.stem}")
    trainer = build(OmegaConf.to_container(config.trainer), "trainer")
    assert trainer.epochs == config.trainer.epochs


def test_the_whole_configuration_fits_its_schema():
    options = checked(configured(), TrainOptions)
    assert {field.name for field in dataclasses.fields(TrainOptions)} == set(configured())
    assert options.seed == 1
    overrides = ("model=some/where",)
    options = checked(configured(*overrides, name="evaluate"), EvaluateOptions)
    assert options.split == "test"


WRONG = [
    ("+nosuch=1", "nosuch"),
    ("+trainer.nosuch=1", "trainer.nosuch"),
    ("+exploration.temperature=2", "exploration.temperature"),
    ("+network.layers=2", "network.layers"),
    ("trainer.epochs=many", "trainer.epochs"),
    ("trainer.epochs=1.5", "trainer.epochs"),
    ("trainer.epochs=0", "trainer.epochs is 0"),
    ("trainer.patience=0", "trainer.patience is 0"),
    ("trainer.learning_rate=-1", "trainer.learning_rate is -1"),
    ("trainer.warmup=0.9", "trainer.warmup is 0.9"),
    ("trainer.beta1=1", "trainer.beta1 is 1"),
    ("exploration.decay=often", "exploration.decay"),
    ("exploration.decay=2", "exploration.decay is 2"),
    ("encoder.hidden=[1]", "encoder.hidden"),
    ("encoder.features=word", "encoder.features"),
    ("encoder.features=[word,tag]", "encoder.features has 'tag'"),
    ("system.root=middle", "system.root is 'middle'"),
    ("system.single_root=maybe", "system.single_root"),
    ("network.hidden=big", "network.hidden"),
    ("network.hidden=0", "network.hidden is 0"),
    ("network.dropout=1", "network.dropout is 1"),
    ("seed=one", "seed"),
    ("seed=null", "seed"),
    ("threads=0", "threads is 0"),
    ("threads=1000000", "threads is 1000000, expected 1 to 1024"),
    ("device=meta", "device is 'meta'"),
    ("trainer.weight_decay=inf", "trainer.weight_decay is inf"),
    ("treebank._target_=null", "treebank._target_ names no class"),
    ("threads=two", "threads"),
    ("device=nosuch", "device is 'nosuch'"),
]


@pytest.mark.parametrize(("override", "name"), WRONG)
def test_a_wrong_option_is_one_message_that_names_it_and_nothing_is_written(
    override, name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    config = configured("trainer=debug", override)
    with pytest.raises(ConfigError) as caught:
        train(config, {"system": "arc_eager", "exploration": "explore", "loss": "set_nll"})
    message = str(caught.value)
    assert name in message
    assert "\n" not in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ([], "model"),
        (["model=x", "split=training"], "split is 'training'"),
        (["model=x", "+nosuch=1"], "nosuch"),
        (["model=x", "max_tokens_per_batch=many"], "max_tokens_per_batch"),
        (["model=x", "threads=-1"], "threads is -1"),
    ],
)
def test_a_wrong_option_of_an_evaluation_is_one_message_that_names_it(overrides, name):
    with pytest.raises(ConfigError) as caught:
        evaluate(configured(*overrides, name="evaluate"))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("nosuch=1", "option nosuch: there is no such option; there are treebank, "),
        ("+trainer.nosuch=1", "option trainer.nosuch: trainer has no such option; .* patience"),
        ("trainer=null", "must be a string"),
        ("output=/dev/null/here", "/dev/null/here: cannot be written .* output=DIR"),
    ],
)
def test_train_py_stops_with_a_message_and_writes_nothing(override, told, tmp_path):
    done = run("train.py", "trainer=debug", "output=here", override, cwd=tmp_path)
    assert done.returncode == 2
    assert re.match(f"error: .*{told}", done.stderr), done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("trainer.epoch=1", "option trainer.epoch: trainer has no such option; .* mean 'epochs'"),
        ("system=arc_eagr", "there is no system 'arc_eagr'; .* did you mean 'arc_eager'"),
        ("trainer.epochs", "'trainer.epochs' cannot be read as an option; expected key=value"),
        ("trainer.epochs=[1", "cannot be read as an option"),
        ("experiment=none", "there is no experiment 'none'; there are fast"),
        ("~nosuch", "nosuch"),
    ],
)
def test_what_hydra_finds_wrong_is_told_with_what_there_is(override, told):
    with pytest.raises((HydraException, OmegaConfBaseException)) as caught:
        configured(override)
    message = explanation(caught.value)
    assert re.search(told, message), message
    assert "\n" not in message


def test_a_mistake_of_the_code_is_not_told_as_one_of_the_options(tmp_path):
    mistake = "        __import__('dyparse.config.choices').choice.find('system', 'nosuch')\n"
    script, begins = (PROJECT / "train.py").read_text(), "        train(config,"
    broken = script.replace(begins, mistake + begins)
    (tmp_path / "train.py").write_text(broken.replace('"conf"', repr(str(CONF))))
    done = run(tmp_path / "train.py", "trainer=debug", cwd=tmp_path, PYTHONPATH=str(PROJECT))
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "ValueError: no system 'nosuch'" in done.stderr


@pytest.mark.parametrize(("kind", "of_ours"), [(ValueError, int), (OSError, os.stat)])
def test_errors_before_the_program_begins_are_told_and_later_ones_raised(kind, of_ours):
    with pytest.raises(SystemExit) as caught, clear_option_errors():
        of_ours("no such thing")
    assert caught.value.code == 2
    program = types.ModuleType("dyparse.of_the_test")
    exec("def work(call):\n    call('no such thing')", vars(program))
    with pytest.raises(kind), clear_option_errors():
        program.work(of_ours)


def test_sizes_that_no_memory_holds_are_one_message(tmp_path):
    config = configured("trainer=debug", f"output={tmp_path / 'run'}", f"encoder.hidden={10**9}")
    with pytest.raises(ConfigError, match=r"cannot be made .* encoder\.hidden"):
        train(config, {"system": "arc_eager", "exploration": "explore", "loss": "set_nll"})
    assert list(tmp_path.iterdir()) == []


def test_the_same_options_have_the_same_directory():
    assert named() == named()
    assert named("seed=3", "trainer.epochs=4") == named("trainer.epochs=4", "seed=3")
    assert named().parent == Path("outputs")
    parts = named("seed=7").name.split("-")
    assert parts[:4] == ["arc_eager", "explore", "sample", "seed7"]


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
        "treebank=ud",
    ],
)
def test_another_option_has_another_directory(override):
    assert named(override) != named()


@pytest.mark.parametrize("override", ["logger=wandb", "device=cpu", "threads=1"])
def test_options_that_do_not_change_what_is_learnt_keep_the_directory(override):
    assert named(override) == named()


def test_output_overrides_the_directory():
    assert named("output=some/where", "seed=4") == Path("some/where")


def test_the_treebank_is_part_of_the_directory():
    assert named(treebank="UD_English-EWT").name.startswith("arc_eager-explore-UD_English-EWT-")


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.parent.name in ("encoder", "system", "exploration", "loss")],
    ids=lambda path: path.stem,
)
def test_a_choice_described_as_data_can_be_restored(path):
    choice = path.parent.name
    chosen = build(OmegaConf.to_container(OmegaConf.load(path)), choice)
    described = describe(chosen)
    assert described["name"] == path.stem
    assert "_target_" not in described
    assert restore(choice, described) == chosen


@pytest.mark.parametrize(
    "described",
    [
        None,
        "arc_eager",
        [],
        {},
        {"name": None},
        {"name": ["arc_eager"]},
        {"name": ""},
        {"name": "os"},
        {"name": "__init__"},
        {"name": "../x"},
        {"name": "dyparse.system.arc_eager"},
        {"name": "arc_eager", "nosuch": 1},
        {"name": "arc_eager", "root": "middle"},
        {"name": "arc_eager", "single_root": "maybe"},
    ],
)
def test_only_files_of_the_choice_can_be_restored_with_their_own_options(described):
    with pytest.raises(ConfigError):
        restore("system", described)


def test_construct_fills_in_what_is_not_given():
    assert construct(ScorerSizes, {"hidden": 5}, "network") == ScorerSizes(hidden=5)
    assert construct(ScorerSizes, {}, "network") == ScorerSizes()


def test_a_sweep_runs_every_combination_in_its_own_directory(tmp_path):
    small = ["trainer.max_sentences=12", "trainer.max_tokens_per_batch=30", "encoder.hidden=8"]
    sweep = ["exploration=static,explore", "seed=1,2", "threads=1"]
    done = run("train.py", "-m", "trainer=debug", *small, *sweep, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = [path for path in (tmp_path / "outputs").iterdir() if path.is_dir()]
    names = sorted(path.name.rpartition("-")[0] for path in runs)
    assert names == [
        f"arc_eager-{exploration}-sample-seed{seed}"
        for exploration in ("explore", "static")
        for seed in (1, 2)
    ]
    models = list(tmp_path.glob("outputs/*/model/model.safetensors"))
    assert len({path.read_bytes() for path in models}) == 4
    assert {path.name for path in tmp_path.iterdir()} == {"outputs"}
