#!/usr/bin/env bash
# run.sh INFLIGHT [ARG...]: runs suite.py in the environment of tools/install-pytorch, or with the
# python in INFLIGHT_TEST_PYTORCH, on the tinygrad checkout in INFLIGHT_TEST_TINYGRAD. Exit status
# 77: there is none.
set -u
inflight=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
python=${INFLIGHT_TEST_PYTORCH:-$here/../../../.pytorch/bin/python}
checkout=${INFLIGHT_TEST_TINYGRAD:-}
[ -d "$checkout/test" ] || {
  echo "skipped: INFLIGHT_TEST_TINYGRAD names no checkout of github.com/tinygrad/tinygrad, whose wheel has no tests"
  exit 77
}
PYTHONPATH=$checkout "$python" -c 'import torch, tinygrad, pytest, hypothesis' || {
  echo "skipped: $python has no PyTorch, pytest and hypothesis ('tools/install-pytorch suites' installs them)"
  exit 77
}
unset LD_LIBRARY_PATH LD_AUDIT LD_PRELOAD
export PYTHONPATH=$checkout DEV=CUDA CACHEDB=$(dirname "$inflight")/../pytorch-cache/tinygrad-tests.db
mkdir -p "$(dirname "$CACHEDB")"
PATH=$(dirname "$inflight"):$(dirname "$python"):$PATH python "$here/suite.py" "$checkout" "$here/known.txt" "${@:2}"
