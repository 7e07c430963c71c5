"""The instructions that kernels may use: an instruction that a processor lacks ends the process."""

import functools

import numba

INT8 = frozenset({"avx512f", "avx512bw", "avx512vl", "avx512vnni"})  # what the tile in int8 needs


@functools.cache
def processor_features() -> frozenset[str]:
    """What numba compiles for: the processor's instructions, unless its settings name others."""
    from numba.core.registry import cpu_target  # not at import: it starts the compiler

    target: object = cpu_target.target_context.codegen().magic_tuple()[2]
    return frozenset(name[1:] for name in str(target).split(",") if name.startswith("+"))


def has_int8() -> bool:
    """Whether the kernels can be compiled in int8."""
    return processor_features() >= INT8


def is_compiling() -> bool:
    """Whether numba compiles at all; with NUMBA_DISABLE_JIT=1 it does not."""
    settings: object = numba.config  # its names are made at run time
    return not getattr(settings, "DISABLE_JIT", False)
