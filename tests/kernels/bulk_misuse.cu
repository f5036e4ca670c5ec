// Bulk copies that break a rule: the error of each, each in its own process.
// stderr: misaligned address in kernel misuse.*the source of a bulk copy
// stderr: misaligned address in kernel misuse.*the destination of a bulk copy
// stderr: misaligned address in kernel misuse.*the mbarrier of a bulk copy
// stderr: illegal memory access in kernel misuse.*read from global memory
// stderr: launch failure in kernel misuse.*block rank 5, but the cluster has only 2 blocks
// stderr: illegal instruction in kernel misuse.*use .shared::cluster
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kernels/kernel_test.cuh"

#include "tests/kernels/part/bulk.cuh"

__global__ void __cluster_dims__(2, 1, 1) misuse(int form, char* global, int* counted) {
  __shared__ alignas(128) char tile[256];
  __shared__ alignas(8) uint64_t bars[2];
  const uint32_t at = shared_address(tile), bar = shared_address(bars);
  if (blockIdx.x != 0) return;
  init(bar, 1);
  switch (form) {
    case 0: expect(bar, 64), load(at, global, 64, bar), wait(bar, 0); break;
    case 1: load(at, global + 4, 64, bar); break;
    case 2: load(at + 8, global, 64, bar); break;
    case 3: load(at, global, 64, bar + 4); break;
    case 4: load(at, global + (1ull << 34), 64, bar); break;
    case 5: load(at + 0x05000000, global, 64, bar); break;
    case 6: load_multicast(at, global, 64, bar, 0x21); break;
    case 7: store(global + 8, at, 64), commit(), wait_group<0>(); break;
    case 8: store(global, at + 0x01000000, 64), commit(), wait_group<0>(); break;
    case 9: load_multicast(at, global, 64, bar, 0); break;
    // Sizes must be a multiple of 16 bytes.
    case 10: expect(bar, 48), load(at, global, 56, bar), wait(bar, 0); break;
    case 11: expect(bar, 0), load(at, global, 0, bar), wait(bar, 0); break;
  }
  *counted = form;
}

int main() {
  for (int form = 0; form < 12; ++form) {
    std::fflush(stdout);
    if (const pid_t child = fork()) {
      waitpid(child, nullptr, 0);
      continue;
    }
    char* global;
    int* counted;
    CHECK(cudaMalloc(&global, 4096));
    CHECK(cudaMalloc(&counted, 4));
    misuse<<<2, 1>>>(form, global, counted);
    std::printf("form %d: %s\n", form, cudaGetErrorName(cudaDeviceSynchronize()));
    std::fflush(stdout);
    _exit(0);
  }
}
