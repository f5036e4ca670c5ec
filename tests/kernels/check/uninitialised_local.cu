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

// Sums of what a tile holds, kept in a local array. Not all of the tile is written.
__global__ void computed(const int* in, int* out, int filled, int which) {
  __shared__ int tile[8];
  if (threadIdx.x < filled) tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int kept[16];
  for (int i = 0; i < 16; ++i) kept[i] = tile[(i + which) & 7] + in[i];  // [tile]
  out[threadIdx.x] = kept[(which + threadIdx.x) & 15];                   // [kept]
}

// The same, of copies.
__global__ void copied(const int* in, int* out, int filled, int which) {
  __shared__ int tile[8];
  if (threadIdx.x < filled) tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int kept[16];
  for (int i = 0; i < 16; ++i) kept[i] = tile[(i + which) & 7];  // [tile of copies]
  out[threadIdx.x] = kept[(which + threadIdx.x) & 15];           // [copies]
}

// Copies from global memory to global memory, through a local array.
__global__ void copied_through(const int* in, int* out, int which) {
  int kept[16];
  for (int i = 0; i < 16; ++i) kept[i] = in[i + which];
  out[threadIdx.x] = kept[(which + threadIdx.x) & 15];
}

template <class T>
T* unwritten() {
  T* p = nullptr;
  cudaMalloc(&p, 64 * sizeof(T));
  return p;
}

template <class T>
T* device() {
  T* p = nullptr;
  cudaMalloc(&p, 64 * sizeof(T));
  cudaMemset(p, 0, 64 * sizeof(T));
  return p;
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"mistake", [] { pick<<<1, 4>>>(device<int>(), device<int>(), 10, 8); }},
       {"twin", [] { pick<<<1, 4>>>(device<int>(), device<int>(), 12, 8); }},
       {"computed", [] { computed<<<1, 8>>>(device<int>(), device<int>(), 4, 2); }},
       {"computed_twin", [] { computed<<<1, 8>>>(device<int>(), device<int>(), 8, 2); }},
       {"copied", [] { copied<<<1, 8>>>(device<int>(), device<int>(), 4, 2); }},
       {"copied_twin", [] { copied<<<1, 8>>>(device<int>(), device<int>(), 8, 2); }},
       {"through", [] { copied_through<<<1, 8>>>(unwritten<int>(), device<int>(), 2); }},
       {"padding", [] { structs<<<1, 4>>>(device<Pair>(), device<Pair>(), 1); }}});
}
