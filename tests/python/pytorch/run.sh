#!/usr/bin/env bash
# run.sh INFLIGHT PROGRAM.py [ARG...], or run.sh INFLIGHT --sessions PAGE: as ../run.sh, with the environment that
# tools/install-pytorch makes, or the python that INFLIGHT_TEST_PYTORCH names.
set -u
inflight=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
python=${INFLIGHT_TEST_PYTORCH:-$here/../../../.pytorch/bin/python}
"$python" -c 'import torch, triton, tinygrad' 2>/dev/null || {
  echo "skipped: $python has no PyTorch and tinygrad (tools/install-pytorch installs them)"
  exit 77
}
# Kernels are compiled once for all runs, apart from what others of this machine compiled.
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
