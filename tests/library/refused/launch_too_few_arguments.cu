// error: number of arguments differs from the kernel's number of parameters
#include <inflight/groups.cuh>
#include <inflight/launch.cuh>

namespace cg = inflight;

__global__ void kernel(int*, int) {}
int main() { cg::launch_cooperative(kernel, 1, 1, 0, nullptr, nullptr); }
