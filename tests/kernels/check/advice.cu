// Performance advice: bank conflicts, and copies that could be wider.
// options: --advice
#include "tests/kernels/check/check_test.cuh"

template <int pad>
__global__ void transpose(float* out) {
  __shared__ float tile[32][32 + pad];
  for (int row = 0; row < 32; ++row) tile[row][threadIdx.x] = row;
  __syncwarp();
  for (int row = 0; row < 32; ++row)
    out[row * 32 + threadIdx.x] = tile[threadIdx.x][row];  // [column]
}

__global__ void rows_of_vectors(float4* out, int step) {
  __shared__ float4 tile[32 * 8];
  tile[threadIdx.x * step] = float4{1, 2, 3, 4};  // [vectors]
  __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x * step];  // [read vectors]
}

// Lanes that access the same word share it.
__global__ void broadcast(float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = threadIdx.x, tile[threadIdx.x + 32] = 1;
  __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x / 8 * 4] + tile[5];
}

template <int bytes>
__global__ void narrow(const char* in, char* out) {
  __shared__ alignas(16) char tile[32 * bytes];
  const unsigned at = threadIdx.x * bytes;
  // clang-format off
  // [copy]
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(&tile[at])), "l"(in + at), "n"(bytes) : "memory");
  // clang-format on
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  for (int i = 0; i < bytes; i += 4)
    *reinterpret_cast<int*>(out + threadIdx.x * 4 + i * 32) =
        *reinterpret_cast<int*>(tile + threadIdx.x * 4 + i * 32);
}

// Two stages: data copied for the next step is not read before the next wait.
template <int allowed>
__global__ void pipeline(const int4* in, int4* out, int steps) {
  __shared__ int4 stages[2][32];
  const unsigned lane = threadIdx.x;
  const auto copy = [&](int step) {
    if (step < steps)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       shared_address(&stages[step % 2][lane])),
                   "l"(in + 32 * step + lane)
                   : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  copy(0);
  int4 sum{};
  for (int step = 0; step < steps; ++step) {
    copy(step + 1);
    asm volatile("cp.async.wait_group %0;" ::"n"(allowed) : "memory");  // [wait]
    __syncwarp();
    const int4 read = stages[step % 2][lane ^ 1];
    sum.x += read.x, sum.y += read.y, sum.z += read.z, sum.w += read.w;
    __syncwarp();
  }
  out[lane] = sum;
}

template <class T = float>
T* device() {
  T* p = nullptr;
  cudaMalloc(&p, 65536);
  cudaMemset(p, 0, 65536);
  return p;
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"column", [] { transpose<0><<<1, 32>>>(device()); }},
       {"column_twin", [] { transpose<1><<<1, 32>>>(device()); }},
       {"vectors", [] { rows_of_vectors<<<1, 32>>>(device<float4>(), 8); }},
       {"vectors_twin", [] { rows_of_vectors<<<1, 32>>>(device<float4>(), 1); }},
       {"broadcast", [] { broadcast<<<1, 32>>>(device()); }},
       {"narrow_copy", [] { narrow<4><<<1, 32>>>(device<char>(), device<char>()); }},
       {"narrow_copy_of_8", [] { narrow<8><<<1, 32>>>(device<char>(), device<char>()); }},
       {"narrow_copy_twin", [] { narrow<16><<<1, 32>>>(device<char>(), device<char>()); }},
       {"strict_wait", [] { pipeline<0><<<1, 32>>>(device<int4>(), device<int4>(), 8); }},
       {"strict_wait_twin", [] { pipeline<1><<<1, 32>>>(device<int4>(), device<int4>(), 8); }},
       {"misaligned", [] { narrow<4><<<1, 32>>>(device<char>() + 4, device<char>()); }}});
}
