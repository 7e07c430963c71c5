"""wandb itself against a stand-in for its server: what is sent; faults stop no training."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from helpers.small_training import SMALL, outcome, started
from helpers.tiny import CONF, run
from helpers.wandb_server import KEY, wandb_server

ONLINE = ["output=run", "logger=wandb", "logger.mode=online", "logger.timeout_seconds=2"]
EPOCHS = [1, 2, 3, 4]


def assert_lost_nothing(done, directory, undisturbed):
    """Assert that the training ended like an undisturbed one."""
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    left = outcome(directory / "run")
    assert {path: left[path] for path in undisturbed[0]} == undisturbed[0]


def test_the_server_gets_every_epoch_but_no_token_and_no_path_of_the_machine(undisturbed, tmp_path):
    with wandb_server() as server:
        absolute = f"output={tmp_path / 'run'}"
        done = run("train.py", *SMALL, *ONLINE, absolute, cwd=tmp_path, **server.environment)
    assert_lost_nothing(done, tmp_path, undisturbed)
    assert "warning" not in done.stderr
    assert server.epochs() == [EPOCHS]
    assert {path.split("/")[1] for path, _ in server.received} == {"graphql", "files", "upload"}
    for secret in (str(tmp_path), KEY, str(CONF.parent), str(Path.home()), socket.gethostname()):
        if len(secret) >= 6:  # a shorter one is found by chance
            assert not [body for _, body in server.received if secret.encode() in body]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["breaks_off", "nonsense", "fails", "stalls"])
def test_a_server_that_fails_in_the_middle_loses_no_training(fault, undisturbed, tmp_path):
    with wandb_server(fault) as server:
        done = run("train.py", *SMALL, *ONLINE, cwd=tmp_path, **server.environment)
    assert server.has_fault()
    assert_lost_nothing(done, tmp_path, undisturbed)
    assert list((tmp_path / "run" / "wandb").glob("run-*/*.wandb"))  # for `wandb sync`


@pytest.mark.slow
def test_a_server_that_is_not_there_loses_no_training(undisturbed, tmp_path):
    nobody = {"WANDB_API_KEY": KEY, "WANDB_BASE_URL": "http://127.0.0.1:9"}
    done = run("train.py", *SMALL, *ONLINE, cwd=tmp_path, **nobody)
    assert_lost_nothing(done, tmp_path, undisturbed)
    assert "warning: wandb: cannot be reached" in done.stderr
    assert list((tmp_path / "run" / "wandb").glob("offline-run-*"))


def epochs_written(directory):
    """Number of epochs in a run's metrics.jsonl."""
    path = directory / "run" / "metrics.jsonl"
    return path.read_text().count("\n") if path.exists() else 0


def training_after_one_epoch(directory, server, *overrides):
    """The process of a training that has finished its first epoch."""
    process = started(directory, *ONLINE, *overrides, **server.environment)
    deadline = time.monotonic() + 120
    while process.poll() is None and not epochs_written(directory) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.poll() is None
    return process


def wandb_process(process):
    """Id of wandb's own process, which sends the figures of a training."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        name, _, rest = stat.read_text().partition(") ")
        if name.endswith("(wandb-core") and int(rest.split()[1]) == process.pid:
            return int(stat.parent.name)
    raise AssertionError("wandb has no process")


@pytest.mark.slow  # another way to the same end as a server that fails
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_killing_the_process_of_wandb_loses_no_training(undisturbed, tmp_path):
    with wandb_server() as server:
        process = training_after_one_epoch(tmp_path, server)
        os.kill(wandb_process(process), signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    assert_lost_nothing(done, tmp_path, undisturbed)
    assert "warning: wandb: " in err


@pytest.mark.slow  # resuming itself is tested without wandb
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda n: n.name)
def test_a_resumed_training_continues_in_the_same_run(number, undisturbed, tmp_path):
    with wandb_server() as server:
        process = training_after_one_epoch(tmp_path, server)
        process.send_signal(number)
        process.communicate(timeout=120)
        assert server.epochs() in ([], *([EPOCHS[:n]] for n in (1, 2, 3)))
        done = run("train.py", *SMALL, *ONLINE, cwd=tmp_path, **server.environment)
    assert_lost_nothing(done, tmp_path, undisturbed)
    assert len(server.history) == 1
    assert server.epochs() == [EPOCHS]
