"""Numba's kernels: its own code, CUDA C++ that NVRTC compiles, and the result of linking both with nvJitLink."""
import math

import numpy as np
from arrays import close
from numba import cuda, float32, types

random = np.random.default_rng(1)


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def vectors(n=10000):
    x, y = (random.random(n, dtype=np.float32) for _ in range(2))
    wanted = y + np.float32(2) * x
    saxpy.forall(n)(np.float32(2), x, y)
    close("saxpy", y, wanted, 1e-6)


@cuda.jit
def block_sums(x, sums):
    part = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)]
    step = 64
    while step:
        cuda.syncthreads()
        if i < step:
            part[i] += part[i + step]
        step //= 2
    if i == 0:
        sums[cuda.blockIdx.x] = part[0]


def shared_memory(blocks=60):
    x = random.random(128 * blocks, dtype=np.float32)
    sums = np.zeros(blocks, np.float32)
    block_sums[blocks, 128](x, sums)
    close("sums in shared memory", sums, x.reshape(blocks, 128).sum(axis=1), 1e-4)


@cuda.jit
def histogram(x, counts):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


def atomics(n=20000):
    x = random.integers(0, 50, n).astype(np.int32)
    counts = np.zeros(50, np.int32)
    histogram.forall(n)(x, counts)
    close("atomics", counts, np.bincount(x, minlength=50), 0)


@cuda.jit
def functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sin(x[i]) + math.exp(-x[i]) + math.log1p(x[i])


def libdevice(n=3000):
    x = random.random(n)
    out = np.zeros_like(x)
    functions.forall(n)(x, out)
    close("functions of libdevice", out, np.sin(x) + np.exp(-x) + np.log1p(x), 1e-12)


def linked(link, name, lto):
    twice = cuda.declare_device("twice", types.int32(types.int32), link=[link])

    @cuda.jit(lto=lto)
    def kernel(out):
        i = cuda.grid(1)
        out[i] = twice(i) + 1

    out = np.zeros(64, np.int32)
    kernel[2, 32](out)
    close(name, out, 2 * np.arange(64) + 1, 0)


source = cuda.CUSource("""
extern "C" __device__ int twice(int* out, int a) {
  *out = 2 * a;
  return 0;
}
""")
text = cuda.PTXSource(b"""
.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) twice(.param .b64 out, .param .b32 a) {
  .reg .b32 %v; .reg .b64 %out;
  ld.param.b64 %out, [out]; ld.param.b32 %v, [a];
  add.s32 %v, %v, %v; st.b32 [%out], %v;
  st.param.b32 [r], 0; ret;
}
""")

vectors()
shared_memory()
atomics()
libdevice()
linked(source, "CUDA C++, linked as LTO-IR", True)
linked(source, "CUDA C++, linked as PTX", False)
linked(text, "PTX", False)
linked(text, "PTX, with LTO-IR", True)
