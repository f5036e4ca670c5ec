// A thread that arrives at a barrier and exits counts once: the others still wait for those that
// have not arrived, also if the barrier counts the whole block.
#include "tests/kernels/kernel_test.cuh"

__global__ void produce(int turns, int* out) {
  __shared__ int buffer[64];
  int t = threadIdx.x;
  if (t < 64) {
    unsigned x = t;
    if (t < 32)
      for (int i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u;
    buffer[t] = t + (x == 1 ? 1000 : 100);
    __threadfence_block();
    asm volatile("barrier.cta.arrive 1, 128;" ::: "memory");
  } else {
    asm volatile("barrier.cta.sync 1, 128;" ::: "memory");
    out[t - 64] = buffer[t - 64];
  }
}

int main() {
  Buffer<int> out(64);
  produce<<<1, 128>>>(100000, out);
  print("out", out.read(), 64);
}
