// A flag in memory mapped at two addresses: a thread sets it through one address and another waits
// at the other, with a release and without.
#include <cuda/atomic>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kernels/check/check_test.cuh"

__device__ int data[32];

template <bool told>
__global__ void message(int* one, int* other, int* out) {
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t;  // [write]
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_system> flag(*one);
    if (t == 0) flag.store(1, told ? cuda::memory_order_release : cuda::memory_order_relaxed);
  } else {
    cuda::atomic_ref<int, cuda::thread_scope_system> flag(*other);
    if (t == 0)
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
    __syncthreads();
    out[t] = data[t ^ 1];  // [read]
  }
}

template <bool told>
void run() {
  constexpr std::size_t bytes = 1 << 16;
  const int file = memfd_create("flag", 0);
  if (ftruncate(file, bytes) != 0) return;
  void* mapped[2];
  int* known[2];
  for (int i = 0; i < 2; ++i) {
    mapped[i] = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(cudaHostRegister(mapped[i], bytes, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&known[i]), mapped[i], 0));
  }
  Buffer<int> out(32);
  message<told><<<2, 32>>>(known[0], known[1], out);
  out.read();
  for (void* each : mapped) {
    CHECK(cudaHostUnregister(each));
    munmap(each, bytes);
  }
  close(file);
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {{"mistake", run<false>}, {"twin", run<true>}});
}
