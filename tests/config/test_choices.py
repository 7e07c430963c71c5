"""Choices by name: what there is, what text means which, and the text of each."""

import dataclasses
import importlib
import sys

import pytest
from helpers.tiny import yamls
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import example, given
from hypothesis import strategies as st
from omegaconf import OmegaConf

import dyparse.loss
from dyparse.config import choices as choice
from dyparse.config.build import build, construct
from dyparse.errors import ConfigError
from dyparse.exploration.ambiguity import Ambiguity
from dyparse.exploration.curriculum import Curriculum
from dyparse.exploration.explore import Explore
from dyparse.exploration.sample import Sample
from dyparse.loss.expected_cost import ExpectedCost
from dyparse.loss.softmax_margin import SoftmaxMargin
from dyparse.system.arc_eager import ArcEager
from dyparse.system.buffer import Buffer

FOLDERS = ("system", "exploration", "loss")
FILES = [path for folder in FOLDERS for path in yamls(folder)]
OTHER_TEXT = {
    "root": "first",
    "first": "ambiguity",
    "then": "sample:temperature=0.5",
    "schedule": "linear",
}

files = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
folders = pytest.mark.parametrize("folder", FOLDERS)


def changed(name, default):
    """Another value that an option may have."""
    if isinstance(default, bool):
        return not default
    if isinstance(default, str):
        return OTHER_TEXT[name]
    return {int: 4, float: 0.25, type(None): 3}[type(default)]


@folders
def test_the_names_are_those_of_the_yamls_in_alphabetical_order(folder):
    assert choice.names(folder) == [path.stem for path in yamls(folder)]


def test_modules_with_an_underscore_are_no_alternatives():
    importlib.import_module("dyparse.system._best_gains")
    assert not any(name.startswith("_") for name in choice.names("system"))
    with pytest.raises(ValueError, match="no system '_best_gains'"):
        choice.find("system", "_best_gains")


@files
def test_a_name_finds_the_class_that_the_yaml_names(path):
    found = choice.find(path.parent.name, path.stem)
    assert f"{found.__module__}.{found.__qualname__}" == OmegaConf.load(path)._target_


@files
def test_a_name_alone_means_the_options_of_the_yaml(path):
    configured = build(OmegaConf.to_container(OmegaConf.load(path)), path.parent.name)
    loaded = choice.load(path.parent.name, path.stem)
    assert loaded == configured
    assert type(loaded) is type(configured)
    assert choice.text_of(configured) == path.stem


@files
def test_text_and_what_it_means_are_inverse_for_every_changed_option(path):
    folder, default = path.parent.name, choice.load(path.parent.name, path.stem)
    others = {f.name: changed(f.name, f.default) for f in dataclasses.fields(default)}
    for options in [{name: value} for name, value in others.items()] + [others]:
        chosen = dataclasses.replace(default, **options)
        text = choice.text_of(chosen)
        again = choice.load(folder, text)
        assert again == chosen
        for name, value in options.items():
            assert type(getattr(again, name)) is type(value)
            assert f"{name}={str(value).lower()}" in text
        assert choice.text_of(again) == text


@pytest.mark.parametrize(
    ("folder", "text", "expected"),
    [
        ("system", "arc_eager", ArcEager()),
        ("system", "arc_eager:", ArcEager()),
        (
            "system",
            "arc_eager:root=first,single_root=false",
            ArcEager(root="first", single_root=False),
        ),
        ("system", "buffer:gap=1,left_buffer=False", Buffer(gap=1, left_buffer=False)),
        ("exploration", "explore:probability=1", Explore(probability=1.0)),
        ("exploration", "explore:probability=5e-1,first_epochs=0", Explore(0, 0.5)),
        ("exploration", "explore:first_epochs=2,first_epochs=3", Explore(first_epochs=3)),
        ("exploration", "ambiguity", Ambiguity()),
        (
            "exploration",
            "curriculum:then=sample:temperature=2.0,first_epochs=1",
            Curriculum(then="sample:temperature=2.0", first_epochs=1),
        ),
        ("loss", "expected_cost:most_cost=2", ExpectedCost(2)),
        ("loss", "softmax_margin:most_cost=2,scale=3", SoftmaxMargin(3.0, 2)),
    ],
)
def test_options_in_text_have_the_types_of_the_defaults(folder, text, expected):
    loaded = choice.load(folder, text)
    assert loaded == expected
    for field in dataclasses.fields(expected):
        assert type(getattr(loaded, field.name)) is type(getattr(expected, field.name))


