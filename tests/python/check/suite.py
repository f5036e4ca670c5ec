"""Runs tests of kernels as a framework does, each in its own process."""
import subprocess
import sys
import unittest
from pathlib import Path

program = Path(__file__).with_name("numba_race.py")


class Kernels(unittest.TestCase):
    def test_race(self):
        self.assertEqual(subprocess.run([sys.executable, program]).returncode, 0)

    def test_right(self):
        self.assertEqual(subprocess.run([sys.executable, program, "right"]).returncode, 0)


unittest.main()
