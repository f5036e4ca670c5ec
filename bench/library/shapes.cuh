// The five documented shapes of a pipeline, and a group's copies without one: out[i] = in[i] * 3 +
// 1 over int elements, written once for NVIDIA's cuda::pipeline and for Inflight's. A block of
// `Threads` streams `batches` tiles of `PerThread` elements per thread. As documented, tile b of a
// block follows tile b - 1 of all blocks.
#pragma once
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/pipeline>
#include <inflight/inflight.cuh>

namespace shapes {

struct ours {
  static constexpr const char* name = "inflight";
  template <int Stages>
  using state = inflight::pipeline_shared_state<inflight::thread_scope_block, Stages>;
  using role = inflight::pipeline_role;
  template <std::size_t N>
  using aligned = inflight::aligned_size_t<N>;
  static __device__ auto block() { return inflight::this_thread_block(); }
  template <class Group, class... Rest>
  static __device__ auto make(const Group& group, Rest... rest) {
    return inflight::make_pipeline(group, rest...);
  }
  template <int Stages>
  static __device__ auto make_own() {
    return inflight::make_pipeline<Stages>();
  }
  template <class... Arguments>
  static __device__ void copy(Arguments&&... arguments) {
    inflight::memcpy_async(arguments...);
  }
  template <int Newer, class Group>
  static __device__ void wait_for_group(const Group& group) {
    inflight::wait_prior<Newer>(group);
  }
  template <class... Arguments>
  static __device__ void copy_by_group(Arguments&&... arguments) {
    inflight::memcpy_async(arguments...);
  }
};

struct nvidia {
  static constexpr const char* name = "cuda::pipeline";
  template <int Stages>
  using state = cuda::pipeline_shared_state<cuda::thread_scope_block, Stages>;
  using role = cuda::pipeline_role;
  template <std::size_t N>
  using aligned = cuda::aligned_size_t<N>;
  static __device__ auto block() { return cooperative_groups::this_thread_block(); }
  template <class Group, class... Rest>
  static __device__ auto make(const Group& group, Rest... rest) {
    return cuda::make_pipeline(group, rest...);
  }
  template <int Stages>
  static __device__ auto make_own() {
    return cuda::make_pipeline();
  }
  template <class... Arguments>
  static __device__ void copy(Arguments&&... arguments) {
    cuda::memcpy_async(arguments...);
  }
  template <int Newer, class Group>
  static __device__ void wait_for_group(const Group& group) {
    cooperative_groups::wait_prior<Newer>(group);
  }
  template <class... Arguments>
  static __device__ void copy_by_group(Arguments&&... arguments) {
    cooperative_groups::memcpy_async(arguments...);
  }
};

template <int Tile>
__device__ std::size_t start(int batch) {
  return (std::size_t(batch) * gridDim.x + blockIdx.x) * Tile;
}

template <int Threads, int Tile>
__device__ void compute(int* out, const int* tile, int rank) {
#pragma unroll
  for (int i = 0; i < Tile / Threads; ++i)
    out[i * Threads + rank] = tile[i * Threads + rank] * 3 + 1;
}

template <class Api, int Threads, int PerThread, int Stages>
__global__ void __launch_bounds__(Threads) single_stage(int* out, const int* in, int batches) {
  constexpr int tile = Threads * PerThread;
  static_assert(Stages == 1, "this shape has one stage");
  alignas(16) __shared__ int shared[tile];
  __shared__ typename Api::template state<1> state;
  auto block = Api::block();
  auto pipe = Api::make(block, &state);
  for (int batch = 0; batch < batches; ++batch) {
    pipe.producer_acquire();
    Api::copy(block, shared, in + start<tile>(batch),
              typename Api::template aligned < 4 * PerThread % 16 ? 4 : 16 > (sizeof shared), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    compute<Threads, tile>(out + start<tile>(batch), shared, threadIdx.x);
    pipe.consumer_release();
  }
}

template <class Api, int Threads, int PerThread, int Stages>
__global__ void __launch_bounds__(Threads) staging(int* out, const int* in, int batches) {
  constexpr int tile = Threads * PerThread;
  static_assert(Stages == 2, "this shape has two stages");
  alignas(16) __shared__ int shared[2][tile];
  __shared__ typename Api::template state<2> state;
  auto block = Api::block();
  auto pipe = Api::make(block, &state);
  auto produce = [&](int batch) {
    pipe.producer_acquire();
    Api::copy(block, shared[batch % 2], in + start<tile>(batch),
              typename Api::template aligned < 4 * PerThread % 16 ? 4 : 16 > (sizeof shared[0]),
              pipe);
    pipe.producer_commit();
  };
  auto consume = [&](int batch) {
    pipe.consumer_wait();
    compute<Threads, tile>(out + start<tile>(batch), shared[batch % 2], threadIdx.x);
    pipe.consumer_release();
  };
  produce(0);
  for (int batch = 1; batch < batches; ++batch) {
    produce(batch);
    consume(batch - 1);
  }
  consume(batches - 1);
}

template <class Api, int Threads, int PerThread, int Stages>
__global__ void __launch_bounds__(Threads) unified(int* out, const int* in, int batches) {
  constexpr int tile = Threads * PerThread;
  alignas(16) __shared__ int shared[Stages][tile];
  __shared__ typename Api::template state<Stages> state;
  auto block = Api::block();
  auto pipe = Api::make(block, &state);
  for (int done = 0, fetched = 0; done < batches; ++done) {
    for (; fetched < batches && fetched < done + Stages; ++fetched) {
      pipe.producer_acquire();
      Api::copy(block, shared[fetched % Stages], in + start<tile>(fetched),
                typename Api::template aligned < 4 * PerThread % 16 ? 4 : 16 > (sizeof shared[0]),
                pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    compute<Threads, tile>(out + start<tile>(done), shared[done % Stages], threadIdx.x);
    pipe.consumer_release();
  }
}

// Threads of even rank produce and those of odd rank consume, half of the block each.
template <class Api, int Threads, int PerThread, int Stages>
__global__ void __launch_bounds__(Threads) specialised(int* out, const int* in, int batches) {
  constexpr int tile = Threads * PerThread, half = Threads / 2;
  constexpr int piece = PerThread % 2 ? 1 : 4;
  alignas(16) __shared__ int shared[Stages][tile];
  __shared__ typename Api::template state<Stages> state;
  auto block = Api::block();
  const bool producer = threadIdx.x % 2 == 0;
  const int rank = threadIdx.x / 2;
  auto pipe = Api::make(block, &state, producer ? Api::role::producer : Api::role::consumer);
  if (producer) {
    for (int batch = 0; batch < batches; ++batch) {
      pipe.producer_acquire();
#pragma unroll
      for (int i = 0; i < tile / half / piece; ++i) {
        const int at = (i * half + rank) * piece;
        Api::copy(&shared[batch % Stages][at], in + start<tile>(batch) + at,
                  typename Api::template aligned<4 * piece>(4 * piece), pipe);
      }
      pipe.producer_commit();
    }
  } else {
    for (int batch = 0; batch < batches; ++batch) {
      pipe.consumer_wait();
      compute<half, tile>(out + start<tile>(batch), shared[batch % Stages], rank);
      pipe.consumer_release();
    }
  }
}

// A pipeline per thread, and a block barrier before threads read others' elements.
template <class Api, int Threads, int PerThread, int Stages>
__global__ void __launch_bounds__(Threads) thread_scope(int* out, const int* in, int batches) {
  constexpr int tile = Threads * PerThread, piece = PerThread % 4 ? 1 : 4;
  alignas(16) __shared__ int shared[Stages][tile];
  auto pipe = Api::template make_own<Stages>();
  for (int done = 0, fetched = 0; done < batches; ++done) {
    for (; fetched < batches && fetched < done + Stages; ++fetched) {
      pipe.producer_acquire();
#pragma unroll
      for (int i = 0; i < PerThread / piece; ++i) {
        const int at = (i * Threads + threadIdx.x) * piece;
        Api::copy(&shared[fetched % Stages][at], in + start<tile>(fetched) + at,
                  typename Api::template aligned<4 * piece>(4 * piece), pipe);
      }
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    compute<Threads, tile>(out + start<tile>(done), shared[done % Stages], threadIdx.x);
    __syncthreads();
    pipe.consumer_release();
  }
}

// Only memcpy_async of a group, one stage ahead.
template <class Api, int Threads, int PerThread, int Stages>
__global__ void __launch_bounds__(Threads) group_copies(int* out, const int* in, int batches) {
  constexpr int tile = Threads * PerThread;
  static_assert(Stages == 2, "this shape has two stages");
  alignas(16) __shared__ int shared[2][tile];
  auto block = Api::block();
  auto fetch = [&](int batch) {
    Api::copy_by_group(
        block, shared[batch % 2], in + start<tile>(batch),
        typename Api::template aligned < 4 * PerThread % 16 ? 4 : 16 > (sizeof shared[0]));
  };
  fetch(0);
  for (int batch = 0; batch < batches; ++batch) {
    if (batch + 1 < batches) {
      fetch(batch + 1);
      Api::template wait_for_group<1>(block);
    } else {
      Api::template wait_for_group<0>(block);
    }
    compute<Threads, tile>(out + start<tile>(batch), shared[batch % 2], threadIdx.x);
    block.sync();
  }
}

}  // namespace shapes
