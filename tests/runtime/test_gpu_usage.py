"""Samples of a GPU's load."""

import pytest
import torch

from dyparse.runtime.gpu_usage import BATCHES_PER_SAMPLE, GpuUsage


@pytest.fixture
def gpu(monkeypatch):
    """gpu(load) stands in for a GPU: load() is its load in percent, or raises."""
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda _device: None)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda _device: 3 * 2**29)

    def install(load):
        monkeypatch.setattr(torch.cuda, "utilization", lambda _device: load())
        return GpuUsage(torch.device("cuda"))

    return install


def test_a_cpu_has_no_figures():
    usage = GpuUsage(torch.device("cpu"))
    usage.sample(BATCHES_PER_SAMPLE)
    assert usage.figures() == {}


def test_the_load_is_the_mean_of_samples_every_few_batches(gpu):
    loads = iter([50, 100])
    usage = gpu(lambda: next(loads))
    for batch in range(1, 2 * BATCHES_PER_SAMPLE + 1):
        usage.sample(batch)
    assert usage.figures() == {"gpu_percent": 75.0, "gpu_peak_gib": 1.5}


class DriverError(Exception):
    """An error of the driver's library."""


DriverError.__module__ = "pynvml"


@pytest.mark.parametrize("error", [DriverError(), ImportError("nvidia-ml-py"), RuntimeError()])
def test_a_driver_that_does_not_report_the_load_stops_nothing(gpu, error):
    calls = []

    def load():
        calls.append(1)
        raise error

    usage = gpu(load)
    for _ in range(3):
        usage.sample(BATCHES_PER_SAMPLE)
    assert usage.figures() == {"gpu_peak_gib": 1.5}
    assert len(calls) == 1  # it is not asked again


def test_a_bug_while_sampling_is_not_hidden(gpu):
    with pytest.raises(ZeroDivisionError):
        gpu(lambda: 1 // 0).sample(BATCHES_PER_SAMPLE)
