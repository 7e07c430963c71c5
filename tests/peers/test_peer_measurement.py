"""The clock of benchmarks/peers, and what is measured with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.peers import job_in
from measurement import CpuClock, Measurement, OutOfTimeError, cpu_seconds


class ManualClock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def test_the_clock_excludes_pauses_and_nested_ones_once():
    now = ManualClock()
    clock = CpuClock(now)
    now.time += 5
    with clock.paused():
        now.time += 7
        with clock.paused():
            now.time += 11
        assert clock.seconds() == 5
        now.time += 1
    now.time += 2
    assert clock.seconds() == 7


def test_the_clock_continues_after_an_error_in_a_pause():
    now = ManualClock()
    clock = CpuClock(now)

    def fail() -> None:
        with clock.paused():
            now.time += 7
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    now.time += 2
    assert clock.seconds() == 2


def test_cpu_seconds_count_work():
    start = cpu_seconds()
    while cpu_seconds() < start + 0.02:
        sum(range(10_000))
    assert cpu_seconds() - start < 5


def test_test_is_parsed_at_the_moments_off_the_clock(tmp_path):
    now = ManualClock()
    measurement = Measurement(job_in(tmp_path), now)

    def parse(path: Path) -> None:
        now.time += 1000  # slow, but not counted
        path.write_text("trees")

    def train() -> None:
        while True:
            now.time += 40
            measurement.updated(10, parse)

    measurement.start()
    with pytest.raises(OutOfTimeError):
        train()
    measurement.out_of_time()
    taken = [(s["minutes"], s["cpu_seconds"], s["trees"]) for s in measurement.snapshots]
    assert taken == [(1, 80, "after-1-minutes.conllu"), (5, 320, "after-5-minutes.conllu")]
    end = measurement.measured["end"]
    assert (end["cpu_seconds"], end["complete"]) == (600, False)
    assert measurement.measured["training_words"] == 150


def test_a_long_update_may_pass_several_moments_but_parses_once(tmp_path):
    now, parsed = ManualClock(), []
    measurement = Measurement(job_in(tmp_path), now)
    measurement.start()
    now.time += 500
    measurement.updated(10, lambda path: parsed.append(path.write_text("trees")))
    assert [s["minutes"] for s in measurement.snapshots] == [1, 5]
    assert len(parsed) == 1
    assert (tmp_path / "after-5-minutes.conllu").read_text() == "trees"


@pytest.mark.parametrize(("seconds", "speed"), [(9, 50 / 9), (2, 50 / 2)])
def test_the_speed_of_parsing_is_that_of_warm_passes_or_of_one_long_pass(tmp_path, seconds, speed):
    now, passes = ManualClock(), []

    def action() -> None:
        now.time += seconds if passes or seconds > 6 else 5  # the first pass is slower
        passes.append(1)

    assert Measurement(job_in(tmp_path), now).speed(action) == pytest.approx(speed)
    assert len(passes) == (1 if seconds > 6 else 4)
