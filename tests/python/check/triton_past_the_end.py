"""The last element read lies past the array's end."""
import numpy as np
import triton
import triton.language as tl
from arrays import Tensor, empty_like


@triton.jit
def shift(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at + 1))  # [read]


x = Tensor(np.zeros(256, np.float32))
out = empty_like(x)
shift[(1, )](x, out, BLOCK=256)
out.numpy()
