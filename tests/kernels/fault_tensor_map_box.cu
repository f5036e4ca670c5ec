// arch: sm_90a
// stderr: boxDim = 256 makes a box of more than 233472 bytes
// A kernel widens the box of its tensor map to 2^32 bytes, which encoding never allows.
#include "tests/kernels/kernel_test.cuh"
#include "tests/kernels/part/tensor.cuh"

#define REPLACE(field, ...)                                                                      \
  asm volatile("tensormap.replace.tile." field ".global.b1024.b32 [%0], " __VA_ARGS__ ::"l"(map) \
               : "memory")

__global__ void widen(CUtensorMap* map) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  __shared__ alignas(128) char row[2048];
  __shared__ alignas(8) uint64_t bar;
  REPLACE("elemtype", "9;");  // f64
  REPLACE("box_dim", "0, 256;");
  REPLACE("box_dim", "1, 256;");
  REPLACE("box_dim", "2, 256;");
  REPLACE("box_dim", "3, 32;");
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
  init(shared_address(&bar), 1);
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {0, 100000000, 100000000, 100000000}], [%2];" ::"r"(shared_address(row)),
      "l"(map), "r"(shared_address(&bar))
      : "memory");
  expect(shared_address(&bar), 0);
  wait(shared_address(&bar), 0);
#endif
}

int main() {
  Buffer<char> data(4096);
  Buffer<CUtensorMap> map({encode_bytes(data, 64, 4)});
  widen<<<1, 1>>>(map);
  SAY(cudaDeviceSynchronize());
}
