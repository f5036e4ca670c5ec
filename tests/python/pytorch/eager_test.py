"""PyTorch's wheel on the software GPU with eager operations by inflight.torch, each compared with the CPU's
result."""
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")
import torch
import torch.nn.functional as F
from torch import nn

import inflight.torch
from inflight.torch import tally

inflight.torch.enable()
GPU = "cuda"


def on_gpu(value):
    if isinstance(value, torch.Tensor):
        return value.detach().to(GPU).requires_grad_(value.requires_grad)
    return type(value)(map(on_gpu, value)) if isinstance(value, (list, tuple)) else value


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        tally.forget()

    def assert_close(self, actual, expected, **tolerance):
        if isinstance(expected, torch.Tensor):
            self.assertEqual(actual.device.type, GPU)
            self.assertEqual(actual.dtype, expected.dtype)
            torch.testing.assert_close(actual.cpu(), expected, **tolerance)
        elif isinstance(expected, (list, tuple)):
            self.assertEqual(len(actual), len(expected))
            for one, other in zip(actual, expected):
                self.assert_close(one, other, **tolerance)
        else:
            self.assertEqual(actual, expected)

    def agree(self, function, *arguments, **tolerance):
        """The function returns the same on both devices, and leaves the same values in its arguments."""
        theirs = on_gpu(arguments)
        mine = [a.detach().clone().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a
                for a in arguments]
        self.assert_close(function(*theirs), function(*mine), **tolerance)
        self.assert_close([t for t in theirs if isinstance(t, torch.Tensor)],
                          [t for t in mine if isinstance(t, torch.Tensor)], **tolerance)

    def ran(self, name):
        return tally.counts()[name]


