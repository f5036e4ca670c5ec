// Blocks that store to the same places: one equal value, which is harmless in any order, or
// different ones.
#include <mma.h>

#include "tests/kernels/check/check_test.cuh"

constexpr int size = 1 << 15;

template <class T, bool same>
__global__ void mark(T* out) {
  for (unsigned i = threadIdx.x; i < size / sizeof(T); i += blockDim.x)
    out[i] = T(same ? 7 : blockIdx.x + 1);  // [mark]
}

// Flags of a frontier: threads of many blocks set their neighbours' flags, and one common flag.
template <bool same>
__global__ void visit(unsigned char* flags, int* any) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned step = 1; step < 64; step *= 2) {
    flags[(t + step) % 256] = 1;               // [flag]
    *any = same ? 1 : int(blockIdx.x * step);  // [any]
  }
}

// Warps store a matrix to one place by one instruction of the whole warp.
template <bool same>
__global__ void store_rows(unsigned* out) {
  __shared__ alignas(128) unsigned tile[32];
  const unsigned lane = threadIdx.x % 32, v = same ? lane : threadIdx.x;
  const unsigned row = shared_address(tile) + lane % 8 * 16;
  // [rows]
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row), "r"(v) : "memory");
  __syncthreads();
  out[threadIdx.x] = tile[lane];
}

template <bool same>
__global__ void store_fragment(float* out) {
  using namespace nvcuda::wmma;
  __shared__ alignas(128) float tile[256];
  fragment<accumulator, 16, 16, 16, float> f;
  fill_fragment(f, same ? 3 : float(threadIdx.x / 32));
  store_matrix_sync(tile, f, 16, mem_row_major);  // [fragment]
  store_matrix_sync(out, f, 16, mem_row_major);   // [fragment in global memory]
  __syncthreads();
  out[256 + threadIdx.x] = tile[threadIdx.x];
}

template <class T>
void run_matrix(void (*kernel)(T*)) {
  Buffer<T> out(512);
  kernel<<<1, 64>>>(out);
  CHECK(cudaDeviceSynchronize());
}

template <class T, bool same>
void run() {
  Buffer<T> out(size / sizeof(T));
  for (int round = 0; round < 4; ++round) {
    CHECK(cudaMemset(out, 0, size));
    mark<T, same><<<4, 32>>>(out);
  }
  CHECK(cudaDeviceSynchronize());
}

template <bool same>
void run_visit() {
  Buffer<unsigned char> flags(256);
  Buffer<int> any(1);
  for (int round = 0; round < 4; ++round) {
    CHECK(cudaMemset(flags, 0, 256));
    CHECK(cudaMemset(any, 0, sizeof(int)));
    visit<same><<<16, 64>>>(flags, any);
  }
  CHECK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<int, false>},
                   {"twin", run<int, true>},
                   {"bytes_twin", run<unsigned char, true>},
                   {"long_twin", run<long long, true>},
                   {"rows", [] { run_matrix(store_rows<false>); }},
                   {"rows_twin", [] { run_matrix(store_rows<true>); }},
                   {"fragment", [] { run_matrix(store_fragment<false>); }},
                   {"fragment_twin", [] { run_matrix(store_fragment<true>); }},
                   {"visit", run_visit<false>},
                   {"visit_twin", run_visit<true>}});
}
