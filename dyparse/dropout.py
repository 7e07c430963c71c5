"""Dropout from random bytes: eight times fewer random numbers than torch draws for it on a CPU."""

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Sets components to zero with a probability, in steps of 1/256, and scales up the others."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.dropped = min(round(probability * 256), 255)  # of 256 values of a byte

    def forward(self, x: Tensor) -> Tensor:
        """[…] → […]"""
        if not self.training or self.dropped == 0:
            return x
        return x * self.mask(x.shape, x)

    def mask(self, shape: torch.Size, like: Tensor) -> Tensor:
        """Zeros and, where components stay, what they are multiplied by."""
        eights = (shape.numel() + 7) // 8
        numbers = torch.empty(eights, dtype=torch.int64, device=like.device)
        bytes_ = numbers.random_(-(2**63), None).view(torch.uint8)[: shape.numel()].view(shape)
        return (bytes_ >= self.dropped).to(like.dtype).mul_(256 / (256 - self.dropped))


class VariationalDropout(Dropout):
    """Drops the same components at every position of a sentence (Gal & Ghahramani 2016)."""

    def forward(self, x: Tensor) -> Tensor:
        """[N, B, D] → [N, B, D]"""
        if not self.training or self.dropped == 0:
            return x
        return x * self.mask(x[:1].shape, x)
