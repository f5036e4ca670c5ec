#!/usr/bin/env bash
# inflight check: suppressions and baselines. left_out.sh INFLIGHT PROGRAM
. "$(dirname "$0")/../lib.sh"
program=$2
cat >"$work/my.supp" <<'S'
# Known findings.
{
  arrivals
  inflight:barrier-*
  kernel:arrives(*
  source:mistakes.cu:*
}
{
  idle
  inflight:leak
}
S
expect "a suppression" 0 '^inflight: 1 suppressed\.$' "$inflight" check --suppressions "$work/my.supp" "$program" arrive
grep -q 'barrier-misuse' <<<"$output" && fail "it is told all the same: $output"
expect "another kernel" 86 '^inflight: 1 finding, seen 1 time,' \
  "$inflight" check --suppressions "$work/my.supp" "$program" arrive expect
expect "unused ones" 0 "the suppression 'idle' \(.*/my.supp:8\) matched nothing" \
  "$inflight" check -v --suppressions "$work/my.supp" "$program" arrive
grep -q "'arrivals'" <<<"$output" && fail "a used one is listed: $output"
expect "from another folder" 0 '1 suppressed' bash -c 'cd "$0" && "$1" check --suppressions my.supp sh -c "cd / && $2 arrive"' \
  "$work" "$(realpath "$inflight")" "$program"
expect "by variable, in the process" 0 'nothing found' env INFLIGHT_CHECK=1 INFLIGHT_SUPPRESSIONS="$work/my.supp" \
  LD_LIBRARY_PATH="$(dirname "$(dirname "$inflight")")/lib" "$program" arrive
printf '{\nname\ninflight:nonsense\n}\n' >"$work/bad.supp"
expect "a bad file" 2 "bad.supp:3: 'nonsense' is not a known finding kind" "$inflight" check --suppressions "$work/bad.supp" true

# The output of --gen-suppressions can be used unchanged.
"$inflight" check --gen-suppressions "$program" arrive expect 2>&1 | sed -n '/^{/,/^}/p' >"$work/generated.supp"
[ "$(grep -c '^{' "$work/generated.supp")" = 2 ] || fail "not an entry a finding: $(cat "$work/generated.supp")"
expect "generated entries" 0 '^inflight: 2 suppressed' "$inflight" check --suppressions "$work/generated.supp" "$program" arrive expect
expect "two files" 0 '^inflight: 2 suppressed' "$inflight" check --suppressions "$work/my.supp" \
  --suppressions "$work/generated.supp" "$program" arrive expect

expect "an earlier report" 86 '' "$inflight" check --report "$work/base.json" "$program" arrive
expect "nothing new" 0 '^inflight: 1 known from the baseline\.$' "$inflight" check --baseline "$work/base.json" "$program" arrive
grep -q 'barrier-misuse' <<<"$output" && fail "the known is told: $output"
expect "one that is new" 86 '^inflight: 1 finding, seen 1 time,' \
  "$inflight" check --baseline "$work/base.json" --report "$work/new.json" "$program" arrive expect
[ "$(grep -c '"fingerprint"' "$work/new.json")" = 1 ] || fail "the report has what is known"
echo '{}' >"$work/no.json"
expect "a baseline that is none" 2 'not a findings report' "$inflight" check --baseline "$work/no.json" true
finish
