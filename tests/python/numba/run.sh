#!/usr/bin/env bash
# run.sh INFLIGHT [ARG...]: runs suite.py in the environment of tools/install-python, or with the
# python in INFLIGHT_TEST_PYTHON. Exit status 77: the Python packages are missing.
set -u
inflight=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
python=${INFLIGHT_TEST_PYTHON:-$here/../../../.python/bin/python}
"$python" -c 'import numba.cuda, filecheck, ml_dtypes, psutil' 2>/dev/null || {
  echo "skipped: $python has no Numba-CUDA, filecheck, ml_dtypes and psutil ('tools/install-python suites' installs them)"
  exit 77
}
# Some tests count the files that the cache writes to their folder.
unset NUMBA_CACHE_DIR LD_LIBRARY_PATH LD_AUDIT LD_PRELOAD PYTHONPATH
PATH=$(dirname "$inflight"):$(dirname "$python"):$PATH python "$here/suite.py" "$here/known.txt" "${@:2}"
