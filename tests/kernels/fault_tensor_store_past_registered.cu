// arch: sm_90a
// software-only
// stderr: writes whole 16-byte chunks.*15 bytes past
// A tensor store fills the chunk of its last element. After registered host memory lie other bytes
// of the host. A GPU changes them. Here the kernel ends before it does.
#include "tests/kernels/kernel_test.cuh"
#include "tests/kernels/part/tensor.cuh"

__global__ void store(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) char row[64];
  for (char& c : row) c = 7;
  fence_async();
  store_row(&map, shared_address(row));
  commit();
  wait_group<0>();
}

int main() {
  constexpr int page = 4096;
  char* const host = static_cast<char*>(std::aligned_alloc(page, 3 * page));
  // No other data shares the last page of pinned memory.
  char* pinned;
  CHECK(cudaMallocHost(&pinned, 33));
  store<<<1, 1>>>(encode_bytes(pinned, 33, 1));
  SAY(cudaDeviceSynchronize());
  std::printf("pinned: %d\n", pinned[32]);
  for (const int bytes : {48, 33}) {
    std::memset(host, 0x5a, 3 * page);
    CHECK(cudaHostRegister(host + page, bytes, 0));
    store<<<1, 1>>>(encode_bytes(host + page, bytes, 1));
    std::printf("%d bytes: %s\n", bytes, cudaGetErrorName(cudaDeviceSynchronize()));
    int changed = 0;
    for (int i = 0; i < 3 * page; ++i)
      changed += (i < page || i >= page + bytes) && host[i] != 0x5a;
    std::printf("changed outside: %d\n", changed);
    cudaHostUnregister(host + page);
  }
}
