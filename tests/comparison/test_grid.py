"""The cells of a grid, and the errors found before any of them is trained."""

import re
import sys
from dataclasses import replace

import pytest
from helpers.tiny import UD
from omegaconf import OmegaConf

from dyparse.comparison.experiment import experiment_grid
from dyparse.comparison.grid import (
    Grid,
    Selection,
    plan,
    select_choice,
    select_treebank,
)
from dyparse.errors import ConfigError
from dyparse.evaluation.run_result import RESULT, Cell

VALUES = {
    "system": ["arc_eager", "attardi"],
    "exploration": ["static", "explore"],
    "loss": ["set_nll"],
    "treebank": ["sample"],
    "seed": [1, 2, 3],
}


OUTSIDE = """
from dataclasses import dataclass

from dyparse.exploration.explore import Explore
from dyparse.loss.hinge import Hinge


@dataclass(frozen=True)
class SteepHinge(Hinge):
    slope: float = 1.0
    note: str = ""


@dataclass(frozen=True)
class Wander(Explore):
    pass
"""


@pytest.fixture
def mylab(tmp_path, monkeypatch):
    """A module outside the package, in a directory that Python imports from."""
    directory = tmp_path / "outside"
    directory.mkdir()
    (directory / "mylab.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(directory)
    yield
    sys.modules.pop("mylab", None)


def planned(directory, overrides=("trainer=debug",), **values):
    return plan(Grid(VALUES | values, overrides), directory)


def test_every_combination_is_planned_once_in_a_directory_of_its_own(tmp_path):
    tasks = planned(tmp_path)
    cells = [task.cell for task in tasks]
    assert len(cells) == len(set(cells)) == 12
    assert len({task.directory for task in tasks}) == 12
    assert Cell("attardi", "explore", "set_nll", "sample", 3) in cells


def test_all_cells_of_a_seed_come_before_those_of_the_next(tmp_path):
    assert [task.cell.seed for task in planned(tmp_path)] == [1] * 4 + [2] * 4 + [3] * 4


def test_cells_that_are_given_twice_are_planned_once(tmp_path):
    tasks = planned(tmp_path, system=["arc_eager", "arc_eager:root=last"], seed=[1, 1])
    assert [task.cell.exploration for task in tasks] == ["static", "explore"]


def test_options_of_a_choice_follow_its_name(tmp_path):
    (task,) = planned(
        tmp_path,
        system=["nonmonotonic:reduce=false"],
        exploration=["explore:probability=0.5,first_epochs=0"],
        seed=[4],
    )
    assert task.config.system.reduce is False
    assert task.config.exploration.probability == 0.5
    assert task.config.trainer.epochs == 1
    assert task.config.seed == 4
    assert task.cell.system == "nonmonotonic:reduce=false"
    assert task.cell.exploration == "explore:first_epochs=0,probability=0.5"
    assert select_choice("loss", "hinge:margin=2") == (["loss=hinge", "loss.margin=2"], {})


@pytest.mark.usefixtures("mylab")
def test_classes_from_outside_the_package_are_given_by_their_dotted_path(tmp_path):
    (task,) = planned(
        tmp_path,
        system=["arc_eager"],
        exploration=["mylab.Wander"],
        loss=["mylab.SteepHinge:slope=2,note=${seed}", "mylab.SteepHinge:note=${seed},slope=2.0"],
        seed=[1],
    )
    assert task.config.exploration["_target_"] == "mylab.Wander"
    options = {"margin": 1.0, "slope": 2.0, "note": "${seed}", "weight": 1.0}
    found = OmegaConf.to_container(task.config.loss, resolve=True)
    assert found == {"_target_": "mylab.SteepHinge", **options}
    assert task.cell.exploration == "mylab.Wander"
    assert task.cell.loss == "mylab.SteepHinge:slope=2.0,note=${seed}"
    assert re.fullmatch(r"arc_eager-mylab\.Wander-sample-seed1-\w+", task.directory.name)


@pytest.mark.usefixtures("mylab")
def test_overrides_that_would_not_reach_a_class_from_outside_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"loss mylab\.SteepHinge:margin=2"):
        planned(tmp_path, loss=["hinge", "mylab.SteepHinge"], overrides=["loss.margin=2"])


def test_a_class_of_the_package_may_be_given_by_its_path_too():
    path = "dyparse.loss.hinge.Hinge"
    assert select_choice("loss", f"{path}:margin=2") == select_choice("loss", "hinge:margin=2")


def test_directories_differ_exactly_if_options_do(tmp_path):
    names = [task.directory for task in planned(tmp_path)]
    assert names == [task.directory for task in planned(tmp_path)]
    longer = planned(tmp_path, overrides=["trainer=debug", "trainer.epochs=2"])
    assert not set(names) & {task.directory for task in longer}


