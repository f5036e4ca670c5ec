// A lane's member mask lacks the lane itself: each collective's error, each in its own process.
// stderr: illegal instruction in kernel leave_out.*mask 0xffffffdf, which does not include the
// thread itself
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kernels/kernel_test.cuh"

__global__ void leave_out(int form, unsigned* out, unsigned dropped) {
  const unsigned lane = threadIdx.x, mask = lane == 5 ? ~(1u << dropped) : ~0u;
  unsigned r = 0;
  int same = 0;
  switch (form) {
    case 0: r = __ballot_sync(mask, lane % 3 == 0); break;
    case 1: r = __any_sync(mask, lane == 3); break;
    case 2: r = __shfl_sync(mask, lane * 2, 3); break;
    case 3: r = __shfl_down_sync(mask, lane, 1); break;
    case 4: r = __match_any_sync(mask, lane / 4); break;
    case 5: r = __match_all_sync(mask, 7, &same); break;
    case 6: r = __reduce_add_sync(mask, lane); break;
    case 7: __syncwarp(mask); break;
  }
  out[lane] = r;
}

int main() {
  for (int form = 0; form < 8; ++form) {
    std::fflush(stdout);
    if (const pid_t child = fork()) {
      waitpid(child, nullptr, 0);
      continue;
    }
    unsigned* out;
    CHECK(cudaMalloc(&out, 128));
    leave_out<<<1, 32>>>(form, out, 5);
    std::printf("form %d: %s\n", form, cudaGetErrorName(cudaDeviceSynchronize()));
    std::fflush(stdout);
    _exit(0);
  }
}
