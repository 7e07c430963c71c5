"""Grids that run in parallel, fail in part, are interrupted and resume."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.tiny import CONF, PROJECT, run

from dyparse.cli.compare import numbers_in
from dyparse.compare.grid import Grid, plan
from dyparse.compare.run_grid import (
    devices,
    finished_results,
    run_grid,
    seconds_left,
    usual_jobs,
)
from dyparse.errors import ConfigError
from dyparse.evaluation.run_result import RESULT, Cell
from dyparse.runtime.launch import cores

TINY = ("trainer=debug", "trainer.max_sentences=12", "encoder.hidden=8", "network.hidden=8")
VALUES = {
    "system": ["arc_eager"],
    "exploration": ["static", "explore"],
    "loss": ["set_nll"],
    "treebank": ["sample"],
    "seed": [1, 2],
}
GRID = Grid(VALUES, TINY)
COMMAND = ("compare", "--experiment", "none", "--exploration", "static", "--exploration", "explore")
LONG = (*COMMAND, "--seeds", "1-2", *TINY, "trainer.max_sentences=150", "trainer.epochs=4")


def cell(system="arc_eager", treebank="a", seed=1):
    return Cell(system, "explore", "set_nll", treebank, seed)


def test_a_grid_is_run_without_keeping_models_and_finished_cells_are_skipped(tmp_path):
    tasks = plan(GRID, CONF, tmp_path)
    assert run_grid(tasks, jobs=2) == []
    assert all(task.is_finished for task in tasks)
    assert {path.name for path in tasks[0].directory.iterdir()} == {
        "config.yaml",
        "metrics.jsonl",
        "parsed.conllu",
        "gold.conllu",
        "train.log",
        RESULT,
        ".lock",
        "training.done",
    }
    results = finished_results([tmp_path])
    assert {result.cell for _, result in results} == {task.cell for task in tasks}
    assert "dev" in (tasks[0].directory / "train.log").read_text(encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert run_grid(tasks, jobs=2) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    again = plan(GRID, CONF, tmp_path / "again")[:1]
    run_grid(again, jobs=1, keep_models=True)
    assert (again[0].directory / "model").is_dir()
    (other,) = (r for _, r in results if r.cell == again[0].cell)
    ((_, mine),) = finished_results([again[0].directory])
    assert mine.test == other.test  # whatever else runs at the same time
    assert mine.sentences == other.sentences


def test_a_loss_from_the_current_directory_is_trained_in_workers(tmp_path, monkeypatch):
    module = """
from dataclasses import dataclass
from dyparse.loss.hinge import Hinge

@dataclass(frozen=True)
class Steep(Hinge):
    slope: float = 1.0

    def __call__(self, scores, legal, cost):
        return self.slope * super().__call__(scores, legal, cost)
"""
    (tmp_path / "steep_loss.py").write_text(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    values = VALUES | {"exploration": ["static"], "loss": ["steep_loss.Steep:slope=2"], "seed": [1]}
    tasks = plan(Grid(values, TINY), CONF, tmp_path / "grid")
    assert run_grid(tasks, jobs=1) == []
    ((_, result),) = finished_results([tmp_path / "grid"])
    assert result.cell.loss == "steep_loss.Steep:slope=2.0"


def test_a_failing_cell_is_reported_and_the_others_continue(tmp_path):
    tasks = plan(GRID, CONF, tmp_path)[:2]
    tasks[0].config.device = "nosuch"
    (failure,) = run_grid(tasks, jobs=1)
    assert str(tasks[0].directory) in failure
    assert "device is 'nosuch'" in failure
    assert "Traceback" in (tasks[0].directory / "train.log").read_text(encoding="utf-8")
    assert [task.is_finished for task in tasks] == [False, True]


def start(directory: Path) -> subprocess.Popen[bytes]:
    """The command on a grid of a few seconds, in a process group of its own."""
    command = [sys.executable, "-m", "dyparse", *LONG, "-o", str(directory), "--jobs", "1"]
    with (directory.parent / "output.txt").open("wb") as output:
        return subprocess.Popen(
            command, cwd=PROJECT, stdout=output, stderr=output, start_new_session=True
        )


def processes_of(session: int) -> list[int]:
    """Ids of the living processes of a session."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,stat=", "-s", str(session)], capture_output=True, text=True, check=False
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [int(pid) for pid, state in rows if not state.startswith("Z")]


