"""Several processes train as one would: torchrun with two of them, over gloo."""

import json
import os
import subprocess
import sys
import time
from itertools import chain

import pytest
import torch
from helpers.tiny import PROJECT, run
from safetensors.torch import load_file

from dyparse.runtime.device import find_device
from dyparse.runtime.launch import launched
from dyparse.training.distributed import SINGLE, World, distributed_training
from dyparse.training.resume import NAME

SMALL = [
    *(
        "trainer=debug",
        "tokenizer=plain",
        "trainer.epochs=3",
        "trainer.max_tokens_per_batch=120",
        "threads=1",
    ),
    *("encoder.hidden=20", "encoder.layers=1", "network.hidden=20", "trainer.precision=float32"),
]


def torchrun(tmp_path, *arguments, wait=True):
    """train.py in two processes."""
    module = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [sys.executable, *module, str(PROJECT / "train.py"), *map(str, arguments)]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if not wait:
        return process
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    return out


def assert_near(one, other):
    first, second = (load_file(path / "model" / "model.safetensors") for path in (one, other))
    for name, tensor in first.items():
        # Adam makes steps of the same size from gradients that are rounded differently near zero.
        difference = (tensor - second[name]).norm() / tensor.norm()
        assert difference < 1e-3, name


def curve(path):
    return [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(
            ["exploration=explore", "trainer.max_gradient_norm=0.05"],  # their size shows
            marks=pytest.mark.slow,
            id="clipped",
        ),
        pytest.param(["exploration=dagger_replay"], id="dagger_replay"),
        pytest.param(
            ["exploration=dagger_replay", "trainer.rollout_ahead=true"],
            marks=pytest.mark.slow,
            id="ahead",
        ),
    ],
)
def test_two_processes_give_the_result_of_one_with_the_same_batches(tmp_path, changed):
    one, two = tmp_path / "one", tmp_path / "two"
    options = [*SMALL, *changed]
    alone = run("train.py", *options, f"output={one}", cwd=tmp_path)
    assert alone.returncode == 0, alone.stderr
    printed = torchrun(tmp_path, *options, f"output={two}")
    assert "2 processes" in printed
    assert printed.count("epoch   1/3") == printed.count("epoch   3/3") == 1  # one set of logs
    for a, b in zip(curve(one), curve(two), strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-3)
        assert a["cost_per_state"] == pytest.approx(b["cost_per_state"], rel=0.05, abs=1e-3)
    assert_near(one, two)
    assert {path.name for path in two.iterdir()} == {path.name for path in one.iterdir()}


@pytest.mark.slow
def test_two_processes_that_were_killed_resume(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    options = [*SMALL, "exploration=dagger_replay"]
    torchrun(tmp_path, *options, f"output={whole}")
    process = torchrun(tmp_path, *options, f"output={broken}", wait=False)
    deadline = time.monotonic() + 200
    while process.poll() is None and not (broken / NAME).exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    subprocess.run(["pkill", "-KILL", "-f", f"output={broken}"], check=True)  # all three of them
    process.communicate()
    assert not (broken / "result.json").exists()
    printed = torchrun(tmp_path, *options, f"output={broken}")
    assert printed.count("resuming") == 1
    first, second = (load_file(path / "model" / "model.safetensors") for path in (whole, broken))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_wrong_option_is_reported_once(tmp_path):
    process = torchrun(tmp_path, "trainer.epochs=0", wait=False)
    _, error = process.communicate(timeout=200)
    assert process.returncode != 0
    assert error.count("trainer.epochs is 0") == 1


def test_one_process_is_alone_and_first():
    with distributed_training(torch.device("cpu")) as world:
        assert world is SINGLE
    assert world.is_first
    assert world.shard([3, 4]) == [3, 4]
    assert world.all_gather(1) == [1]
    assert world.broadcast("x") == "x"


def test_shards_are_the_batch_and_about_equal():
    batch = list(range(11))
    shards = [World(rank, 3).shard(batch) for rank in range(3)]
    assert sorted(chain.from_iterable(shards)) == batch
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_each_process_of_a_machine_asks_for_a_gpu_of_its_own(monkeypatch):
    asked = []
    monkeypatch.setattr(torch, "empty", lambda *_, device: asked.append(str(device)))
    for name, value in (("RANK", "5"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1")):
        monkeypatch.setenv(name, value)
    assert launched()
    assert find_device("cuda") == torch.device("cuda:1")
    assert find_device("cuda:3") == torch.device("cuda:3")
    assert find_device("cpu") == torch.device("cpu")
    assert asked == ["cuda:1", "cuda:3", "cpu"]
