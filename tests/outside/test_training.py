"""Classes outside the package train, are saved by name, load where they are imported, and parse."""

import importlib
import json
import shlex

import pytest
import yaml
from helpers.labelled_search import OneNumber, assert_exact
from helpers.tiny import SETTINGS, fresh_parser, plan, run, sample

import dyparse
from dyparse.config.choices import import_modules
from dyparse.errors import CheckpointError
from dyparse.training.session import Session

NEEDED = ("short_stack", "mylab.models")  # by the model
TEXT = "The dog barks.\nA cat sleeps.\n"
LOAD = "import dyparse; dyparse.load('run/model'); print('loaded')"


def test_a_run_names_its_classes_and_says_what_the_model_needs(outside_run):
    config = yaml.safe_load((outside_run / "run" / "model" / "config.yaml").read_text())
    assert config["system"] == {"name": "short_stack.ShortStack", "right_first": True}
    assert config["encoder"]["name"] == "mylab.models.Narrow"
    cell = json.loads((outside_run / "run" / "result.json").read_text())["cell"]
    assert cell["system"] == "short_stack.ShortStack"
    assert cell["exploration"] == "my_training.Anneal"
    assert cell["loss"] == "my_training.SquaredHinge"
    printed = (outside_run / "printed.txt").read_text()
    assert "short_stack.ShortStack, my_training.Anneal, my_training.SquaredHinge;" in printed
    imports = "--import short_stack --import mylab.models"
    assert f"dyparse parse {imports} run/model FILE.txt" in printed


def test_the_model_is_not_loaded_before_its_modules_are_imported(outside_run, monkeypatch):
    """Loading imports nothing by itself, not even what could be imported."""
    monkeypatch.syspath_prepend(outside_run)
    with pytest.raises(CheckpointError) as caught:
        dyparse.load(outside_run / "run" / "model")
    message = str(caught.value)
    assert "this model needs short_stack.ShortStack; import short_stack before loading" in message
    assert "--import short_stack" in message
    assert "'imports=[short_stack]'" in message
    assert "damaged" not in message


def test_the_model_parses_where_its_modules_are_imported(importable):
    import_modules(NEEDED)
    parser = dyparse.load(importable / "run" / "model")
    assert type(parser.system) is importlib.import_module("short_stack").ShortStack
    trees = parser.parse(TEXT.splitlines())
    assert [len(tree.head) for tree in trees] == [4, 4]
    assert [tree.head.count(0) for tree in trees] == [1, 1]


@pytest.mark.usefixtures("importable")
def test_moves_of_the_system_can_carry_labels():
    import_modules(NEEDED)
    system = importlib.import_module("short_stack").ShortStack()
    assert_exact(OneNumber(system, ("a", "b", "root")), 3)
    parser = fresh_parser(sample("train")[:20], heads=["joint_labels"], system=system)
    session = Session(SETTINGS, parser, plan(sample("train")[:20], sample("dev")[:5]))
    result = session.step(next(iter(session.batches.stream(2)))[1], 0.5)
    assert result.paid > 0
    assert all("_" not in tree.label for tree in parser.parse(sample("dev")[:5]))


def test_the_printed_command_evaluates_the_model(outside_run):
    lines = (outside_run / "printed.txt").read_text().splitlines()
    (command,) = (line.split(None, 1)[1] for line in lines if line.startswith("evaluate "))
    program, script, *options = shlex.split(command)
    assert (program, script) == ("dyparse", "evaluate")
    assert "+treebank.n_sentences=10" in options
    done = run("-m", program, script, *options, "json=scores.json", cwd=outside_run)
    assert done.returncode == 0, done.stderr
    scores = json.loads((outside_run / "scores.json").read_text())
    assert scores["treebank"] == "part of sample"
    without = [option for option in options if not option.startswith("imports=")]
    done = run("-m", program, script, *without, cwd=outside_run)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "this model needs short_stack.ShortStack" in done.stderr


def test_the_model_parses_in_workers(outside_run):
    (outside_run / "sentences.txt").write_text(TEXT * 20)
    imports = [word for module in NEEDED for word in ("--import", module)]
    arguments = ["dyparse", "parse", "run/model", "sentences.txt", "--input=lines"]
    alone = run("-m", *arguments, *imports, cwd=outside_run, PYTHONSAFEPATH="1")
    assert alone.returncode == 0, alone.stderr
    assert alone.stdout.count("# text = ") == 40
    workers = run("-m", *arguments, *imports, "--workers", 2, cwd=outside_run, PYTHONSAFEPATH="1")
    assert workers.stdout == alone.stdout
    assert run("-m", *arguments, cwd=outside_run).returncode == 2