class Elementwise(Case):
    def test_arithmetic(self):
        a, b = torch.randn(5, 7), torch.randn(7)
        for f in (torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.atan2, torch.fmod):
            self.agree(f, a, b)
        self.assertGreater(self.ran("add.Tensor")["gpu"], 0)
        self.assertEqual(self.ran("add.Tensor")["cpu"], 0)

    def test_unary_functions(self):
        a = torch.rand(33) + 0.1
        for f in (torch.exp, torch.log, torch.sin, torch.sqrt, torch.rsqrt, torch.erf, torch.tanh, torch.sigmoid, F.gelu,
                  F.silu, F.relu, torch.abs, torch.neg, torch.floor, F.softplus, F.hardswish):
            self.agree(f, a, rtol=2e-5, atol=2e-6)

    def test_numbers(self):
        for a in (torch.randn(4, 3), torch.arange(12).reshape(4, 3), torch.tensor(2.5)):
            self.agree(lambda t: (t + 1, t * 2.5, 3 - t, t / 2, t ** 2, 1.5 / (t.abs() + 1), t.add(t, alpha=3)), a)

    def test_numbers_that_change_are_compiled_once(self):
        a = torch.randn(4, 3, device=GPU)
        for step in range(60):
            a.mul_(1 - 1 / (step + 2)).add_(a.clone(), alpha=0.001 * step).addcdiv_(a.clone(), a.abs() + 1, value=-step / 7)
        for name in ("mul_.Tensor", "add_.Tensor", "addcdiv_"):
            self.assertEqual((self.ran(name)["gpu"], self.ran(name)["cpu"]), (60, 0), self.ran(name))

    def test_mixed_types(self):
        a, b, c = torch.randn(6), torch.arange(6), torch.arange(6) % 2 == 0
        self.agree(lambda a, b, c: (a + b, b * c, a.half() + a, a.bfloat16() * 3, b / 2, torch.where(c, a, b), b // 4, ~c),
                   a, b, c)

    def test_ldexp(self):
        for exponents in (torch.arange(-2, 4), torch.arange(6.0), torch.tensor(3)):
            self.agree(lambda x, e: (torch.ldexp(x, e), x.ldexp_(e), torch.ldexp(x, e, out=x.clone())), torch.randn(6), exponents)

    def test_comparisons(self):
        a, b = torch.randint(0, 3, (20,)), torch.randint(0, 3, (20,))
        self.agree(lambda a, b: (a == b, a < b, a >= 1, a != b, (a > b).any().item(), torch.equal(a, b)), a, b)

    def test_a_tensor_of_the_cpu_without_dimensions(self):
        scalar = torch.tensor(3.0)
        self.agree(lambda a: a * scalar + scalar, torch.randn(4))

    def test_complex_numbers(self):
        a = torch.randn(4, 3, dtype=torch.complex64)
        self.agree(lambda a: (a * a.conj(), a.abs(), a.real + a.imag, torch.view_as_real(a * 2j)), a)

    def test_no_elements(self):
        self.agree(lambda a: (a + 1, a.sum(), a * a), torch.zeros(0, 3))


class InPlace(Case):
    def test_in_place(self):
        self.agree(lambda a, b: (a.add_(b), a.mul_(2), a.relu_(), a.clamp_(0, 1), a.zero_(), a.fill_(2.5)),
                   torch.randn(4, 5), torch.randn(5))

    def test_through_views(self):
        def f(a):
            a[1:3, ::2].mul_(10)
            a.t()[0].add_(1)
            a.view(-1)[3] = -7
            a[:, 1] = a[:, 2]
            a[0] += a[1]
            return a.sum()

        self.agree(f, torch.randn(4, 6))

    def test_overlapping_arguments(self):
        self.agree(lambda a: a[1:].add_(a[:-1].clone()), torch.arange(8.0))
        with self.assertRaisesRegex(RuntimeError, "refer to a single memory location"):
            a = torch.zeros(3, 3, device=GPU)
            a.add_(a.t())
        self.agree(lambda a: a.mul_(a), torch.randn(3, 3))

    def test_out(self):
        def f(a, out):
            torch.add(a, 1, out=out)
            torch.mm(a, a, out=out)
            return torch.exp(a, out=out), torch.sum(a, 0, out=out.new_empty(0))

        self.agree(f, torch.randn(3, 3), torch.empty(3, 3))

    def test_out_of_another_shape_and_type(self):
        self.agree(lambda a: (torch.add(a, a, out=torch.empty(0, device=a.device)),
                              torch.mul(a, 2, out=torch.empty(3, 3, dtype=torch.float64, device=a.device)),
                              torch.max(a, 1, out=(a.new_empty(0), a.new_empty(0, dtype=torch.long)))), torch.randn(3, 3))

    def test_copies_between_layouts_and_types(self):
        def f(a):
            b = torch.empty(5, 4, device=a.device, dtype=torch.float64)
            b.copy_(a.t())
            return b, a.t().contiguous(), a.half(), a.to(torch.int32), a.expand(2, 4, 5).contiguous(), a[:, ::2].clone()

        self.agree(f, torch.randn(4, 5) * 10)

    def test_copies_between_devices(self):
        a = torch.randn(6, 4)
        b = a.to(GPU)
        self.assertTrue(torch.equal(b.t().cpu(), a.t()))
        self.assertTrue(torch.equal(b[::2, 1:3].cpu(), a[::2, 1:3]))
        b[::2, 1] = torch.ones(3)
        self.assertEqual(b[0, 1].item(), 1)
        c = torch.empty(4, 6).t()
        c.copy_(b.half())
        self.assertTrue(torch.equal(c, b.half().float().cpu()))


class Reductions(Case):
    def test_sums(self):
        a = torch.randn(6, 50)
        self.agree(lambda a: (a.sum(), a.sum(1), a.mean(0), a.var(1), a.std(), a.prod(1), a.norm(), a.logsumexp(1)), a,
                   rtol=1e-5, atol=1e-5)

    def test_extremes(self):
        a = torch.randn(6, 50)
        self.agree(lambda a: (a.max(), a.min(1), a.argmax(1), a.amax(0), a.aminmax(), (a > 0).any(1), (a > -9).all()), a)

    def test_order(self):
        a = torch.randperm(30).float().reshape(5, 6)
        self.agree(lambda a: (a.sort(1), a.topk(2), a.cumsum(1), a.argsort(0), a.median(), a.flatten().kthvalue(3)), a)

    def test_softmax_and_normalization(self):
        a, w, b = torch.randn(4, 32), torch.randn(32), torch.randn(32)
        self.agree(lambda a, w, b: (a.softmax(-1), F.log_softmax(a, 0), F.layer_norm(a, (32,), w, b), F.rms_norm(a, (32,), w),
                                    F.group_norm(a, 4, w, b)), a, w, b, rtol=1e-5, atol=1e-5)
        self.assertEqual(self.ran("_softmax")["cpu"], 0)
        self.assertEqual(self.ran("native_layer_norm")["cpu"], 0)


class Indexing(Case):
    def test_reading(self):
        a, i = torch.randn(6, 5), torch.tensor([3, 0, 5])
        self.agree(lambda a, i: (a[i], a[i, :2], a[:, [1, 4]], a[a > 0], a.index_select(0, i), a.gather(0, i.view(3, 1)),
                                 a[1], a[..., -1], a.take(i), a.masked_select(a < 0), a.nonzero()), a, i)

    def test_writing(self):
        def f(a, i):
            a[i] = 1.5
            a[a > 1] = 0
            a.index_add_(0, i, torch.ones(3, 5, device=a.device))
            a.scatter_(0, i.view(3, 1), 9.0)
            a.masked_fill_(a < -1, 4)
            a[2:4] = a[:2].clone()
            return a.scatter_add(1, i.view(1, 3) % 5, torch.ones(1, 3, device=a.device))

        self.agree(f, torch.randn(6, 5), torch.tensor([3, 0, 5]))

    def test_joining(self):
        a, b = torch.randn(2, 3), torch.randn(4, 3)
        self.agree(lambda a, b: (torch.cat((a, b)), torch.stack((a, a)), b.split(2), b.chunk(2, 1), torch.tril(b), b.flip(0),
                                 b.roll(1, 0), F.pad(a, (1, 2)), b.repeat(2, 1), F.one_hot(torch.arange(3, device=a.device))),
                   a, b)

    def test_embeddings(self):
        table, i = torch.randn(10, 4), torch.tensor([[1, 9], [0, 1]])
        self.agree(lambda t, i: (F.embedding(i, t), F.embedding_bag(i, t)), table, i)


class Products(Case):
    def test_on_the_cpu(self):
        a, b, c = torch.randn(3, 4), torch.randn(4, 5), torch.randn(2, 3, 4)
        self.agree(lambda a, b, c: (a @ b, c @ b, F.linear(a, b.t()), torch.einsum("bij,jk->bik", c, b), a[0] @ a[1],
                                    torch.baddbmm(c, c, torch.ones(2, 4, 4, device=c.device)), a.double() @ b.double()),
                   a, b, c, rtol=1e-5, atol=1e-5)
        self.assertGreater(self.ran("mm")["cpu"], 0)
        self.assertIn("cuBLAS", self.ran("mm")["why"][0])

    def test_convolutions(self):
        image, w = torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3)
        self.agree(lambda x, w: (F.conv2d(x, w, padding=1), F.conv2d(x, w, stride=2), F.conv_transpose2d(x, w.transpose(0, 1)),
                                 F.conv2d(x[:, :1].expand(2, 3, 8, 8).contiguous(), w[:3, :1], groups=3),
                                 F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 1),
                                 F.interpolate(x, scale_factor=2)), image, w, rtol=1e-4, atol=1e-4)

    def test_attention(self):
        q = torch.randn(2, 2, 5, 8)
        self.agree(lambda q: (F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q, q, q, is_causal=True)),
                   q, rtol=1e-5, atol=1e-5)

    def test_linear_algebra_and_transforms(self):
        a = torch.randn(4, 4) + 4 * torch.eye(4)
        self.agree(lambda a: (torch.linalg.inv(a), torch.linalg.det(a), torch.linalg.solve(a, a[0]), torch.fft.fft(a),
                              torch.fft.irfft(torch.fft.rfft(a))), a, rtol=1e-4, atol=1e-4)


