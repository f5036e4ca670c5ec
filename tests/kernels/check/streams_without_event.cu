// Kernels, copies, allocations and frees in two streams use the same memory, with an event between
// them and without.
#include <chrono>
#include <thread>

#include "tests/kernels/check/check_test.cuh"

__global__ void writes(int* data) { data[threadIdx.x] = threadIdx.x; }  // [writes]
__global__ void reads(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x ^ 1];  // [reads]
}

struct Streams {
  cudaStream_t a, b;
  Streams() {
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  }
};

template <bool right>
void kernels() {
  Buffer<int> data(64), out(64);
  CHECK(cudaDeviceSynchronize());
  Streams s;
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  writes<<<1, 64, 0, s.a>>>(data);
  CHECK(cudaEventRecord(done, s.a));
  if (right) CHECK(cudaStreamWaitEvent(s.b, done));
  reads<<<1, 64, 0, s.b>>>(data, out);
  CHECK(cudaDeviceSynchronize());
}

template <bool right>
void copy() {
  Buffer<int> data(64);
  int* host;
  CHECK(cudaMallocHost(&host, 64 * sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  Streams s;
  writes<<<1, 64, 0, s.a>>>(data);
  if (right) CHECK(cudaStreamSynchronize(s.a));
  CHECK(cudaMemcpyAsync(host, data, 64 * sizeof(int), cudaMemcpyDeviceToHost, s.b));
  CHECK(cudaDeviceSynchronize());
}

// A kernel reads a constant that a copy in another stream sets.
__constant__ int factor, other;
__global__ void scales(int* data) { data[threadIdx.x] = factor * threadIdx.x; }  // [scales]

template <bool right>
void constant() {
  Buffer<int> data(64);
  const int one = 1, *value = &one;
  int* pinned;
  CHECK(cudaMallocHost(&pinned, sizeof(int)));
  *pinned = 2;
  CHECK(cudaMemcpyToSymbol(factor, value, sizeof(int)));
  Streams s;
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  scales<<<1, 64, 0, s.a>>>(data);
  CHECK(cudaEventRecord(done, s.a));
  if (right) CHECK(cudaStreamWaitEvent(s.b, done));
  CHECK(cudaMemcpyToSymbolAsync(factor, pinned, sizeof(int), 0, cudaMemcpyHostToDevice, s.b));
  CHECK(cudaDeviceSynchronize());
}

// The copy sets a different constant.
void constant_beside_twin() {
  Buffer<int> data(64);
  int* pinned;
  CHECK(cudaMallocHost(&pinned, sizeof(int)));
  *pinned = 2;
  Streams s;
  scales<<<1, 64, 0, s.a>>>(data);
  CHECK(cudaMemcpyToSymbolAsync(other, pinned, sizeof(int), 0, cudaMemcpyHostToDevice, s.b));
  CHECK(cudaDeviceSynchronize());
  scales<<<1, 64, 0, s.a>>>(data);
  CHECK(cudaStreamSynchronize(s.a));
}

// Memory is allocated and freed in the order of the stream that does it.
template <bool right>
void allocation() {
  Streams s;
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  int* data = nullptr;
  CHECK(cudaMallocAsync(&data, 64 * sizeof(int), s.a));
  CHECK(cudaEventRecord(done, s.a));
  if (right) CHECK(cudaStreamWaitEvent(s.b, done));
  writes<<<1, 64, 0, s.b>>>(data);
  CHECK(cudaEventRecord(done, s.b));
  CHECK(cudaStreamWaitEvent(s.a, done));
  CHECK(cudaFreeAsync(data, s.a));
  CHECK(cudaDeviceSynchronize());
}

// The kernel has long ended when the memory is freed, but only by luck.
template <bool right>
void release() {
  Streams s;
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  int* data = nullptr;
  CHECK(cudaMallocAsync(&data, 64 * sizeof(int), s.a));
  writes<<<1, 64, 0, s.a>>>(data);
  CHECK(cudaEventRecord(done, s.a));
  if (right) CHECK(cudaStreamWaitEvent(s.b, done));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(cudaFreeAsync(data, s.b));
  CHECK(cudaDeviceSynchronize());
}

// Nothing uses the memory between its allocation and its release.
template <bool right>
void unused() {
  Streams s;
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  int* data = nullptr;
  CHECK(cudaMallocAsync(&data, 1 << 20, s.a));
  CHECK(cudaEventRecord(done, s.a));
  if (right) CHECK(cudaStreamWaitEvent(s.b, done));
  CHECK(cudaFreeAsync(data, s.b));
  CHECK(cudaDeviceSynchronize());
}

// A pool reuses bytes: in the same stream, and in another stream once the host has waited.
void pool_twin() {
  Streams s;
  for (cudaStream_t stream : {s.a, s.a, s.b}) {
    int* data = nullptr;
    CHECK(cudaMallocAsync(&data, 64 * sizeof(int), stream));
    writes<<<1, 64, 0, stream>>>(data);
    CHECK(cudaFreeAsync(data, stream));
    if (stream == s.a) CHECK(cudaStreamSynchronize(stream));
  }
  int* data = nullptr;
  CHECK(cudaMallocAsync(&data, 64 * sizeof(int), s.a));
  CHECK(cudaStreamSynchronize(s.a));
  writes<<<1, 64, 0, s.b>>>(data);
  CHECK(cudaStreamSynchronize(s.b));
  CHECK(cudaFreeAsync(data, s.a));
  CHECK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"kernels", kernels<false>},
                   {"kernels_twin", kernels<true>},
                   {"copy", copy<false>},
                   {"copy_twin", copy<true>},
                   {"constant", constant<false>},
                   {"constant_twin", constant<true>},
                   {"constant_beside_twin", constant_beside_twin},
                   {"allocation", allocation<false>},
                   {"allocation_twin", allocation<true>},
                   {"release", release<false>},
                   {"release_twin", release<true>},
                   {"unused", unused<false>},
                   {"unused_twin", unused<true>},
                   {"pool_twin", pool_twin}});
}
