// Grids wait with the device runtime's functions, as kernels of other compilers (Numba's) do.
// flags: -rdc=true
#include "tests/kernels/kernel_test.cuh"

__global__ void rotate(int* a, int* b, int rounds, int* statuses) {
  const unsigned long long grid = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int r = 0; r < rounds; ++r) {
    b[i] = a[(i + 1) % n] + r;
    const int status = r % 2 ? cudaCGSynchronizeGrid(grid, 0) : cudaCGSynchronize(grid, 0);
    if (status) atomicAdd(statuses, 1);
    int* t = a;
    a = b;
    b = t;
  }
}

int main() {
  const int blocks = 24, threads = 96, n = blocks * threads, rounds = 7;
  std::vector<int> start(n);
  for (int i = 0; i < n; ++i) start[i] = i * i % 1009;
  Buffer<int> a(start), b(n), statuses(1);
  int *pa = a, *pb = b, *ps = statuses, count = rounds;
  void* arguments[] = {&pa, &pb, &count, &ps};
  SAY(cudaLaunchCooperativeKernel((void*)rotate, dim3(blocks), dim3(threads), arguments, 0, 0));
  std::vector<int> right = start;
  for (int r = 0; r < rounds; ++r) {
    std::vector<int> next(n);
    for (int i = 0; i < n; ++i) next[i] = right[(i + 1) % n] + r;
    right = next;
  }
  std::printf("%s\n", b.read() == right ? "right" : "wrong");
  print("calls that failed", statuses.read());
}
