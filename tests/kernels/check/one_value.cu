// Blocks that store to the same places: one equal value, which is harmless in any order, or
// different ones.
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
                   {"visit", run_visit<false>},
                   {"visit_twin", run_visit<true>}});
}
