// Shared memory of another block of the cluster: read before it is written, or when that block may
// have exited.
#include <cooperative_groups.h>

#include "tests/kernels/check/check_test.cuh"

namespace cg = cooperative_groups;
enum class Missing { none, before, after };

template <Missing missing>
__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int mine[32];
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x;
  mine[t] = t;  // [write]
  if (missing != Missing::before) cluster.sync();
  const int* other = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  out[blockIdx.x * 32 + t] = other[t];  // [read]
  if (missing != Missing::after) cluster.sync();
}

template <Missing missing>
void run() {
  Buffer<int> out(64);
  exchange<missing><<<2, 32>>>(out);
  out.read();
}

__global__ void __cluster_dims__(2, 1, 1) read_rank(int* out, unsigned rank) {
  __shared__ int mine[32];
  const auto cluster = cg::this_cluster();
  mine[threadIdx.x] = threadIdx.x;
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(mine, rank)[threadIdx.x];  // [rank]
  cluster.sync();
}
void run_rank(unsigned rank) {
  Buffer<int> out(64);
  read_rank<<<2, 32>>>(out, rank);
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"before", run<Missing::before>},
                   {"after", run<Missing::after>},
                   {"twin", run<Missing::none>},
                   {"rank_of_none", [] { run_rank(2); }},
                   {"rank_of_one", [] { run_rank(1); }}});
}
