// Bulk copies of zero or fewer than 16 bytes at addresses that are errors for larger copies: the
// error of each, each in its own process.
// arch: sm_90a
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kernels/kernel_test.cuh"

#include "tests/kernels/part/bulk.cuh"

__device__ void add(void* to, uint32_t from, uint32_t bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(to),
      "r"(from), "r"(bytes)
      : "memory");
}
__device__ void prefetch(const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

struct Form {
  const char* what;
  int number;
};
constexpr Form forms[] = {{"load, all well", 0},
                          {"load, destination misaligned", 1},
                          {"load, source misaligned", 2},
                          {"load, mbarrier misaligned", 3},
                          {"load, source outside of all memory", 4},
                          {"load, source null", 5},
                          {"load, destination outside of shared memory", 6},
                          {"load, mbarrier outside of shared memory", 7},
                          {"load, destination in a block that is not there", 8},
                          {"multicast, destination misaligned", 9},
                          {"multicast to a block that is not there", 10},
                          {"copy, all well", 11},
                          {"copy, destination misaligned", 12},
                          {"copy, source misaligned", 13},
                          {"copy, source outside of shared memory", 14},
                          {"store, all well", 15},
                          {"store, destination misaligned", 16},
                          {"store, source misaligned", 17},
                          {"store, destination null", 18},
                          {"store, source outside of shared memory", 19},
                          {"reduction, destination misaligned", 20},
                          {"reduction, source misaligned", 21},
                          {"prefetch, misaligned", 22},
                          {"prefetch, null", 23},
                          {"load, both misaligned alike", 24}};

__global__ void __cluster_dims__(2, 1, 1)
    empty(int form, uint32_t bytes, char* global, int* counted) {
  __shared__ alignas(128) char tile[256];
  __shared__ alignas(8) uint64_t bars[2];
  const uint32_t at = shared_address(tile), bar = shared_address(bars);
  if (blockIdx.x != 0) return;
  init(bar, 1);
  switch (form) {
    case 0: load(at, global, bytes, bar); break;
    case 1: load(at + 1, global, bytes, bar); break;
    case 2: load(at, global + 1, bytes, bar); break;
    case 3: load(at, global, bytes, bar + 4); break;
    case 4: load(at, global + (1ull << 34), bytes, bar); break;
    case 5: load(at, nullptr, bytes, bar); break;
    case 6: load(at + 0x800000, global, bytes, bar); break;
    case 7: load(at, global, bytes, bar + 0x800000); break;
    case 8: load(at + 0x05000000, global, bytes, bar); break;
    case 9: load_multicast(at + 1, global, bytes, bar, 1); break;
    case 10: load_multicast(at, global, bytes, bar, 0x21); break;
    case 11: copy(at + 128, at, bytes, bar); break;
    case 12: copy(at + 129, at, bytes, bar); break;
    case 13: copy(at + 128, at + 1, bytes, bar); break;
    case 14: copy(at + 128, at + 0x800000, bytes, bar); break;
    case 15: store(global, at, bytes), commit(), wait_group<0>(); break;
    case 16: store(global + 1, at, bytes), commit(), wait_group<0>(); break;
    case 17: store(global, at + 1, bytes), commit(), wait_group<0>(); break;
    case 18: store(nullptr, at, bytes), commit(), wait_group<0>(); break;
    case 19: store(global, at + 0x800000, bytes), commit(), wait_group<0>(); break;
    case 20: add(global + 1, at, bytes), commit(), wait_group<0>(); break;
    case 21: add(global, at + 1, bytes), commit(), wait_group<0>(); break;
    case 22: prefetch(global + 1, bytes); break;
    case 23: prefetch(nullptr, bytes); break;
    case 24: load(at + 1, global + 1, bytes, bar); break;
  }
  // All expected bytes have arrived, or the phase never completes.
  if (form < 3 || form == 4 || form == 5 || form == 9 || (form >= 11 && form <= 13) || form == 24)
    expect(bar, 0), wait(bar, 0);
  *counted = form;
}

int main() {
  for (const Form& form : forms)
    for (const uint32_t bytes : {0, 8}) {
      std::fflush(stdout);
      if (const pid_t child = fork()) {
        waitpid(child, nullptr, 0);
        continue;
      }
      char* global;
      int* counted;
      CHECK(cudaMalloc(&global, 4096));
      CHECK(cudaMalloc(&counted, 4));
      empty<<<2, 1>>>(form.number, bytes, global, counted);
      std::printf("%s, %u bytes: %s\n", form.what, bytes,
                  cudaGetErrorName(cudaDeviceSynchronize()));
      std::fflush(stdout);
      _exit(0);
    }
}
