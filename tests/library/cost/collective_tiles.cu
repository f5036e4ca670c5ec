// reduce and inclusive_scan on tiles, against hand-written code.
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
#include <inflight/scan.cuh>

#define BOTH(NAME, T, SIZE, LIBRARY, HAND)                                      \
  extern "C" __global__ void library_##NAME(T* data) {                          \
    auto tile = inflight::tiled_partition<SIZE>(inflight::this_thread_block()); \
    const T value = data[threadIdx.x];                                          \
    data[threadIdx.x] = LIBRARY;                                                \
  }                                                                             \
  extern "C" __global__ void hand_##NAME(T* data) {                             \
    const T value = data[threadIdx.x];                                          \
    data[threadIdx.x] = HAND;                                                   \
  }

template <unsigned Step, class T>
__device__ __forceinline__ T fours(unsigned mask, T v) {
  const T second = __shfl_xor_sync(mask, v, Step), third = __shfl_xor_sync(mask, v, 2 * Step),
          fourth = __shfl_xor_sync(mask, v, 3 * Step);
  return (v + second) + (third + fourth);
}
__device__ __forceinline__ float sum_32(float v) {
  v = fours<4>(~0u, fours<1>(~0u, v));
  return v + __shfl_xor_sync(~0u, v, 16);
}
__device__ __forceinline__ unsigned lane() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ __forceinline__ float sum_8_of(unsigned mask, float v) {
  float all[8] = {v};
#pragma unroll
  for (int i = 1; i < 8; ++i) all[i] = __shfl_xor_sync(mask, v, i);
  return ((all[0] + all[1]) + (all[2] + all[3])) + ((all[4] + all[5]) + (all[6] + all[7]));
}
__device__ __forceinline__ float sum_8(float v) { return sum_8_of(0xffu << (lane() & 24), v); }
template <unsigned Step, class T>
__device__ __forceinline__ T up_fours(unsigned rank, T v) {
  const T second = __shfl_up_sync(~0u, v, Step), third = __shfl_up_sync(~0u, v, 2 * Step),
          fourth = __shfl_up_sync(~0u, v, 3 * Step);
  const T near = rank >= Step ? second + v : v, far = rank >= 3 * Step ? fourth + third : third;
  return rank >= 2 * Step ? far + near : near;
}
template <class T>
__device__ __forceinline__ T upto_32_of(unsigned rank, T v) {
  v = up_fours<4>(rank, up_fours<1>(rank, v));
  const T other = __shfl_up_sync(~0u, v, 16);
  return rank >= 16 ? other + v : v;
}
template <class T>
__device__ __forceinline__ T upto_32(T v) {
  return upto_32_of(lane() & 31, v);
}

BOTH(reduce_32_int, int, 32, inflight::reduce(tile, value, inflight::plus<int>()),
     __reduce_add_sync(~0u, value))
BOTH(reduce_32_float, float, 32, inflight::reduce(tile, value, inflight::plus<float>()),
     sum_32(value))
BOTH(reduce_8_float, float, 8, inflight::reduce(tile, value, inflight::plus<float>()), sum_8(value))
BOTH(scan_32_int, int, 32, inflight::inclusive_scan(tile, value), upto_32(value))
BOTH(scan_32_float, float, 32, inflight::inclusive_scan(tile, value), upto_32(value))
BOTH(exclusive_32_int, int, 32, inflight::exclusive_scan(tile, value), upto_32(value) - value)

// Four scans in a row, whose comparisons of the rank the compiler must not join into one branch.
template <class Scan>
__device__ __forceinline__ void each_of_four(int* data, Scan scan) {
#pragma unroll
  for (int i = 0; i < 4; ++i) data[i * 32 + threadIdx.x] = scan(data[i * 32 + threadIdx.x]);
}
extern "C" __global__ void library_four_scans(int* data) {
  auto tile = inflight::tiled_partition<32>(inflight::this_thread_block());
  each_of_four(data, [&](int value) { return inflight::inclusive_scan(tile, value); });
}
extern "C" __global__ void hand_four_scans(int* data) {
  unsigned own;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(own));
  each_of_four(data, [=](int value) {
    unsigned rank = own & 31;
    asm volatile("" : "+r"(rank));
    return upto_32_of(rank, value);
  });
}
