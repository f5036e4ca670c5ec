#!/usr/bin/env bash
# inflight check: launches, kernels and calls that fail. failures.sh INFLIGHT PROGRAM NVCC
. "$(dirname "$0")/../lib.sh"
program=$(dirname "$2")/failures
nvcc=$3

# failed WORD PATTERN [OPTION...]: the program, which returns 0, is red for one launch-failed.
failed() {
  local word=$1 pattern=$2
  shift 2
  expect "$word" 86 "^inflight: launch-failed: .*$pattern" "$inflight" check --report "$work/r.json" "$@" "$program" "$word"
  grep -qE '^inflight: 1 finding, seen 1 time, in [01] launch(es)? of 1 process\.$' <<<"$output" || fail "$word: not one finding: $output"
  grep -q '"kind": "launch-failed"' "$work/r.json" || fail "$word: not in the report"
}
failed trap 'trap: '
failed assert 'assertion failed: `p\[0\] == 5` does not hold'
failed stack 'stack overflow: '
failed timeout 'was stopped after 1000 ms' --timeout 1
grep -q '^  1 thread .* can run, at .*failures.cu' <<<"$output" || fail "not where the thread was: $output"
failed block 'kernel writes\(int\*\) cannot be launched: blocks of 2048 x 1 x 1 threads; .*cudaErrorInvalidValue'
grep -q '^  launches it in main (failures)$' <<<"$output" || fail "not the caller: $output"
grep -q '^    at cudaLaunchKernel of kernel writes(int\*)$' <<<"$output" || fail "not the call: $output"
grep -q 'Nothing in the program has read this error' <<<"$output" && fail "it is told twice: $output"
failed read 'cannot be launched'
failed shared 'bytes of shared memory per block'
failed stream '0x1234 is no stream'
failed cooperative 'a cooperative grid of 40000 blocks'
failed driver 'blocks of 5000 x 1 x 1 threads.*CUDA_ERROR_INVALID_VALUE'
failed after 'trap: '
expect "as SARIF" 86 '' "$inflight" check --report "$work/r.sarif" --report "$work/r.html" "$program" trap
grep -q '"ruleId": "launch-failed"' "$work/r.sarif" || fail "not in SARIF"
grep -q 'launch-failed' "$work/r.html" || fail "not on the page"
expect "another status" 0 'launch-failed' "$inflight" check --error-exitcode 0 "$program" trap
expect "suppressions" 86 '^inflight: launch-failed' "$inflight" check --gen-suppressions "$program" block
sed -n '/^{/,/^}/p' <<<"$output" >"$work/known.supp"
expect "suppressed" 0 '^inflight: 1 suppressed\.$' "$inflight" check --suppressions "$work/known.supp" "$program" block
expect "a baseline" 86 '' "$inflight" check --report "$work/base.json" "$program" block
expect "known" 0 '^inflight: 1 known from the baseline\.$' "$inflight" check --baseline "$work/base.json" "$program" block

# A fault that has a kind of its own is not reported twice.
expect "bounds" 86 '^inflight: out-of-bounds: ' "$inflight" check "$program" bounds
grep -q 'launch-failed' <<<"$output" && fail "bounds: two findings: $output"

# Without PTX no kernel runs.
"$nvcc" -gencode arch=compute_90,code=sm_90 -cudart shared "$here/failures.cu" -lcuda -o "$work/bare" || fail "nvcc"
expect "no PTX" 86 '^inflight: launch-failed: .*PTX' "$inflight" check "$work/bare" driver
expect "no PTX" 86 '^inflight: launch-failed: .*PTX' "$inflight" check "$work/bare" trap

# Calls: tensor maps always, the others by option.
expect "a tensor map" 86 '^inflight: api-error: .*globalStrides' "$inflight" check "$program" map
expect "calls" 0 '^inflight: nothing found, in 0 launches' "$inflight" check "$program" copy
expect "calls, by option" 86 '^inflight: api-error: the destination .* has 4096 bytes .* 8192 are to be written: invalid argument \(cudaErrorInvalidValue, 1\)' \
  "$inflight" check --api-errors "$program" copy
grep -q '^inflight: api-error: the 4096 bytes at .* have been freed before' <<<"$output" || fail "not the second free: $output"
expect "by variable" 86 'api-error' env INFLIGHT_API_ERRORS=1 "$inflight" check "$program" copy
expect "probes" 0 '^inflight: nothing found, in 1 launch of 1 process\.$' "$inflight" check "$program" probes
expect "repeats" 86 '^inflight: 1 finding, seen 1 time' "$inflight" check --api-errors "$program" after

