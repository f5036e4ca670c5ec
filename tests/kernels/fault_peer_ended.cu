// The shared memory of a cluster's block that has exited: every use ends the kernel. Each case runs
// in its own process.
// stderr: launch failure in kernel use_peer\(.*the block of rank 0 has ended
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kernels/kernel_test.cuh"

enum Use { arrive, store, load, atomic, reduce, store_async, bulk_copy, own };

__global__ void __cluster_dims__(2, 1, 1) use_peer(int what, unsigned* out) {
  __shared__ alignas(16) unsigned long long shared[128];
  if (threadIdx.x == 0) {
    shared[0] = shared[1] = 0;
    asm volatile(
        "mbarrier.init.shared.b64 [%0], 64;" ::"r"((unsigned)__cvta_generic_to_shared(shared)));
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (blockIdx.x == 0) return;
  for (long long t = clock64(); clock64() - t < 2000000;) {
  }
  const unsigned here = (unsigned)__cvta_generic_to_shared(shared);
  unsigned there, mine, value = 1;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(here));
  asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(mine) : "r"(here));
  if (threadIdx.x != 0) return;
  switch (what) {
    case arrive:
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there)
                   : "memory");
      break;
    case store: asm volatile("st.shared::cluster.u32 [%0], 5;" ::"r"(there + 8) : "memory"); break;
    case load:
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there + 8) : "memory");
      break;
    case atomic:
      asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;"
                   : "=r"(value)
                   : "r"(there + 8)
                   : "memory");
      break;
    case reduce:
      asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(there + 8) : "memory");
      break;
    case store_async:
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], 5, [%1];" ::"r"(
                       there + 8),
                   "r"(there)
                   : "memory");
      break;
    case bulk_copy:
      asm volatile(
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, "
          "[%2];" ::"r"(there + 16),
          "r"(here + 16), "r"(there)
          : "memory");
      break;
    case own:
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mine)
                   : "memory");
      break;
  }
  out[0] = value;
  for (long long t = clock64(); clock64() - t < 2000000;) {
  }
}

int main() {
  const char* const names[] = {"arrive", "store",       "load",      "atomic",
                               "reduce", "store_async", "bulk_copy", "own block"};
  for (int what = arrive; what <= own; ++what) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      unsigned* out;
      cudaMalloc(&out, 4);
      use_peer<<<2, 64>>>(what, out);
      std::printf("%s: %s\n", names[what], cudaGetErrorName(cudaDeviceSynchronize()));
      std::fflush(stdout);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}
