"""Runs the command `inflight` of the installation or build tree that contains this package."""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
# A wheel has the installation inside the package. An installation has the package in lib/inflight/python, a build
# in lib/python.
_prefixes = (os.path.join(_here, "installed"), os.path.join(_here, "..", "..", "..", ".."),
             os.path.join(_here, "..", "..", ".."))


def prefix():
    """The folder whose `bin` has the command and whose `include` has the headers, or None."""
    for each in _prefixes:
        for libraries in ("lib/inflight", "lib"):
            if os.path.exists(os.path.join(each, libraries, "libinflight_gpu.so")):
                return os.path.normpath(each)
    return None


def main():
    """Replaces this process with the command. The arguments stay the same."""
    where = prefix()
    if where is None:
        sys.exit("inflight: there is no command beside this package (%s): reinstall it" % _here)
    program = os.path.join(where, "bin", "inflight")
    os.execv(program, ["inflight", *sys.argv[1:]])
