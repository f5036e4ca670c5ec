// Features that the documented forms do not use: roles by count, parts of a block, sizes and
// addresses of any alignment, waits that leave batches, memcpy_async with a group alone and with a
// barrier, depths.
#include <inflight/inflight.cuh>
#include <type_traits>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int threads = 128, stages = 3, batches = 7;
static_assert(
    std::is_trivial_v<inflight::pipeline_shared_state<inflight::thread_scope_block, stages>>,
    "a pipeline's shared state needs no constructor");
static_assert(inflight::stages_for<1 << 20>() == 2 && inflight::stages_for<1024>() == 8 &&
                  inflight::stages_for<8192, 1, 80>() == 3 && inflight::stages_for<8192, 2>() == 4,
              "depths lie between 2 and 8");

// The first 32 threads copy for the other 96.
__global__ void by_count(int* out, const int* in) {
  __shared__ int tile[stages][threads];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, stages> state;
  auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline(block, &state, std::size_t{32});
  if (block.thread_rank() < 32) {
    for (int b = 0; b < batches; ++b) {
      pipe.producer_acquire();
      for (int i = threadIdx.x; i < threads; i += 32)
        inflight::memcpy_async(&tile[pipe.producer_stage()][i], in + b * threads + i, sizeof(int),
                               pipe);
      pipe.producer_commit();
    }
  } else {
    for (int b = 0; b < batches; ++b) {
      pipe.consumer_wait();
      for (int i = threadIdx.x - 32; i < threads; i += threads - 32)
        out[b * threads + i] = tile[pipe.consumer_stage()][threads - 1 - i];
      pipe.consumer_release();
    }
  }
}

