// arch: sm_90a
// L2 policies on every bulk verb; memcpy_async with a barrier as one bulk copy; single values to
// another block; arrivals on another block's barrier with counts and bytes.
#include <inflight/cache_policy.cuh>
#include <inflight/copy.cuh>
#include <inflight/groups.cuh>
#include <inflight/memcpy_async.cuh>
#include <inflight/pipeline.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int count = 256;
constexpr unsigned bytes = count * sizeof(int);

__device__ void cluster_sync() {
  inflight::ptx::cluster_arrive();
  inflight::ptx::cluster_wait();
}

// In and out again, by every way that has a policy.
__global__ void __cluster_dims__(2, 1, 1) policies(int* out, int* sum, const int* in) {
  alignas(128) __shared__ int tile[4][count];
  __shared__ inflight::barrier<> full;
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 1> state;
  const auto policy = inflight::cache_policy<inflight::l2_priority::first>();
  const unsigned rank = inflight::ptx::cluster_block_rank();
  auto pipe =
      inflight::make_pipeline<inflight::transaction_bytes>(inflight::this_thread_block(), &state);
  if (threadIdx.x == 0) {
    full.init(1);
    inflight::bulk_prefetch(in, bytes, policy);
    inflight::transaction copies(full);
    copies.load(tile[0], in, bytes, policy);
    copies.load<bytes>(tile[1], in, policy);
    copies.expect(2 * bytes);
    copies.arrive();
    inflight::bulk_load(tile[2], in, bytes, full, policy);
  }
  cluster_sync();
  if (rank == 0 && threadIdx.x == 0) inflight::bulk_multicast(tile[3], in, bytes, full, 3, policy);
  full.wait_parity(0);
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    tile[1][i] += tile[0][i] + tile[2][i] + tile[3][i];
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    inflight::bulk_store(out + rank * count, tile[1], bytes, policy);
    inflight::bulk_reduce<inflight::reduction_op::add>(sum, tile[1], bytes, policy);
    inflight::bulk_commit();
    inflight::bulk_wait();
    pipe.producer_acquire();
    inflight::memcpy_async(tile[0], in, bytes, pipe, policy);
    pipe.producer_commit();
  }
  pipe.consumer_wait();
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    if (tile[0][i] != in[i]) out[rank * count + i] = -1;
  pipe.consumer_release();
  cluster_sync();
}

// The group's first thread issues one bulk copy; threads wrote the tile and read it before.
__global__ void one_copy(int* out, const int* in, int rounds) {
  alignas(16) __shared__ int tile[count];
  __shared__ inflight::barrier<> done;
  const auto block = inflight::this_thread_block();
  if (threadIdx.x == 0) done.init(blockDim.x);
  for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = -1;
  block.sync();
  for (int round = 0; round < rounds; ++round) {
    const auto told = inflight::memcpy_async(block, tile, in + round * count,
                                             inflight::aligned_size_t<16>(bytes), done);
    inflight::memcpy_async(block, tile, in, inflight::aligned_size_t<16>(0), done);
    done.arrive_and_wait();
    for (int i = threadIdx.x; i < count; i += blockDim.x)
      out[round * count + i] =
          told == inflight::async_contract_fulfillment::async ? tile[count - 1 - i] : -1;
    block.sync();
  }
}

struct alignas(16) Quad {
  int word[4];
};

// Every thread of block 1 stores values into block 0 and reduces others there.
__global__ void __cluster_dims__(2, 1, 1) values(int* out) {
  __shared__ Quad quads[32];
  __shared__ double doubles[32];
  __shared__ int words[32];
  __shared__ int total, most;
  __shared__ unsigned bits;
  __shared__ long long wide;
  __shared__ inflight::barrier<> done;
  const unsigned rank = inflight::ptx::cluster_block_rank(), t = threadIdx.x;
  if (t == 0) {
    total = 5, most = 7, bits = 0, wide = 1;
    done.init(1);
    if (rank == 0) {
      inflight::transaction incoming(done);
      incoming.expect(32 * (sizeof(Quad) + sizeof(double) + 4 * sizeof(int) + sizeof(long long)));
      incoming.arrive();
    }
  }
  cluster_sync();
  if (rank == 1) {
    using inflight::reduction_op;
    const int v = static_cast<int>(t);
    inflight::store_to_block(&quads[t], Quad{{v, v + 1, v + 2, v + 3}}, 0, done);
    inflight::store_to_block(&doubles[t], v * 0.5, 0, done);
    inflight::store_to_block(&words[t], v * v, 0, done);
    inflight::reduce_to_block<reduction_op::add>(&total, v, 0, done);
    inflight::reduce_to_block<reduction_op::max>(&most, v, 0, done);
    inflight::reduce_to_block<reduction_op::bit_or>(&bits, 1u << t, 0, done);
    inflight::reduce_to_block<reduction_op::add>(&wide, 1LL << 33, 0, done);
  } else {
    done.wait_parity(0);
    const int v = static_cast<int>(t);
    out[t] = quads[t].word[0] == v && quads[t].word[3] == v + 3 && doubles[t] == v * 0.5 &&
             words[t] == v * v && total == 5 + 496 && most == 31 && bits == ~0u &&
             wide == 1 + (32LL << 33);
  }
  cluster_sync();
}

// Block 1 arrives on block 0's barrier: once, three times, and with the bytes of a copy that it
// then makes.
__global__ void __cluster_dims__(2, 1, 1) arrivals(int* out, const int* in) {
  alignas(16) __shared__ int tile[count];
  __shared__ inflight::barrier<> done;
  const unsigned rank = inflight::ptx::cluster_block_rank();
  if (threadIdx.x == 0) done.init(6);
  cluster_sync();
  if (rank == 1 && threadIdx.x == 0) {
    out[count] = 41;
    done.expect_at(0, 0);
    done.arrive_at(0);
    done.arrive_at(0, 3);
    done.arrive_and_expect_at(0, bytes);
    inflight::bulk_multicast(tile, in, bytes, done, 1);
  }
  if (rank == 0) {
    if (threadIdx.x == 0) done.arrive();
    done.wait_parity_for_cluster(0);
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = tile[i];
    if (threadIdx.x == 0) out[count] += 1;
  }
  cluster_sync();
}

}  // namespace

int main() {
  constexpr int rounds = 4;
  int *in, *out, *sum;
  cudaMallocManaged(&in, rounds * bytes);
  cudaMallocManaged(&out, rounds * bytes);
  cudaMallocManaged(&sum, bytes);
  for (int i = 0; i < rounds * count; ++i) in[i] = 3 * i + 1;
  for (int i = 0; i < count; ++i) sum[i] = i;
  policies<<<2, 64>>>(out, sum, in);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += out[i] != 4 * in[i] || out[count + i] != 4 * in[i] || sum[i] != i + 8 * in[i];
  std::printf("with policies: %d wrong\n", wrong);

  one_copy<<<1, 96>>>(out, in, rounds);
  cudaDeviceSynchronize();
  wrong = 0;
  for (int i = 0; i < rounds * count; ++i)
    wrong += out[i] != in[i / count * count + count - 1 - i % count];
  std::printf("one bulk copy: %d wrong\n", wrong);

  values<<<2, 32>>>(out);
  cudaDeviceSynchronize();
  wrong = 0;
  for (int i = 0; i < 32; ++i) wrong += out[i] != 1;
  std::printf("single values: %d wrong\n", wrong);

  arrivals<<<2, 32>>>(out, in);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  wrong = out[count] != 42;
  for (int i = 0; i < count; ++i) wrong += out[i] != in[i];
  std::printf("arrivals from another block: %d wrong\n", wrong);
}
