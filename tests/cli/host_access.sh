#!/usr/bin/env bash
# Host code that uses device memory ends by SIGSEGV, as on a GPU. host_access.sh INFLIGHT PROGRAM
. "$(dirname "$0")/lib.sh"
program=$2
export INFLIGHT_PROGRESS=0
ulimit -c 0
expect "a read" 139 '^inflight: host code in .* \(host_access\) reads device memory: byte 0 of the 128 bytes at 0x[0-9a-f]+ on device 0\. .*cudaMemcpy.*cudaMallocManaged' "$inflight" run "$program" read
expect "a write" 139 'writes device memory: byte 12 of the 128 bytes' "$inflight" run "$program" write
expect "a variable" 139 'reads device memory: byte 0 of the 4 bytes of the variable variable on device 0' "$inflight" run "$program" symbol
expect "allowed" 0 '^sum 496$' "$inflight" run --host-access "$program" read
expect "allowed by its variable" 0 '^sum 496$' env INFLIGHT_HOST_ACCESS=1 "$inflight" run "$program" read
expect "the program's own handler" 0 "^the program's handler\$" "$inflight" run "$program" handled
expect "another fault" 139 '' "$inflight" run "$program" null
grep -q 'inflight: host code' <<<"$output" && fail "a null pointer is taken for device memory: $output"
expect "a child" 0 '^the child: 11$' "$inflight" run "$program" forked
expect "a correct program" 0 '' "$inflight" run "$program" loop
[ -z "$output" ] || fail "a correct program gets a line: $output"
# A library that sends memory may read it.
echo 'int inflight_test_of_transport;' | ${CXX:-g++} -x c++ -shared -fPIC - -o "$work/libmpi.so.40"
expect "beside MPI" 0 '^sum 496$' env LD_PRELOAD="$work/libmpi.so.40" "$inflight" run "$program" read
expect "passed to the system" 0 '^refused$' "$inflight" run "$program" passed
for name in read write symbol passed; do
  expect "check $name" 86 '^inflight: host-access: host code (reads|writes) device memory' "$inflight" check "$program" "$name"
done
expect "check, allowed" 0 'nothing found' "$inflight" check --host-access "$program" read
finish
