"""Wrong options that Hydra itself finds: one message, and nothing is written."""

import os
import re

import pytest
from helpers.configured import configured
from helpers.tiny import PROJECT, run
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from dyparse.config.hydra_errors import clear_option_errors, explanation


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("nosuch=1", "option nosuch: there is no such option; there are treebank, "),
        ("+trainer.nosuch=1", "option trainer.nosuch: trainer has no such option; .* patience"),
        ("trainer=null", "must be a string"),
        ("output=/dev/null/here", "/dev/null/here: cannot be written .* output=DIR"),
    ],
)
def test_train_py_stops_with_a_message_and_writes_nothing(override, message, tmp_path):
    done = run("train.py", "trainer=debug", "output=here", override, cwd=tmp_path)
    assert done.returncode == 2
    assert re.match(f"error: .*{message}", done.stderr), done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("trainer.epoch=1", "option trainer.epoch: trainer has no such option; .* mean 'epochs'"),
        ("system=arc_eagr", "there is no system 'arc_eagr'; .* did you mean 'arc_eager'"),
        ("trainer.epochs", "'trainer.epochs' cannot be read as an option; expected key=value"),
        ("trainer.epochs=[1", "cannot be read as an option; expected key=value"),
        ("output=a(1)", r"cannot be read as an option; with quotes it can: \"output='a\(1\)'\""),
        ("experiment=none", "there is no experiment 'none'; there are aggrevate"),
        ("~nosuch", "nosuch"),
        ("epochs=3", "option epochs: .* did you mean .*trainer.epochs?"),
        ("exploration=dynamic", "no exploration 'dynamic'; .* dagger_replay, .* default, explore"),
        ("exploration=aggrevate", "is an exploration and a loss: experiment=aggrevate$"),
        ("loss=policy_gradient", "is an exploration and a loss: experiment=policy_gradient$"),
        ("treebank=smaple", "expected sample, .* CoNLL-U file; did you mean 'sample'"),
        (
            "treebank=nosuch",
            "no treebank 'nosuch'; expected sample, the directory of a UD treebank, or a CoNLL-U",
        ),
    ],
)
def test_what_hydra_finds_wrong_is_one_message_with_a_remedy(override, message):
    with pytest.raises((HydraException, OmegaConfBaseException)) as caught:
        configured(override)
    explained = explanation(caught.value)
    assert re.search(message, explained), explained
    assert "\n" not in explained


def test_a_bug_is_not_reported_as_a_wrong_option(tmp_path):
    (tmp_path / "broken.py").write_text(
        "import sys\n"
        "from dyparse.config.application import run_application\n"
        "def task(config):\n"
        "    int('no number')\n"
        "run_application(task, 'train', sys.argv[1:])\n"
    )
    done = run(tmp_path / "broken.py", "trainer=debug", cwd=tmp_path, PYTHONPATH=str(PROJECT))
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "ValueError: invalid literal" in done.stderr


@pytest.mark.parametrize(("kind", "call"), [(ValueError, int), (OSError, os.stat)])
def test_errors_before_the_task_starts_are_messages_and_those_of_the_task_are_raised(kind, call):
    def task():
        call("no such thing")

    with pytest.raises(SystemExit) as caught, clear_option_errors(task):
        call("no such thing")
    assert caught.value.code == 2
    with pytest.raises(kind), clear_option_errors(task):
        task()


def test_evaluate_without_a_model_names_the_newest(tmp_path):
    for age, name in enumerate(["old", "new"]):
        model = tmp_path / "outputs" / name / "model"
        model.mkdir(parents=True)
        (model / "manifest.sha256").touch()
        os.utime(model / "manifest.sha256", (age, age))
    done = run("evaluate.py", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: which model? give model=DIR, as training prints it; the newest here is "
        "model=outputs/new/model\n"
    )
