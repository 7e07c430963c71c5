"""How busy a GPU is during an epoch."""

import torch

BATCHES_PER_SAMPLE = 20


class GpuUsage:
    """Samples of a GPU's load, as its driver gives it; asking does not wait for the device.

    Nothing on a CPU, nor where the driver's library for Python (`nvidia-ml-py`) is missing.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.samples: list[int] = []
        self.is_known = device.type == "cuda"
        if self.is_known:
            torch.cuda.reset_peak_memory_stats(device)

    def sample(self, batch: int) -> None:
        """To be called after every batch."""
        if not self.is_known or batch % BATCHES_PER_SAMPLE:
            return
        try:
            self.samples.append(torch.cuda.utilization(self.device))
        except Exception as error:
            # Its own errors derive from no other; a card that does not tell stops no training.
            is_its_own = type(error).__module__ == "pynvml"
            if not is_its_own and not isinstance(error, ImportError | RuntimeError):
                raise
            self.is_known = False

    def figures(self) -> dict[str, float]:
        """Mean load in percent, and the most memory that was in use."""
        found: dict[str, float] = {}
        if self.samples:
            found["gpu_percent"] = sum(self.samples) / len(self.samples)
        if self.device.type == "cuda":
            found["gpu_peak_gib"] = torch.cuda.max_memory_allocated(self.device) / 2**30
        return found
