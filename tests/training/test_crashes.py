"""Trainings that are killed, stopped, or cannot write: nothing that was result is lost."""

import errno
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock
from helpers.small_training import SMALL, outcome, started
from helpers.tiny import CONF, PROJECT, run
from hydra import compose, initialize_config_dir

from dyparse.errors import CheckpointError, ConfigError, DyparseError, DyparseWarning
from dyparse.runtime.signals import Stopped
from dyparse.training import resume as training_state
from dyparse.training.resume import NAME
from dyparse.training.run import train

CHOICES = {"system": "arc_eager", "exploration": "dagger_replay", "loss": "set_nll"}
KILLS = 20


def train_here(directory, *overrides):
    """A small training in this process."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("train", [*SMALL, f"output={directory}", *overrides])
    return train(config)


def ended(process, number, when):
    """Send a signal when something is so; status, output, errors."""
    deadline = time.monotonic() + 120
    while process.poll() is None and not when() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def killed(directory, moment):
    """Start a training and kill it so many seconds after it began to train; whether that hit it."""
    config = directory / "run" / "config.yaml"
    before = config.stat().st_mtime_ns if config.exists() else 0
    process = started(directory, "output=run")
    while process.poll() is None and not (config.exists() and config.stat().st_mtime_ns > before):
        time.sleep(0.01)
    time.sleep(moment)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_a_training_killed_at_any_moment_ends_like_an_undisturbed_one(
    number, undisturbed, tmp_path
):
    expected, seconds = undisturbed
    moment = random.Random(number).uniform(0, seconds)
    while not killed(tmp_path, moment):  # it was faster this time
        shutil.rmtree(tmp_path / "run")
        moment *= 0.8
    done = run("train.py", *SMALL, "output=run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert outcome(tmp_path / "run") == expected


@pytest.mark.slow
def test_a_training_killed_again_and_again_ends_like_an_undisturbed_one(undisturbed, tmp_path):
    expected, seconds = undisturbed
    chance, kills = random.Random(0), 0
    while kills < KILLS and killed(tmp_path, chance.uniform(0, seconds / 4)):
        kills += 1
    assert kills > 2
    done = run("train.py", *SMALL, "output=run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert outcome(tmp_path / "run") == expected


@pytest.mark.parametrize(
    ("number", "status"),
    [pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow), (signal.SIGTERM, 143)],
    ids=["ctrl-c", "sigterm"],
)
def test_a_signal_saves_the_training_and_the_same_command_resumes_it(
    number, status, undisturbed, tmp_path
):
    process = started(tmp_path, "output=run", "checkpoint_minutes=1000")
    ended_with, out, err = ended(process, number, (tmp_path / "run" / NAME).exists)
    assert ended_with == status, out + err
    assert "Traceback" not in err
    assert "stopped: saved after epoch " in err
    assert "the same command resumes from there" in err
    assert not list(tmp_path.rglob(".*.tmp"))
    again = run("train.py", *SMALL, "output=run", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "resuming" in again.stdout
    assert outcome(tmp_path / "run") == undisturbed[0]


def test_where_the_state_cannot_be_saved_training_continues_with_a_warning(
    undisturbed, tmp_path, monkeypatch
):
    def full(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(training_state, "replacing", full)
    with pytest.warns(DyparseWarning, match=r"No space left .* continues and is not saved yet"):
        train_here(tmp_path / "run")
    assert outcome(tmp_path / "run") == undisturbed[0]


def test_where_the_model_cannot_be_saved_training_ends_with_the_last_good_state(
    undisturbed, tmp_path, monkeypatch
):
    from dyparse.model.parser import Parser

    real = Parser.save

    def full_later(self, directory, metrics):
        if metrics["best_epoch"]["epoch"] > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(directory))
        real(self, directory, metrics)

    monkeypatch.setattr(Parser, "save", full_later)
    with pytest.raises(DyparseError, match=r"No space left .* saved up to epoch \d.*same command"):
        train_here(tmp_path / "run")
    monkeypatch.undo()
    train_here(tmp_path / "run")
    assert outcome(tmp_path / "run") == undisturbed[0]


@pytest.mark.slow
def test_a_disk_that_is_full_is_one_message_of_a_real_process(tmp_path):
    def small_files_only():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    process = subprocess.run(
        [sys.executable, PROJECT / "train.py", *SMALL, "output=run"],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        preexec_fn=small_files_only,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 2, process.stderr
    assert "Traceback" not in process.stderr
    assert "File too large; the training is not saved yet: make room" in process.stderr
    assert not list((tmp_path / "run").rglob(".*.tmp"))


@pytest.mark.slow
def test_a_crash_at_any_renaming_of_a_file_loses_nothing(tmp_path, monkeypatch):
    class Crash(BaseException):
        pass

    real, renamings, crash_at = Path.replace, 0, 0

    def crash_in_time(path, target):
        nonlocal renamings
        renamings += 1
        if renamings == crash_at:
            raise Crash
        return real(path, target)

    monkeypatch.setattr(Path, "replace", crash_in_time)
    train_here(tmp_path / "whole", "trainer.epochs=1")
    expected, all_renamings = outcome(tmp_path / "whole"), renamings
    assert all_renamings > 10
    for crash_at in range(1, all_renamings + 1):
        directory, renamings = tmp_path / f"crash{crash_at}", 0
        with pytest.raises(Crash):
            train_here(directory, "trainer.epochs=1")
        renamings = all_renamings
        train_here(directory, "trainer.epochs=1")
        assert outcome(directory) == expected


def test_two_processes_do_not_train_in_one_directory(tmp_path):
    (tmp_path / "run").mkdir()
    with (
        FileLock(tmp_path / "run" / ".lock"),
        pytest.raises(ConfigError, match="another process is training there"),
    ):
        train_here(tmp_path / "run")
    assert {path.name for path in (tmp_path / "run").iterdir()} <= {".lock"}


def test_an_unfinished_training_on_other_sentences_is_not_thrown_away(tmp_path, monkeypatch):
    from dyparse.logger.none import NoLogger

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(NoLogger, "epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_here(tmp_path / "run")
    monkeypatch.undo()
    state = (tmp_path / "run" / NAME).read_bytes()

    def fewer(treebank, split):
        return treebank.read(split)[:30]

    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("train", [*SMALL, f"output={tmp_path / 'run'}"])
    with pytest.raises(ConfigError, match=r"unfinished training on other sentences.*resume=false"):
        train(config, read=fewer)
    assert (tmp_path / "run" / NAME).read_bytes() == state


def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    for path in (tmp_path / "run", tmp_path / "run" / "model"):
        path.mkdir()
        Path(path, ".model.safetensors.123.tmp").write_bytes(b"half")
        Path(path, ".mine.123.tmp").write_bytes(b"of somebody else")
    train_here(tmp_path / "run", "resume=false")
    assert {path.name for path in tmp_path.rglob(".*.tmp")} == {".mine.123.tmp"}


def test_the_same_command_after_the_end_trains_nothing_and_prints_the_results(tmp_path, capsys):
    results = train_here(tmp_path / "run", "trainer.epochs=1")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")}
    capsys.readouterr()
    again = train_here(tmp_path / "run", "trainer.epochs=1")
    printed = capsys.readouterr().out
    assert again == results
    assert f"{results['test']['las']:.2f}" in printed
    assert "finished  already" in printed
    left = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")}
    assert {**left, tmp_path / "run" / ".lock": 0} == {**before, tmp_path / "run" / ".lock": 0}


def test_a_run_that_begins_anew_is_not_finished_until_it_is(tmp_path, monkeypatch):
    from dyparse.logger.none import NoLogger

    def interrupted(*_):
        raise KeyboardInterrupt

    train_here(tmp_path / "run")
    weights = (tmp_path / "run" / "model" / "model.safetensors").read_bytes()
    shutil.rmtree(tmp_path / "run" / "model")  # as `dyparse compare` does
    monkeypatch.setattr(NoLogger, "epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_here(tmp_path / "run")
    monkeypatch.undo()
    train_here(tmp_path / "run")
    assert (tmp_path / "run" / "model" / "model.safetensors").read_bytes() == weights
    assert (tmp_path / "run" / "result.json").exists()


def test_a_result_is_not_written_over_by_another_run_though_its_model_is_gone(tmp_path):
    train_here(tmp_path / "run", "trainer.epochs=1")
    shutil.rmtree(tmp_path / "run" / "model")  # as `dyparse compare` does
    result = (tmp_path / "run" / "result.json").read_bytes()
    with pytest.raises(ConfigError, match=r"holds a run with another seed; .*resume=false"):
        train_here(tmp_path / "run", "trainer.epochs=1", "seed=5")
    assert (tmp_path / "run" / "result.json").read_bytes() == result


def test_a_finished_run_whose_result_was_removed_is_run_again(tmp_path):
    train_here(tmp_path / "run", "trainer.epochs=1")
    before = outcome(tmp_path / "run")
    (tmp_path / "run" / "result.json").unlink()
    train_here(tmp_path / "run", "trainer.epochs=1")
    assert outcome(tmp_path / "run") == before


@pytest.mark.parametrize("name", ["model/model.safetensors", "model/config.yaml", "result.json"])
def test_a_finished_run_that_was_damaged_is_not_reported_as_sound(name, tmp_path):
    train_here(tmp_path / "run", "trainer.epochs=1")
    path = tmp_path / "run" / name
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DyparseError, match=r"resume=false|remove it and run the cell"):
        train_here(tmp_path / "run", "trainer.epochs=1")


@pytest.mark.parametrize("name", ["model", "result.json", "training.state"])
def test_what_is_in_the_way_of_a_run_is_found_before_anything_is_written(name, tmp_path):
    path = tmp_path / "run" / name
    path.parent.mkdir()
    path.write_text("x") if name == "model" else path.mkdir()
    with pytest.raises(ConfigError, match=rf"{name}: in the way.*output=DIR"):
        train_here(tmp_path / "run")
    assert list((tmp_path / "run").iterdir()) == [path]


def test_scores_on_a_previous_test_set_come_with_a_warning(tmp_path):
    def fewer(treebank, split):
        return treebank.read(split)[: 30 if split == "test" else None]

    train_here(tmp_path / "run", "trainer.epochs=1")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("train", [*SMALL, f"output={tmp_path / 'run'}", "trainer.epochs=1"])
    with pytest.warns(DyparseWarning, match=r"test sentences have changed since.*dyparse evaluate"):
        train(config, read=fewer)


@pytest.mark.slow
def test_standard_output_that_ends_is_named_and_the_training_is_saved(undisturbed, tmp_path):
    process = started(tmp_path, "output=run")
    while not process.stdout.readline().startswith("epoch"):
        assert process.poll() is None
    process.stdout.close()  # as `| head` does
    err = process.stderr.read()
    assert process.wait(timeout=120) == 2
    assert re.search(r"error: standard output: Broken pipe; the training .*: start the same", err)
    assert "Traceback" not in err
    done = run("train.py", *SMALL, "output=run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert outcome(tmp_path / "run") == undisturbed[0]


def test_a_finished_run_on_other_sentences_is_not_written_over(tmp_path):
    def fewer(treebank, split):
        return treebank.read(split)[:30]

    train_here(tmp_path / "run", "trainer.epochs=1")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("train", [*SMALL, f"output={tmp_path / 'run'}", "trainer.epochs=1"])
    before = (tmp_path / "run" / "model" / "model.safetensors").read_bytes()
    refused = pytest.raises(ConfigError, match=r"holds a run on other sentences.*resume=false")
    with refused:
        train(config, read=fewer)
    result = (tmp_path / "run" / "result.json").rename(tmp_path / "result.json")
    with refused:
        train(config, read=fewer)
    assert (tmp_path / "run" / "model" / "model.safetensors").read_bytes() == before
    result.rename(tmp_path / "run" / "result.json")
    shutil.rmtree(tmp_path / "run" / "model")  # as `dyparse compare` does
    with refused:
        train(config, read=fewer)
    assert (tmp_path / "run" / "result.json").exists()


def test_a_signal_after_the_last_epoch_is_not_forgotten(tmp_path, monkeypatch):
    from dyparse.training import run as experiment

    real = experiment.follow_training

    def follow_and_signal(*arguments):
        curve = real(*arguments)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)
        return curve

    monkeypatch.setattr(experiment, "follow_training", follow_and_signal)
    with pytest.raises(Stopped, match="saved after epoch 1"):
        train_here(tmp_path / "run", "trainer.epochs=1")
    monkeypatch.undo()
    train_here(tmp_path / "run", "trainer.epochs=1")
    assert (tmp_path / "run" / "result.json").exists()


def test_a_model_that_is_gone_at_the_end_is_an_error_with_the_remedy(tmp_path, monkeypatch):
    from dyparse.training import run as experiment

    real = experiment.follow_training

    def follow_and_remove(*arguments):
        curve = real(*arguments)
        shutil.rmtree(tmp_path / "run" / "model")
        return curve

    monkeypatch.setattr(experiment, "follow_training", follow_and_remove)
    with pytest.raises(CheckpointError, match=r"no such model directory.*resume=false"):
        train_here(tmp_path / "run", "trainer.epochs=1")


def test_ctrl_c_saves_although_nobody_reads_the_output(undisturbed, tmp_path):
    process = started(tmp_path, "output=run", "checkpoint_minutes=1000")
    process.stderr.close()
    while process.poll() is None and not (tmp_path / "run" / NAME).exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(timeout=120) == 130
    again = run("train.py", *SMALL, "output=run", cwd=tmp_path)
    assert "resuming" in again.stdout
    assert outcome(tmp_path / "run") == undisturbed[0]
