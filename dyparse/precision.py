"""Half precision: bfloat16 where it is asked for, or where the device computes in it by itself."""

import torch

PRECISIONS = ("auto", "float32", "bfloat16")


def autocast(precision: str, device: torch.device) -> torch.autocast:
    """The network inside computes in half precision, or as usual; sums and weights stay float32."""
    is_half = precision == "bfloat16" or (precision == "auto" and has_bfloat16(device))
    return torch.autocast(device.type, torch.bfloat16, enabled=is_half)


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