# How the program ended.
expect "a crash" 139 '^inflight: signal 11 \(SIGSEGV\) ended the program\.' "$inflight" check "$program" crash
grep -q 'nothing found' <<<"$output" && fail "a crash is no pass: $output"
expect "_exit" 0 '^inflight: the program ended by exit_group' "$inflight" check "$program" leave
grep -q '^inflight: no finding, in 1 launch of 1 process\.$' <<<"$output" || fail "_exit: $output"
expect "a child's crash" 0 '^inflight: 1 process ended before main did' "$inflight" check sh -c "'$program' crash; true"

# What the end of the program stops or drops.
expect "a running kernel" 0 '^inflight: 1 launch still ran and 2 launches or copies had not begun when the program ended' \
  "$inflight" check --report "$work/part.html" "$program" running
grep -q '^inflight: no finding, in 2 launches of 1 process\.$' <<<"$output" || fail "running: $output"
grep -q '<h1>Inflight: no finding\.' "$work/part.html" || fail "the page calls it a pass"
grep -q '<p>1 launch still ran' "$work/part.html" || fail "the page does not say what still ran"

# Reports say that something was not checked, and so do reports that are joined from them.
incomplete() {  # WHAT STATUS SENTENCE CASE
  expect "$1" "$2" '' "$inflight" check --report "$work/i.json" --report "$work/i.sarif" --report "$work/i.html" "$program" "$4"
  for i in i.json i.sarif i.html; do
    expect "$1: $i joined" 0 "$3" "$inflight" merge "$work/j.json" "$work/$i"
    cmp "$work/i.json" "$work/j.json" || fail "$1: what $i carries is not what was written"
  done
  grep -q '"complete": false' "$work/i.json" || fail "$1: the JSON says it is complete"
  grep -q '"executionSuccessful": false' "$work/i.sarif" || fail "$1: the SARIF says it is complete"
  grep -qE "\"text\": \"$3" "$work/i.sarif" || fail "$1: the SARIF does not say why: $(cat "$work/i.sarif")"
}
incomplete "a running kernel" 0 '1 launch still ran and 2 launches or copies had not begun' running
incomplete "a crash" 139 'signal 11 \(SIGSEGV\) ended the program' crash
incomplete "_exit" 0 'the program ended by exit_group' leave
incomplete "a trap" 86 '1 launch failed\.' trap
expect "no CUDA" 0 '' "$inflight" check --report "$work/none.json" true
grep -q 'nothing was checked: no process' "$work/none.json" || fail "no CUDA: $(cat "$work/none.json")"
expect "by variable" 0 '' env INFLIGHT_CHECK=1 INFLIGHT_REPORT="$work/v.json" "$inflight" run "$program" running
grep -q '"complete": false' "$work/v.json" || fail "by variable: $(cat "$work/v.json")"
expect "all of it" 0 '' "$inflight" check --report "$work/w.json" --report "$work/w.sarif" "$program" probes
grep -q '"complete": true' "$work/w.json" || fail "a whole run: $(cat "$work/w.json")"
grep -q '"executionSuccessful": true' "$work/w.sarif" || fail "a whole run: $(cat "$work/w.sarif")"
expect "whole and in part" 0 '^no finding\.$' "$inflight" merge "$work/wv.json" "$work/w.json" "$work/v.json"
expect "by variable" 0 '^inflight: no finding\.$' env INFLIGHT_CHECK=1 "$inflight" run "$program" running
grep -q '^inflight: 1 launch still ran' <<<"$output" || fail "by variable: $output"
expect "pending graphs" 0 '^inflight: 4 launches or copies had not begun' "$inflight" check "$program" pending
grep -q '^inflight: no finding, in 0 launches of 1 process\.$' <<<"$output" || fail "pending: $output"
expect "of a child" 0 '^inflight: no finding, in 3 launches of 2 processes\.$' \
  "$inflight" check sh -c "'$program' running; '$program' probes"
expect "another order" 0 '^inflight: 2 launches still ran' "$inflight" check --seeds 2 "$program" running

# The log.
expect "the log" 0 '^done$' "$inflight" run --log "$work/log" "$program" copy
grep -qE '^\[[0-9]+\] cudaMemcpy failed: invalid argument \(cudaErrorInvalidValue, 1\): the destination' "$work/log" || fail "the log lacks the copy: $(cat "$work/log")"
expect "a launch in the log" 0 '^done$' env INFLIGHT_LOG="$work/launch" "$inflight" check --error-exitcode 0 "$program" block
grep -q 'cudaLaunchKernel of kernel writes(int\*) (grid 1x1x1, block 2048x1x1, 0 bytes of dynamic shared memory) failed: .* cannot be launched' "$work/launch" ||
  fail "the log lacks the launch: $(cat "$work/launch")"
expect "a kernel in the log" 0 '' "$inflight" run --log "$work/trap" "$program" trap
grep -q 'a kernel failed: .*trap' "$work/trap" || fail "the log lacks the kernel: $(cat "$work/trap")"
expect "a log that cannot be" 0 "the log '/no/such/log' cannot be written" "$inflight" run --log /no/such/log "$program" copy
finish
