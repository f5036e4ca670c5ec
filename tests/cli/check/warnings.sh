#!/usr/bin/env bash
# What only C++ calls a mistake is told with --strict, and counted without it. warnings.sh INFLIGHT PROGRAM
. "$(dirname "$0")/../lib.sh"
program=$2
none='^inflight: nothing found, in 1 launch of 1 process\.$'
hidden='^inflight: 1 warning: --strict shows it\.$'

expect "a warning" 0 "$none" "$inflight" check --report "$work/a.json" --report "$work/a.sarif" --report "$work/a.html" "$program" mark
grep -qE "$hidden" <<<"$output" || fail "the summary does not count it: $output"
! grep -q 'same-value-writes' <<<"$output" "$work/a.json" "$work/a.html" || fail "it is told: $output"
! grep -q '"ruleId"' "$work/a.sarif" || fail "the SARIF report has it"
expect "beside a mistake" 86 '^inflight: 1 finding, seen 64 times, in 2 launches' "$inflight" check "$program" arrive mark
grep -qE "$hidden" <<<"$output" || fail "beside a mistake it is not counted: $output"
expect "without the command" 0 "$hidden" env INFLIGHT_CHECK=1 "$inflight" run "$program" mark

expect "strict" 86 '^inflight: same-value-writes: warning: ' \
  "$inflight" check --strict --report "$work/b.json" --report "$work/b.sarif" --report "$work/b.html" "$program" mark
grep -qE "$hidden" <<<"$output" && fail "it is told and counted: $output"
grep -q '^inflight: 1 finding, ' <<<"$output" || fail "the summary: $output"
grep -q '"severity": "warning"' "$work/b.json" || fail "its level in JSON"
grep -q '"level": "warning"' "$work/b.sarif" || fail "its level in SARIF"
grep -q 'class="[^"]*warning' "$work/b.html" || fail "its level in HTML"
expect "strict, no status" 0 'same-value-writes' "$inflight" check --strict --error-exitcode 0 "$program" mark
expect "strict, without the command" 86 'same-value-writes: warning: ' env INFLIGHT_CHECK=1 INFLIGHT_STRICT=1 "$inflight" run "$program" mark

# Suppressions and baselines leave it out of both.
"$inflight" check --strict --gen-suppressions "$program" mark 2>&1 | sed -n '/^{/,/^}/p' >"$work/known.supp"
for strict in "" --strict; do
  expect "suppressed $strict" 0 '^inflight: 1 suppressed\.$' "$inflight" check $strict --suppressions "$work/known.supp" "$program" mark
  grep -qE "$hidden|same-value-writes: " <<<"$output" && fail "what is suppressed is told: $output"
  expect "known $strict" 0 '^inflight: 1 known from the baseline\.$' "$inflight" check $strict --baseline "$work/b.json" "$program" mark
  grep -qE "$hidden|same-value-writes: " <<<"$output" && fail "what is known is told: $output"
done
finish
