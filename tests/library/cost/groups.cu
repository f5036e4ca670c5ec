// Groups against intrinsics and raw PTX.
#include <inflight/groups.cuh>

namespace cg = inflight;

// A sum over a warp, by xor shuffles.
extern "C" __global__ void library_warp_sum(float* out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  float value = out[threadIdx.x];
  for (unsigned lanes = 16; lanes > 0; lanes /= 2) value += warp.shfl_xor(value, lanes);
  out[threadIdx.x] = value;
}
extern "C" __global__ void hand_warp_sum(float* out) {
  float value = out[threadIdx.x];
  for (unsigned lanes = 16; lanes > 0; lanes /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, lanes);
  out[threadIdx.x] = value;
}

// Part of a warp: sixteen doubles shifted down by one, then a barrier.
extern "C" __global__ void library_tile_shift(double* out) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  double value = tile.shfl_down(out[threadIdx.x], 1);
  tile.sync();
  if (tile.thread_rank() == 0) out[threadIdx.x] = value;
}
extern "C" __global__ void hand_tile_shift(double* out) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  unsigned mask = 0xffffu << (lane & 16);
  double value = __shfl_down_sync(mask, out[threadIdx.x], 1, 16);
  __syncwarp(mask);
  if ((lane & 15) == 0) out[threadIdx.x] = value;
}

// Votes.
extern "C" __global__ void library_votes(int* out) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int value = out[threadIdx.x];
  out[threadIdx.x] = int(tile.ballot(value > 3)) + tile.any(value) + int(tile.match_any(value));
}
extern "C" __global__ void hand_votes(int* out) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  int value = out[threadIdx.x];
  unsigned first = lane & 24, mask = 0xffu << first;
  out[threadIdx.x] = int(__ballot_sync(mask, value > 3) >> first) + __any_sync(mask, value) +
                     int(__match_any_sync(mask, value) >> first);
}

// Aggregated atomics.
extern "C" __global__ void library_append(int* count, int* out) {
  if (out[threadIdx.x] < 0) return;
  auto together = cg::coalesced_threads();
  int at = 0;
  if (together.thread_rank() == 0) at = atomicAdd(count, int(together.num_threads()));
  out[threadIdx.x] = together.shfl(at, 0) + int(together.thread_rank());
}
extern "C" __global__ void hand_append(int* count, int* out) {
  if (out[threadIdx.x] < 0) return;
  unsigned mask = __activemask(), below;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  int rank = __popc(mask & below), at = 0;
  if (rank == 0) at = atomicAdd(count, __popc(mask));
  out[threadIdx.x] = __shfl_sync(mask, at, __ffs(mask) - 1) + rank;
}

// The grid's barrier.
extern "C" __global__ void library_grid_sync(int* out) {
  auto grid = cg::this_grid();
  out[blockIdx.x] = int(threadIdx.x);
  grid.sync();
  out[blockIdx.x] += out[(blockIdx.x + 1) % gridDim.x];
}
extern "C" __global__ void hand_grid_sync(int* out) {
  out[blockIdx.x] = int(threadIdx.x);
  unsigned high, low;
  asm("mov.b32 %0, %%envreg1;" : "=r"(high));
  asm("mov.b32 %0, %%envreg2;" : "=r"(low));
  unsigned long long word = (static_cast<unsigned long long>(high) << 32 | low) + 4;
  __syncthreads();
  if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
    unsigned blocks = gridDim.x * gridDim.y * gridDim.z, before, now;
    unsigned add = (blockIdx.x | blockIdx.y | blockIdx.z) == 0 ? 0x80000001u - blocks : 1u;
    asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(word), "r"(add)
                 : "memory");
    if (int(before ^ (before + add)) >= 0) do
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
      while (int(now ^ before) >= 0);
  }
  __syncthreads();
  out[blockIdx.x] += out[(blockIdx.x + 1) % gridDim.x];
}
