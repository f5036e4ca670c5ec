"""Each thread reads what another has written, without a barrier between."""
import sys

import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def reverse(data, right):
    tile = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    tile[t] = data[t]  # [write]
    if right:
        cuda.syncthreads()
    data[t] = tile[255 - t]  # [read]


data = cuda.to_device(np.zeros(256, np.float32))
reverse[1, 256](data, len(sys.argv) > 1)
cuda.synchronize()
print("done")
