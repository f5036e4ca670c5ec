// One lane waits in a loop for a value that another lane of its warp writes later.
#include "tests/kernels/kernel_test.cuh"

__global__ void chain(int* out) {
  __shared__ volatile int slot[33];
  int lane = threadIdx.x;
  if (lane == 0) slot[32] = 0;
  slot[lane] = 0;
  __syncwarp();
  if (lane == 0) {
    slot[0] = 1;
  } else {
    while (slot[lane - 1] == 0) {
    }
    slot[lane] = slot[lane - 1] + lane;
  }
  __syncwarp();
  out[lane] = slot[lane];
}

// In the opposite order to the compiler's layout of the branches.
__global__ void backwards(int* out) {
  __shared__ volatile int slot[32];
  int lane = threadIdx.x;
  slot[lane] = 0;
  __syncwarp();
  if (lane < 31) {
    while (slot[lane + 1] == 0) {
    }
    slot[lane] = slot[lane + 1] * 3 + 1 & 0xffff;
  } else {
    slot[31] = 7;
  }
  __syncwarp();
  out[lane] = slot[lane];
}

__global__ void ping_pong(int* out) {
  __shared__ volatile int turn;
  int lane = threadIdx.x, sum = 0;
  if (lane == 0) turn = 0;
  __syncwarp();
  if (lane < 2) {
    for (int i = 0; i < 10; ++i) {
      while (turn != 2 * i + lane) {
      }
      sum = sum * 2 + turn;
      __threadfence_block();
      turn = 2 * i + lane + 1;
    }
    out[lane] = sum;
  }
}

int main() {
  Buffer<int> a(32), b(32), c(2);
  chain<<<1, 32>>>(a);
  backwards<<<1, 32>>>(b);
  ping_pong<<<1, 32>>>(c);
  print("chain", a.read());
  print("backwards", b.read());
  print("ping_pong", c.read());
}
