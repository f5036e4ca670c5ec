// error: does not convert to the kernel
#include <inflight/groups.cuh>
#include <inflight/launch.cuh>

namespace cg = inflight;

__global__ void kernel(int*, int) {}
int main() {
  double* values = nullptr;
  cg::launch_cooperative(kernel, 1, 1, 0, nullptr, values, 3);
}
