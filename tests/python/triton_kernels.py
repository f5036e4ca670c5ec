"""The kernels of Triton's tutorials that need no tensor cores, compared with NumPy."""
import numpy as np
import triton
import triton.language as tl
from arrays import Tensor, close, empty_like

random = np.random.default_rng(1)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


def vector_add(n=98432):
    x, y = (random.random(n, dtype=np.float32) for _ in range(2))
    out = empty_like(Tensor(x))
    add_kernel[(triton.cdiv(n, 1024), )](Tensor(x), Tensor(y), out, n, BLOCK=1024)
    close("vector add", out.numpy(), x + y, 0)


@triton.jit
def softmax_kernel(out, x, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        at = tl.arange(0, BLOCK)
        mask = at < columns
        values = tl.load(x + row * columns + at, mask=mask, other=-float("inf"))
        raised = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * columns + at, raised / tl.sum(raised, axis=0), mask=mask)


def softmax(rows=181, columns=781):
    x = random.standard_normal((rows, columns), dtype=np.float32)
    out = empty_like(Tensor(x))
    softmax_kernel[(32, )](out, Tensor(x), rows, columns, BLOCK=1024, STAGES=2, num_warps=8)
    raised = np.exp(x - x.max(axis=1, keepdims=True))
    close("softmax", out.numpy(), raised / raised.sum(axis=1, keepdims=True))


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=mask) / (1 - p), 0.0), mask=mask)


def dropout(n=20000, p=0.25):
    x = random.random(n, dtype=np.float32) + 1

    def run(seed):
        out = empty_like(Tensor(x))
        dropout_kernel[(triton.cdiv(n, 1024), )](Tensor(x), out, n, p, seed, BLOCK=1024)
        return out.numpy()

    first = run(123)
    assert (first == run(123)).all() and (first != run(512)).any()
    kept = first != 0
    assert abs(kept.mean() - (1 - p)) < 0.02
    close("dropout", first[kept], x[kept] / np.float32(1 - p))


@triton.jit
def layer_norm_kernel(x, out, weight, bias, columns, eps, BLOCK: tl.constexpr):
    x += tl.program_id(0) * columns
    out += tl.program_id(0) * columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + at, mask=at < columns, other=0.0)
        values = tl.where(at < columns, values - mean, 0.0)
        total += values * values
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < columns
        values = (tl.load(x + at, mask=mask, other=0.0) - mean) * scale
        tl.store(out + at, values * tl.load(weight + at, mask=mask) + tl.load(bias + at, mask=mask), mask=mask)


def layer_norm(rows=37, columns=1151):
    x = random.standard_normal((rows, columns), dtype=np.float32)
    weight, bias = (random.random(columns, dtype=np.float32) for _ in range(2))
    out = empty_like(Tensor(x))
    layer_norm_kernel[(rows, )](Tensor(x), out, Tensor(weight), Tensor(bias), columns, 1e-5, BLOCK=512)
    centred = x - x.mean(axis=1, keepdims=True)
    wanted = centred / np.sqrt(centred.var(axis=1, keepdims=True) + 1e-5) * weight + bias
    close("layer norm", out.numpy(), wanted, 1e-4)


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 1024}, num_warps=8)], key=["n"],
                 do_bench=lambda kernel, quantiles: (kernel(), [1.0, 1.0, 1.0])[1])
@triton.jit
def scale_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def autotuned(n=5000):
    x = random.random(n, dtype=np.float32)
    out = empty_like(Tensor(x))
    scale_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]), )](Tensor(x), out, n)
    close("an autotuned kernel", out.numpy(), 2 * x, 0)


@triton.jit
def transpose_kernel(x, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [M, N])
    target = tl.make_tensor_descriptor(out, [columns, rows], [rows, 1], [N, M])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([column, row], source.load([row, column]).T)


def descriptors(rows=96, columns=160, M=32, N=64):
    memory = []

    def scratch(size, alignment, stream):
        memory.append(Tensor(np.zeros(size + alignment, np.int8)))
        address = memory[-1].data_ptr()
        return Place(-(-address // alignment) * alignment)

    triton.set_allocator(scratch)
    x = random.random((rows, columns), dtype=np.float32)
    out = Tensor(np.zeros((columns, rows), np.float32))
    transpose_kernel[(rows // M, triton.cdiv(columns, N))](Tensor(x), out, rows, columns, M=M, N=N)
    close("descriptors made by the kernel", out.numpy(), x.T, 0)


class Place:
    def __init__(self, address):
        self.address = address

    def data_ptr(self):
        return self.address


vector_add()
softmax()
dropout()
layer_norm()
autotuned()
descriptors()
