"""Ctrl-C and the progress line in Python programs. Usage: python_test.py INFLIGHT."""
import os
import pty
import signal
import subprocess
import sys
import textwrap
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
INFLIGHT = os.path.abspath(sys.argv.pop(1))


def program(text):
    return [INFLIGHT, "run", sys.executable, "-c",
            "import sys, signal, time\n"
            f"sys.path.insert(0, {HERE!r})\n"
            "from driver import Spinner\n"
            "spinner = Spinner()\n"
            "print('ready', flush=True)\n" + textwrap.dedent(text)]


def interrupted(text, *delays):
    """Runs the program and sends SIGINT some seconds after its launch. Returns status, output, and seconds since the
    signal."""
    child = subprocess.Popen(program(text), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    start = time.monotonic()
    for delay in delays:
        time.sleep(delay)
        child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=60)
    return child.returncode, out + errors, time.monotonic() - start - sum(delays)


class CtrlC(unittest.TestCase):
    def test_it_ends_a_kernel_that_python_waits_for(self):
        status, text, seconds = interrupted("spinner.launch(); spinner.synchronize()", 0.8)
        self.assertNotEqual(status, 0)
        self.assertLess(seconds, 5)
        self.assertRegex(text, r"kernel spin was stopped by Ctrl-C \(SIGINT\) after \d+\.\d s; 0 of 3 blocks")
        self.assertRegex(text, r"64 of 64 threads live")
        self.assertRegex(text, r"KeyboardInterrupt|the driver answers 702")

    def test_a_second_one_ends_it_at_once(self):
        _, text, seconds = interrupted("spinner.launch(); spinner.synchronize()", 0.6, 0.3)
        self.assertLess(seconds, 1.5)
        self.assertIn("was stopped by Ctrl-C", text)

    def test_a_kernel_that_ends_soon_leaves_a_device_that_works(self):
        status, text, _ = interrupted(
            """
            try:
                spinner.launch(1.6)
                spinner.synchronize()
            except KeyboardInterrupt:
                spinner.launch(2.5)
                spinner.synchronize()
                print("saved")
            """, 0.8)
        self.assertEqual(status, 0, text)
        self.assertEqual(text, "saved\n")

    def test_it_kills_a_program_without_a_handler_after_a_report(self):
        status, text, seconds = interrupted(
            "signal.signal(signal.SIGINT, signal.SIG_DFL); spinner.launch(); spinner.synchronize()", 0.8)
        self.assertEqual(status, -signal.SIGINT)
        self.assertLess(seconds, 1.5)
        self.assertIn("kernel spin was stopped by Ctrl-C", text)

    def test_it_is_ignored_by_a_program_that_ignores_it(self):
        status, text, _ = interrupted(
            "signal.signal(signal.SIGINT, signal.SIG_IGN); spinner.launch(1.5); spinner.synchronize()", 0.8)
        self.assertEqual((status, text), (0, ""))

    def test_a_handler_set_while_the_kernel_runs_is_the_one_that_hears(self):
        status, text, _ = interrupted(
            """
            spinner.launch(1.5)
            time.sleep(0.5)
            signal.signal(signal.SIGINT, lambda *_: print("heard", flush=True))
            spinner.synchronize()
            time.sleep(0.1)
            """, 0.9)
        self.assertEqual((status, text), (0, "heard\n"))

    def test_it_is_the_programs_again_when_no_kernel_runs(self):
        status, text, _ = interrupted(
            """
            spinner.launch(0.5)
            spinner.synchronize()
            try:
                time.sleep(30)
            except KeyboardInterrupt:
                print("woken")
            """, 1.2)
        self.assertEqual((status, text), (0, "woken\n"))


class Progress(unittest.TestCase):
    def test_the_line_is_drawn_on_a_terminal(self):
        try:
            parent, child = pty.openpty()
        except OSError as why:
            self.skipTest(f"this host gives no terminal: {why}")
        running = subprocess.Popen(program("spinner.launch(3); spinner.synchronize()"), stdout=child, stderr=child)
        os.close(child)
        text = b""
        try:
            while piece := os.read(parent, 4096):
                text += piece
        except OSError:  # the terminal's end
            pass
        self.assertEqual(running.wait(), 0)
        self.assertRegex(text.decode(), r"spin: [0-3] of 3 blocks, 2 s")
        self.assertTrue(text.endswith(b"\r\x1b[K"), text)

    def test_no_line_without_a_terminal(self):
        done = subprocess.run(program("spinner.launch(2.5); spinner.synchronize()"), capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


unittest.main(verbosity=1)
