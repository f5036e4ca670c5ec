// A single-pass scan: each block looks back at what earlier blocks have published so far.
#include "tests/kernels/kernel_test.cuh"

struct Status {
  unsigned flag, value;  // flag: 0 nothing, 1 the block's own sum, 2 the sum of all up to it
};

__device__ unsigned next_block;

__device__ void publish(unsigned long long* to, unsigned flag, unsigned value) {
  __threadfence();
  atomicExch(to, (unsigned long long)flag << 32 | value);
}

__global__ void scan(unsigned* out, const unsigned* in, unsigned long long* status, int n) {
  __shared__ unsigned sums[256], block, before;
  int t = threadIdx.x;
  if (t == 0) block = atomicAdd(&next_block, 1);
  __syncthreads();
  int i = block * 256 + t;
  unsigned v = i < n ? in[i] : 0;
  sums[t] = v;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    unsigned other = t >= d ? sums[t - d] : 0;
    __syncthreads();
    sums[t] += other;
    __syncthreads();
  }
  if (t == 0) {
    unsigned total = sums[255], sum = 0;
    publish(&status[block], block ? 1 : 2, total);
    for (int b = int(block) - 1; b >= 0; --b) {
      unsigned long long s;
      while ((s = atomicAdd(&status[b], 0ull)) == 0) {
      }
      sum += unsigned(s);
      if (s >> 32 == 2) break;
    }
    if (block) publish(&status[block], 2, sum + total);
    before = sum;
  }
  __syncthreads();
  if (i < n) out[i] = before + sums[t];
}

int main() {
  const int n = 20000;
  std::vector<unsigned> in(n), right(n);
  Random random(5);
  unsigned sum = 0;
  for (int i = 0; i < n; ++i) right[i] = sum += in[i] = random.next32() % 1000;
  Buffer<unsigned> source(in), out(n);
  Buffer<unsigned long long> status((n + 255) / 256);
  scan<<<(n + 255) / 256, 256>>>(out, source, status, n);
  std::printf("%s\n", out.read() == right ? "right" : "wrong");
  print_checksum("scan", out.host);
}
