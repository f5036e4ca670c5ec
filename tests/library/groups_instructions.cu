// The instruction layer of groups: warps, named barriers, and memory accesses with order and scope.
#include <inflight/ptx/block_barrier.cuh>
#include <inflight/ptx/memory.cuh>
#include <inflight/ptx/warp.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace ptx = inflight::ptx;
using ptx::scope;

__global__ void warp(unsigned* wrong) {
  const unsigned lane = threadIdx.x % 32, all = 0xffffffffu;
  bool equal, differ;
  const bool holds[] = {
      ptx::lane_id() == lane,
      ptx::lanes_below() == (1u << lane) - 1,
      ptx::active_mask() != 0,
      ptx::shfl<8>(all, lane, 3) == lane / 8 * 8 + 3,
      ptx::shfl_up<8>(all, lane, 2) == (lane % 8 < 2 ? lane : lane - 2),
      ptx::shfl_down<16>(all, lane, 1) == (lane % 16 == 15 ? lane : lane + 1),
      ptx::shfl_xor(all, lane, 21) == (lane ^ 21),
      ptx::vote_any(all, lane == 7) && !ptx::vote_all(all, lane == 7),
      ptx::ballot(all, lane % 4 == 1) == 0x22222222u,
      ptx::match_any(all, lane % 2) == (lane % 2 ? 0xaaaaaaaau : 0x55555555u),
      ptx::match_any(all, std::uint64_t(lane / 16) << 40) == 0xffffu << lane / 16 * 16,
      ptx::match_all(all, 5u, equal) == all && equal,
      ptx::match_all(all, std::uint64_t(lane), differ) == 0 && !differ,
  };
  ptx::warp_sync(all);
  for (int i = 0; i < int(sizeof holds); ++i)
    if (!holds[i]) atomicAdd(&wrong[i], 1);
#if __CUDA_ARCH__ >= 900
  if (ptx::elect(all)) atomicAdd(&wrong[13], 1);
#else
  if (lane == 0) atomicAdd(&wrong[13], 1);
#endif
}

// Two warps produce and two consume, using two of the block's barriers.
__global__ void barriers(int* out) {
  __shared__ int values[64];
  const unsigned t = threadIdx.x;
  for (int round = 0; round < 4; ++round) {
    if (t < 64) {
      if (round > 0) ptx::bar_sync(2, 128);
      values[t] = round * 100 + int(t);
      if (round % 2)
        ptx::bar_arrive(1, 128);
      else
        ptx::barrier_arrive(1, 128);
    } else {
      if (round % 2)
        ptx::bar_sync(1, 128);
      else
        ptx::barrier_sync(1, 128);
      out[t - 64] += values[127 - t];
      if (round < 3) ptx::bar_arrive(2, 128);
    }
  }
  ptx::bar_sync(0);
  const int many = ptx::bar_red_popc(t % 3 == 0);
  const bool any = ptx::bar_red_or(t == 100), all = ptx::bar_red_and(t != 100);
  if (t == 0) out[64] = many * 100 + any * 10 + all;
}

// A message from block to block, with each order and width.
template <scope Scope, class T>
__device__ void message(T* flag, int* data, int* out, int value) {
  if (blockIdx.x == 0) {
    data[0] = value;
    if (value % 3 == 0) ptx::st_release<Scope>(flag, T(1));
    if (value % 3 == 1) ptx::red_add_release<Scope>(flag, T(1));
    if (value % 3 == 2) ptx::atom_add_release<Scope>(flag, T(1));
  } else {
    while (ptx::ld_relaxed<Scope>(flag) == 0) {
    }
    if (value % 2)
      ptx::ld_acquire<Scope>(flag);
    else
      ptx::fence_acq_rel<Scope>();
    *out = data[0];
  }
}
template <class T>
__device__ void messages(T* flags, int* data, int* out) {
  for (int i = 0; i < 3; ++i) {
    message<scope::gpu>(flags + i, data + i, out + i, 10 + i);
    message<scope::sys>(flags + 3 + i, data + 3 + i, out + 3 + i, 20 + i);
  }
}
__global__ void between_blocks(std::uint32_t* narrow, std::uint64_t* wide, int* data, int* out) {
  messages(narrow, data, out);
  messages(wide, data + 6, out + 6);
}

// Each atomic addition once a thread: checks the sums, and that all old values differ.
template <class T>
__global__ void additions(T* sum, unsigned* seen) {
  ptx::red_add_relaxed<scope::gpu>(sum, T(1));
  const T a = ptx::atom_add_relaxed<scope::gpu>(sum + 1, T(1));
  const T b = ptx::atom_add_acquire<scope::sys>(sum + 2, T(1));
  const T c = ptx::atom_add_acq_rel<scope::gpu>(sum + 3, T(1));
  atomicAdd(seen + a, 1), atomicAdd(seen + b, 1), atomicAdd(seen + c, 1);
  __shared__ T own;
  if (threadIdx.x == 0) ptx::st_relaxed<scope::cta>(&own, T(1) << (sizeof(T) * 4));
  __syncthreads();
  ptx::red_add_release<scope::cta>(&own, T(2));
  __syncthreads();
  if (threadIdx.x == 5)
    ptx::red_add_relaxed<scope::gpu>(sum + 4, ptx::ld_acquire<scope::cta>(&own));
}

template <class T>
void add(const char* name) {
  Buffer<T> sum(5);
  Buffer<unsigned> seen(256);
  additions<<<4, 64>>>(sum.device, seen.device);
  bool right = true;
  for (unsigned each : seen.read()) right &= each == 3;
  for (int i = 0; i < 4; ++i) right &= sum.read()[i] == 256;
  right &= sum.host[4] == 4 * ((T(1) << (sizeof(T) * 4)) + 128);
  std::printf("additions of %s: %s\n", name, right ? "right" : "WRONG");
}

int main() {
  Buffer<unsigned> wrong(14);
  warp<<<2, 64>>>(wrong);
  print("lanes for which an instruction was wrong, and elected ones", wrong.read());
  Buffer<int> out(65);
  barriers<<<1, 128>>>(out);
  bool right = out.read()[64] == 4310;
  for (int t = 0; t < 64; ++t) right &= out.host[t] == 600 + 4 * (63 - t);
  std::printf("named barriers: %s\n", right ? "right" : "WRONG");
  Buffer<std::uint32_t> narrow(6);
  Buffer<std::uint64_t> wide(6);
  Buffer<int> data(12), got(12);
  between_blocks<<<2, 1>>>(narrow, wide, data, got);
  print("messages", got.read());
  add<std::uint32_t>("32 bits");
  add<std::uint64_t>("64 bits");
}
