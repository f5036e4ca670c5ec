"""Tests of kernels under pytest: one of them passes although its kernel races."""
import numpy as np
import pytest
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def reverse(data, right):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = data[t]  # [write]
    if right:
        cuda.syncthreads()
    data[t] = tile[63 - t]  # [read]


@pytest.fixture
def data():
    return cuda.to_device(np.zeros(64, np.float32))


@pytest.mark.parametrize("right", [True, False])
def test_reverse(data, right):
    reverse[1, 64](data, right)
    assert not data.copy_to_host().any()
