// stderr: block_copies.*modified.cu:20.*cp.async.*source of this copy was written
// stderr: bulk_load.*modified.cu:37.*cp.async.bulk.*source of this copy was written
// stderr: bulk_store.*modified.cu:56.*cp.async.bulk.*source of this copy was written
// async: late
// Sources written while copies from them are in flight. The result depends on the order, so each
// place is reported once. A GPU's result is undefined, so nothing of it is printed.
#include "tests/kernels/kernel_test.cuh"

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__global__ void block_copies(int* data, int* out) {
  __shared__ alignas(16) int tile[256];
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x < 32) {
      const int at = (threadIdx.x + 32 * (round % 2)) * 4;
      // clang-format off



      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(tile + at)), "l"(data + at) : "memory");
      // clang-format on
      data[at + 1] = round + 100;
      asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    out[threadIdx.x] += tile[threadIdx.x];
  }
}

__global__ void bulk_load(int* data, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ alignas(8) unsigned long long bar;
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(shared_address(&bar))
               : "memory");
  // clang-format off
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(shared_address(tile)), "l"(data), "r"(shared_address(&bar)) : "memory");
  // clang-format on
  data[63] = 1000;
  asm volatile(
      "{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra again; }" ::
          "r"(shared_address(&bar))
      : "memory");
  out[0] = tile[63];
}

__global__ void bulk_store(int* data) {
  __shared__ alignas(16) int tile[64];
  for (int i = 0; i < 64; ++i) tile[i] = i;
  for (int round = 0; round < 3; ++round) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    // clang-format off



    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(data + 64 * round), "r"(shared_address(tile)) : "memory");
    // clang-format on
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    tile[round] = 1000;  // before wait_group.read
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

int main() {
  Buffer<int> data(256), out(256);
  block_copies<<<1, 64>>>(data, out);
  SAY(cudaDeviceSynchronize());
  bulk_load<<<1, 1>>>(data, out);
  SAY(cudaDeviceSynchronize());
  bulk_store<<<1, 1>>>(data);
  SAY(cudaDeviceSynchronize());
}
