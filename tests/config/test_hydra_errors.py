"""Wrong options that Hydra itself finds: one message, and nothing is written."""

import os
import re
import types

import pytest
from helpers.configured import configured
from helpers.tiny import CONF, PROJECT, run
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
        ("trainer.epochs=[1", "cannot be read as an option"),
        ("experiment=none", "there is no experiment 'none'; there are fast"),
        ("~nosuch", "nosuch"),
    ],
)
def test_what_hydra_finds_wrong_is_one_message_with_a_remedy(override, message):
    with pytest.raises((HydraException, OmegaConfBaseException)) as caught:
        configured(override)
    explained = explanation(caught.value)
    assert re.search(message, explained), explained
    assert "\n" not in explained


def test_a_bug_is_not_reported_as_a_wrong_option(tmp_path):
    mistake = "        __import__('dyparse').config.choices.find('system', 'nosuch')\n"
    script, begins = (PROJECT / "train.py").read_text(), "        train(config)"
    broken = script.replace(begins, mistake + begins)
    (tmp_path / "train.py").write_text(broken.replace('"conf"', repr(str(CONF))))
    done = run(tmp_path / "train.py", "trainer=debug", cwd=tmp_path, PYTHONPATH=str(PROJECT))
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "ValueError: no system 'nosuch'" in done.stderr


@pytest.mark.parametrize(("kind", "of_ours"), [(ValueError, int), (OSError, os.stat)])
def test_errors_before_the_program_starts_are_messages_and_later_ones_are_raised(kind, of_ours):
    with pytest.raises(SystemExit) as caught, clear_option_errors():
        of_ours("no such thing")
    assert caught.value.code == 2
    program = types.ModuleType("dyparse.of_the_test")
    exec("def work(call):\n    call('no such thing')", vars(program))
    with pytest.raises(kind), clear_option_errors():
        program.work(of_ours)
