# expect NAME STATUS REGEX COMMAND...: checks the command's exit status, and that a line of its
# output (both streams) matches. Sets $output. Sourced with the command under test as $1.
set -u
inflight=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
unset INFLIGHT_DEVICE INFLIGHT_DEVICES INFLIGHT_DRIVER INFLIGHT_ASYNC INFLIGHT_TIMEOUT INFLIGHT_STATS INFLIGHT_FIDELITY INFLIGHT_BLAS INFLIGHT_FFT \
  INFLIGHT_WORKERS INFLIGHT_SLACK INFLIGHT_MEMORY INFLIGHT_PROGRESS INFLIGHT_TURNS INFLIGHT_COMPILE INFLIGHT_CHECK INFLIGHT_REPORT \
  INFLIGHT_SUPPRESSIONS INFLIGHT_GEN_SUPPRESSIONS INFLIGHT_BASELINE INFLIGHT_ERROR_EXITCODE INFLIGHT_SEEDS \
  INFLIGHT_SPOOL INFLIGHT_STRICT INFLIGHT_LEAK_CHECK INFLIGHT_ADVICE INFLIGHT_API_ERRORS INFLIGHT_LOG INFLIGHT_WARNINGS INFLIGHT_PTX INFLIGHT_HOST_ACCESS INFLIGHT_VERBOSE INFLIGHT_SOURCE_ROOT NVCC_APPEND_FLAGS \
  LD_AUDIT PYTHONPATH TORCH_CUDA_ARCH_LIST CUTE_DSL_LINEINFO XLA_FLAGS XLA_PYTHON_CLIENT_PREALLOCATE

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

expect() {
  local name=$1 wanted=$2 pattern=$3 status
  shift 3
  output=$("$@" 2>&1 </dev/null)
  status=$?
  [ "$status" = "$wanted" ] || fail "$name: exit status $status, not $wanted: $output"
  grep -qE -- "$pattern" <<<"$output" || fail "$name: no line matches '$pattern': $output"
}

finish() {
  [ "$failures" = 0 ]
  exit
}
