"""PyTorch's unmodified wheel on the software GPU: devices, memory, streams, graphs, torch.compile, Triton,
extensions."""
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import warnings

warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")
import torch
import triton
import triton.language as tl
from torch.utils.data import DataLoader, TensorDataset

GPU = "cuda"


@triton.jit
def axpy(x, y, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, a * tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def spin(flag):
    while tl.atomic_add(flag, 0) == 0:
        pass


def run_axpy(x, y, a=2.0):
    axpy[(triton.cdiv(x.numel(), 64),)](x, y, a, x.numel(), BLOCK=64)


def subprogram(text, **variables):
    return subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(text)], capture_output=True, text=True,
                          env={**os.environ, **variables})


class Devices(unittest.TestCase):
    def test_properties(self):
        self.assertTrue(torch.cuda.is_available())
        properties = torch.cuda.get_device_properties(0)
        self.assertEqual((properties.name, properties.major, properties.minor, properties.multi_processor_count),
                         ("NVIDIA H200", 9, 0, 132))
        self.assertEqual(torch.cuda.get_device_capability(), (9, 0))
        self.assertTrue(torch.cuda.is_bf16_supported())

    def test_memory(self):
        free, total = torch.cuda.mem_get_info()
        self.assertTrue(0 < free <= total)
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated()
        a = torch.empty(1 << 20, device=GPU)
        self.assertEqual(torch.cuda.memory_allocated() - before, 4 << 20)
        self.assertGreaterEqual(torch.cuda.memory_reserved(), 4 << 20)
        self.assertGreater(torch.cuda.memory_stats()["allocation.all.allocated"], 0)
        address = a.data_ptr()
        del a
        self.assertEqual(torch.empty(1 << 20, device=GPU).data_ptr(), address)  # from the caching allocator
        self.assertIn("Allocated memory", torch.cuda.memory_summary())
        with self.assertRaises(torch.OutOfMemoryError):
            torch.empty(1 << 60, dtype=torch.uint8, device=GPU)

    def test_other_allocators(self):
        for setting in ("backend:cudaMallocAsync", "max_split_size_mb:64"):
            done = subprogram(
                """
                import torch
                held = [torch.ones(n * 100_000).cuda() for n in range(1, 20)]
                del held[::2]
                held.append(torch.full((3_000_000,), 2.0).cuda())
                torch.cuda.empty_cache()
                print(all(t.cpu().max() == t.cpu().min() for t in held), torch.cuda.memory_allocated() > 0)
                """, PYTORCH_CUDA_ALLOC_CONF=setting)
            self.assertEqual((done.stdout, done.returncode), ("True True\n", 0), setting + done.stderr)


    def test_expandable_segments(self):
        done = subprogram(
            """
            import torch
            held = [torch.ones(n * 1_000_000).cuda() for n in range(1, 12)]
            del held[::2]
            held.append(torch.full((30_000_000,), 2.0).cuda())
            print(all(t.cpu().max() == t.cpu().min() for t in held),
                  all(s["is_expandable"] for s in torch.cuda.memory_snapshot()))
            total, reserved = torch.cuda.mem_get_info()[1], torch.cuda.memory_reserved()
            print(reserved <= total - torch.cuda.mem_get_info()[0])
            held.clear()
            torch.cuda.empty_cache()
            print(torch.cuda.memory_reserved(), torch.cuda.list_gpu_processes().count("process"))
            try:
                torch.empty(1 << 40, device="cuda")
            except torch.OutOfMemoryError as error:
                print("this process has" in str(error))
            """, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("True True\nTrue\n0 1\nTrue\n", "", 0))


class Management(unittest.TestCase):
    """torch.cuda's queries to NVML, through nvidia-ml-py."""

    def test_memory(self):
        held = torch.empty(100 << 20, dtype=torch.uint8, device=GPU)
        free, total = torch.cuda.mem_get_info()
        self.assertEqual(torch.cuda.device_memory_used(), total - free)
        self.assertIn(f"process {os.getpid():>10d} uses", torch.cuda.list_gpu_processes())
        del held

    def test_utilization(self):
        flag = torch.zeros(1, dtype=torch.int32).cuda()
        spin.warmup(flag, grid=(1,))
        torch.cuda.utilization()
        spin[(1,)](flag)
        time.sleep(0.4)
        self.assertGreater(torch.cuda.utilization(), 20)
        with torch.cuda.stream(torch.cuda.Stream()):
            flag.copy_(torch.ones(1, dtype=torch.int32))
        torch.cuda.synchronize()

    def test_what_software_has_not(self):
        import pynvml

        for ask in (torch.cuda.temperature, torch.cuda.power_draw, torch.cuda.clock_rate):
            with self.assertRaises(pynvml.NVMLError_NotSupported):
                ask()


