// arch: compute_90
// Unordered accesses in two streams, in one block, or of copies that an mbarrier does not count:
// streams copies|fill|memset|atomic|sizes|refill|multicast.
#include "tests/kernels/check/check_test.cuh"
#include "tests/kernels/check/ptx_macros.cuh"

__global__ void writes(int* data) { data[threadIdx.x] = threadIdx.x; }

__global__ void counts(int* data) {
  if (threadIdx.x < 32) atomicAdd(data, 1);
  if (threadIdx.x >= 32) data[threadIdx.x] = data[0];
}

__global__ void halves(unsigned long long* data) {
  if (threadIdx.x == 0) atomicCAS(data, 0ull, 1ull << 40);
  if (threadIdx.x == 32) atomicAdd(reinterpret_cast<unsigned*>(data) + 1, 1u);
}

// Warps refill a stage before its readers are done.
__global__ void stage(int* data) {
  __shared__ int stage[64];
  __shared__ alignas(8) std::uint64_t full;
  if (threadIdx.x == 0) MBARRIER_INIT(&full, 64);
  __syncthreads();
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x < 64) {
      if (round == 1) MBARRIER_WAIT(&full, 0);
      stage[threadIdx.x] = round;
      MBARRIER_ARRIVE(&full);
    } else {
      MBARRIER_WAIT(&full, round);
      data[threadIdx.x - 64] += stage[threadIdx.x - 32];
    }
  }
}

// Each block of a cluster copies to both, and expects the bytes of one copy.
__global__ void __cluster_dims__(2) to_both(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ alignas(8) std::uint64_t full;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0) {
    MBARRIER_EXPECT(&full, int(sizeof tile));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(tile)),
        "l"(in), "r"(int(sizeof tile)), "r"(shared_address(&full)), "h"(short{3})
        : "memory");
  }
  MBARRIER_WAIT(&full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

struct Both {
  Buffer<int> data{64};
  int* host;
  cudaStream_t a, b;
  Both() {
    CHECK(cudaMallocHost(&host, 64 * sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
  }
};

void copies() {
  Both s;
  CHECK(cudaMemcpyAsync(s.data, s.host, 64 * sizeof(int), cudaMemcpyHostToDevice, s.a));
  CHECK(cudaMemcpyAsync(s.data, s.host, 64 * sizeof(int), cudaMemcpyHostToDevice, s.b));
}

void fill() {
  Both s;
  writes<<<1, 64, 0, s.a>>>(s.data);
  CHECK(cudaMemsetAsync(s.data, 0, 64 * sizeof(int), s.b));
}

void memset_of_default_stream() {
  Both s;
  writes<<<1, 64, 0, s.a>>>(s.data);
  CHECK(cudaMemset(s.data, 0, 64 * sizeof(int)));
}

void atomic() {
  Both s;
  counts<<<1, 64>>>(s.data);
}

void sizes() {
  Both s;
  CHECK(cudaMemset(s.data, 0, 64 * sizeof(int)));
  halves<<<1, 64>>>(reinterpret_cast<unsigned long long*>(static_cast<int*>(s.data)));
}

void refill() {
  Both s;
  stage<<<1, 96>>>(s.data);
}

void multicast() {
  const Buffer<int> in(64), out(128);
  to_both<<<2, 64>>>(in, out);
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"copies", copies},
                   {"fill", fill},
                   {"memset", memset_of_default_stream},
                   {"atomic", atomic},
                   {"sizes", sizes},
                   {"refill", refill},
                   {"multicast", multicast}});
}
