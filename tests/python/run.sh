#!/usr/bin/env bash
# run.sh INFLIGHT PROGRAM.py, or run.sh INFLIGHT --sessions PAGE: runs a program under `inflight
# run`, or the sessions of a page. run.sh INFLIGHT --check: runs programs with mistakes under
# `inflight check`. Exit status 77: the Python packages are missing. INFLIGHT_TEST_PYTHON names a
# python other than that of .python.
set -u
inflight=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
python=${INFLIGHT_TEST_PYTHON:-$here/../../.python/bin/python}
"$python" -c 'import numba.cuda, triton' 2>/dev/null || {
  echo "skipped: $python has no Triton and Numba-CUDA (tools/install-python installs them)"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Separate caches, so that kernels compiled by others on this machine are not tested.
export TRITON_CACHE_DIR=$work/triton NUMBA_CACHE_DIR=$work/numba WARP_CACHE_PATH=$work/warp
unset TRITON_PTXAS_PATH TRITON_PTXAS_BLACKWELL_PATH LD_LIBRARY_PATH LD_AUDIT LD_PRELOAD CUTE_DSL_LINEINFO XLA_FLAGS XLA_PYTHON_CLIENT_PREALLOCATE
case $2 in
--sessions)
  PATH=$(dirname "$inflight"):$(dirname "$python"):$PATH "$python" "$here/sessions/check" "$3" "$work"
  ;;
--check)
  PATH=$(dirname "$python"):$PATH "$here/check/expect.sh" "$inflight"
  ;;
*)
  PATH=$(dirname "$python"):$PATH PYTHONPATH=$here/support "$inflight" run python -W ignore "$2"
  ;;
esac
