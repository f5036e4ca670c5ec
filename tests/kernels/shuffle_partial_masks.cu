// Shuffles, votes and warp barriers among only the lanes of a branch.
#include "tests/kernels/kernel_test.cuh"

__global__ void halves(int* out) {
  int lane = threadIdx.x, v = lane * 11;
  if (lane < 12) {
    v = __shfl_sync(0xfff, v, (lane + 5) % 12);
    __syncwarp(0xfff);
    v += __any_sync(0xfff, lane == 20) ? 1000 : 0;
  } else if (lane & 1) {
    v = __shfl_xor_sync(0xaaaaa000 & 0xfffff000, v, 2);
  } else {
    v = __shfl_down_sync(0x55555000, v, 2);
    if (lane >= 30) v = -1;
  }
  out[lane] = v;
}

// Each lane leads one round. Only the remaining lanes take part.
__global__ void shrinking(int* out) {
  int lane = threadIdx.x;
  int sum = 0;
  unsigned mask = 0xffffffff;
  for (int round = 0; round < 32; ++round) {
    if (lane < round) break;
    mask = 0xffffffffu << round;
    sum += __shfl_sync(mask, lane * lane, round);
    sum += __popc(__ballot_sync(mask, lane & 1));
  }
  out[lane] = sum;
}

int main() {
  Buffer<int> a(32), b(32);
  halves<<<1, 32>>>(a);
  shrinking<<<1, 32>>>(b);
  print("halves", a.read());
  print("shrinking", b.read());
}
