#!/usr/bin/env bash
# inflight check --seeds: runs with several orders, and their merged findings. seeds.sh INFLIGHT
# PROGRAM
. "$(dirname "$0")/../lib.sh"
program=$2
expect "a finding of one order" 86 'reproduce with: --async shuffled:2 --turns random:2$' \
  "$inflight" check --seeds 4 --report "$work/r.json" "$program" right seeded
grep -q '"replay": "--async shuffled:2 --turns random:2"' "$work/r.json" || fail "the report does not name the seed"
[ "$(grep -c '^did right' <<<"$output")" = 1 ] || fail "the output of several runs is shown: $output"
expect "it is found again" 86 'seen 32 times' "$inflight" check --async shuffled:2 --turns random:2 "$program" right seeded
expect "findings of every order" 86 'inflight: 1 finding, seen 192 times, in 3 launches of 3 processes' \
  "$inflight" check --seeds 3 "$program" arrive
[ "$(grep -c 'barrier-misuse: ' <<<"$output")" = 1 ] || fail "it is told more than once: $output"
expect "nothing found" 0 'nothing found, in 5 launches of 5 processes' "$inflight" check --seeds 5 "$program" right
expect "a status" 3 'nothing found' "$inflight" check --seeds 2 "$program" right exit
expect "an order besides" 2 'leave --async and --turns out' "$inflight" check --seeds 2 --async late "$program" right
expect "no number" 2 '^inflight: --seeds is ' "$inflight" check --seeds many "$program" right
finish
