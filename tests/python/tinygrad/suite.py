"""Runs tinygrad's own tests on the software GPU: suite.py CHECKOUT KNOWN [--only FILE,...]

CHECKOUT is tinygrad's repository, at a commit near the installed version. Each file of FILES has its own process.
Fails if a test fails that is not in KNOWN, or if one in KNOWN without `may` before it no longer fails.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

# Paths under `test/`.
FILES = """test_tiny unit/test_jit backend/test_jit backend/test_schedule backend/test_ops backend/test_linearizer backend/test_tensor
backend/test_dtype backend/test_dtype_alu backend/test_transcendental backend/test_custom_kernel backend/test_rangeify
backend/test_symbolic_ops backend/test_symbolic_jit backend/test_setitem backend/test_arange backend/test_softmax_fusion
backend/test_randomness backend/test_subbuffer backend/test_graph opt/test_tensor_cores opt/test_kernel_opts""".split()
FILE_SECONDS = 1800
# One-dimensional convolutions load four numbers where three are left, which a GPU's page granularity hides.
SLACK = "512"


def run(checkout, file):
    """Returns the number of tests, the names of failed ones, the number of skipped ones, and pytest's output."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        command = ["inflight", "run", "--slack", SLACK, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                   f"--junitxml={report}", f"test/{file}.py"]
        try:
            done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, errors="replace", timeout=FILE_SECONDS)
        except subprocess.TimeoutExpired:
            return 0, [f"{file}::ends"], 0, f"it took more than {FILE_SECONDS} s"
        if not report.exists():
            return 0, [f"{file}::ends"], 0, f"the process ended with {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"
        cases = list(xml.parse(report).iter("testcase"))
        bad = [f"{file}::{case.get('name')}" for case in cases if case.find("failure") is not None or case.find("error") is not None]
        skipped = sum(case.find("skipped") is not None for case in cases)
        return len(cases), bad, skipped, done.stdout[-4000:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("known")
    parser.add_argument("--only")
    options = parser.parse_args()
    lines = [line.split() for line in open(options.known) if line.split() and not line.startswith("#")]
    known, certain = {words[-1] for words in lines}, {words[0] for words in lines if len(words) == 1}
    files = options.only.split(",") if options.only else FILES
    tests, bad, left_out, surprises = 0, set(), 0, 0
    for file in files:
        begin = time.monotonic()
        ran, failed, skipped, text = run(options.checkout, file)
        tests, left_out = tests + ran, left_out + skipped
        bad.update(failed)
        new = sorted(set(failed) - known)
        surprises += len(new)
        print(f"{file}: {ran} tests, {len(failed)} failed, {skipped} skipped, {time.monotonic() - begin:.0f} s", flush=True)
        if new:
            print("  not known: " + " ".join(new), text, sep="\n", flush=True)
    ended = {test for test in certain - bad if test.split("::")[0] in files}
    for test in sorted(ended):
        print(f"  {test} fails no longer")
    print(f"{len(files)} files, {tests} tests: {tests - len(bad) - left_out} passed, {len(bad)} failed, {left_out} skipped")
    return bool(surprises or ended) or tests == 0


if __name__ == "__main__":
    sys.exit(main())