// Each warp has its own pipeline.
__global__ void by_warp(int* out, const int* in) {
  constexpr int warps = threads / 32;
  __shared__ int tile[warps][2][32];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 2> state[warps];
  auto warp = inflight::tiled_partition<32>(inflight::this_thread_block());
  const int w = threadIdx.x / 32;
  auto pipe = inflight::make_pipeline(warp, &state[w]);
  for (int b = 0; b < batches; ++b) {
    const int at = (b * warps + w) * 32;
    pipe.producer_acquire();
    inflight::memcpy_async(warp, tile[w][b % 2], in + at, 32 * sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[at + warp.thread_rank()] = tile[w][b % 2][31 - warp.thread_rank()];
    pipe.consumer_release();
  }
}

// Any number of bytes from any address to any address.
__global__ void any_bytes(unsigned char* out, const unsigned char* in, int from, int to,
                          int bytes) {
  alignas(16) __shared__ unsigned char tile[2][512];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 2> state;
  auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline(block, &state);
  for (int i = threadIdx.x; i < 1024; i += threads) tile[0][i] = 0xee;
  block.sync();
  for (int b = 0; b < 2; ++b) {
    pipe.producer_acquire();
    inflight::memcpy_async(block, tile[b] + to, in + 512 * b + from, bytes, pipe);
    pipe.producer_commit();
  }
  for (int b = 0; b < 2; ++b) {
    pipe.consumer_wait();
    for (int i = threadIdx.x; i < 512; i += threads) out[512 * b + i] = tile[b][i];
    pipe.consumer_release();
  }
}

// One thread's pipeline, read while batches are in flight.
__global__ void own(int* out, const int* in) {
  __shared__ int tile[4][threads];
  auto pipe = inflight::make_pipeline<4>();
  const int t = threadIdx.x;
  for (int b = 0; b < 4; ++b) {
    pipe.producer_acquire();
    inflight::memcpy_async(&tile[b][t], in + b * threads + t, sizeof(int), pipe);
    pipe.producer_commit();
  }
  inflight::pipeline_consumer_wait_prior<2>(pipe);
  int sum = tile[0][t] + tile[1][t];
  pipe.consumer_wait();
  sum += tile[2][t];
  pipe.consumer_wait();
  sum += tile[3][t];
  pipe.consumer_release();
  pipe.quit();
  out[t] = sum;
}

// The form of cooperative groups: a group, and waits for its oldest copies.
__global__ void by_group(int* out, const int* in) {
  alignas(16) __shared__ int tile[2][threads];
  auto block = inflight::this_thread_block();
  inflight::memcpy_async(block, tile[0], in, inflight::aligned_size_t<16>(sizeof tile[0]));
  for (int b = 1; b < batches; ++b) {
    // Copies the smaller of both counts of elements.
    inflight::memcpy_async(block, tile[b % 2], threads, in + b * threads, threads + 5);
    inflight::wait_prior<1>(block);
    out[(b - 1) * threads + threadIdx.x] = tile[(b - 1) % 2][threads - 1 - threadIdx.x];
    block.sync();
  }
  inflight::wait(block);
  out[(batches - 1) * threads + threadIdx.x] = tile[(batches - 1) % 2][threads - 1 - threadIdx.x];
}

// With a barrier: the threads arrive as usual, and the phase also waits for the copies.
__global__ void with_barrier(int* out, const int* in) {
  __shared__ int tile[threads];
  __shared__ inflight::barrier<> full;
  auto block = inflight::this_thread_block();
  if (block.thread_rank() == 0) init(&full, block.size());
  block.sync();
  for (int b = 0; b < batches; ++b) {
    inflight::memcpy_async(block, tile, in + b * threads, sizeof tile, full);
    full.arrive_and_wait();
    out[b * threads + threadIdx.x] = tile[threads - 1 - threadIdx.x];
    block.sync();
  }
}

// One thread's pipeline whose batches complete on a barrier, so other threads may read them.
__global__ void onto_barrier(int* out, const int* in) {
  __shared__ int tile[threads];
  __shared__ inflight::barrier<> full;
  if (threadIdx.x == 0) init(&full, threads);
  __syncthreads();
  auto pipe = inflight::make_pipeline();
  for (int b = 0; b < batches; ++b) {
    pipe.producer_acquire();
    inflight::memcpy_async(tile + threadIdx.x, in + b * threads + threadIdx.x, sizeof(int), pipe);
    inflight::pipeline_producer_commit(pipe, full);
    full.arrive_and_wait();
    out[b * threads + threadIdx.x] = tile[threads - 1 - threadIdx.x];
    __syncthreads();
  }
}

bool reversed(const std::vector<int>& out, const std::vector<int>& in, int run) {
  bool right = true;
  for (int i = 0; i < batches * threads; ++i)
    right &= out[i] == in[i / run * run + run - 1 - i % run];
  return right;
}

template <class Kernel>
void check(const char* name, Kernel kernel, const std::vector<int>& source, int run = threads) {
  Buffer<int> in(source), out(batches * threads);
  kernel<<<1, threads>>>(out, in);
  std::printf("%s: %s\n", name, reversed(out.read(), source, run) ? "right" : "WRONG");
}

}  // namespace

int main() {
  std::vector<int> source(batches * threads + 8);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = int(i * i);
  check("by count", by_count, source);
  check("by warp", by_warp, source, 32);
  check("by group", by_group, source);
  check("with barrier", with_barrier, source);
  check("a thread's own onto a barrier", onto_barrier, source);

  Buffer<int> in(source), out(threads);
  own<<<1, threads>>>(out, in);
  out.read();
  bool right = true;
  for (int t = 0; t < threads; ++t)
    right &= out.host[t] ==
             source[t] + source[threads + t] + source[2 * threads + t] + source[3 * threads + t];
  std::printf("a thread's own: %s\n", right ? "right" : "WRONG");

  std::vector<unsigned char> bytes(1024);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * 7 + i / 256);
  Buffer<unsigned char> from(bytes), to(1024);
  int wrong = 0, tried = 0;
  for (int a : {0, 1, 2, 4, 8, 12, 16})
    for (int b : {0, 1, 2, 4, 8, 12, 16})
      for (int size : {0, 1, 3, 4, 7, 16, 20, 31, 64, 100, 255, 496}) {
        any_bytes<<<1, threads>>>(to, from, a, b, size);
        to.read();
        ++tried;
        for (int i = 0; i < 1024; ++i) {
          const int at = i % 512 - b;
          const unsigned char wanted = at >= 0 && at < size ? bytes[i / 512 * 512 + a + at] : 0xee;
          if (to.host[i] != wanted) {
            ++wrong;
            break;
          }
        }
      }
  std::printf("any bytes: %d of %d wrong\n", wrong, tried);
}
