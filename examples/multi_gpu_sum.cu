// options: --devices 2
// A sum over all GPUs of the host in one launch on each. Every GPU sums its part, all wait at a
// barrier through peer memory, and then each reads the others' sums, so all have the total.
//   multi_gpu_sum [GPUS] [MiB each]
#include <inflight/groups.cuh>
#include <inflight/multi_grid.cuh>

#include "examples/example.cuh"

namespace {

constexpr int threads = 256;
using sum_type = unsigned long long;

struct sums_of_all {
  sum_type* of[8];  // each GPU's sum, in its own memory
};

__device__ sum_type warp_sum(sum_type value) {
  auto warp = inflight::tiled_partition<32>(inflight::this_thread_block());
  for (unsigned lanes = 16; lanes > 0; lanes /= 2) value += warp.shfl_xor(value, lanes);
  return value;
}

__global__ void sum(inflight::multi_grid_handle handle, const unsigned* mine, std::size_t count,
                    const __grid_constant__ sums_of_all sums, sum_type* total) {
  auto all = inflight::this_multi_grid(handle);
  auto grid = inflight::this_grid();
  sum_type value = 0;
  for (std::size_t i = grid.thread_rank(); i < count; i += grid.num_threads()) value += mine[i];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) atomicAdd(sums.of[all.grid_rank()], value);

  all.sync();  // every GPU's sum is complete, and can be read from here

  if (grid.thread_rank() >= 32) return;
  value = threadIdx.x < all.num_grids() ? *sums.of[threadIdx.x] : 0;
  value = warp_sum(value);
  if (threadIdx.x == 0) *total = value;
}

}  // namespace

int main(int argc, char** argv) {
  const int gpus = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::size_t count = (argc > 2 ? std::atoi(argv[2]) : 4) * std::size_t(1 << 18);

  inflight::multi_grid_state state;
  CHECK(state.init_first(gpus));
  const std::size_t grids = state.devices().size();

  sum_type right = 0;
  sums_of_all sums{};
  std::vector<unsigned*> parts(grids);
  std::vector<sum_type*> totals(grids);
  std::vector<unsigned> values(count);
  for (std::size_t rank = 0; rank < grids; ++rank) {
    CHECK(cudaSetDevice(state.devices()[rank]));
    for (std::size_t i = 0; i < count; ++i)
      right += values[i] = unsigned((rank * count + i) * 2654435761u >> 7);
    parts[rank] = device_copy(values);
    sums.of[rank] = device_copy(std::vector<sum_type>(1));
    totals[rank] = device_copy(std::vector<sum_type>(1));
  }
  CHECK(cudaSetDevice(state.devices()[0]));

  const double seconds = seconds_of([&] {
    CHECK(inflight::launch_multi_grid(state, sum, inflight::whole_device, threads, 0, nullptr,
                                      inflight::multi_grid_handle{}, inflight::per_grid(parts),
                                      count, sums, inflight::per_grid(totals)));
    for (int device : state.devices()) {
      CHECK(cudaSetDevice(device));
      CHECK(cudaDeviceSynchronize());
    }
  });

  bool good = true;
  for (const sum_type* total : totals) good &= host_copy(total, 1)[0] == right;
  char what[64];
  std::snprintf(what, sizeof what, "sum over %zu GPU%s, known to each", grids,
                grids == 1 ? "" : "s");
  good = report(what, double(grids * count) * sizeof(unsigned), seconds, good);
  return good ? 0 : 1;
}
