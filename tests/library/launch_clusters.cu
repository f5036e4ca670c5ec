// arch: sm_90a
// Launches with clusters, without and with cooperative.
#include <inflight/groups.cuh>
#include <inflight/launch.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

__global__ void ranks(unsigned* out, bool across) {
  auto cluster = cg::this_cluster();
  auto grid = cg::this_grid();
  cluster.sync();
  if (across) grid.sync();
  if (threadIdx.x == 0) out[grid.block_rank()] = cluster.num_blocks() * 100 + cluster.block_rank();
}

int main() {
  Buffer<unsigned> out(32);
  auto show = [&](const char* name) {
    print(name, out.read());
    CHECK(cudaMemset(out, 0, 32 * 4));
  };
  CHECK(cg::launch_cluster(ranks, 4, 8, 32, 0, nullptr, out, false));
  show("clusters of 4");
  CHECK(cg::launch_cluster(ranks, dim3(2, 2), dim3(4, 2), 32, 0, nullptr, out, false));
  show("clusters of 2 x 2");
  CHECK(cg::launch_cluster(ranks, 16, 32, 64, 0, nullptr, out, false));
  show("clusters of 16");
  cg::launch_shape shape;
  shape.grid = 16, shape.block = 32, shape.cluster = 8, shape.cooperative = true;
  CHECK(cg::launch_kernel(ranks, shape, out, true));
  show("cooperative, clusters of 8");
  SAY(cg::launch_cluster(ranks, 3, 8, 32, 0, nullptr, out, false));
  SAY(cg::launch_cluster(ranks, 32, 32, 32, 0, nullptr, out, false));
}
