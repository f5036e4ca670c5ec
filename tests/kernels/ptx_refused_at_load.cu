// flags: -lcuda
// stderr: ^inflight: the program's PTX is for sm_120, which a device of sm_90a cannot run$
// stderr: has version 9.9, and this driver takes at most 9.4; choose a newer one \(--driver 13.9\)$
// stderr: line 8: `.low` in `mul.low.s32` is not a known modifier; did you mean `.lo`\?$
// stderr: `.tile` in `add.tile.s32` is not a word of `add`$
// stderr: `mov` takes no `.ftz` \(in `mov.ftz.b32`\)
// What a driver answers to PTX that it does not assemble: of another chip, of a newer version,
// misspelt, or against an instruction's rules.
#include <cuda.h>

#include <cstdio>

void load(const char* head, const char* body) {
  static char text[4000];
  std::snprintf(text, sizeof text,
                "%s\n.address_size 64\n.const .u32 c;\n.visible .entry k(.param .u64 a)\n{\n"
                ".shared .align 128 .b8 s[256]; .reg .b64 %%rd<4>; .reg .b32 %%r<4>;\n"
                "ld.param.u64 %%rd1, [a]; mov.u32 %%r1, 0;\n%s\nret;\n}\n",
                head, body);
  CUmodule module;
  std::printf("%s: %s: %d\n", head + 9, body, cuModuleLoadData(&module, text));
}

void load_with_log(const char* text) {
  char log[400] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module;
  const int status = cuModuleLoadDataEx(&module, text, 2, options, values);
  std::printf("log: %d: %s\n", status, log);
}

int main() {
  cuInit(0);
  CUcontext context;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  load(".version 8.0 .target sm_80", "");
  load(".version 8.7 .target sm_120", "");
  load(".version 8.7 .target sm_100a", "");
  load(".version 8.0 .target sm_90a", "");
  load(".version 9.9 .target sm_80", "");
  const char* const bodies[] = {
      "mul.low.s32 %r0, %r1, %r1;",
      "mul.lo.s32 %r0, %r1, %r1;",
      "add.s32.sat %r0, %r1, %r1;",
      "ld.u32.global %r0, [%rd1];",
      "add.tile.s32 %r0, %r1, %r1;",
      "mul.lo.lo.s32 %r0, %r1, %r1;",
      "add.b32 %r0, %r1, %r1;",
      "add.v2.u32 %r0, %r1, %r1;",
      "addd.s32 %r0, %r1, %r1;",
      "ld.sat.global.u32 %r0, [%rd1];",
      "mov.ftz.b32 %r0, %r1;",
      "bar.sync.relaxed 0;",
      "st.const.u32 [c], %r1;",
      "cp.async.cg.shared.global [s], [%rd1], 8;",
      "cp.async.ca.shared.global [s], [%rd1], 12;",
      "cp.async.ca.shared.global [s], [%rd1], 4, 8;",
      "cp.async.ca.shared.global [s], [%rd1], 4;",
      "cp.async.ca.shared.global [s], [%rd1], 4, %r1;",
      "cp.async.cg.shared.global.L2::cache_hint [s], [%rd1], 16;",
      "cp.async.cg.shared.global [s], [%rd1], 16, %rd1;",
      "cp.async.cg.shared.global.L2::cache_hint [s], [%rd1], 16, %rd1;",
      "cp.async.wait_group %r1;",
      "cp.async.bulk.wait_group.read 0;",
      "cp.async.bulk.tensor.6d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[s], [%rd1, {%r1, %r1, %r1, %r1, %r1, %r1}], [s];",
  };
  for (const char* body : bodies) load(".version 8.8 .target sm_90a", body);
  load_with_log(
      ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .b32 %r<4>;\nmin.sat.s32 %r0, %r1, %r1;\nret;\n}\n");
}
