// Compares barriers for the grids of several GPUs in one run:
//   multi_grid_barrier [GPUS] [ROUNDS]
// Prints ns per barrier, medians of 11 launches after 2 warm-ups, and the ratio to the way of
// NVIDIA's sample of multi-device synchronisation: flags in host memory between two grid barriers.
#include <cooperative_groups.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <inflight/groups.cuh>
#include <inflight/multi_grid.cuh>
#include <vector>

#include "examples/example.cuh"

namespace ptx = inflight::ptx;
constexpr auto sys = ptx::scope::sys;
using word = std::uint32_t;

// Memory for the barriers: words in host memory, and on each GPU.
struct memory {
  word* host;
  word* of[inflight::impl::most_grids];
};

// The first GPU waits until every other has set its flag, and then clears them all.
struct host_flags {
  static __device__ void sync(const inflight::multi_grid_group& all, const memory& m, word) {
    auto grid = cooperative_groups::this_grid();
    grid.sync();
    if (grid.thread_rank() == 0) {
      if (all.grid_rank() == 0) {
        for (word peer = 1; peer < all.num_grids(); ++peer)
          while (ptx::ld_acquire<sys>(m.host + peer) == 0) {
          }
        for (word peer = 1; peer < all.num_grids(); ++peer)
          ptx::st_release<sys>(m.host + peer, word(0));
      } else {
        ptx::st_release<sys>(m.host + all.grid_rank(), word(1));
        while (ptx::ld_acquire<sys>(m.host + all.grid_rank()) != 0) {
        }
      }
    }
    grid.sync();
  }
};

// Each GPU has a flag in every other one's memory, between two grid barriers.
struct peer_flags {
  static __device__ void sync(const inflight::multi_grid_group& all, const memory& m, word round) {
    auto grid = inflight::this_grid();
    grid.sync();
    if (grid.thread_rank() < all.num_grids()) {
      ptx::st_release<sys>(m.of[threadIdx.x] + all.grid_rank(), round);
      while (int(ptx::ld_acquire<sys>(m.of[all.grid_rank()] + threadIdx.x) - round) < 0) {
      }
    }
    grid.sync();
  }
};

struct library {
  static __device__ void sync(const inflight::multi_grid_group& all, const memory&, word) {
    all.sync();
  }
};

template <class Way>
__global__ void time_rounds(inflight::multi_grid_handle handle, memory m, word first, int rounds) {
  auto all = inflight::this_multi_grid(handle);
  for (int round = 0; round < rounds; ++round) Way::sync(all, m, first + round);
}

template <class Way>
void measure(const char* name, const inflight::multi_grid_state& state, const memory& m, int blocks,
             int rounds, double& base) {
  std::vector<double> times;
  word first = 1;
  for (const word* words : m.of)
    if (words) CHECK(cudaMemset(const_cast<word*>(words), 0, 64));
  for (int i = 0; i < 13; ++i) {
    const double seconds = seconds_of([&] {
      CHECK(inflight::launch_multi_grid(state, time_rounds<Way>, blocks, 128, 0, nullptr,
                                        inflight::multi_grid_handle{}, m, first, rounds));
      for (int device : state.devices()) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaDeviceSynchronize());
      }
    });
    first += word(rounds);
    if (i >= 2) times.push_back(seconds);
  }
  std::sort(times.begin(), times.end());
  const double ns = times[times.size() / 2] * 1e9 / rounds;
  if (base == 0) base = ns;
  std::printf("%-44s %zu x %4d blocks  %8.1f ns  %5.3f\n", name, state.devices().size(), blocks, ns,
              ns / base);
}

int main(int count, char** arguments) {
  inflight::multi_grid_state state;
  CHECK(state.init_first(count > 1 ? std::atoi(arguments[1]) : 0));
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 5000;
  memory m{};
  CHECK(cudaHostAlloc(&m.host, 64, cudaHostAllocPortable | cudaHostAllocMapped));
  std::fill(m.host, m.host + 16, 0u);
  for (std::size_t rank = 0; rank < state.devices().size(); ++rank) {
    CHECK(cudaSetDevice(state.devices()[rank]));
    CHECK(cudaMalloc(&m.of[rank], 64));
  }
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  for (int blocks : {1, device.multiProcessorCount, 2 * device.multiProcessorCount}) {
    double base = 0;
    measure<host_flags>("host flags between grid.sync()", state, m, blocks, rounds, base);
    measure<peer_flags>("peer flags between grid barriers", state, m, blocks, rounds, base);
    measure<library>("this_multi_grid().sync()", state, m, blocks, rounds, base);
    std::printf("\n");
  }
}
