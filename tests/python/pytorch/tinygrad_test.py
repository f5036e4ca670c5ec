"""tinygrad's CUDA backend, compared with NumPy: kernels compiled by NVRTC, the JIT and its graphs, training."""
import os
import unittest

os.environ.update(DEV="CUDA", TC="0")
import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes, nn


class Tinygrad(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def array(self, *shape):
        return self.random.standard_normal(shape, dtype=np.float32)

    def test_the_device(self):
        self.assertEqual(Device.DEFAULT, "CUDA")

    def test_operations(self):
        a, b = self.array(7, 33), self.array(33, 5)
        x, y = Tensor(a), Tensor(b)
        for mine, expected in (((x @ y), a @ b), (x.sum(1), a.sum(1)), (x.max(0), a.max(0)), (x.exp().log(), a),
                               ((x > 0).where(x, -x), abs(a)), (x[2:5, ::3], a[2:5, ::3]), (x.cumsum(1), a.cumsum(1)),
                               (x.cast(dtypes.half).cast(dtypes.float), a.astype(np.float16).astype(np.float32))):
            np.testing.assert_allclose(mine.numpy(), expected, rtol=1e-4, atol=1e-4)

    def test_a_convolution(self):
        a, w = self.array(1, 2, 6, 6), self.array(3, 2, 3, 3)
        windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(2, 3))
        expected = np.einsum("bcijkl,ockl->boij", windows, w)
        np.testing.assert_allclose(Tensor(a).conv2d(Tensor(w)).numpy(), expected, rtol=1e-4, atol=1e-4)

    def test_the_jit(self):
        @TinyJit
        def f(x, y):
            return ((x + y).relu().sum(0) * 2).realize(), (x * y).realize()

        for _ in range(5):
            a, b = self.array(16, 16), self.array(16, 16)
            one, two = f(Tensor(a).realize(), Tensor(b).realize())
            np.testing.assert_allclose(one.numpy(), 2 * np.maximum(a + b, 0).sum(0), rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(two.numpy(), a * b, rtol=1e-5)

    def test_training(self):
        x, y = Tensor(self.array(32, 8)), Tensor(self.random.integers(0, 3, 32))
        first, second = nn.Linear(8, 16), nn.Linear(16, 3)
        optimizer = nn.optim.Adam(nn.state.get_parameters([first, second]), lr=0.02)
        losses = []
        with Tensor.train():
            for _ in range(6):
                optimizer.zero_grad()
                loss = second(first(x).relu()).sparse_categorical_crossentropy(y)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        self.assertEqual(losses, sorted(losses, reverse=True))


if __name__ == "__main__":
    unittest.main(verbosity=1)
