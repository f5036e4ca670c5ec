// Elements of a local array without a value.
#include "tests/kernels/check/check_test.cuh"

__global__ void pick(const int* in, int* out, int count, int which) {
  int kept[16];
  for (int i = 0; i < count; ++i) kept[i] = in[i];
  out[threadIdx.x] = kept[(which + threadIdx.x) & 15] + 1;  // [pick]
}

struct Pair {
  double first;
  int second;
};
__global__ void structs(const Pair* in, Pair* out, int which) {
  Pair kept[4];
  for (int i = 0; i < 4; ++i) kept[i].first = in[i].first, kept[i].second = in[i].second;
  out[threadIdx.x] = kept[(which + threadIdx.x) & 3];
}

template <class T>
T* device() {
  T* p = nullptr;
  cudaMalloc(&p, 64 * sizeof(T));
  cudaMemset(p, 0, 64 * sizeof(T));
  return p;
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { pick<<<1, 4>>>(device<int>(), device<int>(), 10, 8); }},
                   {"twin", [] { pick<<<1, 4>>>(device<int>(), device<int>(), 12, 8); }},
                   {"padding", [] { structs<<<1, 4>>>(device<Pair>(), device<Pair>(), 1); }}});
}
