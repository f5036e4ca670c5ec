// A four-byte load of which three bytes are used, as compilers may round up: the fourth byte may be
// another lane's, the third may not.
#include "tests/kernels/check/check_test.cuh"

template <bool right>
__global__ void pixels(unsigned* out) {
  __shared__ __align__(4) unsigned char rgb[8];
  if (threadIdx.x < 8) rgb[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 1) rgb[right ? 3 : 2] = 7;  // [write]
  if (threadIdx.x == 0) {
    unsigned r, g, b;
    asm volatile(
        "{\n"
        ".reg .u16 r, g, b, none;\n"
        "ld.shared.v4.u8 {r, g, b, none}, [%3];\n"
        "cvt.u32.u16 %0, r; cvt.u32.u16 %1, g; cvt.u32.u16 %2, b;\n"
        "}"
        : "=r"(r), "=r"(g), "=r"(b)
        : "r"(shared_address(rgb))  // [read]
        : "memory");
    *out = r + g + b;
  }
}

template <bool right>
void run() {
  Buffer<unsigned> out(1);
  pixels<right><<<1, 32>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {{"mistake", run<false>}, {"twin", run<true>}});
}
