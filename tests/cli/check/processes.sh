#!/usr/bin/env bash
# inflight check: child processes, and processes that fail. processes.sh INFLIGHT PROGRAM
. "$(dirname "$0")/../lib.sh"
program=$2
export TMPDIR=$work/temporary
mkdir "$TMPDIR"

expect "child processes" 86 '^inflight: 2 findings, seen 129 times, in 3 launches of 3 processes\.$' \
  "$inflight" check --report "$work/r.json" sh -c "'$program' arrive; '$program' expect & '$program' arrive; wait"
[ "$(grep -c '"fingerprint"' "$work/r.json")" = 2 ] || fail "the report does not have both: $(cat "$work/r.json")"
expect "children keep their status" 86 '^status 3$' "$inflight" check sh -c "'$program' arrive exit; echo status \$?"
printf 'all: a b\na b:\n\t%s arrive\n' "$program" >"$work/Makefile"
expect "make" 86 '^inflight: 1 finding, seen 128 times' "$inflight" check make -s -j2 -f "$work/Makefile"
expect "Python" 86 '^inflight: 1 finding, seen 64 times' \
  "$inflight" check python3 -c 'import subprocess, sys; subprocess.run(sys.argv[1:], check=True)' "$program" arrive

printf 'add_test(mistake "%s" arrive)\nadd_test(right "%s" right)\n' "$program" "$program" >"$work/CTestTestfile.cmake"
expect "CTest" 86 '^100% tests passed' "$inflight" check ctest --test-dir "$work"
grep -q '^inflight: 1 finding, seen 64 times, in 2 launches of 2 processes' <<<"$output" || fail "CTest's processes: $output"
expect "CTest, a test at a time" 8 '1 - mistake \(Failed\)' env INFLIGHT_CHECK=1 "$inflight" run ctest --test-dir "$work"
grep -q '^50% tests passed' <<<"$output" || fail "the other test fails too: $output"

expect "abort" 86 '^inflight: signal 6 \(SIGABRT\) ended the program\.' \
  "$inflight" check --report "$work/abort.json" "$program" arrive abort
grep -q barrier-misuse "$work/abort.json" || fail "abort() lost the finding"
expect "one of two processes" 86 '^inflight: 1 process ended before main did' \
  "$inflight" check -v sh -c "'$program' arrive abort; '$program' arrive"
expect "killed" 86 'seen 1 time' "$inflight" check --report "$work/kill.json" "$program" arrive kill
grep -q barrier-misuse "$work/kill.json" || fail "SIGKILL lost the finding"
expect "_exit" 86 'seen 1 time' "$inflight" check "$program" arrive _exit
expect "a signal without a mistake" 134 '^inflight: no finding, in 1 launch of 1 process\.$' "$inflight" check "$program" right abort
expect "killed without a mistake" 137 '^inflight: signal 9 \(SIGKILL\) ended the program' "$inflight" check "$program" right kill

# A signal to the command reaches the program. The report is still written.
for signal in TERM INT; do
  : >"$work/$signal.out"
  # A shell makes background processes ignore SIGINT.
  env --default-signal=INT "$inflight" check --report "$work/$signal.json" "$program" arrive wait >"$work/$signal.out" 2>&1 &
  command=$!
  for _ in $(seq 200); do grep -q 'did wait' "$work/$signal.out" && break; sleep 0.05; done
  kill -$signal $command
  wait $command
  status=$?
  [ $status = 86 ] || fail "SIG$signal: exit status $status: $(cat "$work/$signal.out")"
  grep -q barrier-misuse "$work/$signal.json" || fail "SIG$signal lost the report"
done

# The reader of the output has gone.
"$inflight" check --report "$work/pipe.json" "$program" arrive 2>&1 >/dev/null | head -0
for _ in $(seq 100); do [ -s "$work/pipe.json" ] && break; sleep 0.05; done
grep -q barrier-misuse "$work/pipe.json" || fail "a closed pipe lost the report"

# The program keeps its standard input, output and error.
output=$(echo hello | "$inflight" check "$program" echo 2>/dev/null)
[ "$output" = $'read: hello\ndid echo' ] || fail "input or output does not pass through: $output"
[ -z "$(ls -A "$TMPDIR")" ] || fail "a folder was left behind"
finish
