#!/usr/bin/env bash
# --ptx KERNEL=FILE: edited PTX in place of a program's module. replaced.sh INFLIGHT PROGRAM
. "$(dirname "$0")/lib.sh"
program=$2
export INFLIGHT_PROGRESS=0
cat >"$work/edited.ptx" <<'P'
.version 8.0
.target sm_80
.address_size 64
.visible .entry answer(.param .u64 to) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], 42;
  ret;
}
.visible .entry other(.param .u64 to, .param .u32 by) { ret; }
P
cat >"$work/narrow.ptx" <<'P'
.version 8.0
.target sm_80
.address_size 64
.visible .entry answer(.param .u32 to) { ret; }
P
cd "$work" || exit 1
expect "the program's own PTX" 0 '^answer 41: cudaSuccess$' "$inflight" run "$program"
expect "an edited kernel" 0 '^answer 42: cudaSuccess$' "$inflight" run --ptx answer=edited.ptx "$program"
grep -qx "inflight: kernel answer is run as $work/edited.ptx has it." <<<"$output" || fail "the line about it: $output"
grep -qx 'other 42: cudaSuccess' <<<"$output" || fail "the module's other kernel is the file's too: $output"
expect "by its variable" 0 '^answer 42: cudaSuccess$' env INFLIGHT_PTX=answer=edited.ptx "$inflight" run "$program"
expect "under check" 0 '^answer 42: cudaSuccess$' "$inflight" check --ptx answer=edited.ptx "$program"
expect "one of several" 0 '^answer 42: cudaSuccess$' \
  "$inflight" run --ptx nothing=missing.ptx --ptx answer=edited.ptx "$program"
expect "other parameters" 0 'kernel answer cannot be replaced \(--ptx\): its parameters in .*/narrow.ptx are not those' \
  "$inflight" run --ptx answer=narrow.ptx "$program"
expect "a kernel that the file lacks" 0 'kernel other cannot be replaced \(--ptx\): .*/narrow.ptx has no such kernel' \
  "$inflight" run --ptx other=narrow.ptx "$program"
expect "a missing file" 0 'kernel answer cannot be replaced \(--ptx\): .*/missing.ptx cannot be read: No such file' \
  "$inflight" run --ptx answer=missing.ptx "$program"
expect "a value without a file" 2 'ptx .*must be KERNEL=FILE|ptx.*KERNEL=FILE, with the kernel' \
  "$inflight" run --ptx answer "$program"
finish
