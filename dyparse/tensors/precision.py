"""Precision: which parts of the network compute in bfloat16; weights and sums stay float32.

float32    none
mixed      table, scores and heads, but not the encoder
bfloat16   all of them; mixed on a CPU for which torch has no LSTM in bfloat16
auto       float32 unless the device has instructions for bfloat16; with them bfloat16 on a GPU or
           for an encoder that gains from it, and mixed on a CPU for one that does not, such as an
           LSTM over small batches
"""

import functools
from contextlib import AbstractContextManager

import torch


def encoder_precision(
    precision: str, device: torch.device, *, gains: bool = False
) -> AbstractContextManager[None]:
    """Autocast context for the encoder, which may gain from bfloat16 on a CPU too."""
    return _autocast(device, is_half=resolved(precision, device, gains=gains) == "bfloat16")


def scorer_precision(precision: str, device: torch.device) -> AbstractContextManager[None]:
    """Autocast context for everything after the encoder: table, scores and heads."""
    return _autocast(device, is_half=resolved(precision, device) != "float32")


def resolved(precision: str, device: torch.device, *, gains: bool = False) -> str:
    """The precision that is used on a device, for an encoder that gains or not; see above."""
    if precision == "bfloat16" and device.type == "cpu" and not has_bfloat16_lstm():
        return "mixed"
    if precision != "auto":
        return precision
    if not has_bfloat16(device):
        return "float32"
    if device.type == "cpu":
        return "bfloat16" if gains and has_bfloat16_lstm() else "mixed"
    return "bfloat16"


def has_bfloat16(device: torch.device) -> bool:
    """Whether the device has instructions for bfloat16; without, it is slower than float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":
        has = torch.cpu.get_capabilities()
        return bool(has.get("avx512_bf16") or has.get("amx_bf16"))
    return False


@functools.cache
def has_bfloat16_lstm() -> bool:
    """Whether torch has an LSTM in bfloat16 for this CPU: it lacks one without AVX-512."""
    state = torch.zeros(1, 1, 2)
    weights = [torch.zeros(8, 2), torch.zeros(8, 2), torch.zeros(8), torch.zeros(8)]
    has_biases, training, both_ways, batch_first = True, True, False, False
    try:
        with torch.autocast("cpu", torch.bfloat16):
            how = (has_biases, 1, 0.0, training, both_ways, batch_first)
            torch.lstm(state, (state, state), weights, *how)
    except RuntimeError:
        return False
    return True


def _autocast(device: torch.device, *, is_half: bool) -> AbstractContextManager[None]:
    return torch.autocast(device.type, torch.bfloat16, enabled=is_half)
