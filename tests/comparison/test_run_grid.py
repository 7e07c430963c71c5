"""Grids that run in parallel, fail in part, are interrupted and resume."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from helpers.made_results import made_result, made_run
from helpers.tiny import PROJECT

from dyparse.cli.compare import numbers_in
from dyparse.comparison.grid import Grid, plan
from dyparse.comparison.run_grid import (
    devices,
    run_grid,
    seconds_left,
    usual_jobs,
)
from dyparse.errors import ConfigError
from dyparse.evaluation.run_result import RESULT, Cell, finished_results
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
LONG = (*COMMAND, "--seeds", "1", *TINY, "trainer.max_sentences=150", "trainer.epochs=2")


def cell(system="arc_eager", treebank="a", seed=1):
    return Cell(system, "explore", "set_nll", treebank, seed)


OWN_LOSS = """
from dataclasses import dataclass
from dyparse.loss.hinge import Hinge

@dataclass(frozen=True)
class Steep(Hinge):
    slope: float = 1.0

    def __call__(self, scores, legal, cost):
        return self.slope * super().__call__(scores, legal, cost)
"""


@pytest.fixture
def in_turn(once):
    """A directory with cells that one worker trained: `fails`, `usual`, and `steep`, whose loss is
    in the current directory; and the failures in `failures.txt`.
    """

    def make(path):
        (path / "steep_loss.py").write_text(OWN_LOSS)
        values = VALUES | {"exploration": ["static"], "seed": [1]}
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(path)
            patch.setattr(sys, "path", [place for place in sys.path if place])
            (fails,) = plan(Grid(values, TINY), path / "fails")
            fails.config.device = "nosuch"
            (usual,) = plan(Grid(values, TINY), path / "usual")
            steep = plan(
                Grid(values | {"loss": ["steep_loss.Steep:slope=2"]}, TINY), path / "steep"
            )
            failures = run_grid([fails, usual, *steep], jobs=1, keep_models=True)
        (path / "failures.txt").write_text("\n".join(failures))

    return once("cells in turn", make)


def test_a_grid_is_run_without_keeping_models_and_finished_cells_are_skipped(tmp_path, in_turn):
    grid = Grid(VALUES | {"seed": [1]}, TINY)
    tasks = plan(grid, tmp_path)
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
    ((alone, mine),) = finished_results([in_turn / "usual"])
    assert (alone / "model").is_dir()  # kept if asked for
    (other,) = (result for _, result in results if result.cell == mine.cell)
    assert mine.test == other.test  # whatever else runs at the same time
    assert mine.sentences == other.sentences


def test_a_loss_from_the_current_directory_is_trained_in_workers(in_turn):
    ((_, result),) = finished_results([in_turn / "steep"])
    assert result.cell.loss == "steep_loss.Steep:slope=2.0"


def test_a_failing_cell_is_reported_and_the_others_continue(in_turn):
    (failure,) = (in_turn / "failures.txt").read_text().splitlines()
    (log,) = (in_turn / "fails").glob("*/train.log")
    assert str(log.parent) in failure
    assert "device is 'nosuch'" in failure
    assert "Traceback" in log.read_text(encoding="utf-8")
    assert finished_results([in_turn / "fails"]) == []
    assert len(finished_results([in_turn / "usual"])) == 1


def test_compare_ends_with_its_table_and_names_cells_that_failed(
    tmp_path, dyparse_command, monkeypatch
):
    def all_but_the_last(tasks, **_):
        for task in tasks[:-1]:
            made_run(task.directory, made_result((2, 5, 3), **asdict(task.cell)))
        return [f"{tasks[-1].directory}: broken"]

    monkeypatch.setattr("dyparse.comparison.experiment.run_grid", all_but_the_last)
    status, out, err = dyparse_command(*COMMAND, "--seeds", "1-2", "-o", tmp_path, *TINY)
    assert status == 2
    assert "broken" in err
    assert "\nstatic       2  50.00 ± 0.00\n" in out
    assert "+0.00 [+0.00, +0.00]" in out
    assert "\n1 of 4 runs failed (the same command tries again): arc_eager-explore-" in out
    assert f"report    {tmp_path / 'report.html'}\n" in out


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


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
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
    assert len(finished) == 1

    second = start(directory)
    assert second.wait(timeout=240) == 0, (tmp_path / "output.txt").read_text()
    after = {path: path.stat().st_mtime_ns for path in directory.glob(f"*/{RESULT}")}
    assert len(after) == 2
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
        (["--system", "arc_eagre"], "error: --system arc_eagre: "),
        (["--loss", "hing"], "did you mean 'hinge'?"),
        (["--exploration", "dynamic"], "with a dynamic oracle is dagger_replay, which is the"),
        (["--treebank", "no/such"], "error: --treebank no/such: "),
        (["trainer.epochs=many"], "trainer.epochs"),
        (["--config-dir", "no/such"], "no/such: no such directory"),
        (["--seeds", "5-3"], "--seeds is '5-3'"),
        (["--seeds", "1" * 5000], "expected numbers such as"),
        (["--seeds", "1-4294967295"], "expected at most 10,000 numbers"),
        (["--seeds", "4294967296"], "seed is 4294967296"),
        (["--baseline", "statc"], "did you mean 'static'"),
        (["--exploration", "explore:probability=2"], "exploration.probability is 2"),
        (["seed=7"], "seed=7: this is a part of the grid; use --seeds instead"),
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
    config = plan(GRID, tmp_path)[0].config
    config.device = "cpu"
    assert usual_jobs(config) == cores()
    config.threads = cores()
    assert usual_jobs(config) == 1
    config.threads = 10 * cores()
    assert usual_jobs(config) == 1
    assert devices("cuda:1") == ["cuda:1"]


def test_a_script_without_a_guard_ends_with_one_error_that_has_the_remedy(tmp_path):
    (tmp_path / "script.py").write_text(
        "import dyparse\n"
        "axes = {'exploration': ['static'], 'seed': [1]}\n"
        f"dyparse.compare(*{TINY!r}, axes=axes, experiment='none')\n"
    )
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith("dyparse.errors.DyparseError: no worker could be started")
    assert error.endswith('below `if __name__ == "__main__":`')
