#!/usr/bin/env bash
# The command on programs that nvcc built: programs.sh INFLIGHT FOLDER. FOLDER has the programs of
# tests/kernels.
. "$(dirname "$0")/lib.sh"
programs=$2
expect "kernels of a program" 0 'collatz\(int\*\)' "$inflight" ptx "$programs/branch_loops"
expect "kernels of an object file" 0 'collatz\(int\*\)' "$inflight" ptx "$programs/branch_loops.branch_loops.o"
expect "kernels of a shared library" 0 'library_kernel\(int\*\)' "$inflight" ptx "$programs/library_with_kernels.so"
expect "units that are linked together" 0 '^2 kernels, all of which' "$inflight" ptx "$programs/separate_compilation"
expect "one kernel by its source name" 0 '^1 kernel, all of which' "$inflight" ptx --kernel breaks "$programs/branch_loops"
expect "its text alone" 0 'entry _Z6breaksPi' "$inflight" ptx --print --kernel breaks "$programs/branch_loops"
grep -q collatz <<<"$output" && fail "the text of another kernel is printed too"
expect "older devices take no newer PTX" 1 '^inflight: NVIDIA A100.* sm_90' "$inflight" ptx --device a100 "$programs/branch_loops"

expect "counts on standard error" 0 'divergent branches' "$inflight" run --stats "$programs/branch_loops"
expect "counts in a file" 0 '^collatz: 0 1 7' "$inflight" run --stats="$work/stats.json" "$programs/branch_loops"
grep -q '"kernels"' "$work/stats.json" && grep -q 'collatz' "$work/stats.json" ||
  fail "the file of counts lacks the kernels: $(head -c 300 "$work/stats.json")"
expect "without the command" 0 '^collatz: 0 1 7' \
  env LD_LIBRARY_PATH="$(dirname "$(dirname "$inflight")")/lib" "$programs/branch_loops"
core=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
expect "a single core" 0 . taskset -c "$core" "$inflight" run "$programs/many_blocks"
grep -qi 'warning' <<<"$output" && fail "a single core is warned of: $output"
expect "another device" 0 'NVIDIA H100' "$inflight" run --device h100 "$programs/device_facts"
expect "a device that is too old" 0 'cudaErrorNoKernelImageForDevice|no kernel image|209' \
  bash -c '"$0" run --device a100 "$1" 2>&1; exit 0' "$inflight" "$programs/branch_loops"
expect "a kernel that is run in part" 0 '^1 kernel, 1 of which this build runs in part' \
  "$inflight" ptx --device b200 "$programs/unsupported_instruction"
expect "what ends a kernel, at its launch if that is asked for" 0 '^launched: cudaErrorNotSupported' \
  "$inflight" run --strict --device b200 "$programs/unsupported_instruction"
grep -q 'was not launched, because it needs' <<<"$output" || fail "strict: no sentence: $output"
# Programs with other rights: root makes one that belongs to another user, other users have 'su'.
if [ "$(id -u)" = 0 ]; then
  raised=$work/raised
  cp "$programs/branch_loops" "$raised" && chmod 755 "$work" && chown nobody "$raised" && chmod u+s "$raised"
else
  raised="su --version"
fi
output=$("$inflight" run $raised 2>&1)
grep -q '^inflight: the program is set-user-ID' <<<"$output" || fail "a set-user-ID program: no sentence: $output"
expect "a bad variable ends a program" 2 'INFLIGHT_ASYNC is ' \
  env INFLIGHT_ASYNC=soon LD_LIBRARY_PATH="$(dirname "$(dirname "$inflight")")/lib" "$programs/branch_loops"
finish
