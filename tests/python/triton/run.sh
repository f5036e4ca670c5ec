#!/usr/bin/env bash
# run.sh INFLIGHT [ARG...]: runs suite.py in the environment of tools/install-pytorch, or with the
# python in INFLIGHT_TEST_PYTORCH, on the Triton checkout in INFLIGHT_TEST_TRITON. Exit status 77:
# there is none.
set -u
inflight=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
python=${INFLIGHT_TEST_PYTORCH:-$here/../../../.pytorch/bin/python}
checkout=${INFLIGHT_TEST_TRITON:-}
[ -d "$checkout/python/test/unit" ] || {
  echo "skipped: INFLIGHT_TEST_TRITON names no checkout of github.com/triton-lang/triton, whose wheel has no tests"
  exit 77
}
"$python" -c 'import torch, triton, numpy, pytest' || {
  echo "skipped: $python has no PyTorch, Triton and pytest ('tools/install-pytorch suites' installs them)"
  exit 77
}
unset LD_LIBRARY_PATH LD_AUDIT LD_PRELOAD
export TRITON_CACHE_DIR=$(dirname "$inflight")/../pytorch-cache/triton-tests
mkdir -p "$TRITON_CACHE_DIR"
PATH=$(dirname "$inflight"):$(dirname "$python"):$PATH python "$here/suite.py" "$checkout" "$here/known.txt" "${@:2}"
