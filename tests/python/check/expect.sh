#!/usr/bin/env bash
# inflight check on kernels written in Python: a finding names the line of the Python file. expect.sh INFLIGHT
. "$(dirname "$0")/../../cli/lib.sh"
folder=$here
export PYTHONPATH=$folder/../support
line_of() { grep -n "# \[$2\]" "$folder/$1" | cut -d: -f1; }

race=$folder/numba_race.py
expect "a race in Numba" 86 "at .*numba_race.py:$(line_of numba_race.py read):[0-9]+ \(ld.shared.f32\) in kernel __main__::reverse\(" \
  "$inflight" check --report "$work/r.json" python "$race"
grep -q "^    at .*numba_race.py:$(line_of numba_race.py write):" <<<"$output" || fail "the other side's line: $output"
grep -q "data\[t\] = tile\[255 - t\]" <<<"$output" || fail "the line is not quoted: $output"
expect "with the barrier" 0 '^inflight: nothing found' "$inflight" check python "$race" right
printf '{\nknown\ninflight:data-race\nsource:numba_race.py\n}\n' >"$work/known.supp"
expect "a suppression" 0 '1 suppressed' "$inflight" check --suppressions "$work/known.supp" python "$race"
expect "past the end in Triton" 86 \
  "out-of-bounds at .*triton_past_the_end.py:$(line_of triton_past_the_end.py read):[0-9]+ \(ld.global" \
  "$inflight" check python -W ignore "$folder/triton_past_the_end.py"
grep -qE "^  global memory at 0x[0-9a-f]+, 4 bytes: 'array x\.array, f4 \(256,\)' \+ 1024$" <<<"$output" ||
  fail "the array is not named: $output"
expect "memory that nobody wrote" 86 "uninitialised-read at .*triton_reads_what_nobody_wrote.py:" \
  "$inflight" check python -W ignore "$folder/triton_reads_what_nobody_wrote.py"
grep -qE "'array forgotten\.array, f4 \(256,\)'" <<<"$output" || fail "the array is not named: $output"
tests=$folder/race_in_pytest.py
# pytest captures what tests print, so the summary names the test.
expect "pytest" 86 "data-race at .*race_in_pytest.py:$(line_of race_in_pytest.py read):[0-9]+ \(ld.shared.f32\), seen" \
  "$inflight" check --report "$work/p.json" pytest -q -W ignore -p no:cacheprovider "$tests"
grep -q '^2 passed' <<<"$output" || fail "the tests do not pass as without the checker: $output"
grep -q '"kernel": "race_in_pytest::reverse' "$work/p.json" || fail "the report does not name the kernel"
expect "a test without the mistake" 0 '^inflight: nothing found' \
  "$inflight" check pytest -q -W ignore -p no:cacheprovider "$tests::test_reverse[True]"
expect "tests in processes of their own" 86 '^inflight: 1 finding, seen [0-9]+ times?, in 2 launches of 2 processes' \
  "$inflight" check python "$folder/suite.py"
grep -q '^OK' <<<"$output" || fail "the tests do not run as without the checker: $output"
finish