class Chance(Case):
    def test_a_seed_means_one_sequence(self):
        def draws():
            torch.manual_seed(3)
            return [torch.randn(100, device=GPU), torch.rand(100, device=GPU), torch.randint(0, 9, (100,), device=GPU),
                    torch.randperm(50, device=GPU), F.dropout(torch.ones(100, device=GPU)),
                    torch.ones(100, device=GPU).uniform_(-1, 1), torch.bernoulli(torch.full((100,), 0.5, device=GPU)),
                    torch.multinomial(torch.ones(20, device=GPU), 5)]

        first, second = draws(), draws()
        for one, other in zip(first, second):
            self.assertTrue(torch.equal(one, other))
        self.assertFalse(torch.equal(torch.randn(100, device=GPU), first[0]))

    def test_the_draws_leave_the_cpus_generator_alone(self):
        state = torch.get_rng_state()
        torch.randn(5, device=GPU)
        F.dropout(torch.ones(100, device=GPU))
        self.assertTrue(torch.equal(torch.get_rng_state(), state))

    def test_a_state_can_be_set_back(self):
        state = torch.cuda.get_rng_state()
        first = torch.randn(9, device=GPU)
        torch.cuda.set_rng_state(state)
        self.assertTrue(torch.equal(torch.randn(9, device=GPU), first))

    def test_a_generator_of_its_own(self):
        one, other = (torch.Generator(GPU).manual_seed(5) for _ in range(2))
        torch.randn(3, device=GPU)
        self.assertTrue(torch.equal(torch.randn(9, device=GPU, generator=one), torch.randn(9, device=GPU, generator=other)))

    def test_distributions(self):
        draws = torch.randn(20000, device=GPU)
        self.assertAlmostEqual(draws.mean().item(), 0, delta=0.05)
        self.assertAlmostEqual(draws.std().item(), 1, delta=0.05)
        kept = F.dropout(torch.ones(20000, device=GPU), 0.25)
        self.assertAlmostEqual((kept > 0).float().mean().item(), 0.75, delta=0.02)
        self.assertAlmostEqual(kept.max().item(), 1 / 0.75, delta=1e-5)


