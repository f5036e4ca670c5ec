// software-only
// options: --devices 2
// stderr: ^inflight: illegal memory access in kernel .*step
// A pool's memory is accessible to the devices that cudaMemPoolSetAccess names, not to those with
// access to its device: for kernels, copies and fills. A copy that names both devices needs none.
#include "tests/kernels/kernel_test.cuh"

namespace {

__global__ void step(int* p) { p[threadIdx.x] += 1; }

int *there, *here, *plain;
cudaStream_t stream;

void transfers() {
  int value = 0;
  SAY(cudaMemcpyAsync(here, there, 128, cudaMemcpyDeviceToDevice, stream));
  SAY(cudaMemcpyAsync(there, here, 128, cudaMemcpyDefault, stream));
  SAY(cudaMemcpyAsync(&value, there, 4, cudaMemcpyDeviceToHost, stream));
  SAY(cudaMemcpy2DAsync(here, 16, there, 16, 8, 2, cudaMemcpyDeviceToDevice, stream));
  SAY(cudaMemsetAsync(there, 0, 128, stream));
  SAY(cudaMemcpyPeerAsync(here, 0, there, 1, 128, stream));
  SAY(cudaMemcpyAsync(here, plain, 128, cudaMemcpyDeviceToDevice, stream));
  SAY(cudaStreamSynchronize(stream));
  cudaGetLastError();
}

void access(cudaMemPool_t pool, cudaMemAccessFlags flags) {
  const cudaMemAccessDesc device_0{{cudaMemLocationTypeDevice, 0}, flags};
  SAY(cudaMemPoolSetAccess(pool, &device_0, 1));
}

}  // namespace

int main() {
  cudaMemPoolProps where{};
  where.allocType = cudaMemAllocationTypePinned;
  where.location = {cudaMemLocationTypeDevice, 1};
  cudaMemPool_t pool;
  CHECK(cudaSetDevice(1));
  CHECK(cudaMemPoolCreate(&pool, &where));
  cudaStream_t own;
  CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  CHECK(cudaMallocFromPoolAsync(&there, 128, pool, own));
  CHECK(cudaMemsetAsync(there, 0, 128, own));
  CHECK(cudaStreamSynchronize(own));
  CHECK(cudaMalloc(&plain, 128));

  CHECK(cudaSetDevice(0));
  CHECK(cudaMalloc(&here, 128));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  transfers();
  access(pool, cudaMemAccessFlagsProtReadWrite);
  transfers();
  step<<<1, 32, 0, stream>>>(there);
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaDeviceEnablePeerAccess(1, 0));
  access(pool, cudaMemAccessFlagsProtNone);
  transfers();
  step<<<1, 32, 0, stream>>>(plain);
  SAY(cudaStreamSynchronize(stream));
  step<<<1, 32, 0, stream>>>(there);
  SAY(cudaStreamSynchronize(stream));
}
