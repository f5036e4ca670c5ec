// Kernels and copies in two streams use the same memory: with an event between them, and without.
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

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"kernels", kernels<false>},
                   {"kernels_twin", kernels<true>},
                   {"copy", copy<false>},
                   {"copy_twin", copy<true>}});
}
