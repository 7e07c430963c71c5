"""The instructions that kernels may use: an instruction that a processor lacks ends the process."""

import functools

import numba

VNNI = frozenset({"avx512f", "avx512bw", "avx512vl", "avx512vnni"})  # four products in one step
AVX2 = frozenset({"avx2"})  # the same in three, with smaller weights


@functools.cache
def processor_features() -> frozenset[str]:
    """What numba compiles for: the processor's instructions, unless its settings name others."""
    from numba.core.registry import cpu_target  # not at import: it starts the compiler

    target: object = cpu_target.target_context.codegen().magic_tuple()[2]
    return frozenset(name[1:] for name in str(target).split(",") if name.startswith("+"))


def has_vnni() -> bool:
    """Whether bytes are multiplied and added up by one instruction."""
    return processor_features() >= VNNI


def has_int8() -> bool:
    """Whether the kernels can be compiled in int8."""
    return has_vnni() or processor_features() >= AVX2


def is_compiling() -> bool:
    """Whether numba compiles at all; with NUMBA_DISABLE_JIT=1 it does not."""
    settings: object = numba.config  # its names are made at run time
    return not getattr(settings, "DISABLE_JIT", False)