@pytest.mark.skipif(not UD.is_dir(), reason="no UD treebanks: set DYPARSE_UD")
def test_the_location_of_a_treebank_does_not_change_the_name_of_a_run(tmp_path):
    treebank = next(UD.glob("UD_Hungarian-*"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / treebank.name).symlink_to(treebank)
    here, there = (
        [task.directory.name for task in planned(tmp_path, treebank=[str(place)])]
        for place in (treebank, tmp_path / "elsewhere" / treebank.name)
    )
    assert here == there
    options = {"root": str(UD.absolute()), "name": treebank.name}
    assert select_treebank(str(treebank)) == Selection(["treebank=ud"], options)
    with pytest.raises(ConfigError, match="two treebanks are called UD_Hungarian"):
        planned(tmp_path, treebank=[str(treebank), str(tmp_path / "elsewhere" / treebank.name)])


@pytest.mark.skipif(not UD.is_dir(), reason="no UD treebanks: set DYPARSE_UD")
@pytest.mark.parametrize("name", ["a,b=(c)", "it's #1 $é", "null", "${x}"])
def test_the_directory_of_a_treebank_may_have_any_name(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "UD_X").symlink_to(next(UD.glob("UD_Hungarian-*")))
    task = planned(tmp_path, treebank=[str(tmp_path / name / "UD_X")])[0]
    assert task.config.treebank.name == "UD_X"


def test_a_curriculum_can_be_a_value_of_the_grid(tmp_path):
    text = "curriculum:then=explore:probability=0.8+first_epochs=2,first_epochs=1"
    task = planned(tmp_path, exploration=[text])[0]
    assert task.cell.exploration == text
    assert task.config.exploration.then == "explore:probability=0.8+first_epochs=2"


def test_a_cell_is_finished_when_its_result_is_there(tmp_path):
    task = planned(tmp_path)[0]
    assert not task.is_finished
    task.directory.mkdir()
    assert not task.is_finished
    (task.directory / RESULT).touch()
    assert task.is_finished


@pytest.mark.parametrize(
    ("changed", "finding"),
    [
        ({"system": ["nosuch"]}, "nosuch"),
        ({"system": ["arc_eager:nosuch=1"]}, "nosuch"),
        ({"system": ["nosuch.Mine"]}, "^system nosuch.Mine"),
        ({"exploration": ["explore:probability=7"]}, "exploration.probability is 7"),
        ({"loss": ["hinge:margin=big"]}, "margin"),
        ({"treebank": ["no/such/place"]}, "^treebank no/such/place: no such file"),
        ({"overrides": ["trainer.nosuch=1"]}, "nosuch"),
        ({"overrides": ["trainer.epochs=0"]}, "trainer.epochs is 0"),
        ({"overrides": ["output=here"]}, "output is 'here'"),
        ({"seed": [-1]}, "seed is -1"),
    ],
)
def test_wrong_values_and_options_are_errors_before_anything_is_run(tmp_path, changed, finding):
    with pytest.raises(ConfigError, match=finding):
        planned(tmp_path, **changed)
    assert not list(tmp_path.iterdir())


def test_an_experiment_gives_the_axes_that_it_sweeps():
    values = experiment_grid("static_vs_dynamic", {}).values
    assert values["exploration"] == ["static", "ambiguity", "explore", "dagger_replay"]
    assert {"arc_eager", "nonmonotonic", "buffer", "attardi", "covington"} == set(values["system"])
    assert values["seed"] == [1, 2, 3]
    with pytest.raises(ConfigError, match="nosuch"):
        experiment_grid("nosuch", {})


def test_other_axes_are_as_the_experiment_chooses_and_static_is_compared_with_them(tmp_path):
    (tmp_path / "experiment").mkdir()
    (tmp_path / "own.conllu").write_text("")
    (tmp_path / "experiment/mine.yaml").write_text(
        "# @package _global_\n"
        "defaults:\n  - override /system: attardi\n  - override /treebank: files\n"
        f"treebank:\n  train: {tmp_path}/own.conllu\nseed: 5\n"
    )
    grid = experiment_grid("mine", {}, ["trainer=debug"], tmp_path)
    cells = [task.cell for task in plan(grid, tmp_path / "grid", tmp_path)]
    expected = Cell("attardi", "static", "set_nll", "own", 5)
    assert cells == [expected, replace(expected, exploration="dagger_replay")]
    given = {"system": ["swap"], "exploration": ["explore"], "seed": [2]}
    (task,) = plan(experiment_grid("mine", given, ["trainer=debug"], tmp_path), tmp_path, tmp_path)
    assert task.cell == Cell("swap", "explore", "set_nll", "own", 2)


def test_without_an_experiment_static_is_compared_with_the_default_training(tmp_path):
    tasks = plan(experiment_grid("none", {}, ["trainer=debug"]), tmp_path)
    assert [task.cell.exploration for task in tasks] == ["static", "dagger_replay"]


def test_an_experiment_may_be_in_a_directory_of_ones_own(tmp_path):
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment/mine.yaml").write_text("# @package _global_\nseed: 7\n")
    grid = Grid(VALUES | {"seed": [2]}, ["experiment=mine", "trainer=debug"])
    assert len(plan(grid, tmp_path / "grid", tmp_path)) == 4


def test_a_file_is_a_treebank(tmp_path):
    (tmp_path / "own.conllu").write_text("")
    (task, *_) = planned(tmp_path, treebank=[str(tmp_path / "own.conllu")])
    assert task.cell.treebank == "own"
    assert task.config.treebank.train == str(tmp_path / "own.conllu")
