"""The inner loops, as vectors of LLVM: the rest of the kernels is plain numba.

A *tile* is the product of up to six rows of activations with one block of 64 packed columns of
weights, in registers:

    sums[r, c] += Σ_k activations[rows[r], k] · weights[block, k, c]

Activations are bytes and weights signed bytes (int8, sums are exact), or both are float32. The
types of the arrays decide what is compiled, so there is one source for both. Vectors have 16 lanes;
LLVM splits them where registers are narrower.

Without AVX-512 VNNI two products of bytes are first added in 16 bits, which hold them only if no
weight is beyond ±63.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic as numba_intrinsic
from numba.np.arrayobj import make_array

from dyparse.compiled.processor import has_vnni, processor_features

intrinsic: Any = numba_intrinsic  # whose types know nothing of the context that it adds
LANES, VECTORS = 16, 4
COLUMNS = LANES * VECTORS  # of a block
ROWS = 6  # of a tile, at most
ZERO = 128  # the byte that stands for 0
STEPS = 127  # bytes between 0 and 1
LARGEST_OF_PAIRS = 63  # weight of which two, times 255, fit into 16 bits

I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
F32 = ir.FloatType()
I32S, F32S = ir.VectorType(I32, LANES), ir.VectorType(F32, LANES)
DOT = "llvm.x86.avx512.vpdpbusd.512"
PAIRS, FOURS = "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.avx2.pmadd.wd"  # sums of 2 bytes, of 2 sums
LOG2E, LN2_HIGH, LN2_LOW = 1.44269504088896341, 0.693359375, -2.12194440e-4
EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5)


class Emitter:
    """LLVM instructions over vectors of 16 lanes."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder

    def pointer(self, array_type: Any, value: Any, *place: Any, of: Any = None) -> Any:
        """The address of an element of an array in C order, whose last index has stride 1."""
        builder = self.builder
        array = make_array(array_type)(self.context, builder, value)
        strides = cgutils.unpack_tuple(builder, array.strides, array_type.ndim)
        offset = I64(0)
        for index, stride in zip(place, strides, strict=True):
            offset = builder.add(offset, builder.mul(index, stride))
        address = builder.add(builder.ptrtoint(array.data, I64), offset)
        return builder.inttoptr(address, (of or array.data.type.pointee).as_pointer())

    def load(self, pointer: Any) -> Any:
        """What is at an address, wherever it is."""
        return self.builder.load(pointer, align=1)

    def store(self, value: Any, pointer: Any) -> None:
        self.builder.store(value, pointer, align=1)

    def splat(self, scalar: Any, vector: Any) -> Any:
        """A vector of one number."""
        first = self.builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, I32(0))
        mask = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
        return self.builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), mask)

    def number(self, value: float) -> Any:
        """A vector of one constant."""
        return ir.Constant(F32S, [float(np.float32(value))] * LANES)

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, arguments)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a · b + c."""
        return self.call("llvm.fma.v16f32", F32S, a, b, c)

    def dot(self, activations: Any, weights: Any, before: Any) -> Any:
        """before + Σ over the four bytes of each lane of activations · weights, exactly."""
        if has_vnni():
            return self.call(DOT, I32S, before, activations, weights)
        halves = [self._half_dot(activations, weights, first) for first in (0, LANES // 2)]
        joined = ir.Constant(I32S, list(range(LANES)))
        return self.builder.add(before, self.builder.shuffle_vector(*halves, joined))

    def _half_dot(self, activations: Any, weights: Any, first: int) -> Any:
        """The sums of eight lanes, by AVX2."""
        builder, lanes = self.builder, LANES // 2
        chosen = ir.Constant(ir.VectorType(I32, lanes), list(range(first, first + lanes)))
        as_bytes, pairs = ir.VectorType(I8, 4 * lanes), ir.VectorType(I16, 2 * lanes)
        of_each = [
            builder.bitcast(builder.shuffle_vector(lane, lane, chosen), as_bytes)
            for lane in (activations, weights)
        ]
        ones = ir.Constant(pairs, [1] * (2 * lanes))
        return self.call(FOURS, ir.VectorType(I32, lanes), self.call(PAIRS, pairs, *of_each), ones)

    def exp(self, x: Any) -> Any:
        """e to the power x, to about 1e-7 of it (the polynomial of Cephes)."""
        builder = self.builder
        most, least = self.number(88.0), self.number(-87.0)
        x = builder.select(builder.fcmp_ordered("<", x, most), x, most)
        x = builder.select(builder.fcmp_ordered(">", x, least), x, least)
        n = self.call("llvm.rint.v16f32", F32S, builder.fmul(x, self.number(LOG2E)))
        x = self.fma(n, self.number(-LN2_HIGH), x)
        x = self.fma(n, self.number(-LN2_LOW), x)
        p = self.number(EXP[0])
        for coefficient in EXP[1:]:
            p = self.fma(p, x, self.number(coefficient))
        p = self.fma(builder.fmul(p, x), x, builder.fadd(x, self.number(1.0)))
        power = builder.add(builder.fptosi(n, I32S), ir.Constant(I32S, [127] * LANES))
        scale = builder.bitcast(builder.shl(power, ir.Constant(I32S, [23] * LANES)), F32S)
        return builder.fmul(p, scale)

    def sigmoid(self, x: Any) -> Any:
        """1 / (1 + exp(−x))."""
        below = self.builder.fadd(self.exp(self.builder.fneg(x)), self.number(1.0))
        return self.builder.fdiv(self.number(1.0), below)

    def tanh(self, x: Any) -> Any:
        """1 − 2 / (1 + exp(2x))."""
        below = self.builder.fadd(self.exp(self.builder.fadd(x, x)), self.number(1.0))
        return self.builder.fsub(self.number(1.0), self.builder.fdiv(self.number(2.0), below))

    def as_bytes(self, x: Any) -> Any:
        """Numbers between −1 and 1 as bytes."""
        steps = self.call("llvm.rint.v16f32", F32S, self.builder.fmul(x, self.number(STEPS)))
        whole = self.builder.fptosi(steps, I32S)
        shifted = self.builder.add(whole, ir.Constant(I32S, [ZERO] * LANES))
        return self.builder.trunc(shifted, ir.VectorType(I8, LANES))


def largest_weight() -> int:
    """The largest signed byte that the processor multiplies exactly."""
    return STEPS if has_vnni() else LARGEST_OF_PAIRS


def _vectors_at_once() -> int:
    """Vectors of a block that are summed together: what six rows leave room for in registers."""
    return VECTORS if "avx512f" in processor_features() else 1


NAMES = ("weights", "block", "depth", "inputs", "column", "rows", "first", "sums")  # of a tile


def _tile_of(n_rows: int) -> Any:
    """The tile of this many rows; `depth` is the number of rows of the packed weights."""

    @intrinsic
    def tile(typing, weights, block, depth, inputs, column, rows, first, sums):  # noqa: ARG001 - as numba calls it
        is_int8 = weights.dtype == types.int8
        signature = types.void(weights, block, depth, inputs, column, rows, first, sums)

        def generate(context, builder, signature, arguments):
            emit = Emitter(context, builder)
            kinds = dict(zip(NAMES, signature.args, strict=True))
            weights, block, depth, inputs, column, rows, first, sums = arguments
            vector, element = (I32S, I32) if is_int8 else (F32S, F32)
            starts = []
            for r in range(n_rows):
                place = builder.add(first, I64(r))
                row = emit.load(emit.pointer(kinds["rows"], rows, place))
                starts.append(emit.pointer(kinds["inputs"], inputs, row, column, of=element))
            base = emit.pointer(kinds["weights"], weights, block, I64(0), I64(0), of=vector)
            at_once = _vectors_at_once()
            for begin in range(0, VECTORS, at_once):
                chosen = range(begin, begin + at_once)
                places = {
                    (r, v): emit.pointer(kinds["sums"], sums, I64(r), I64(v * LANES), of=vector)
                    for r in range(n_rows)
                    for v in chosen
                }
                total = {key: cgutils.alloca_once(builder, vector) for key in places}
                for key, place in places.items():
                    builder.store(emit.load(place), total[key])
                with cgutils.for_range(builder, depth, intp=I64) as loop:
                    at = builder.mul(loop.index, I64(VECTORS))
                    columns = {
                        v: emit.load(builder.gep(base, [builder.add(at, I64(v))])) for v in chosen
                    }
                    for r in range(n_rows):
                        value = emit.load(builder.gep(starts[r], [loop.index]))
                        spread = emit.splat(value, vector)
                        for v in chosen:
                            before = builder.load(total[r, v])
                            add = emit.dot if is_int8 else emit.fma
                            builder.store(add(spread, columns[v], before), total[r, v])
                for key, place in places.items():
                    emit.store(builder.load(total[key]), place)
            return context.get_dummy_value()

        return signature, generate

    return tile


tile_6, tile_4, tile_2, tile_1 = (_tile_of(n_rows) for n_rows in (ROWS, 4, 2, 1))


@intrinsic
def dequantise(typing, sums, r, scale, block, factor, bias, row, column, out, out_row, out_column):  # noqa: ARG001 - as numba calls it
    """out[out_row, out_column + c] = sums[r, c] · scale[block, c] · factor + bias[row, column + c],
    for the 64 columns of a block.
    """
    given = (sums, r, scale, block, factor, bias, row, column, out, out_row, out_column)
    is_int8 = sums.dtype == types.int32

    def generate(context, builder, signature, arguments):
        emit, kinds = Emitter(context, builder), signature.args
        sums, r, scale, block, factor, bias, row, column, out, out_row, out_column = arguments
        factors = emit.splat(factor, F32S)
        for v in range(VECTORS):
            shift = I64(v * LANES)
            vector = I32S if is_int8 else F32S
            total = emit.load(emit.pointer(kinds[0], sums, r, shift, of=vector))
            if is_int8:
                total = builder.sitofp(total, F32S)
            scales = emit.load(emit.pointer(kinds[2], scale, block, shift, of=F32S))
            added = emit.pointer(kinds[5], bias, row, builder.add(column, shift), of=F32S)
            found = emit.fma(builder.fmul(total, factors), scales, emit.load(added))
            place = emit.pointer(kinds[8], out, out_row, builder.add(out_column, shift), of=F32S)
            emit.store(found, place)
        return context.get_dummy_value()

    return types.void(*given), generate


@intrinsic
def lstm_cell(typing, gates, r, cells, row, column, out, out_row, out_column):  # noqa: ARG001 - as numba calls it
    """One step of 16 LSTM cells, whose gates (input, forget, cell, output) are in gates[r].

    Changes cells[row, column …] and writes out[out_row, out_column …], as bytes if `out` has bytes.
    """
    given = (gates, r, cells, row, column, out, out_row, out_column)
    is_int8 = out.dtype == types.uint8

    def generate(context, builder, signature, arguments):
        emit, kinds = Emitter(context, builder), signature.args
        gates, r, cells, row, column, out, out_row, out_column = arguments
        gate = [
            emit.load(emit.pointer(kinds[0], gates, r, I64(g * LANES), of=F32S)) for g in range(4)
        ]
        place = emit.pointer(kinds[2], cells, row, column, of=F32S)
        taken = builder.fmul(emit.sigmoid(gate[0]), emit.tanh(gate[2]))
        cell = emit.fma(emit.sigmoid(gate[1]), emit.load(place), taken)
        emit.store(cell, place)
        found = builder.fmul(emit.sigmoid(gate[3]), emit.tanh(cell))
        if is_int8:
            found = emit.as_bytes(found)
        emit.store(found, emit.pointer(kinds[5], out, out_row, out_column, of=found.type))
        return context.get_dummy_value()

    return types.void(*given), generate


@intrinsic
def largest(typing, rows, row, column, vectors):  # noqa: ARG001 - as numba calls it
    """The largest of 16 · vectors numbers of a row, from a column on."""

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder)
        rows, row, column, vectors = arguments
        start = emit.pointer(signature.args[0], rows, row, column, of=F32S)
        most = cgutils.alloca_once_value(builder, emit.load(start))
        with cgutils.for_range(builder, vectors, intp=I64) as loop:
            found = emit.load(builder.gep(start, [loop.index]))
            builder.store(emit.call("llvm.maxnum.v16f32", F32S, builder.load(most), found), most)
        return emit.call("llvm.vector.reduce.fmax.v16f32", F32, builder.load(most))

    return types.float32(rows, row, column, vectors), generate


@intrinsic
def exponentials(typing, rows, row, column, vectors, most, out):  # noqa: ARG001 - as numba calls it
    """out[0, k] = exp(rows[row, column + k] − most) for 16 · vectors numbers; returns their sum."""

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder)
        rows, row, column, vectors, most, out = arguments
        start = emit.pointer(signature.args[0], rows, row, column, of=F32S)
        target = emit.pointer(signature.args[5], out, I64(0), I64(0), of=F32S)
        total = cgutils.alloca_once_value(builder, emit.number(0.0))
        above = emit.splat(most, F32S)
        with cgutils.for_range(builder, vectors, intp=I64) as loop:
            found = emit.load(builder.gep(start, [loop.index]))
            found = emit.exp(builder.fsub(found, above))
            emit.store(found, builder.gep(target, [loop.index]))
            builder.store(builder.fadd(builder.load(total), found), total)
        return emit.call("llvm.vector.reduce.fadd.v16f32", F32, F32(0.0), builder.load(total))

    given = (rows, row, column, vectors, types.float32, out)
    return types.float32(*given), generate


@intrinsic
def write_state(typing, states, row, column, value):  # noqa: ARG001 - as numba calls it
    """states[row, column] = value, a number between −1 and 1 if states are bytes."""
    is_int8 = states.dtype == types.uint8

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder)
        states, row, column, value = arguments
        if is_int8:
            steps = builder.fmul(value, F32(STEPS))
            whole = builder.fptosi(emit.call("llvm.rint.f32", F32, steps), I32)
            value = builder.trunc(builder.add(whole, I32(ZERO)), I8)
        emit.store(value, emit.pointer(signature.args[0], states, row, column))
        return context.get_dummy_value()

    return types.void(states, row, column, types.float32), generate
