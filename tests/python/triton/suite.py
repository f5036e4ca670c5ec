"""Runs Triton's own language tests on the software GPU: suite.py CHECKOUT KNOWN [--file FILE] [--part I/N]

CHECKOUT is Triton's repository, at a commit near the installed version. A process runs 150 tests, and as many run at
a time as there are cores. Fails if more tests of a function fail than in KNOWN. --part runs one of N equal shares,
counted from 0.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

TESTS_A_PROCESS = 150
PROCESS_SECONDS = 3600
# The tests create and compare their data with eager operations of PyTorch.
PYTEST = ["inflight", "run", sys.executable, "-m", "inflight.torch", "--on", "cpu", "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def collected(folder, file):
    """Returns the ids of all tests of the file."""
    done = subprocess.run([*PYTEST, "--collect-only", file], cwd=folder, capture_output=True, text=True, errors="replace")
    tests = [line for line in done.stdout.splitlines() if line.startswith(file + "::")]
    if not tests:
        sys.exit(f"pytest finds no test in {file}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return tests


def function_of(test):
    return re.sub(r"\[.*", "", test.split("::")[-1], flags=re.DOTALL)


def run(folder, tests):
    """Returns the number of tests run, those that failed, the number of skipped ones, and pytest's output."""
    with tempfile.TemporaryDirectory() as scratch:
        report, ids = pathlib.Path(scratch) / "report.xml", pathlib.Path(scratch) / "tests"
        ids.write_text("\n".join(tests))
        command = [*PYTEST, f"--junitxml={report}", f"@{ids}"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=PROCESS_SECONDS)
        except subprocess.TimeoutExpired:
            return len(tests), tests, 0, f"they took more than {PROCESS_SECONDS} s"
        if not report.exists():
            return len(tests), tests, 0, f"the process ended with {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        cases = list(xml.parse(report).iter("testcase"))
        bad = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
        skipped = sum(case.find("skipped") is not None for case in cases)
        return len(cases), bad, skipped, done.stdout[-6000:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("known")
    parser.add_argument("--file", default="language/test_core.py")
    parser.add_argument("--part", default="0/1")
    options = parser.parse_args()
    known = collections.Counter()
    for line in open(options.known):
        if line.split() and not line.startswith("#"):
            count, function = line.split()
            known[function] = int(count)
    folder = options.checkout  # pytest names the tests from this folder, which has its settings
    tests = collected(folder, f"python/test/unit/{options.file}")
    part, parts = map(int, options.part.split("/"))
    shares = [tests[i:i + TESTS_A_PROCESS] for i in range(0, len(tests), TESTS_A_PROCESS)][part::parts]
    ran, bad, skipped, begin = 0, [], 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for share, (count, failed, left_out, text) in zip(shares, pool.map(lambda share: run(folder, share), shares)):
            ran, skipped = ran + count, skipped + left_out
            bad += failed
            print(f"{function_of(share[0])} to {function_of(share[-1])}: {count} tests, {len(failed)} failed, "
                  f"{left_out} skipped, {time.monotonic() - begin:.0f} s so far", flush=True)
            if set(map(function_of, failed)) - set(known):
                print("  not known: " + " ".join(test for test in failed if function_of(test) not in known), text, sep="\n", flush=True)
    failures = collections.Counter(map(function_of, bad))
    surprises = {function: count for function, count in failures.items() if count > known[function]}
    for function, count in sorted(surprises.items()):
        print(f"{function}: {count} fail, {known[function]} are known to")
    print(f"{ran} tests: {ran - len(bad) - skipped} passed, {len(bad)} failed, {skipped} skipped")
    return bool(surprises) or ran == 0


if __name__ == "__main__":
    sys.exit(main())