def test_options_by_name_go_before_those_in_the_text():
    loaded = choice.load("exploration", "sample:temperature=2,first_epochs=3", temperature=0.5)
    assert loaded == Sample(first_epochs=3, temperature=0.5)


def test_the_text_names_only_what_is_not_default_in_the_order_of_the_fields():
    assert choice.text_of(ArcEager()) == "arc_eager"
    assert choice.text_of(ArcEager(single_root=False)) == "arc_eager:single_root=false"
    both = ArcEager(single_root=False, root="first")
    assert choice.text_of(both) == "arc_eager:root=first,single_root=false"
    assert choice.text_of(Explore(probability=0.5)) == "explore:probability=0.5"
    assert choice.text_of(ExpectedCost(most_cost=1)) == "expected_cost:most_cost=1"


@pytest.mark.parametrize(
    ("folder", "text", "findings"),
    [
        ("system", "arc_eagre", ["no system 'arc_eagre'", "did you mean 'arc_eager'?"]),
        ("exploration", "expolre:probability=1", ["no exploration 'expolre'", "'explore'?"]),
        ("loss", "zzz", ["no loss 'zzz'; there are binary, cost_regression,"]),
        ("system", "", ["no system ''; there are arc_eager, "]),
        ("system", "../errors", ["no system '../errors'"]),
        ("exploration", "explore:probabilty=1", ["'explore' has no option 'probabilty'"]),
        ("exploration", "explore:a=1", ["'a'; it takes first_epochs, probability"]),
        ("exploration", "static:a=1", ["exploration 'static' has no option 'a'; it takes none"]),
        (
            "exploration",
            "explore:probability",
            ["'probability' is not an option, expected key=value"],
        ),
        ("exploration", "explore:probability=2", ["exploration.probability is 2.0"]),
        ("system", "arc_eager:single_root=perhaps", ["system.single_root is 'perhaps'"]),
        ("system", "buffer:gap=wide", ["gap is 'wide', expected a whole number"]),
    ],
)
def test_what_cannot_be_meant_is_a_value_error_with_a_remedy(folder, text, findings):
    with pytest.raises(ValueError, match=r"\w") as raised:
        choice.load(folder, text)
    for finding in findings:
        assert finding in str(raised.value)


def test_a_name_like_no_other_gets_no_hint():
    with pytest.raises(ValueError, match="no system 'zzz'") as raised:
        choice.load("system", "zzz")
    assert "did you mean" not in str(raised.value)


def test_an_unknown_option_given_by_name_is_refused_as_one_in_text():
    with pytest.raises(ValueError, match="'sample' has no option 'temprature'; it takes first_epo"):
        choice.load("exploration", "sample", temprature=1.0)


@pytest.mark.parametrize(
    ("folder", "text"),
    [
        ("exploration", "explore:probability=often"),
        ("exploration", "explore:first_epochs=2.5"),
        ("loss", "hinge:margin=wide"),
    ],
)
def test_a_number_that_is_none_is_a_value_error(folder, text):
    with pytest.raises(ValueError, match=text.partition("=")[2]):
        choice.load(folder, text)


def test_stages_with_several_options_keep_them():
    chosen = Curriculum(then="explore:probability=0.8+first_epochs=2")
    assert chosen.stage("then") == Explore(probability=0.8, first_epochs=2)
    assert choice.load("exploration", choice.text_of(chosen)) == chosen


@pytest.mark.parametrize("text", ["mylab_losses.Steep", "mylab_losses.Steep:margin=2.0,slope=0.5"])
@pytest.mark.usefixtures("mylab")
def test_text_may_have_the_path_of_a_class_outside_the_package(text):
    chosen = choice.load("loss", text)
    assert choice.text_of(chosen) == text
    assert choice.name_of(chosen) == choice.name_of(type(chosen)) == "mylab_losses.Steep"
    assert choice.find("loss", "mylab_losses.Steep") is type(chosen)


def test_a_class_of_the_package_has_its_bare_name_however_it_was_found():
    found = choice.find("system", "dyparse.system.arc_eager.ArcEager")
    assert found is ArcEager
    assert choice.name_of(found) == "arc_eager"
    assert choice.name_of(choice.NotImportedError) == "dyparse.config.choices.NotImportedError"


