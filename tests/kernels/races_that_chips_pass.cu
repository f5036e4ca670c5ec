// Programs that lack a barrier and still give right results on a chip, since the warps released by
// a barrier run almost in step, and copies take longer than the distance of warps. A GPU reports
// nothing, and the results must be right here too.
// async: late
#include "tests/kernels/kernel_test.cuh"

// A block reduction without a barrier between its last shared memory read and the next write.
__device__ float block_reduce(float v) {
  __shared__ float s[32];
  int w = threadIdx.x / 32, l = threadIdx.x % 32;
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  if (l == 0) s[w] = v;
  __syncthreads();
  if (w == 0) {
    v = l < blockDim.x / 32 ? s[l] : 0;
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if (l == 0) s[0] = v;
  }
  __syncthreads();
  return s[0];
}
__global__ void reduce_twice(float* out) {
  float v = block_reduce(block_reduce(1));
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}

// The same as a called function with a generic pointer.
__device__ __noinline__ float called_reduce(float v, float* s) {
  int w = threadIdx.x / 32, l = threadIdx.x % 32;
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  if (l == 0) s[w] = v;
  __syncthreads();
  v = 0;
  for (int i = 0; i < int(blockDim.x) / 32; ++i) v += s[i];
  return v;
}
__global__ void called_twice(float* out) {
  __shared__ float s[32];
  float v = called_reduce(called_reduce(1, s), s);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}

// One thread broadcasts a new value in each round of a loop, with one barrier instead of two.
__global__ void broadcast(float* out) {
  __shared__ float s;
  float sum = 0;
  for (int i = 0; i < 20; ++i) {
    if (threadIdx.x == i) s = i;
    __syncthreads();
    float v = s;
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    for (int k = 0; k < 8; ++k) v = sqrtf(v * v);
    sum += v / 32;
    if (i % 2) __syncthreads();
  }
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}

// An in-place stencil in global memory: all threads have read their neighbour before any writes.
__global__ void shift(float* data, float* out) {
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float v = data[(threadIdx.x + 32) % blockDim.x];
  for (int k = 0; k < 8; ++k) v = sqrtf(v * v);
  data[threadIdx.x] = v;
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}

// Each warp copies its part of a tile and stores zeros where the next one copies to, as loaders do
// whose threads past the last row fill the wrong panel: copies arrive after all stores.
__global__ void pad(const float* in, float* out) {
  __shared__ alignas(16) float tile[1024];
  unsigned to = unsigned(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
  tile[(threadIdx.x + 32) % blockDim.x] = 0;
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = tile[threadIdx.x];
}

// Each block of a cluster signals the other that it is done, and runs on for a while. Nothing keeps
// the other, which runs concurrently, from exiting first. Cooperative loaders release their last
// stages this way.
__global__ void __cluster_dims__(2, 1, 1) release(float* out) {
  __shared__ alignas(8) unsigned long long bar;
  const unsigned here = unsigned(__cvta_generic_to_shared(&bar)), other = blockIdx.x ^ 1;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(here) : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0)
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(here),
        "r"(other)
        : "memory");
  float v = 1;
  for (int k = 0; k < 200; ++k) v = sqrtf(v * v);
  if (threadIdx.x % 32 == 0) out[blockIdx.x * blockDim.x / 32 + threadIdx.x / 32] = v;
}

// Thread 0 refills the buffer of the last round without waiting for the other warps, which may not
// yet have waited for that round's phase.
__global__ void refill(const float* in, float* out) {
  __shared__ alignas(16) float tiles[2][512];
  __shared__ alignas(8) unsigned long long bar;
  const unsigned mbarrier = unsigned(__cvta_generic_to_shared(&bar));
  const unsigned bytes = blockDim.x * sizeof(float);
  const auto load = [&](int round) {
    const unsigned to = unsigned(__cvta_generic_to_shared(tiles[round % 2]));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(to),
        "l"(in), "r"(bytes), "r"(mbarrier)
        : "memory");
  };
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mbarrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    load(0);
  }
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < 6; ++round) {
    asm volatile(
        "{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
        "@!p bra again;\n}" ::"r"(mbarrier),
        "r"(round % 2)
        : "memory");
    if (threadIdx.x == 0 && round < 5) load(round + 1);
    sum += tiles[round % 2][threadIdx.x];
  }
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}

int wrong(Buffer<float>& out, int warps, float expected, float step) {
  int count = 0;
  std::vector<float>& values = out.read();
  for (int w = 0; w < warps; ++w) count += values[w] != expected + step * w;
  return count;
}

int main() {
  Buffer<float> out(32), data(1024);
  for (int threads = 64; threads <= 512; threads *= 2) {
    const int warps = threads / 32;
    reduce_twice<<<1, threads>>>(out);
    std::printf("%d threads: reduced %d wrong", threads,
                wrong(out, warps, float(threads) * threads, 0));
    called_twice<<<1, threads>>>(out);
    std::printf(", called %d", wrong(out, warps, float(threads) * threads, 0));
    broadcast<<<1, threads>>>(out);
    std::printf(", broadcast %d", wrong(out, warps, 190, 0));
    shift<<<1, threads>>>(data, out);
    int shifted = wrong(out, warps - 1, 32, 32);
    std::printf(", shifted %d", shifted);
    refill<<<1, threads>>>(data, out);
    std::printf(", refilled %d", wrong(out, warps - 1, 192, 192));
    pad<<<1, threads>>>(data, out);
    std::printf(", padded %d", wrong(out, warps - 1, 32, 32));
    release<<<2, threads>>>(out);
    std::printf(", released %d\n", wrong(out, 2 * warps, 1, 0));
  }
}
