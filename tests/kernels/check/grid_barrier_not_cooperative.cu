// A barrier of the whole grid in a launch that does not promise that its blocks run together.
#include <cooperative_groups.h>

#include <utility>

#include "tests/kernels/check/check_test.cuh"

namespace cg = cooperative_groups;

__global__ void meet(int* out) {
  out[blockIdx.x] = blockIdx.x;
  // [sync]
  cg::this_grid().sync();
  if (threadIdx.x == 0) out[gridDim.x + blockIdx.x] = out[gridDim.x - 1 - blockIdx.x];
}

__global__ void meet_in_halves(int* out) {
  const cg::grid_group grid = cg::this_grid();
  // [arrive]
  auto token = grid.barrier_arrive();
  grid.barrier_wait(std::move(token));
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Asks whether it may.
__global__ void meet_if_valid(int* out, bool cooperative) {
  if (cooperative) cg::this_grid().sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = cg::this_grid().thread_rank();
}

template <class... Arguments>
void launch_attribute(void (*kernel)(Arguments...), bool cooperative, unsigned blocks,
                      Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = cooperative;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

void launch(void (*kernel)(int*), bool cooperative, unsigned blocks) {
  const Buffer<int> buffer(2048);
  int* out = buffer;
  void* arguments[] = {&out};
  if (cooperative)
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), blocks, 32, arguments);
  else kernel<<<blocks, 32>>>(out);
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"mistake", [] { launch(meet, false, 4); }},
       {"twin", [] { launch(meet, true, 4); }},
       {"halves", [] { launch(meet_in_halves, false, 4); }},
       {"halves_twin", [] { launch(meet_in_halves, true, 4); }},
       {"attribute", [] { launch_attribute<int*>(meet, false, 4, Buffer<int>(64)); }},
       {"attribute_twin", [] { launch_attribute<int*>(meet, true, 4, Buffer<int>(64)); }},
       {"one_block_twin", [] { launch(meet, false, 1); }},
       {"not_used_twin", [] { meet_if_valid<<<4, 32>>>(Buffer<int>(128), false); }}});
}
