// Results of istypep, and accesses that may end a kernel.
#pragma once
#include <cuda_runtime.h>

namespace texture_truth {

// istypep: is a handle the address of a reference?
static __global__ void type_of(cudaTextureObject_t t, unsigned* out) {
  asm volatile(
      "{ .reg .pred p, q; istypep.texref p, %1; istypep.surfref q, %1;\n"
      "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }"
      : "=r"(*out)
      : "l"(t));
}

// `sort`: 0 a load past the end that traps, 1 a store, 2 a reduction, 3 a load inside, 4 a
// misaligned load. The host does the other cases, with invalid handles.
static __global__ void trap(cudaSurfaceObject_t s, int sort, int x, unsigned* out) {
  unsigned v = 0;
  if (sort == 0 || sort >= 3)
    asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %3}];" : "=r"(v) : "l"(s), "r"(x), "r"(0));
  if (sort == 1)
    asm volatile("sust.b.2d.b32.trap [%1, {%2, %3}], %0;" : : "r"(v), "l"(s), "r"(x), "r"(0));
  if (sort == 2)
    asm volatile("sured.b.add.2d.u32.trap [%1, {%2, %3}], %0;" : : "r"(v), "l"(s), "r"(x), "r"(0));
  *out = v;
}
static __global__ void read_handle(cudaTextureObject_t t, int x, float* out) {
  *out = tex1Dfetch<float>(t, x);
}

}  // namespace texture_truth