class Copies(unittest.TestCase):
    def test_every_direction(self):
        a = torch.arange(1000.0)
        b = a.to(GPU)
        c = torch.empty_like(b)
        c.copy_(b)
        self.assertTrue(torch.equal(c.cpu(), a))
        self.assertTrue(torch.equal(b.clone()[100:200].cpu(), a[100:200]))
        self.assertEqual(b[7].item(), 7)

    def test_pinned_memory(self):
        a = torch.arange(1000.0).pin_memory()
        self.assertTrue(a.is_pinned())
        b = a.to(GPU, non_blocking=True)
        c = torch.empty(1000, pin_memory=True)
        c.copy_(b, non_blocking=True)
        torch.cuda.synchronize()
        self.assertTrue(torch.equal(c, a))

    def test_a_loader_with_workers(self):
        data = TensorDataset(torch.arange(40.0))
        loader = DataLoader(data, batch_size=8, num_workers=2, pin_memory=True)
        total = 0
        for (batch,) in loader:
            self.assertTrue(batch.is_pinned())
            total += batch.to(GPU, non_blocking=True).cpu().sum().item()
        self.assertEqual(total, sum(range(40)))


class Streams(unittest.TestCase):
    def test_order_by_events(self):
        x, y = torch.ones(4096).cuda(), torch.zeros(4096).cuda()
        one, two = torch.cuda.Stream(), torch.cuda.Stream(priority=-1)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        one.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(one):
            start.record()
            for _ in range(5):
                run_axpy(x, y)
            end.record()
        two.wait_event(end)
        with torch.cuda.stream(two):
            z = y.clone()
        two.synchronize()
        self.assertTrue(end.query())
        self.assertGreater(start.elapsed_time(end), 0)
        self.assertEqual(z.cpu().unique().tolist(), [10])

    def test_threads(self):
        results = [None] * 4

        def work(k):
            with torch.cuda.stream(torch.cuda.Stream()):
                x, y = torch.full((1000,), float(k)).cuda(), torch.zeros(1000).cuda()
                run_axpy(x, y)
                results[k] = y.cpu().sum().item()

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [2000.0 * k for k in range(4)])

    def test_a_graph_of_triton_kernels(self):
        x, y = torch.ones(512).cuda(), torch.zeros(512).cuda()
        run_axpy(x, y)  # compiles
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run_axpy(x, y)
            run_axpy(y, y, 1.0)
        y.copy_(torch.zeros(512))
        for _ in range(3):
            graph.replay()
        torch.cuda.synchronize()
        self.assertEqual(y.cpu().unique().tolist(), [28])


class Compiled(unittest.TestCase):
    def test_forward_and_backward(self):
        def f(x, w):
            return (torch.nn.functional.layer_norm(x * w, (16,)).softmax(-1).relu() * x.sin()).sum()

        x, w = torch.randn(8, 16), torch.randn(16)
        mine = [t.clone().requires_grad_() for t in (x, w)]
        theirs = [t.cuda().requires_grad_() for t in (x, w)]
        expected = f(*mine)
        expected.backward()
        # Backward would start with eager operations: a fill, and a sum with existing gradients.
        # Inductor does the same when it folds constants of both directions.
        compiled = torch.compile(f, options={"joint_graph_constant_folding": False})
        gradients = torch.autograd.grad(compiled(*theirs), theirs, torch.ones(()).cuda())
        for one, other in zip(mine, gradients):
            torch.testing.assert_close(other.cpu(), one.grad, rtol=1e-4, atol=1e-5)

    def test_shapes_that_change(self):
        f = torch.compile(lambda x: (x * 2 + 1).cumsum(0), dynamic=True)
        for n in (5, 8, 31):
            x = torch.arange(float(n))
            torch.testing.assert_close(f(x.cuda()).cpu(), (x * 2 + 1).cumsum(0))


class Triton(unittest.TestCase):
    def test_a_kernel_on_tensors(self):
        x, y = torch.randn(1000), torch.randn(1000)
        z = y.cuda()
        run_axpy(x.cuda(), z)
        torch.testing.assert_close(z.cpu(), 2 * x + y)