class Looking(Case):
    def test_printing(self):
        self.assertEqual(repr(torch.arange(3.0, device=GPU) / 2), "tensor([0.0000, 0.5000, 1.0000], device='cuda:0')")
        self.assertIn("1.0000e+10", repr(torch.tensor([1e10, 1e-3], device=GPU)))

    def test_items(self):
        a = torch.tensor([[1, 2], [3, 4]], device=GPU)
        self.assertEqual(a.tolist(), [[1, 2], [3, 4]])
        self.assertEqual((a.sum().item(), float(a.float().mean()), bool((a == a).all()), len(a), int(a[1, 0])),
                         (10, 2.5, True, 2, 3))
        self.assertIn(4, a)

    def test_saving(self):
        a = {"w": torch.randn(4, 3, device=GPU), "view": torch.arange(10, device=GPU)[::3]}
        file = io.BytesIO()
        torch.save(a, file)
        file.seek(0)
        b = torch.load(file, weights_only=True)
        self.assertTrue(all(b[name].is_cuda and torch.equal(a[name], b[name]) for name in a))
        file.seek(0)
        self.assertEqual(torch.load(file, map_location="cpu")["view"].tolist(), [0, 3, 6, 9])


class Autograd(Case):
    def test_backward(self):
        def f(x, w):
            loss = (F.gelu(x @ w).softmax(-1) ** 2).sum() + (x.sin() * x).mean()
            return torch.autograd.grad(loss, (x, w))

        self.agree(f, torch.randn(4, 5, requires_grad=True), torch.randn(5, 3, requires_grad=True), rtol=1e-4, atol=1e-5)

    def test_losses(self):
        x, t = torch.randn(6, 4, requires_grad=True), torch.tensor([0, 1, 2, 3, 1, 0])
        y = torch.rand(6, 4)
        for loss in (lambda x, t, y: F.cross_entropy(x, t), lambda x, t, y: F.cross_entropy(x, t, label_smoothing=0.1),
                     lambda x, t, y: F.mse_loss(x, y), lambda x, t, y: F.smooth_l1_loss(x, y), lambda x, t, y: F.l1_loss(x, y),
                     lambda x, t, y: F.binary_cross_entropy_with_logits(x, y), lambda x, t, y: F.kl_div(x, y),
                     lambda x, t, y: F.huber_loss(x, y), lambda x, t, y: F.binary_cross_entropy(x.sigmoid(), y),
                     lambda x, t, y: -F.logsigmoid(8 * x).mean(), lambda x, t, y: F.multilabel_soft_margin_loss(x, y.round())):
            self.agree(lambda x, t, y: torch.autograd.grad(loss(x, t, y), x), x, t, y, rtol=1e-4, atol=1e-5)

    def test_average_pooling_with_windows_past_the_end(self):
        for size, options in ((9, {}), (9, {"padding": 3}), (12, {"padding": 2, "count_include_pad": False})):
            self.agree(lambda x: torch.autograd.grad(F.avg_pool1d(x, 7, 3, ceil_mode=True, **options).sum(), x),
                       torch.randn(2, size, requires_grad=True))

    def test_a_loss_that_asks_for_cudnn(self):
        scores, target = torch.randn(6, 2, 5, requires_grad=True), torch.tensor([[1, 2, 3], [4, 1, 2]])
        for lengths in ((torch.tensor([6, 5]), torch.tensor([3, 2])), ([6, 5], [3, 2])):
            self.agree(lambda s, t: torch.autograd.grad(F.ctc_loss(s.log_softmax(2), t, *lengths), s), scores, target,
                       rtol=1e-4, atol=1e-5)

    def test_checks_of_numbers(self):
        x = torch.randn(3, 4, dtype=torch.float64, device=GPU, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x: F.layer_norm(x.tanh(), (4,)), x))


