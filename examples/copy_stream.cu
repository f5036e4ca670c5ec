// arch: sm_80
// A stream through shared memory with raw cp.async: three stages in flight, 16 bytes for each
// thread and stage, over 64 MiB. Checks out[i] = in[i] * 3 + 1 on the host.
#include <cstdint>

#include "examples/example.cuh"

namespace {

constexpr int threads = 256, stages = 3, tiles_per_block = 32;

__device__ void copy_16(void* to_shared, const void* from_global) {
  unsigned to = unsigned(__cvta_generic_to_shared(to_shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from_global) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `in_flight` of this thread's groups are not yet complete.
template <int in_flight>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(in_flight) : "memory");
}

__device__ uint4 compute(uint4 v) { return {v.x * 3 + 1, v.y * 3 + 1, v.z * 3 + 1, v.w * 3 + 1}; }

// Every thread reads only what it copied itself, so its own wait suffices, without a barrier.
__global__ void stream(uint4* out, const uint4* in) {
  __shared__ uint4 buffer[stages][threads];
  const std::size_t first = std::size_t(blockIdx.x) * tiles_per_block * threads + threadIdx.x;
  auto fetch = [&](int tile) {
    if (tile < tiles_per_block)
      copy_16(&buffer[tile % stages][threadIdx.x], in + first + std::size_t(tile) * threads);
    commit();  // commits empty groups too, so that the number of groups is right
  };
  for (int tile = 0; tile < stages - 1; ++tile) fetch(tile);
  for (int tile = 0; tile < tiles_per_block; ++tile) {
    fetch(tile + stages - 1);
    wait<stages - 1>();
    out[first + std::size_t(tile) * threads] = compute(buffer[tile % stages][threadIdx.x]);
  }
}

}  // namespace

int main() {
  constexpr std::size_t bytes = 64 << 20, words = bytes / 4, vectors = bytes / 16;
  std::vector<std::uint32_t> in(words);
  for (std::size_t i = 0; i < words; ++i) in[i] = std::uint32_t(i * 2654435761u);
  std::uint32_t* source = device_copy(in);
  std::uint32_t* target;
  CHECK(cudaMalloc(&target, bytes));

  constexpr int blocks = vectors / (threads * tiles_per_block);
  double seconds = seconds_of([&] {
    stream<<<blocks, threads>>>(reinterpret_cast<uint4*>(target),
                                reinterpret_cast<const uint4*>(source));
  });

  std::vector<std::uint32_t> out = host_copy(target, words);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < words; ++i) wrong += out[i] != in[i] * 3 + 1;
  bool right = report("cp.async, 3 stages of 16 bytes a thread", 2.0 * bytes, seconds, wrong == 0);
  if (wrong) std::printf("  %zu of %zu words are wrong\n", wrong, words);
  return right ? 0 : 1;
}