@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGKILL, marks=pytest.mark.slow), signal.SIGINT]
)
def test_an_interrupted_grid_resumes_without_repeating_cells(tmp_path, how):
    directory = tmp_path / "grid"
    running = start(directory)
    deadline = time.monotonic() + 120
    while not list(directory.glob(f"*/{RESULT}")) and time.monotonic() < deadline:
        assert running.poll() is None, (tmp_path / "output.txt").read_text()
        time.sleep(0.05)
    os.kill(running.pid, how)  # the parent alone, not the worker
    status = running.wait(timeout=30)
    assert status == (130 if how == signal.SIGINT else -signal.SIGKILL)
    while processes_of(running.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not processes_of(running.pid), "a worker outlived its parent"
    finished = {path: path.stat().st_mtime_ns for path in directory.glob(f"*/{RESULT}")}
    assert 1 <= len(finished) < 4

    second = start(directory)
    assert second.wait(timeout=240) == 0, (tmp_path / "output.txt").read_text()
    after = {path: path.stat().st_mtime_ns for path in directory.glob(f"*/{RESULT}")}
    assert len(after) == 4
    assert after.items() >= finished.items()
    assert (directory / "report.html").stat().st_size > 10_000
    assert "Traceback" not in (tmp_path / "output.txt").read_text()


def test_ctrl_c_while_workers_start_is_one_line(tmp_path):
    running = start(tmp_path / "grid")
    deadline = time.monotonic() + 120
    while len(processes_of(running.pid)) < 3 and time.monotonic() < deadline:  # ours, tracker, one
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    assert running.wait(timeout=30) == 130
    while processes_of(running.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    output = (tmp_path / "output.txt").read_text()
    assert output.splitlines()[-1] == "interrupted"
    assert "Traceback" not in output


def test_a_dry_run_lists_the_cells_and_writes_nothing(tmp_path, dyparse_command):
    status, out, _ = dyparse_command(*COMMAND, "--dry-run", "-o", tmp_path / "grid", *TINY)
    assert status == 0
    assert out.count("to do") == 2
    assert "2 cells" in out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        (["--seeds", "1-x"], "--seeds is '1-x'"),
        (["--jobs", "0"], "--jobs is 0"),
        (["--experiment", "nosuch"], "nosuch"),
        (["--system", "arc_eagre"], "arc_eagre"),
        (["--treebank", "no/such"], "no/such"),
        (["trainer.epochs=many"], "trainer.epochs"),
        (["--conf", "no/such"], "--conf"),
        (["--seeds", "5-3"], "--seeds is '5-3'"),
        (["--seeds", "1" * 5000], "expected numbers such as"),
        (["--seeds", "1-4294967295"], "expected at most 10,000 numbers"),
        (["--seeds", "4294967296"], "seed is 4294967296"),
        (["--baseline", "statc"], "did you mean 'static'"),
        (["--exploration", "explore:probability=2"], "exploration.probability is 2"),
        (["seed=7"], "--seeds"),
        (["exploration=explore"], "--exploration"),
        (["treebank=ud"], "--treebank"),
        (["network.hidden=0"], "network.hidden is 0"),
        (["threads=0"], "threads is 0"),
        (["device=nosuch"], "device is 'nosuch'"),
    ],
)
def test_wrong_options_are_named_in_the_error_and_nothing_is_written(
    tmp_path, dyparse_command, arguments, finding
):
    status, out, err = dyparse_command("compare", "-o", tmp_path / "grid", *arguments)
    assert status == 2
    assert finding in err
    assert "Traceback" not in err + out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "finding"), [(None, "no result.json"), ("{", "not a valid run result")]
)
def test_a_report_on_nothing_or_on_damaged_results_is_refused(
    tmp_path, dyparse_command, content, finding
):
    if content:
        (tmp_path / RESULT).write_text(content)
    status, _, err = dyparse_command("report", tmp_path)
    assert status == 2
    assert finding in err
    assert dyparse_command("report", tmp_path / "nowhere")[0] == 2


def test_a_report_covers_runs_of_train_py_too(tmp_path):
    options = ("-m", *TINY, "exploration=static,explore", "seed=1,2")
    trained = run("train.py", *options, cwd=tmp_path)
    assert trained.returncode == 0, trained.stderr
    reported = run("-m", "dyparse", "report", "outputs", "-o", "report", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
    names = {path.name for path in (tmp_path / "report").iterdir()}
    assert names >= {"report.html", "results.csv", "results.json", "figures"}


def test_time_left_is_estimated_from_similar_finished_cells():
    durations = [
        (cell(treebank="a"), 10.0),
        (cell(treebank="a", seed=2), 20.0),
        (cell(treebank="b"), 100.0),
        (cell(system="attardi", treebank="b"), 200.0),
    ]
    assert seconds_left([], [cell()], 1) is None
    assert seconds_left(durations, [], 2) == 0
    assert seconds_left(durations, [cell(seed=3)], 1) == 15
    assert seconds_left(durations, [cell(seed=3), cell(seed=4)], 2) == 15
    assert seconds_left(durations, [cell(seed=3)], 8) == 15
    assert seconds_left(durations, [cell(system="attardi", treebank="b")], 1) == 200
    assert seconds_left(durations, [cell(system="swap", treebank="b")], 1) == 150
    assert seconds_left(durations, [cell(treebank="c")], 1) == pytest.approx(130 / 3)
    assert seconds_left(durations, [cell(system="swap", treebank="c")], 1) == 82.5


def test_seeds_are_numbers_and_ranges():
    assert numbers_in("1-3,7,2") == [1, 2, 3, 7]
    assert numbers_in("5") == [5]
    for wrong in ("", "a", "1-", "-1", "1,,2", "5-3"):
        with pytest.raises(ConfigError, match="--seeds"):
            numbers_in(wrong)


def test_the_default_number_of_jobs_fits_on_the_cores(tmp_path):
    assert 1 <= cores() <= (os.cpu_count() or 1)
    config = plan(GRID, CONF, tmp_path)[0].config
    config.device = "cpu"
    assert usual_jobs(config) == cores()
    config.threads = cores()
    assert usual_jobs(config) == 1
    config.threads = 10 * cores()
    assert usual_jobs(config) == 1
    assert devices("cuda:1") == ["cuda:1"]
