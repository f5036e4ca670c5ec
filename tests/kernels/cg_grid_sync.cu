// A cooperative launch: all blocks pass each grid-wide barrier together.
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void rotate(int* a, int* b, int rounds, int* facts) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank(), n = grid.size();
  for (int r = 0; r < rounds; ++r) {
    b[i] = a[(i + 1) % n] + r;
    grid.sync();
    int* t = a;
    a = b;
    b = t;
  }
  if (i == 0) {
    facts[0] = grid.is_valid();
    facts[1] = grid.num_blocks();
    facts[2] = grid.num_threads();
    facts[3] = grid.dim_blocks().x;
  }
}

__global__ void not_cooperative(int* valid) { *valid = cg::this_grid().is_valid(); }

int main() {
  const int blocks = 24, threads = 96, n = blocks * threads, rounds = 7;
  std::vector<int> start(n);
  for (int i = 0; i < n; ++i) start[i] = i * i % 1009;
  Buffer<int> a(start), b(n), facts(4), valid(1);
  int *pa = a, *pb = b, *pf = facts, count = rounds;
  void* arguments[] = {&pa, &pb, &count, &pf};
  SAY(cudaLaunchCooperativeKernel((void*)rotate, dim3(blocks), dim3(threads), arguments, 0, 0));
  std::vector<int> right = start;
  for (int r = 0; r < rounds; ++r) {
    std::vector<int> next(n);
    for (int i = 0; i < n; ++i) next[i] = right[(i + 1) % n] + r;
    right = next;
  }
  std::printf("%s\n", b.read() == right ? "right" : "wrong");
  print("facts", facts.read());
  SAY(cudaLaunchCooperativeKernel((void*)rotate, dim3(1 << 20), dim3(1024), arguments, 0, 0));
  SAY(cudaGetLastError());
  not_cooperative<<<1, 1>>>(valid);
  print("valid without a cooperative launch", valid.read());
}
