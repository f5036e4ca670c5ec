#!/usr/bin/env bash
# inflight ptx: every kind of file, and invalid files.
. "$(dirname "$0")/lib.sh"
corpus=$here/../fuzz/corpus/fatbin
for file in raw.fatbin lz4.fatbin zstd.fatbin program.elf text.ptx relocatable.fatbin; do
  expect "kernels of $file" 0 'kernels?, all of which this build runs' "$inflight" ptx "$corpus/$file"
done
expect "images" 0 'PTX +sm_[0-9]+ .*zstd' "$inflight" ptx "$corpus/zstd.fatbin"
expect "the text" 0 '^\.version [0-9]' "$inflight" ptx --print "$corpus/lz4.fatbin"
expect "a kernel that is not there" 1 "the file has no kernel 'absent'" "$inflight" ptx --kernel absent "$corpus/text.ptx"
expect "an unknown device" 2 "device 'x' not found" "$inflight" ptx --device x "$corpus/text.ptx"
expect "no file" 2 '^inflight: ' "$inflight" ptx
expect "a missing file" 1 'cannot be read' "$inflight" ptx "$work/nothing"
expect "a folder" 1 'is a folder' "$inflight" ptx "$work"
echo 'hello' >"$work/hello.ptx"
expect "no PTX at all" 1 '^inflight: ' "$inflight" ptx "$work/hello.ptx"
expect "a program without device code" 1 'holds no fatbin' "$inflight" ptx /bin/true
for file in "$corpus"/damaged_*; do
  expect "$(basename "$file")" 1 '^inflight: ' "$inflight" ptx "$file"
done
expect "no regular file" 1 'is not a regular file' "$inflight" ptx /dev/zero
mkfifo "$work/fifo"
expect "a FIFO" 1 'is not a regular file but a pipe' timeout 20 "$inflight" ptx "$work/fifo"
truncate -s 20G "$work/sparse"
expect "a file of 20 GB" 1 'has 20480 MiB; at most 2048 MiB can be read' "$inflight" ptx "$work/sparse"
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n  frobnicate.u32 %%r1;\n}\n' >"$work/odd.ptx"
expect "an unknown instruction" 0 'ends at: .*frobnicate' "$inflight" ptx "$work/odd.ptx"
sed -i 's/ k()/ _Z4busyv()/' "$work/odd.ptx"
expect "a refusal names the kernel as its source does" 0 'ends at: busy\(\), line 5: ' \
  "$inflight" ptx "$work/odd.ptx"
cat >"$work/refused.ptx" <<'P'
.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) __cudaCDP2DeviceGetCacheConfig(.param .b64 a, .param .b64 b);
.visible .entry k() {
  .reg .b64 %d<2>;
  .param .b32 r; .param .b64 a; .param .b64 b;
  mov.u64 %d0, 0;
  st.param.b64 [a], %d0;
  st.param.b64 [b], %d0;
  call (r), __cudaCDP2DeviceGetCacheConfig, (a, b);
  ret;
}
P
expect "what kernels cannot ask of the runtime" 0 '__cudaCDP2DeviceGetCacheConfig belongs to CUDA.s device runtime' "$inflight" ptx "$work/refused.ptx"
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k( {\n' >"$work/bad.ptx"
expect "a syntax error has its line" 1 'line [0-9]+' "$inflight" ptx "$work/bad.ptx"
finish
