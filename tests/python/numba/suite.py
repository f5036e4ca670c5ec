"""Runs Numba-CUDA's own tests, which its wheel contains, on the software GPU, each module in its own process.

suite.py KNOWN [--part K/N] [--only MODULE,...]

Fails if a test fails that is not in KNOWN, or if one in KNOWN no longer fails. `--part K/N` takes the modules
whose name has the CRC-32 K modulo N.
"""
import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import time
import zlib

# Modules that need other packages, and one that touches half of the device's reported memory: 70 GB.
LEFT_OUT = ("benchmarks", "cudasim", "test_cupy_bfloat16_interop", "test_managed_alloc")
MODULE_SECONDS = 2400
# Tests whose kernels access a few elements past their arrays, which a GPU's page granularity hides.
SLACK = ("cudapy.test_dispatcher", "cudapy.test_localmem", "cudadrv.test_cuda_driver")
PROGRAM = """
import json, sys, unittest
suite = unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])
class Result(unittest.TextTestResult):
    def startTest(self, test):
        super().startTest(test)
        print("@begin", test.id(), file=sys.__stderr__, flush=True)
    def addError(self, test, error):
        if error[0].__name__ == "Skipped":  # pytest's
            return self.addSkip(test, str(error[1]))
        super().addError(test, error)
result = unittest.TextTestRunner(stream=sys.stderr, resultclass=Result, verbosity=0).run(suite)
bad = [test.id() for test, _ in result.failures + result.errors] + [test.id() for test in result.unexpectedSuccesses]
counts = [result.testsRun, bad, len(result.skipped), len(result.expectedFailures)]
print("@end", json.dumps(counts), file=sys.__stderr__, flush=True)
"""


def modules():
    root = pathlib.Path(importlib.util.find_spec("numba_cuda").origin).parent / "numba/cuda/tests"
    for path in sorted(root.rglob("test_*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        if not any(part in name for part in LEFT_OUT):
            yield name


def name_of(test):
    """Returns the test that a subtest, `NAME (PARAMETERS)`, belongs to."""
    return test.split(" (")[0]


def run(module):
    """Returns the tests, failed ones, skipped, expected failures, and the time taken."""
    command = ["inflight", "run", "--timeout", "1200"] + (["--slack", "512"] if module in SLACK else [])
    begin = time.monotonic()
    try:
        done = subprocess.run(command + [sys.executable, "-W", "ignore", "-c", PROGRAM, f"numba.cuda.tests.{module}"],
                              capture_output=True, text=True, errors="replace", timeout=MODULE_SECONDS)
        text, status = done.stderr, done.returncode
    except subprocess.TimeoutExpired as late:
        text, status = (late.stderr or b"").decode(errors="replace"), "more time than it has"
    took = time.monotonic() - begin
    short = lambda test: test.replace("numba.cuda.tests.", "").replace("unittest.loader._FailedTest.", "import:")
    begun = [line.split()[1] for line in text.splitlines() if line.startswith("@begin ")]
    ends = [line for line in text.splitlines() if line.startswith("@end ")]
    if not ends:
        return module, len(begun), [short(begun[-1]) if begun else module], 0, 0, took, f"the process ended with {status}\n{text[-1500:]}"
    ran, bad, skipped, expected = json.loads(ends[-1].removeprefix("@end "))
    return module, ran, sorted({name_of(short(test)) for test in bad}), skipped, expected, took, text if bad else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("known")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only")
    options = parser.parse_args()
    known = {line.split()[0] for line in open(options.known) if line.split() and not line.startswith("#")}
    number, parts = map(int, options.part.split("/"))
    chosen = [name for name in modules() if zlib.crc32(name.encode()) % parts == number]
    if options.only:
        chosen = options.only.split(",")
    totals, bad, surprises = [0, 0, 0, 0], set(), 0
    for module, ran, failed, skipped, expected, took, text in map(run, chosen):
        totals = [a + b for a, b in zip(totals, (ran, len(failed), skipped, expected))]
        bad.update(failed)
        new = sorted(set(failed) - known)
        surprises += len(new)
        print(f"{module}: {ran} tests, {len(failed)} failed, {skipped} skipped, {took:.0f} s", flush=True)
        if new:
            print("  not known: " + " ".join(new), text[-4000:], sep="\n", flush=True)
    ended = {test for test in known - bad if any(test.startswith(f"{module}.") for module in chosen)}
    for test in sorted(ended):
        print(f"  {test} fails no longer")
    ran, failed, skipped, expected = totals
    print(f"{len(chosen)} modules, {ran} tests: {ran - failed - skipped - expected} passed, {failed} failed, {skipped} skipped, "
          f"{expected} expected to fail")
    return bool(surprises or ended) or ran == 0


if __name__ == "__main__":
    sys.exit(main())
