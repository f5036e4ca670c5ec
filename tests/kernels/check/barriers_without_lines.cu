// Barriers of a kernel without -lineinfo: copies of one, as a compiler makes them when it unrolls a
// loop, are not told from several.
// flags: -lcuda
#include <cuda.h>

#include "tests/kernels/check/check_test.cuh"

// Each warp has as many rounds as it has work, and ends: the second one 5, the first one 1. Four
// rounds at a time, then one by one.
constexpr char own_rounds[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry rounds() {
  .reg .pred %p<4>;
  .reg .b32 %r<4>;
  mov.u32 %r0, %tid.x;
  setp.lt.u32 %p0, %r0, 32;
  selp.u32 %r1, 1, 5, %p0;
  setp.eq.u32 %p3, %r1, 0;
  @%p3 bra END;
FOUR:
  setp.lt.u32 %p1, %r1, 4;
  @%p1 bra ONE;
  bar.sync 0;
  bar.sync 0;
  bar.sync 0;
  bar.sync 0;
  sub.u32 %r1, %r1, 4;
  bra FOUR;
ONE:
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra END;
  bar.sync 0;
  sub.u32 %r1, %r1, 1;
  bra ONE;
END:
  ret;
}
)";
// Half a warp goes to another barrier than the other half.
constexpr char half_a_warp[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry rounds() {
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  mov.u32 %r0, %laneid;
  setp.lt.u32 %p0, %r0, 16;
  @%p0 bra ELSE;
  bar.sync 0;
  ret;
ELSE:
  bar.sync 0;
  ret;
}
)";

void run(const char* ptx) {
  CHECK(cudaFree(nullptr));
  CUmodule module;
  CUfunction kernel;
  if (cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&kernel, module, "rounds") ||
      cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr))
    std::puts("no launch");
  CHECK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"half_a_warp", [] { run(half_a_warp); }}, {"own_rounds_twin", [] { run(own_rounds); }}});
}