@unittest.skipUnless(shutil.which("nvcc") and (shutil.which("ninja")), "needs nvcc and ninja")
class Extensions(unittest.TestCase):
    def test_load_inline(self):
        from torch.utils.cpp_extension import load_inline

        source = """
            #include <torch/types.h>
            #include <ATen/cuda/CUDAContext.h>
            __global__ void scale(float* p, float s, int n) {
              int i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i < n) p[i] *= s;
            }
            torch::Tensor scale_(torch::Tensor t, double s) {
              int n = t.numel();
              scale<<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(t.data_ptr<float>(), s, n);
              return t;
            }"""
        with tempfile.TemporaryDirectory() as folder:
            module = load_inline("scaling", "torch::Tensor scale_(torch::Tensor t, double s);", source,
                                 functions=["scale_"], build_directory=folder)
            x = torch.arange(300.0)
            self.assertTrue(torch.equal(module.scale_(x.cuda(), 3).cpu(), x * 3))


class Manners(unittest.TestCase):
    def test_an_eager_kernel_is_refused_once_with_what_to_do(self):
        done = subprogram(
            """
            import torch
            x = torch.ones(4).cuda()
            for f in (lambda: x + 1, lambda: x.sum(), lambda: x.exp()):
                try:
                    f()
                except torch.AcceleratorError as error:
                    print(str(error).splitlines()[0])
            """)
        self.assertEqual(done.stdout, "CUDA error: no kernel image is available for execution on the device\n" * 3)
        self.assertRegex(done.stderr, r"kernel .*at::native::.* cannot run: PyTorch's wheel carries machine code only")
        self.assertIn("inflight run python -m inflight.torch SCRIPT", done.stderr)
        self.assertEqual(done.stderr.count("inflight:"), 1, done.stderr)

    def test_a_kernel_that_fails(self):
        done = subprogram(
            """
            import os, sys, torch
            sys.path.insert(0, os.environ["HERE"])
            from device_test import axpy
            x = torch.ones(64).cuda()
            axpy[(1 << 15,)](x, x, 1.0, 1 << 21, BLOCK=64)
            try:
                torch.cuda.synchronize()
            except torch.AcceleratorError as error:
                print(str(error).splitlines()[0])
            """, HERE=os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual((done.stdout, done.returncode), ("CUDA error: an illegal memory access was encountered\n", 0),
                         done.stderr)
        self.assertRegex(done.stderr, r"inflight: illegal memory access in kernel axpy")
        self.assertRegex(done.stderr, r"source: .*device_test.py:\d+")

    def test_profiler_and_ranges(self):
        with torch.profiler.profile() as profile:
            with torch.cuda.nvtx.range("work"):
                run_axpy(torch.ones(64).cuda(), torch.ones(64).cuda())
            torch.cuda.synchronize()
        self.assertIn("aten::ones", str(profile.key_averages().table()))

    def test_the_end_while_a_kernel_runs(self):
        done = subprogram(
            """
            import os, sys, torch
            sys.path.insert(0, os.environ["HERE"])
            from device_test import spin
            spin[(1,)](torch.zeros(1, dtype=torch.int32).cuda())
            """, HERE=os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("kernel spin was still running when the program ended", done.stderr)


class Products(unittest.TestCase):
    """Matrix products that the wheel computes with cuBLAS."""

    def test_as_on_the_cpu(self):
        for dtype, error in ((torch.float32, 1e-4), (torch.float64, 1e-10), (torch.float16, 2e-2), (torch.bfloat16, 1e-1)):
            a, b, bias, x = (torch.randn(shape).to(dtype) for shape in ((48, 32), (32, 40), (40,), (32,)))
            c, d = torch.randn(5, 16, 24).to(dtype), torch.randn(5, 24, 8).to(dtype)
            for op, operands in ((torch.mm, (a, b)), (torch.addmm, (bias, a, b)), (torch.mv, (a, x)), (torch.dot, (x, x)),
                                 (torch.bmm, (c, d))):
                with self.subTest(op=op.__name__, dtype=dtype):
                    got = op(*(each.to(GPU) for each in operands)).cpu()
                    torch.testing.assert_close(got.double(), op(*(each.double() for each in operands)), rtol=error, atol=error)


if __name__ == "__main__":
    unittest.main(verbosity=1)
