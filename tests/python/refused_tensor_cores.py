"""A matrix product of Triton's wants mma: that is said once, at the launch, and Python goes on."""
import io
import os
import sys
import tempfile

import numpy as np
import triton
import triton.language as tl
from arrays import Tensor, empty_like


@triton.jit
def product_kernel(a, b, c, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    at = rows * N + columns
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


x = Tensor(np.ones((32, 32), np.float16))
out = Tensor(np.zeros((32, 32), np.float32))
with tempfile.TemporaryFile("w+") as told:
    errors = os.dup(2)
    os.dup2(told.fileno(), 2)
    try:
        product_kernel[(1, )](x, x, out, N=32)
        failure = None
    except RuntimeError as error:
        failure = str(error)
    os.dup2(errors, 2)
    told.seek(0)
    sentence = told.read()
print(sentence)
if failure is None:  # once mma is there
    assert (out.numpy() == 32).all()
else:
    assert "operation not supported" in failure, failure
    assert "product_kernel was not launched" in sentence and "mma" in sentence, sentence
