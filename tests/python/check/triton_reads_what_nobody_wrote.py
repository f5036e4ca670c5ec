"""Sums an array that nothing has written. Its memory has the name that the program gives it."""
import numpy as np
import triton
import triton.language as tl
from arrays import Tensor, empty_like
from numba import cuda


@triton.jit
def add(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) + tl.load(y + at))  # [read]


written = Tensor(np.zeros(256, np.float32))
forgotten = empty_like(written)
forgotten.array = cuda.device_array(256, np.float32)
out = empty_like(written)
add[(1, )](written, forgotten, out, BLOCK=256)
out.numpy()
