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
cat >"$work/saxpy.ptx" <<'P'
.version 9.0
.target sm_90
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x)
{
  .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<5>; .reg .pred %p<3>;
  ld.param.u32 %r1, [n];
  ld.param.u64 %rd1, [x];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra END;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f2, [%rd4];
  setp.lt.f32 %p2, %f2, 0f00000000;
  @%p2 bra NEGATIVE;
  add.f32 %f2, %f2, 0f3F800000;
NEGATIVE:
  st.global.f32 [%rd4], %f2;
END:
  ret;
}
.visible .entry square()
.reqntid 16, 16
{
  .reg .b32 %r<2>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %tid.y;
  ret;
}
P
shapes() { "$inflight" ptx --shapes "$@" "$work/saxpy.ptx"; }
expect "what a kernel's shapes are for" 0 '^saxpy: blocks of one row; 11 registers: 4 uniform, 4 affine, 1 monotone, 2 lanes$' \
  shapes --kernel saxpy
expect "a uniform register" 0 '^    ld\.param\.u32 %r1, \[n\]; +// %r1 uniform$' shapes
expect "an affine one" 0 'mad.lo.s32 .* // %r5 affine, 1 a lane$' shapes
expect "one that may wrap" 0 'mul.wide.s32 .* // %rd3 affine, 4 a lane, if no lane wraps$' shapes
expect "an address" 0 '^    ld.global.f32 .* // \[%rd4\] affine, 4 a lane; %f2 lanes$' shapes
expect "a guard" 0 '^    @%p1 bra END; +// %p1 monotone$' shapes
expect "where lanes may be apart" 0 '^\|   add.f32 .* // %f2 lanes$' shapes
expect "where they are together again" 0 '^    st.global.f32 ' shapes
expect "blocks that the kernel requires" 0 '^square: blocks of rows of whole half-warps; 2 registers: 0 uniform, 2 affine' shapes
expect "blocks of another size" 0 'mad.lo.s32 .* // %r5 half-affine, 1 a lane$' shapes --block 16,16
expect "blocks of whole warps" 0 '^square: blocks of rows of whole warps' shapes --block 64,2
expect "blocks of uneven rows" 0 'mad.lo.s32 .* // %r5 lanes$' shapes --block 8,8
expect "a block of no threads" 2 '^inflight: ' shapes --block 0
expect "a block without shapes" 2 '^inflight: ' "$inflight" ptx --block 8 "$work/saxpy.ptx"
expect "shapes of a kernel that is not there" 1 "the file has no kernel 'absent'" shapes --kernel absent
expect "shapes of a program" 0 ': blocks of one row; [0-9]+ registers: ' "$inflight" ptx --shapes "$corpus/program.elf"
expect "shapes of an instruction that is unknown" 0 'frobnicate' "$inflight" ptx --shapes "$work/odd.ptx"
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k( {\n' >"$work/bad.ptx"
expect "a syntax error has its line" 1 'line [0-9]+' "$inflight" ptx "$work/bad.ptx"
finish
