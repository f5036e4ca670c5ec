#!/usr/bin/env bash
# inflight check: the words of a finding for its participants. words.sh INFLIGHT PROGRAM
. "$(dirname "$0")/../lib.sh"
program=$(dirname "$2")/streams
expect "two copies" 86 '^inflight: data-race: two copies in two streams both write the same global memory' \
  "$inflight" check "$program" copies
expect "a kernel and a fill" 86 '^inflight: data-race: a kernel and a fill in another stream both write ' \
  "$inflight" check "$program" fill
grep -q '^    at cudaMemsetAsync' <<<"$output" || fail "not the call's name: $output"
expect "cudaMemset" 86 '^inflight: data-race: a kernel and a fill in another stream both write ' \
  "$inflight" check "$program" memset
grep -q '^    at cudaMemset$' <<<"$output" || fail "not the call's name: $output"
expect "an atomic and a plain access" 86 \
  'fix: a barrier .* between the two, or, .* an atomic access in place of the plain one' \
  "$inflight" check "$program" atomic
expect "atomics of two sizes" 86 '^inflight: data-race: .* nothing orders the two: both are strong, but they access different bytes' \
  "$inflight" check "$program" sizes
grep -q 'fix: atomic accesses of the same bytes on both sides' <<<"$output" || fail "another remedy: $output"
expect "a stage that is refilled" 86 \
  'fix: (let the thread wait before|an mbarrier at which the thread arrives after the read at [^ ]*, and for which the other waits before) the write at streams\.cu:' \
  "$inflight" check "$program" refill
expect "a count and what follows from it" 86 \
  'fix: first mend the transaction-count above, from which this may follow\. If this remains: mbarrier\.try_wait' \
  "$inflight" check "$program" multicast
kinds=$(grep -oP '^inflight: \K(transaction-count|write-while-in-flight|read-before-wait|exit-with-copy-in-flight)(?=: )' <<<"$output" | head -1)
[ "$kinds" = transaction-count ] || fail "the cause is not the first: $output"
finish
