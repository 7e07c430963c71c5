"""Options by Hydra: from the package, from a directory of one's own, for a command line."""

import json

import numpy as np
import pytest
from helpers.tiny import CONF
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from dyparse.config.application import (
    as_overrides,
    compose_options,
    config_files,
    run_application,
)
from dyparse.config.build import checked
from dyparse.config.options import TrainOptions
from dyparse.errors import ConfigError


def show(config):
    print(json.dumps(OmegaConf.to_container(config)))  # noqa: T201 - what the tests read


@pytest.fixture
def mine(tmp_path):
    """A directory with an experiment of one's own."""
    (tmp_path / "mine/experiment").mkdir(parents=True)
    (tmp_path / "mine/experiment/small.yaml").write_text("# @package _global_\nseed: 7\n")
    return tmp_path / "mine"


def test_options_come_from_the_package():
    assert set(config_files()) == {str(p.relative_to(CONF)) for p in CONF.rglob("*.yaml")}
    assert compose_options("train", ["seed=3", "system=swap"]).seed == 3


@pytest.mark.parametrize("option", ["--config-dir={}", "-cd {}", "--config-dir {}"])
def test_groups_of_ones_own_are_added(mine, option, capsys, monkeypatch):
    monkeypatch.chdir(mine.parent)
    arguments = [*option.format(mine.name).split(), "experiment=small"]
    run_application(show, "train", arguments)
    assert json.loads(capsys.readouterr().out)["seed"] == 7
    assert compose_options("train", ["experiment=small"], mine).seed == 7


@pytest.mark.parametrize(
    "arguments",
    [
        "network.dropout=0 --config-dir mine experiment=small",
        "network.dropout=0 -cd=mine experiment=small hydra.verbose=false",
        "network.dropout=0 --run experiment=small --config-dir mine",
    ],
)
def test_flags_may_stand_between_options(mine, arguments, capsys, monkeypatch):
    monkeypatch.chdir(mine.parent)
    run_application(show, "train", arguments.split())
    config = json.loads(capsys.readouterr().out)
    assert (config["seed"], config["network"]["dropout"]) == (7, 0)


def test_flags_keep_their_values(capsys):
    run_application(show, "train", ["seed=3", "--cfg", "job", "--package", "trainer", "seed=4"])
    assert "epochs:" in capsys.readouterr().out
    run_application(show, "train", ["seed=3", "--info", "searchpath", "seed=4"])
    assert "dyparse.conf" in capsys.readouterr().out


def test_a_complete_copy_of_the_options_may_replace_them(tmp_path, capsys, monkeypatch):
    for name, path in config_files().items():
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copy" / name).write_text(path.read_text().replace("seed: 1", "seed: 5"))
    monkeypatch.chdir(tmp_path)
    run_application(show, "train", ["--config-path", "copy"])
    assert json.loads(capsys.readouterr().out)["seed"] == 5


def test_a_file_that_would_have_no_effect_is_refused(mine):
    (mine / "trainer").mkdir()
    (mine / "trainer/debug.yaml").write_text("epochs: 2\n")
    with pytest.raises(ConfigError, match=r"trainer/debug.yaml: .* rename yours, .* --config-path"):
        run_application(show, "train", ["--config-dir", str(mine)])


def test_a_wrong_option_is_a_config_error_in_python():
    with pytest.raises(ConfigError, match=r"did you mean .*trainer\.epochs"):
        compose_options("train", ["epochs=3"])


def test_options_by_name_are_overrides():
    values = {"seed": 2, "resume": False, "output": None, "model": "a b", "heads": ["labels"]}
    assert as_overrides(["trainer=debug"], values) == [
        "trainer=debug",
        "seed=2",
        "resume=false",
        "output=null",
        "model='a b'",
        'heads=["labels"]',
    ]


@pytest.mark.parametrize("text", ["2024_01", "1e3", "null", "true", "inf", ".5", "-3", "a b", "é"])
def test_a_text_stays_a_text(text):
    assert compose_options("train", as_overrides([], {"output": text})).output == text


def test_numbers_of_numpy_and_letters_beyond_ascii_are_understood():
    config = compose_options("train", as_overrides([], {"seed": np.int64(3), "heads": ["ä"]}))
    assert (config.seed, config.heads) == (3, ["ä"])


def test_a_program_may_use_hydra_itself():
    with initialize_config_dir(str(CONF), version_base="1.3"):
        assert compose_options("train", ["seed=4"]).seed == 4
        assert compose("train", ["seed=5"]).seed == 5


@pytest.mark.parametrize("name", ["train", "evaluate"])
def test_an_unknown_option_is_one_message_also_where_another_is_missing(name):
    with pytest.raises(ConfigError, match="option nosuch: there is no such option"):
        compose_options(name, ["nosuch=1"])


def test_a_yaml_file_with_an_error_is_one_message(mine):
    (mine / "experiment/bad.yaml").write_text("# @package _global_\ntrainer: [1\n")
    with pytest.raises(ConfigError, match=r"bad\.yaml"):
        compose_options("train", ["experiment=bad"], mine)


def test_an_experiment_without_its_package_line_is_told_so(mine):
    (mine / "experiment/small.yaml").write_text("seed: 7\n")
    config = compose_options("train", ["experiment=small"], mine)
    with pytest.raises(ConfigError, match="must begin with the line `# @package _global_`"):
        checked(config, TrainOptions)


def test_a_choice_of_nothing_is_one_message():
    with pytest.raises(ConfigError, match="must be a string"):
        compose_options("train", ["trainer=null"])


def test_a_directory_without_a_name_is_one_message(capsys):
    with pytest.raises(SystemExit):
        run_application(show, "train", ["--config-dir"])
    assert "expected one argument" in capsys.readouterr().err