def train(make, data, steps, optimizer, device):
    torch.manual_seed(1)
    model = make().to(device)
    optimizer = optimizer(model.parameters())
    inputs, targets = (each.to(device) for each in data)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, -2), targets.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.cpu() for name, value in model.state_dict().items()}


class Block(nn.Module):
    """A one-layer transformer over tokens."""

    def __init__(self, tokens=17, width=16):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.head = nn.Linear(width, tokens)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        return self.head(self.layer(self.embedding(x), src_mask=mask, is_causal=True))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cells = kind(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.cells(x)[0])


class Training(Case):
    def compare(self, make, data, steps=3, optimizer=lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), tolerance=2e-4):
        losses, weights = train(make, data, steps, optimizer, GPU)
        expected, expected_weights = train(make, data, steps, optimizer, "cpu")
        self.assertLess(losses[-1], losses[0])
        torch.testing.assert_close(losses, expected, rtol=tolerance, atol=tolerance)
        for name, value in expected_weights.items():
            torch.testing.assert_close(weights[name], value, rtol=10 * tolerance, atol=10 * tolerance)

    def test_a_convolutional_network(self):
        make = lambda: nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
                                     nn.Conv2d(4, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
        self.compare(make, (torch.randn(6, 1, 12, 12), torch.randint(0, 5, (6,))))

    def test_a_transformer_by_adamw(self):
        tokens = torch.randint(0, 17, (2, 9))
        self.compare(Block, (tokens[:, :-1], tokens[:, 1:]), optimizer=lambda p: torch.optim.AdamW(p, 1e-2, eps=1e-3))

    def test_recurrent_networks(self):
        data = torch.randn(2, 5, 6), torch.randint(0, 3, (2, 5))
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            self.compare(lambda: Recurrent(kind), data)

    def test_optimizers(self):
        make = lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
        data = torch.randn(10, 4), torch.randint(0, 3, (10,))
        for kind in (torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad):
            self.compare(make, data, optimizer=lambda p: kind(p, 1e-2))
        self.compare(make, data, optimizer=lambda p: torch.optim.AdamW(p, 1e-2, fused=True))

    def test_mixed_precision(self):
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).to(GPU)
        optimizer, scaler = torch.optim.SGD(model.parameters(), 0.1), torch.amp.GradScaler(GPU)
        x, t = torch.randn(10, 4, device=GPU), torch.randint(0, 3, (10,), device=GPU)
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            with torch.autocast(GPU, torch.float16):
                loss = F.cross_entropy(model(x), t)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        self.assertLess(losses[-1], losses[0])

    def test_clipping_and_scheduling(self):
        layer = nn.Linear(4, 4).to(GPU)
        optimizer = torch.optim.SGD(layer.parameters(), 1.0)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
        for _ in range(3):
            layer(torch.randn(2, 4, device=GPU)).square().sum().backward()
            norm = nn.utils.clip_grad_norm_(layer.parameters(), 0.5)
            optimizer.step()
            schedule.step()
        self.assertTrue(norm.isfinite().item())
        self.assertLessEqual(nn.utils.get_total_norm([p.grad for p in layer.parameters()]).item(), 0.5001)


