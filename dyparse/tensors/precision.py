"""Precision: which parts of the network compute in bfloat16; weights and sums stay float32.

float32    none
mixed      table, scores and labels, but not the encoder
bfloat16   all of them
auto       what pays where the device has instructions for bfloat16, else float32: all of them
           on a GPU; mixed on a CPU, where an LSTM over small batches gains little by it
"""

from contextlib import AbstractContextManager

import torch

PRECISIONS = ("auto", "float32", "mixed", "bfloat16")


def encoder_precision(precision: str, device: torch.device) -> AbstractContextManager[None]:
    """A context for the encoder."""
    return _autocast(device, is_half=resolved(precision, device) == "bfloat16")


def scorer_precision(precision: str, device: torch.device) -> AbstractContextManager[None]:
    """A context for what comes after the encoder: table, scores and labels."""
    return _autocast(device, is_half=resolved(precision, device) != "float32")


def resolved(precision: str, device: torch.device) -> str:
    """The precision that `auto` means on a device; others as they are."""
    if precision != "auto":
        return precision
    if not has_bfloat16(device):
        return "float32"
    return "mixed" if device.type == "cpu" else "bfloat16"


def has_bfloat16(device: torch.device) -> bool:
    """Whether the device has instructions for it; where it has not, it is slower than float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":
        has = torch.cpu.get_capabilities()
        return bool(has.get("avx512_bf16") or has.get("amx_bf16"))
    return False


def require_precision(precision: str, option: str) -> None:
    """ValueError if there is none of this name."""
    if precision not in PRECISIONS:
        raise ValueError(f"{option} is {precision!r}, expected one of {', '.join(PRECISIONS)}")


def _autocast(device: torch.device, *, is_half: bool) -> AbstractContextManager[None]:
    return torch.autocast(device.type, torch.bfloat16, enabled=is_half)
