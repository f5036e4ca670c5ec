// arch: sm_80
// cp.async of 4, 8 and 16 bytes in groups, with waits for all groups, all but one, all but two.
#include "tests/kernels/kernel_test.cuh"

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }
template <int bytes>
__device__ void copy(void* to, const void* from) {
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
                 "n"(bytes)
                 : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

template <int bytes>
__global__ void sizes(int* out, const int* in) {
  __shared__ __align__(16) int tile[256];
  constexpr int words = bytes / 4;
  int t = threadIdx.x;
  copy<bytes>(tile + t * words, in + t * words);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int i = t; i < int(blockDim.x) * words; i += blockDim.x) out[i] = tile[i ^ 1];
}

// Four groups are in flight. Each wait leaves a known number of them in flight.
__global__ void in_order(int* out, const int* in) {
  __shared__ int tile[4][64];
  int t = threadIdx.x;
  for (int g = 0; g < 4; ++g) {
    copy<4>(&tile[g][t], in + g * 64 + t);
    commit();
  }
  wait<3>();
  out[t] = tile[0][t];
  wait<2>();
  out[64 + t] = tile[1][t] + tile[0][t];
  wait<1>();
  out[128 + t] = tile[2][t];
  wait<0>();
  out[192 + t] = tile[3][t] - tile[2][t];
}

// Empty groups count.
__global__ void empty_groups(int* out, const int* in) {
  __shared__ int tile[128];
  int t = threadIdx.x;
  copy<4>(&tile[t], in + t);
  commit();
  commit();
  if (t & 1) commit();
  wait<1>();
  out[t] = tile[t];
}

// Several copies in a group, from lanes that do not always take part.
__global__ void divergent(int* out, const int* in) {
  __shared__ int tile[8][64];
  int t = threadIdx.x;
  for (int i = 0; i < 8; ++i) tile[i][t] = -1;
  __syncwarp();
  for (int i = 0; i < 8; ++i) {
    if ((t + i) % 3 != 0) copy<4>(&tile[i][t], in + (i * 64 + t) % 256);
    if (i % 2) commit();
  }
  wait<0>();
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum = sum * 7 + tile[i][63 - t];
  out[t] = sum;
}

int main() {
  std::vector<int> in(512);
  Random random(4);
  for (int& v : in) v = random.next32() % 10000;
  Buffer<int> source(in), a(256), b(256), c(256), d(256), e(128), f(64);
  sizes<4><<<1, 64>>>(a, source);
  sizes<8><<<1, 64>>>(b, source);
  sizes<16><<<1, 64>>>(c, source);
  in_order<<<1, 64>>>(d, source);
  empty_groups<<<1, 128>>>(e, source);
  divergent<<<1, 64>>>(f, source);
  print_checksum("4 bytes", a.read());
  print_checksum("8 bytes", b.read());
  print_checksum("16 bytes", c.read());
  print("in_order", d.read());
  print("empty_groups", e.read());
  print("divergent", f.read());
}
