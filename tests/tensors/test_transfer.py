"""Transfers between host and device: unchanged, in one copy each way."""

import numpy as np
import pytest
import torch
from helpers.tiny import fresh_parser, sample

from dyparse.config import choices
from dyparse.tensors.transfer import fetch, packed, to_device, unpacked

SENTENCES = sample("train")[:5]
TENSORS = [
    torch.arange(5),
    torch.tensor([[True, False, True]]),
    torch.randn(3, 4, generator=torch.Generator().manual_seed(1)),
    torch.tensor([], dtype=torch.int32),
    torch.tensor(7, dtype=torch.int16),
    torch.arange(6, dtype=torch.int64).view(2, 3).t(),  # not contiguous
]


def test_unpacking_restores_what_was_packed():
    buffer = packed(TENSORS, pinned=False)
    for found, expected in zip(unpacked(buffer, TENSORS), TENSORS, strict=True):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert torch.equal(found, expected)


def test_every_tensor_is_aligned():
    buffer = packed(TENSORS, pinned=False)
    starts = [part.data_ptr() - buffer.data_ptr() for part in unpacked(buffer, TENSORS)]
    assert all(start % 8 == 0 for start in starts)


def test_nothing_is_copied_on_a_cpu():
    there = to_device(TENSORS, torch.device("cpu"))
    assert all(a is b for a, b in zip(there, TENSORS, strict=True))
    (array,) = fetch([TENSORS[2]])()
    assert array.ctypes.data == TENSORS[2].data_ptr()


class Copies:
    """Counts copies of tensors to another device."""

    def __init__(self, monkeypatch):
        self.count = 0
        real = torch.Tensor.to

        def counted(tensor, *arguments, **named):
            self.count += any(isinstance(a, torch.device) for a in arguments)
            return real(tensor, *arguments, **named)

        monkeypatch.setattr(torch.Tensor, "to", counted)


def test_a_batch_goes_to_a_device_in_one_copy(monkeypatch):
    parser = fresh_parser(SENTENCES, features=choices.names("feature"))
    batch = parser.collator.batch(SENTENCES, np.arange(5, dtype=np.uint64))
    copies = Copies(monkeypatch)
    moved = batch.to(torch.device("meta"))
    assert copies.count == 1
    assert moved.shape == batch.shape
    for name, part in vars(batch).items():
        there = getattr(moved, name)
        if isinstance(part, torch.Tensor):
            assert (there.device.type, there.shape, there.dtype) == ("meta", part.shape, part.dtype)
        elif isinstance(part, tuple):
            assert [t.shape for t in there] == [t.shape for t in part]
            assert {t.device.type for t in there} == {"meta"}


class OnDevice:
    """A tensor that pretends not to be on the CPU, as far as `fetch` can see."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.device = torch.device("meta")
        self.dtype, self.shape = tensor.dtype, tensor.shape

    def detach(self):
        return self.tensor.detach()

    def numel(self):
        return self.tensor.numel()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_tensors_are_fetched_from_a_device_in_one_buffer_as_float32(dtype):
    first = torch.randn(4, 3, 2, dtype=dtype, generator=torch.Generator().manual_seed(2))
    second = torch.tensor([1.0, -2.0])
    arrays = fetch([OnDevice(first), OnDevice(second)])()
    assert all(array.dtype == np.float32 and array.flags.c_contiguous for array in arrays)
    np.testing.assert_array_equal(arrays[0], first.float().numpy())
    np.testing.assert_array_equal(arrays[1], second.numpy())
    assert arrays[1].ctypes.data == arrays[0].ctypes.data + arrays[0].nbytes
