#!/usr/bin/env bash
# run.sh INFLIGHT PROGRAM.py [ARG...], or run.sh INFLIGHT --sessions PAGE: like ../run.sh, in the
# environment of tools/install-pytorch, or with the python in INFLIGHT_TEST_PYTORCH.
set -u
inflight=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
python=${INFLIGHT_TEST_PYTORCH:-$here/../../../.pytorch/bin/python}
"$python" -c 'import torch, triton, tinygrad' 2>/dev/null || {
  echo "skipped: $python has no PyTorch and tinygrad (tools/install-pytorch installs them)"
  exit 77
}
# Kernels are compiled once for all runs, in a cache separate from others on this machine.
cache=$(dirname "$inflight")/../pytorch-cache
export TRITON_CACHE_DIR=$cache/triton TORCHINDUCTOR_CACHE_DIR=$cache/inductor CACHEDB=$cache/tinygrad.db
mkdir -p "$cache"
unset TRITON_PTXAS_PATH TRITON_PTXAS_BLACKWELL_PATH LD_LIBRARY_PATH LD_AUDIT LD_PRELOAD PYTHONPATH TORCH_CUDA_ARCH_LIST
PATH=$(dirname "$inflight"):$(dirname "$python"):$PATH
case $2 in
--sessions)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python "$here/../sessions/check" "$3" "$work"
  ;;
*)
  inflight run python -W ignore "${@:2}"
  ;;
esac
