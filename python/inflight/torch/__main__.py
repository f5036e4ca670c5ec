"""python -m inflight.torch [--on gpu|cpu] [-m] PROGRAM [ARG...]: a program whose eager operations run here."""

import argparse
import os
import runpy
import sys

import inflight.torch


def main():
    parser = argparse.ArgumentParser(prog="python -m inflight.torch", description=__doc__.partition(": ")[2])
    parser.add_argument("--on", choices=("gpu", "cpu"),
                        help="where to run operations that can be compiled to Triton kernels; 'gpu' by default")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    parser.add_argument("program", metavar="SCRIPT")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARG")
    options = parser.parse_args()
    inflight.torch.enable(options.on)
    sys.argv = [options.program, *options.arguments]
    if options.module:
        sys.path[0] = os.getcwd()
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.program))
        runpy.run_path(options.program, run_name="__main__")


if __name__ == "__main__":
    main()
