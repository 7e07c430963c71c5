"""Objects from options, checked by name, type and value; and back to names and plain values."""

import dataclasses
import importlib
import re
import sys
import types

import pytest
from helpers.configured import configured
from helpers.tiny import yamls
from omegaconf import OmegaConf

from dyparse.config.build import (
    build,
    checked,
    construct,
    describe,
    require_loadable,
    restore,
)
from dyparse.config.choices import NotImportedError, names
from dyparse.config.options import EvaluateOptions, TrainOptions
from dyparse.errors import ConfigError
from dyparse.evaluation.evaluate import evaluate
from dyparse.model.sizes import ScorerSizes
from dyparse.training.run import train
from dyparse.training.settings import TrainingSettings

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
    settings = construct(TrainingSettings, OmegaConf.to_container(config.trainer), "trainer")
    assert settings.epochs == config.trainer.epochs


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
    ("encoder.features=[word,tag]", "encoder.features: no feature 'tag'"),
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
    (
        "system._target_=json.Mine",
        "system._target_: no system 'json.Mine': json has no class 'Mine'",
    ),
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
    options = OmegaConf.to_container(OmegaConf.load(path))
    if options.get("pretrained") == "":
        options["pretrained"] = "bert@0123456789abcdef"
    chosen = build(options, choice)
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


def test_a_class_outside_the_package_is_described_by_its_path(mylab):
    steep = mylab.Steep(slope=2.0)
    described = describe(steep)
    assert described == {"name": "mylab_losses.Steep", "margin": 1.0, "slope": 2.0, "weight": 1.0}
    assert restore("loss", described) == steep
    require_loadable("loss", steep)


def test_restoring_never_imports(mylab):
    described = describe(mylab.Steep())
    sys.modules.pop("mylab_losses")
    with pytest.raises(NotImportedError, match=r"needs mylab_losses\.Steep; import mylab_losses"):
        restore("loss", described)
    assert "mylab_losses" not in sys.modules


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mylab_losses.NoSuch", "mylab_losses has no class 'NoSuch'"),
        (
            "mylab_losses.NoLoss",
            "mylab_losses.NoLoss is not derived from dyparse.loss.Loss, so it cannot be a loss",
        ),
        ("mylab_losses.NotFrozen", "is not a dataclass with frozen=True"),
        ("mylab_losses.Outer", "is not a dataclass"),
        ("pathlib.Path", "is not a dataclass"),
        ("dyparse.system.arc_eager.ArcEager", "is not derived from dyparse.loss.Loss"),
    ],
)
@pytest.mark.usefixtures("mylab")
def test_a_class_that_does_not_fit_is_neither_built_nor_restored(name, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        build({"_target_": name}, "loss")
    with pytest.raises(ConfigError, match=re.escape(message)):
        restore("loss", {"name": name})


def test_a_class_without_the_members_of_its_protocol_does_not_fit(mylab):
    with pytest.raises(
        ConfigError, match=r"mylab_losses\.Steep has no 'open', so it cannot be a log"
    ):
        build({"_target_": f"{mylab.__name__}.Steep"}, "logger")


@pytest.mark.parametrize("choice", ["system", "exploration"])
def test_what_is_derived_from_nothing_is_no_system_and_no_exploration(mylab, choice):
    message = f"is not derived from dyparse.{choice}.{choice.capitalize()}"
    with pytest.raises(ConfigError, match=message):
        build({"_target_": f"{mylab.__name__}.Steep"}, choice)


def test_options_left_from_another_class_are_named_with_a_remedy(mylab):
    with pytest.raises(ConfigError, match=r"option loss\.scale: .* leave it out with ~loss\.scale"):
        build({"_target_": f"{mylab.__name__}.Steep", "scale": 1.0}, "loss")


def unloadable(mylab, monkeypatch):
    """Objects that no other program could make again, and why."""

    @dataclasses.dataclass(frozen=True)
    class Local(mylab.Steep):
        pass

    yield Local(), "is defined inside a function or class; define it in a module"
    yield mylab.Outer.Inner(), "is defined inside a function or class"
    yield mylab.NoLoss(), "is not derived from dyparse.loss.Loss"
    yield mylab.WithPath(), "cannot be written to a file"
    yield mylab.WithState(), "cannot be written to a file"
    yield mylab.WithName(name="b"), "an option of it cannot be called name"
    lost = mylab.Steep()
    monkeypatch.setattr(mylab, "Steep", mylab.WithName)
    yield lost, "is not what mylab_losses has under this name"
    monkeypatch.setattr(type(lost), "__module__", "__main__")
    yield lost, "is defined in the program that runs"
    monkeypatch.setattr(type(lost), "__module__", "made_up")
    monkeypatch.setitem(sys.modules, "made_up", types.ModuleType("made_up"))
    yield lost, "is in a module that cannot be imported"


def test_what_could_not_be_loaded_again_is_refused(mylab, monkeypatch):
    for chosen, message in unloadable(mylab, monkeypatch):
        with pytest.raises(ConfigError, match=re.escape(message)) as caught:
            require_loadable("loss", chosen)
        assert str(caught.value).startswith("loss: a model could not be loaded again, for ")


def test_training_refuses_such_a_class_before_anything_is_read(tmp_path, monkeypatch):
    module = "from dyparse.system.arc_eager import ArcEager\nclass Outer:\n    Inner = ArcEager\n"
    module += "Mine = type('Mine', (ArcEager,), {'__qualname__': 'Outer.Mine'})\n"
    (tmp_path / "my_eager.py").write_text(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    config = configured("trainer=debug", "system._target_=my_eager.Mine", "output=run")
    with pytest.raises(ConfigError, match="system: a model could not be loaded again"):
        train(config, read=pytest.fail)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("choice", CHOICES)
def test_every_alternative_of_a_choice_has_a_yaml(choice):
    assert [path.stem for path in yamls(choice)] == names(choice)


def test_construct_fills_in_what_is_not_given():
    assert construct(ScorerSizes, {"hidden": 5}, "network") == ScorerSizes(hidden=5)
    assert construct(ScorerSizes, {}, "network") == ScorerSizes()
