"""Objects from options, checked by name, type and value; and back to names and plain values."""

import dataclasses
import importlib

import pytest
from helpers.configured import configured
from helpers.tiny import yamls
from omegaconf import OmegaConf

from dyparse.config.build import build, checked, construct, describe, restore
from dyparse.config.options import EvaluateOptions, TrainOptions
from dyparse.errors import ConfigError
from dyparse.evaluation.evaluate import evaluate
from dyparse.model.sizes import ScorerSizes
from dyparse.training.run import train

CHOICES = ("encoder", "exploration", "logger", "loss", "system", "treebank")
FILES = [path for choice in CHOICES for path in yamls(choice)]


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
    ("treebank._target_=sample", "treebank._target_ names no class: it is 'sample'"),
    ("system._target_=nosuch.Mine", "system._target_: cannot import nosuch (ModuleNotFoundError"),
    ("system._target_=json.Mine", "system._target_: json has no class 'Mine'"),
    ("system._target_=json.JSONDecoder", "is not a dataclass with frozen=True"),
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
        train(config)
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
        (
            ["model=x", "imports=[nosuch]"],
            "cannot import nosuch (ModuleNotFoundError: No module named 'nosuch')",
        ),
        (["model=x", "imports=mylab"], "imports"),
    ],
)
def test_a_wrong_option_of_an_evaluation_is_one_message_that_names_it(overrides, name):
    with pytest.raises(ConfigError) as caught:
        evaluate(configured(*overrides, name="evaluate"))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sizes_that_no_memory_holds_are_one_message(tmp_path):
    config = configured("trainer=debug", f"output={tmp_path / 'run'}", f"encoder.hidden={10**9}")
    with pytest.raises(ConfigError, match=r"cannot be made .* encoder\.hidden"):
        train(config)
    assert list(tmp_path.iterdir()) == []


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
