// Managed, pinned, mapped, registered and pooled memory in kernels and on the host.
#include "tests/kernels/kernel_test.cuh"

__global__ void step(int* v, int n, int add) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) v[i] = v[i] * 2 + add;
}

int main() {
  int *managed, *pinned, *mapped, *seen;
  CHECK(cudaMallocManaged(&managed, 256));
  for (int i = 0; i < 64; ++i) managed[i] = i;
  step<<<1, 32>>>(managed, 64, 1);
  CHECK(cudaDeviceSynchronize());
  std::printf("managed: %d %d\n", managed[0], managed[63]);
  CHECK(cudaMemPrefetchAsync(managed, 256, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, 0));
  CHECK(cudaFree(managed));

  CHECK(cudaMallocHost(&pinned, 256));
  CHECK(cudaHostAlloc(&mapped, 256, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&seen, mapped, 0));
  for (int i = 0; i < 64; ++i) pinned[i] = mapped[i] = i;
  step<<<1, 32>>>(pinned, 64, 3);
  step<<<1, 32>>>(seen, 64, 4);
  CHECK(cudaDeviceSynchronize());
  std::printf("pinned: %d, mapped: %d\n", pinned[63], mapped[63]);
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, mapped));
  std::printf("mapped flag: %u\n", flags & cudaHostAllocMapped);

  std::vector<int> own(4096, 1);
  CHECK(cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterDefault));
  int* registered;
  CHECK(cudaHostGetDevicePointer(&registered, own.data(), 0));
  step<<<1, 128>>>(registered, 4096, 5);
  CHECK(cudaDeviceSynchronize());
  std::printf("registered: %d %d\n", own[0], own[4095]);
  SAY(cudaHostRegister(own.data(), 16, cudaHostRegisterDefault));
  CHECK(cudaHostUnregister(own.data()));
  SAY(cudaHostUnregister(own.data()));

  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  int* pooled;
  CHECK(cudaMallocAsync(&pooled, 1024, s));
  CHECK(cudaMemsetAsync(pooled, 0, 1024, s));
  step<<<1, 32, 0, s>>>(pooled, 256, 6);
  int value = 0;
  CHECK(cudaMemcpyAsync(&value, pooled + 255, 4, cudaMemcpyDeviceToHost, s));
  CHECK(cudaFreeAsync(pooled, s));
  CHECK(cudaStreamSynchronize(s));
  std::printf("pooled: %d\n", value);
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long keep = 1 << 20, asked = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &asked));
  std::printf("threshold: %llu\n", asked);
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t mine;
  CHECK(cudaMemPoolCreate(&mine, &props));
  CHECK(cudaMallocFromPoolAsync(&pooled, 4096, mine, s));
  CHECK(cudaFreeAsync(pooled, s));
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemPoolDestroy(mine));

  std::size_t free_before, free_after, total;
  void* block;
  CHECK(cudaMemGetInfo(&free_before, &total));
  CHECK(cudaMalloc(&block, 256 << 20));
  CHECK(cudaMemGetInfo(&free_after, &total));
  std::printf("taken at least: %d\n", free_before - free_after >= 256u << 20);
  CHECK(cudaFree(block));
  SAY(cudaMalloc(&block, 1ull << 50));
  SAY(cudaGetLastError());
  SAY(cudaFree(nullptr));
  SAY(cudaFree(&block));
  SAY(cudaGetLastError());
}