class Report(Case):
    def test_it_says_what_ran_where(self):
        a = torch.randn(3, 3, device=GPU)
        (a @ a + 1).sum().item()
        text = inflight.torch.report()
        self.assertRegex(text, r"on the software GPU: 2 calls of 2 operations, as Triton kernels: .*add.Tensor")
        self.assertRegex(text, r"on the CPU: 1 call of mm \(matrix products, which the wheel takes from cuBLAS\)")
        self.assertRegex(text, r"on the CPU: 1 call of normal_ \(random numbers\)")

    def test_errors_are_pytorchs(self):
        a, b = torch.ones(3, device=GPU), torch.ones(4, device=GPU)
        with self.assertRaisesRegex(RuntimeError, r"The size of tensor a \(3\) must match the size of tensor b \(4\)"):
            a + b
        with self.assertRaisesRegex(RuntimeError, "mat1 and mat2 shapes cannot be multiplied"):
            a.view(1, 3) @ b.view(1, 4)
        self.assertEqual((a + 1).tolist(), [2, 2, 2])

    def run_program(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write(text)
            return subprocess.run([sys.executable, "-W", "ignore", "-m", "inflight.torch", *options, path, "a", "--b"],
                                  capture_output=True, text=True)

    PROGRAM = ("import sys, torch\n"
               "assert __name__ == '__main__' and sys.argv[1:] == ['a', '--b']\n"
               "print((torch.ones(3, device='cuda') * 2).tolist())\n"
               "sys.exit(4)\n")

    def test_a_program_as_it_is(self):
        done = self.run_program(self.PROGRAM)
        self.assertEqual((done.returncode, done.stdout), (4, "[2.0, 2.0, 2.0]\n"), done.stderr)
        self.assertRegex(done.stderr, r"inflight.torch: on the software GPU: 2 calls of 2 operations")

    def test_a_program_on_the_cpu(self):
        done = self.run_program(self.PROGRAM, "--on", "cpu")
        self.assertEqual((done.returncode, done.stdout), (4, "[2.0, 2.0, 2.0]\n"), done.stderr)
        self.assertRegex(done.stderr, r"on the CPU: 2 calls of .* \(requested\)")

    def test_where_flags_are_frozen(self):
        # As PyTorch's own test helpers do.
        text = ("import torch; torch.backends.disable_global_flags(); import inflight.torch; inflight.torch.enable(); "
                "print((torch.ones(3, device='cuda') * 2).tolist(), torch.backends.cudnn.enabled)")
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "[2.0, 2.0, 2.0] False\n"), done.stderr)

    def test_a_graph_cannot_capture_the_cpu(self):
        a = torch.ones(3, 3, device=GPU)
        graph = torch.cuda.CUDAGraph()
        with self.assertRaisesRegex(RuntimeError, "sort.* is computed on the CPU, which a CUDA graph cannot capture"):
            with torch.cuda.graph(graph):
                a.sort()

    def test_a_graph_captures_products(self):
        layer = nn.Linear(4, 3).to(GPU)
        model = torch.compile(lambda x: layer(x).relu() @ torch.ones(3, 2, device=GPU), mode="reduce-overhead")
        with torch.no_grad():
            for step in range(3):  # captured at the second step
                x = torch.randn(5, 4)
                wanted = nn.functional.linear(x, layer.weight.cpu(), layer.bias.cpu()).relu() @ torch.ones(3, 2)
                torch.testing.assert_close(model(x.to(GPU)).cpu(), wanted, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main(verbosity=1)
