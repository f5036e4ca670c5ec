// The start of dynamic shared memory that declares its own alignment, after static shared memory of
// several sizes: a multiple of the alignment. PTX takes the address, so that the compiler does not
// compute the result from the declaration.
#include "kernel_test.cuh"

#define MEMORY(STATIC, ALIGNMENT)                                                         \
  __global__ void begin_##STATIC##_##ALIGNMENT(unsigned* past) {                          \
    extern __shared__ __align__(ALIGNMENT) unsigned char memory_##STATIC##_##ALIGNMENT[]; \
    __shared__ unsigned char before[STATIC];                                              \
    before[*past % STATIC] = 1;                                                           \
    unsigned address;                                                                     \
    asm volatile("{ .reg .u64 at; cvta.to.shared.u64 at, %1; cvt.u32.u64 %0, at; }"       \
                 : "=r"(address)                                                          \
                 : "l"(memory_##STATIC##_##ALIGNMENT));                                   \
    *past = address % ALIGNMENT + !before[*past % STATIC];                                \
  }
MEMORY(1, 16)
MEMORY(24, 128)
MEMORY(700, 256)
MEMORY(1040, 512)
MEMORY(1, 1024)
MEMORY(1040, 1024)
MEMORY(3000, 1024)

int main() {
  for (auto kernel : {begin_1_16, begin_24_128, begin_700_256, begin_1040_512, begin_1_1024,
                      begin_1040_1024, begin_3000_1024}) {
    Buffer<unsigned> past(1);
    kernel<<<1, 1, 2048>>>(past.device);
    std::printf("%u bytes past a multiple\n", past.read()[0]);
  }
}