def test_modules_outside_the_package_are_listed_once(mylab):
    chosen = [mylab.Steep(), ArcEager(), mylab.WithName()]
    assert choice.outside_modules(chosen) == ["mylab_losses"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory that Python does not import from by itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("of_test"):
            del sys.modules[name]


def test_modules_are_imported_from_the_current_directory_too(here):
    (here / "of_test_here.py").write_text("VALUE = 1\n")
    choice.import_modules(["of_test_here", "json"])
    assert sys.modules["of_test_here"].VALUE == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"cannot import of_test \(ModuleNotFoundError: No module named 'of_test'\); expect"),
        ("import of_test_not", r"\(ModuleNotFoundError: No module .*of_test_not.*/of_test\.py:1\)"),
        ("\n1 / 0", r"\(ZeroDivisionError: division by zero, .*/of_test\.py:2\)"),
        ("def broken", r"\(SyntaxError: .*of_test\.py"),
        ("raise ValueError('one\\ntwo')", r"\(ValueError: one two, "),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_message_that_says_where(here, content, message):
    if content:
        (here / "of_test.py").write_text(content)
    with pytest.raises(ConfigError, match=message) as caught:
        choice.import_modules(["of_test"])
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=message):
        choice.load("loss", "of_test.Mine")


@pytest.mark.parametrize("name", ["", ".", ".relative", "a..b"])
def test_what_is_no_name_of_a_module_is_refused(name):
    with pytest.raises(ConfigError, match="cannot import"):
        choice.import_modules([name])


def test_names_from_a_file_are_looked_up_without_importing(here):
    (here / "of_test_file.py").write_text("raise SystemExit\n")
    with choice.no_new_imports(), pytest.raises(choice.NotImportedError, match="of_test_file"):
        choice.load("loss", "of_test_file.Mine")
    with choice.no_new_imports():
        assert choice.load("loss", "hinge:margin=2") == choice.load("loss", "hinge", margin=2.0)


ALTERNATIVE = """
from dataclasses import dataclass

from dyparse.loss import Loss

@dataclass(frozen=True)
class Helper:
    size: int = 1

@dataclass(frozen=True)
class {first}(Loss):
    def __call__(self, scores, legal, cost):
        return scores.sum(-1)

@dataclass(frozen=True)
class {second}({first}):
    scale: float = 1.0
"""


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("OfTestLoss", "OfTestOther", "OfTestLoss"),
        ("OfTestOther", "OfTestLoss", "OfTestLoss"),
        ("OfTestOne", "OfTestTwo", None),
    ],
)
def test_of_several_dataclasses_the_one_named_as_its_module_is_the_alternative(
    tmp_path, monkeypatch, first, second, found
):
    content = ALTERNATIVE.format(first=first, second=second)
    (tmp_path / "of_test_loss.py").write_text(content)
    monkeypatch.setattr(dyparse.loss, "__path__", [*dyparse.loss.__path__, str(tmp_path)])
    try:
        if found:
            assert choice.find("loss", "of_test_loss").__name__ == found
        else:
            with pytest.raises(ValueError, match="has no single dataclass that can be a loss"):
                choice.find("loss", "of_test_loss")
    finally:
        sys.modules.pop("dyparse.loss.of_test_loss", None)


@given(st.text(st.characters(exclude_characters="$", exclude_categories=("Cs", "Cc")), min_size=1))
@example("a\\b")
@example("a\\\\'b\\")
def test_any_text_can_be_written_as_an_override(text):
    override = OverridesParser.create().parse_override(f"key={choice.for_hydra(text)}")
    read = override.value()
    assert str(read) == text or not isinstance(read, str)  # a number stays one


@pytest.mark.parametrize("value", [2**31, 10**20, -(10**20)])
def test_numbers_that_compiled_code_cannot_take_are_refused(value):
    with pytest.raises(ValueError, match=r"gap is -?\d+, expected at most 2,147,483,647"):
        choice.load("system", f"buffer:gap={value}")
    with pytest.raises(ConfigError, match=r"exploration.round_epochs is .*, expected at most"):
        construct(choice.find("exploration", "dagger"), {"round_epochs": value}, "exploration")
