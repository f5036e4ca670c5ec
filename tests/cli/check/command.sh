#!/usr/bin/env bash
# inflight check: exit status, output and options. command.sh INFLIGHT PROGRAM
. "$(dirname "$0")/../lib.sh"
program=$2
lib=$(dirname "$(dirname "$inflight")")/lib

# Finds where the program was built, since a compiler cache may have made it in another checkout.
expect "where" 86 '' "$inflight" check --report "$work/where.json" "$program" arrive
root=$(sed -nE 's|.*"file": "(/.*)/tests/cli/check/mistakes\.cu".*|\1|p' "$work/where.json" | head -n 1)
expect "a mistake" 86 'barrier-misuse at .*mistakes.cu:.*mbarrier.arrive.* seen 64 times' \
  "$inflight" check --source-root "$root" "$program" arrive
grep -qE '^inflight: 1 finding, seen 64 times, in 1 launch of 1 process\.$' <<<"$output" || fail "no summary: $output"
grep -q '^      18 |     asm volatile("mbarrier.arrive' <<<"$output" || fail "no line of the source: $output"
[ "$(grep -c 'barrier-misuse: ' <<<"$output")" = 1 ] || fail "it is told more than once: $output"
expect "no mistake" 0 '^inflight: nothing found, in 1 launch of 1 process\.$' "$inflight" check "$program" right
expect "the program's status" 3 '^inflight: nothing found' "$inflight" check "$program" right exit
expect "a mistake before another status" 86 '^did exit$' "$inflight" check "$program" arrive exit
expect "another status for mistakes" 9 'barrier-misuse' "$inflight" check --error-exitcode 9 "$program" arrive
expect "no status for mistakes" 3 'barrier-misuse' "$inflight" check --error-exitcode 0 "$program" arrive exit
expect "no CUDA at all" 0 'no process of the program used CUDA' "$inflight" check true
expect "no program" 2 "'check' needs a program" "$inflight" check
expect "a program that is not there" 127 "program '.*/nothing' not found" "$inflight" check "$work/nothing"
touch "$work/plain"
expect "a file that is no program" 126 'cannot be run: ' "$inflight" check "$work/plain"
expect "arguments are the program's" 0 '^--report -v --$' "$inflight" check -- sh -c 'echo "$@"' sh --report -v --
expect "a bad status" 2 "^inflight: --error-exitcode is '300', but it takes a status from 0 to 255" \
  "$inflight" check --error-exitcode 300 true
expect "a bad report" 2 "^inflight: --report is '.*/x.txt', but it takes files" "$inflight" check --report x.txt true
expect "no such suppressions" 2 "none.supp' cannot be read" "$inflight" check --suppressions none.supp true
expect "no such baseline" 2 "none.json' cannot be read" "$inflight" check --baseline none.json true
mkfifo "$work/fifo"
for option in suppressions baseline; do
  expect "a FIFO as $option" 2 'is not a regular file but a pipe' timeout 20 "$inflight" check --$option "$work/fifo" true
done
expect "a FIFO to merge" 1 'is not a regular file but a pipe' timeout 20 "$inflight" merge "$work/x.json" "$work/fifo"
expect "a FIFO as the program" 126 'cannot be run' timeout 20 "$inflight" check "$work/fifo"
help=$("$inflight" check --help)
for variable in REPORT ERROR_EXITCODE SUPPRESSIONS GEN_SUPPRESSIONS BASELINE LEAK_CHECK ADVICE SEEDS SOURCE_ROOT VERBOSE; do
  grep -q "INFLIGHT_$variable" <<<"$help" || fail "--help does not name INFLIGHT_$variable"
done

# Reports, and the variables that replace the options.
expect "two reports" 86 '' "$inflight" check --report "$work/a.json" --report "$work/b.json" "$program" arrive
cmp "$work/a.json" "$work/b.json" || fail "they differ"
grep -q '"kind": "barrier-misuse"' "$work/a.json" || fail "the report lacks the finding"
expect "a report by variable" 86 '' env INFLIGHT_REPORT="$work/v.json" "$inflight" check "$program" arrive
cmp "$work/a.json" "$work/v.json" || fail "the report of the variable differs"
expect "a report that cannot be written" 1 "could not be written to '/no/such" "$inflight" check --report /no/such/r.json true

# Without the command, the process reports by itself.
expect "in the process" 86 'inflight: 1 finding, seen 64 times' env INFLIGHT_CHECK=1 INFLIGHT_REPORT="$work/p-%p.json" \
  LD_LIBRARY_PATH="$lib" "$program" arrive
cmp "$work/a.json" "$work"/p-[0-9]*.json || fail "the process's own report differs"
expect "in the process, without mistake" 3 'inflight: nothing found' env INFLIGHT_CHECK=1 LD_LIBRARY_PATH="$lib" "$program" right exit
expect "in the process, another status" 7 'seen 64 times' env INFLIGHT_CHECK=1 INFLIGHT_ERROR_EXITCODE=7 \
  LD_LIBRARY_PATH="$lib" "$program" arrive
expect "in the process, a bad variable" 2 "INFLIGHT_SUPPRESSIONS|cannot be read" env INFLIGHT_CHECK=1 \
  INFLIGHT_SUPPRESSIONS=/no/such LD_LIBRARY_PATH="$lib" "$program" arrive

# Colours appear on terminals, unless the user turns them off.
if script -qec true /dev/null >/dev/null 2>&1; then
  colour=$(TERM=xterm script -qec "'$inflight' check '$program' arrive" /dev/null </dev/null)
  plain=$(NO_COLOR=1 TERM=xterm script -qec "'$inflight' check '$program' arrive" /dev/null </dev/null)
  grep -q $'\033\\[1;31mbarrier-misuse' <<<"$colour" || fail "a terminal gets no colours: $colour"
  grep -q $'\033' <<<"$plain" && fail "NO_COLOR is not honoured: $plain"
fi
finish
