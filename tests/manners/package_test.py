"""The package `inflight` without any other package. Usage: package_test.py INFLIGHT."""
import os
import subprocess
import sys
import unittest

INFLIGHT = os.path.abspath(sys.argv.pop(1))


def run(*words, **variables):
    # -S: without packages outside Python's own library, such as PyTorch.
    return subprocess.run([INFLIGHT, "run", sys.executable, "-S", *words], capture_output=True, text=True,
                          env={**os.environ, **variables})


class Package(unittest.TestCase):
    def test_it_is_found_and_imports_nothing(self):
        done = run("-c", "import sys, inflight, inflight.torch; print('torch' in sys.modules)")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "False\n", ""))

    def test_it_says_that_pytorch_is_missing(self):
        done = run("-c", "import inflight.torch; inflight.torch.enable()")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.endswith("ImportError: inflight.torch needs PyTorch: pip install torch\n"), done.stderr)

    def test_the_command_needs_a_program(self):
        done = run("-m", "inflight.torch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage: python -m inflight.torch [-h] [--on {gpu,cpu}]", done.stderr)

    def test_the_report_counts_by_place_and_reason(self):
        done = run("-c", """if True:
            import inflight.torch
            from inflight.torch import tally
            assert inflight.torch.report() == ''
            for name in ('add.Tensor', 'add.Tensor', 'relu'):
                tally.count(name, tally.GPU)
            tally.count('mm', tally.CPU, 'matrix products')
            tally.count('add.Tensor', tally.CPU, 'its tensors have no elements')
            tally.count('bmm', tally.CPU, 'matrix products')
            print(inflight.torch.report(), end='')
            print(inflight.torch.counts()['add.Tensor'])
            """)
        self.assertEqual(done.stdout, """\
inflight.torch: on the software GPU: 3 calls of 2 operations, as Triton kernels: add.Tensor, relu
inflight.torch: on the CPU: 2 calls of mm, bmm (matrix products)
inflight.torch: on the CPU: 1 call of add.Tensor (its tensors have no elements)
{'gpu': 2, 'cpu': 1, 'why': ['its tensors have no elements']}
""")


unittest.main()
