// One-element vectors in braces, which Triton and NCCL write in inline assembly.
#include "tests/kernels/kernel_test.cuh"

__global__ void braces(const unsigned* in, unsigned* out, unsigned long long* wide) {
  __shared__ unsigned s[32];
  const unsigned t = threadIdx.x;
  unsigned a, b, c, d;
  unsigned long long w, x;
  asm volatile("ld.global.b32 {%0}, [%1];" : "=r"(a) : "l"(in + t));
  asm volatile("mov.b32 {%0}, %1;" : "=r"(b) : "r"(a + 1));
  asm volatile("mov.b32 %0, {%1};" : "=r"(c) : "r"(b * 2));
  asm volatile("st.shared.b32 [%0], {%1};" ::"r"((unsigned)__cvta_generic_to_shared(s + t)),
               "r"(c));
  __syncthreads();
  asm volatile("ld.shared.b32 {%0}, [%1];"
               : "=r"(d)
               : "r"((unsigned)__cvta_generic_to_shared(s + (t ^ 1))));
  asm volatile(
      "{.reg .pred p; setp.lt.u32 p, %2, 16; mov.b64 %0, 7; @p ld.relaxed.gpu.global.b64 {%0}, "
      "[%1];}"
      : "=l"(w)
      : "l"(wide + t), "r"(t));
  asm volatile("mov.b64 {%0}, %1;" : "=l"(x) : "l"(w + 1));
  asm volatile("st.volatile.global.b64 [%0], {%1};" ::"l"(wide + t), "l"(x) : "memory");
  asm volatile("{.reg .pred p; setp.lt.u32 p, %2, 24; @p st.global.b32 [%0], {%1};}" ::"l"(out + t),
               "r"(d), "r"(t)
               : "memory");
  short h;
  asm volatile("ld.global.s16 {%0}, [%1];" : "=h"(h) : "l"(in + t));
  asm volatile("st.global.b16 [%0+2], {%1};" ::"l"(out + t), "h"(h) : "memory");
}

int main() {
  std::vector<unsigned> values(32);
  std::vector<unsigned long long> wide(32);
  for (unsigned i = 0; i < 32; ++i) values[i] = 100 + i, wide[i] = 1000 * i;
  Buffer<unsigned> in(values), out(32);
  Buffer<unsigned long long> far(wide);
  braces<<<1, 32>>>(in, out, far);
  SAY(cudaDeviceSynchronize());
  out.read();
  far.read();
  for (int i = 0; i < 32; ++i)
    std::printf("%u %u %llu\n", out.host[i] & 0xffff, out.host[i] >> 16, far.host[i]);
}
