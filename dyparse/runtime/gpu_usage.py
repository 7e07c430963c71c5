"""Load and memory of a GPU during an epoch."""

import torch

BATCHES_PER_SAMPLE = 20


class GpuUsage:
    """Samples of a GPU's load as its driver reports it; sampling does not wait for the device.

    There are none on a CPU, nor if the driver's Python library (`nvidia-ml-py`) is missing.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.samples: list[int] = []
        self.is_known = device.type == "cuda"
        if self.is_known:
            torch.cuda.reset_peak_memory_stats(device)

    def sample(self, batch: int) -> None:
        """Take a sample every few batches; to be called after every batch."""
        if not self.is_known or batch % BATCHES_PER_SAMPLE:
            return
        try:
            self.samples.append(torch.cuda.utilization(self.device))
        except Exception as error:
            # pynvml's errors share no base class with others; a missing figure stops no training.
            is_from_driver = type(error).__module__ == "pynvml"
            if not is_from_driver and not isinstance(error, ImportError | RuntimeError):
                raise
            self.is_known = False

    def figures(self) -> dict[str, float]:
        """Mean load in percent and peak memory, as far as they are known."""
        figures: dict[str, float] = {}
        if self.samples:
            figures["gpu_percent"] = sum(self.samples) / len(self.samples)
        if self.device.type == "cuda":
            figures["gpu_peak_gib"] = torch.cuda.max_memory_allocated(self.device) / 2**30
        return figures
