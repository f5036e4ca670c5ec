// All four shuffles with every width, of 32 and 64 bits and of floats.
#include "tests/kernels/kernel_test.cuh"

template <int width>
__device__ void shuffles(unsigned*& out, int v) {
  const unsigned all = 0xffffffff;
  *(out += 32) = __shfl_sync(all, v, 3, width);
  *(out += 32) = __shfl_sync(all, v, threadIdx.x * 7 + 2, width);
  *(out += 32) = __shfl_up_sync(all, v, 1, width);
  *(out += 32) = __shfl_up_sync(all, v, 5, width);
  *(out += 32) = __shfl_down_sync(all, v, 2, width);
  *(out += 32) = __shfl_down_sync(all, v, 13, width);
  *(out += 32) = __shfl_xor_sync(all, v, 1, width);
  *(out += 32) = __shfl_xor_sync(all, v, 9, width);
}

__global__ void by_width(unsigned* out) {
  int v = threadIdx.x * 3 + 100;
  out += threadIdx.x;
  *out = v;
  shuffles<2>(out, v);
  shuffles<4>(out, v);
  shuffles<8>(out, v);
  shuffles<16>(out, v);
  shuffles<32>(out, v);
}

__global__ void wide(unsigned long long* out, double* floats) {
  unsigned long long v = 0x0123456789abcdefull * (threadIdx.x + 1);
  out[threadIdx.x] = __shfl_xor_sync(0xffffffff, v, 17);
  floats[threadIdx.x] = __shfl_down_sync(0xffffffff, 1.0 / (threadIdx.x + 1), 3);
}

__global__ void sums(int* out) {
  int v = threadIdx.x;
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  int scan = threadIdx.x + 1;
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(0xffffffff, scan, d);
    if (threadIdx.x >= d) scan += other;
  }
  out[threadIdx.x] = v * 1000 + scan;
}

int main() {
  Buffer<unsigned> a(32 * 41);
  by_width<<<1, 32>>>(a);
  print("by_width", a.read(), 32);
  Buffer<unsigned long long> b(32);
  Buffer<double> c(32);
  wide<<<1, 32>>>(b, c);
  print("wide", b.read(), 8);
  print("doubles", c.read(), 8);
  Buffer<int> d(32);
  sums<<<1, 32>>>(d);
  print("sums", d.read());
}
