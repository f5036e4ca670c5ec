#!/usr/bin/env bash
# The assembler that TRITON_PTXAS_PATH names to programs.
. "$(dirname "$0")/lib.sh"
ptxas=$(dirname "$inflight")/../libexec/inflight/ptxas
cat >"$work/a.ptx" <<'P'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) { ret; }
P
expect "the version" 0 'release 13\.0' "$ptxas" --version
expect "as Triton calls it" 0 '^$' "$ptxas" -lineinfo --fmad=false -v --regAllocOptLevel=2 --gpu-name=sm_90a \
  "$work/a.ptx" -o "$work/a.o"
cmp -n "$(stat -c %s "$work/a.ptx")" "$work/a.ptx" "$work/a.o" || fail "the PTX is not handed on"
[ "$(tail -c 1 "$work/a.o" | od -An -tx1)" = " 00" ] || fail "no NUL ends it"
expect "a limit on registers" 0 '^$' "$ptxas" --maxrregcount 40 "$work/a.ptx" -o "$work/b.o"
grep -q '\.maxnreg 40' "$work/b.o" || fail "the limit is lost"

expect "no file" 255 'ptxas fatal .*No input file' "$ptxas" -v
expect "a file that is not there" 255 "Could not open input file '/nothing'" "$ptxas" /nothing -o "$work/c"
expect "a folder" 255 'ptxas fatal' "$ptxas" "$work" -o "$work/c"
expect "no place for the output" 255 "Could not write output file '/nothing/c'" "$ptxas" "$work/a.ptx" -o /nothing/c
limited() { (ulimit -f 0; "$@"); }
echo old >"$work/old.o"
expect "no room for the output" 255 "Could not write output file '.*/old.o': File too large; the file that was there is kept" \
  limited "$ptxas" "$work/a.ptx" -o "$work/old.o"
[ "$(cat "$work/old.o")" = old ] || fail "the old output is gone"
full() { "$@" >/dev/full; }
expect "the version to a full disk" 255 'Could not write the output: No space left on device' full "$ptxas" --version
echo '.version 8.0 .target sm_90 .entry k( {' >"$work/bad.ptx"
expect "PTX that cannot be read" 255 '^ptxas .*/bad.ptx, line 1; error ' "$ptxas" "$work/bad.ptx" -o "$work/c"
[ ! -e "$work/c" ] || fail "an error leaves an output"
finish
