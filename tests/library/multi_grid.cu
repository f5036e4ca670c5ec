// software-only
// options: --devices 3
// Barriers of the grids of three GPUs, with and without a handle.
#include <inflight/groups.cuh>
#include <inflight/multi_grid.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

// In each round every block reads what a block of the next GPU wrote before the barrier.
__device__ void rounds(const cg::multi_grid_group& all, int* mine, const int* next, int count,
                       unsigned* wrong) {
  const unsigned blocks = gridDim.x, other = (blockIdx.x + 1) % blocks;
  for (int round = 0; round < count; ++round) {
    const int offset = round % 2 * int(blocks);
    if (threadIdx.x == blockDim.x - 1)
      mine[offset + blockIdx.x] = round * 1000 + int(all.grid_rank() * blocks + blockIdx.x);
    cg::sync(all);
    const unsigned next_rank = (all.grid_rank() + 1) % all.num_grids();
    if (threadIdx.x == 0 && next[offset + other] != round * 1000 + int(next_rank * blocks + other))
      atomicAdd(wrong, 1);
  }
}

__global__ void with_handle(cg::multi_grid_handle handle, int* mine, int* next, int count,
                            unsigned* wrong, unsigned long long* sums) {
  auto all = cg::this_multi_grid(handle);
  rounds(all, mine, next, count, wrong);
  // Adds every thread's rank once, so the sum shows whether all ranks are right.
  atomicAdd(sums + all.grid_rank(), all.thread_rank());
  all.sync();
  if (blockIdx.x == 0 && threadIdx.x == 0)
    sums[3 + all.grid_rank()] = all.size() * 10 + all.is_valid();
}

__global__ void without_handle(int* mine, int* next, int count, unsigned* wrong) {
  auto all = cg::this_multi_grid();
  rounds(all, mine, next, count, wrong);
}

__global__ void alone(unsigned* valid) { *valid = cg::this_multi_grid().is_valid(); }

template <class T>
std::vector<T*> on_each(unsigned count, std::size_t elements) {
  std::vector<T*> pointers(count);
  for (unsigned d = 0; d < count; ++d) {
    CHECK(cudaSetDevice(int(d)));
    CHECK(cudaMalloc(&pointers[d], elements * sizeof(T)));
    CHECK(cudaMemset(pointers[d], 0, elements * sizeof(T)));
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaSetDevice(0));
  return pointers;
}

int main() {
  Buffer<unsigned> valid(1);
  alone<<<1, 1>>>(valid);
  std::printf("valid in a plain launch: %u\n", valid.read()[0]);

  for (unsigned count : {1u, 2u, 3u}) {
    cg::multi_grid_state state;
    CHECK(state.init_first(int(count)));
    auto mine = on_each<int>(count, 64);
    auto wrong = on_each<unsigned>(count, 1);
    auto sums = on_each<unsigned long long>(count, 6);
    std::vector<int*> next(mine);
    for (unsigned d = 0; d < count; ++d) next[d] = mine[(d + 1) % count];
    auto finish = [&] {
      for (unsigned d = 0; d < count; ++d) {
        CHECK(cudaSetDevice(int(d)));
        CHECK(cudaDeviceSynchronize());
      }
      CHECK(cudaSetDevice(0));
    };
    CHECK(cg::launch_multi_grid(state, with_handle, 5, 33, 0, nullptr, cg::multi_grid_handle{},
                                cg::per_grid(mine), cg::per_grid(next), 7, cg::per_grid(wrong),
                                cg::per_grid(sums)));
    CHECK(cg::launch_multi_grid(state, with_handle, 32, 2, 0, nullptr, cg::multi_grid_handle{},
                                cg::per_grid(mine), cg::per_grid(next), 4, cg::per_grid(wrong),
                                cg::per_grid(sums)));
    finish();
    std::vector<cudaStream_t> streams(count);
    for (unsigned d = 0; d < count; ++d) {
      CHECK(cudaSetDevice(int(d)));
      CHECK(cudaStreamCreate(&streams[d]));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cg::launch_multi_grid(state, without_handle, 6, 64, 0, streams.data(), cg::per_grid(mine),
                                cg::per_grid(next), 5, cg::per_grid(wrong)));
    finish();
    unsigned total = 0;
    bool right = true;
    for (unsigned d = 0; d < count; ++d) {
      unsigned w;
      unsigned long long s[6];
      CHECK(cudaMemcpy(&w, wrong[d], sizeof w, cudaMemcpyDefault));
      CHECK(cudaMemcpy(s, sums[d], sizeof s, cudaMemcpyDefault));
      total += w;
      auto of = [&](unsigned long long n) { return n * (2 * n * d + n - 1) / 2; };
      right &= s[d] == of(165) + of(64) && s[3 + d] == 64 * count * 10 + 1;
    }
    std::printf("%u GPUs: %u wrong, ranks %s\n", count, total, right ? "right" : "WRONG");
  }
  cg::multi_grid_state state;
  SAY(state.init({0, 7}));
  SAY(state.init({}));
  cudaGetLastError();
  CHECK(state.init({2, 0}));
  unsigned blocks = 0;
  CHECK(cg::full_grid(&blocks, without_handle, 64));
  SAY(cg::launch_multi_grid(state, without_handle, blocks + 1, 64, 0, nullptr, nullptr, nullptr, 0,
                            nullptr));
  SAY(cg::launch_multi_grid(state, without_handle, cg::whole_device, 1024, 0, nullptr, nullptr,
                            nullptr, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  int device = -1;
  CHECK(cudaGetDevice(&device));
  std::printf("the current device is still %d\n", device);
}
