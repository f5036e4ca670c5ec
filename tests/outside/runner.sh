#!/usr/bin/env bash
# Tests tools/outside and the page with a suite of this project's own programs: runner.sh INFLIGHT
# EXAMPLES CHECK_PROGRAMS.
. "$(dirname "$0")/../cli/lib.sh"
root=$here/../..
mkdir "$work/built"
ln -s "$(realpath "$2")/copy_stream" "$(realpath "$3")/barrier_missing" "$work/built"
printf '#!/bin/sh\nexec sleep 60\n' >"$work/built/sleeper"
printf '#!/bin/sh\nexit 3\n' >"$work/built/three"
printf '#!/bin/sh\necho "$1 is here"\n' >"$work/built/says"
chmod +x "$work/built"/*
suite=$work/own.tsv
row() { # PROGRAM ARGUMENTS EXPECTATION RESULT COMMIT
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "" "$2" "$3" "$4" "$5"
}
{
  echo "# title: Own programs"
  echo "# source: this project"
  echo "# note: [a note](../checking.md)"
  printf 'program\tversion\targuments\texpectation\tresult\tcommit\n'
  row copy_stream "--async early --" pass "pass 1 of 1: as before" c0ffee
  row copy_stream "" "prints right" "" ""
  row barrier_missing before_read "finds data-race" "" ""
  row barrier_missing twin "nothing found" "fail: finds data-race" c0ffee
  row three "" "status 3" "" ""
  row three "" fails "" ""
  row says "'a b'" "prints a b is here" "" ""
  row absent "" pass "refused: for its own reason" c0ffee
  row "others *" "" pass "pass 5" c0ffee
} >"$suite"
cp "$suite" "$work/before.tsv"
run() { "$root/tools/outside" --inflight "$inflight" "$@"; }

expect "all as expected" 0 "1 not in" run "$work/built" "$suite"
[ "$(grep -c $'\tpass\t' <<<"$output")" = 7 ] || fail "not seven programs passed: $output"
cmp -s "$suite" "$work/before.tsv" || fail "the table was changed without --record"
expect "one of them" 0 $'copy_stream.*\tnew$' run --only copy "$work/built" "$suite"
grep -q three <<<"$output" && fail "--only ran others too: $output"

expect "recorded" 0 "" run --record "$work/built" "$suite"
[ "$(cut -f5 "$suite" | tail -9 | paste -sd,)" = "pass 1 of 1: as before,pass,pass,pass,pass,pass,pass,refused: for its own reason,pass 5" ] ||
  fail "what was recorded: $(cat "$suite")"
[ "$(grep -c c0ffee "$suite")" = 2 ] || fail "commits of rows that were not run must stay, and no others: $(cat "$suite")"

cp "$work/before.tsv" "$suite"
{
  row three "" pass "" ""
  row copy_stream "" "prints wrong" "" ""
  row barrier_missing before_read "nothing found" "" ""
  row barrier_missing twin finds "" ""
  row barrier_missing before_read "finds deadlock" "" ""
} >>"$suite"
expect "not as expected" 1 "" run --record "$work/built" "$suite"
[ "$(cut -f5 "$suite" | tail -5 | paste -sd,)" = \
  "fail: status 3,fail: does not print it,fail: finds data-race,fail: nothing found,fail: finds data-race" ] ||
  fail "what was recorded of those that differ: $(tail -5 "$suite")"

row sleeper "" pass "" "" >>"$suite"
expect "not done in its limit" 1 $'^sleeper\t\tpass\tslow\t' run --limit 1 --only sleeper "$work/built" "$suite"

for wrong in $'three\t\t\tpass\tgood\t' $'three\t\t\twell\tpass\t' $'three\tpass' $'three\t\t"a\tpass\t\t'; do
  cp "$work/before.tsv" "$suite"
  echo "$wrong" >>"$suite"
  expect "a malformed row" 1 "own.tsv:14: " run "$work/built" "$suite"
done
finish
