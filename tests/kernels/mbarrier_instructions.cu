// The mbarrier instructions one by one: tokens, parity, counts, drops, transactions, copies that
// arrive; through cuda::ptx where it has them.
#include "tests/kernels/kernel_test.cuh"

#include <cuda/ptx>
namespace ptx = cuda::ptx;
using u64 = unsigned long long;

__device__ unsigned address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }
__device__ bool parity_done(std::uint64_t* bar, unsigned parity) {
  return ptx::mbarrier_test_wait_parity(bar, parity);
}
__device__ unsigned pending(u64 token) {
  unsigned count;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
  return count;
}

__global__ void one_thread(int* out) {
  __shared__ std::uint64_t bar;
  int at = 0;
  auto put = [&](int v) { out[at++] = v; };
  ptx::mbarrier_init(&bar, 3);
  put(parity_done(&bar, 0));
  put(parity_done(&bar, 1));
  u64 first = ptx::mbarrier_arrive(&bar);
  put(pending(first));
  put(ptx::mbarrier_test_wait(&bar, first));
  u64 second = ptx::mbarrier_arrive(&bar, 2);
  put(pending(second));
  put(ptx::mbarrier_test_wait(&bar, first));
  put(ptx::mbarrier_test_wait(&bar, second));
  put(parity_done(&bar, 0));
  put(parity_done(&bar, 1));
  // Transactions keep a phase open.
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 48);
  u64 third = ptx::mbarrier_arrive(&bar, 2);
  put(ptx::mbarrier_test_wait(&bar, third));
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 40;" ::"r"(address(&bar))
               : "memory");
  put(ptx::mbarrier_test_wait(&bar, third));
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 8;" ::"r"(address(&bar))
               : "memory");
  put(ptx::mbarrier_test_wait(&bar, third));
  // A drop lowers the count of the following phases.
  u64 dropped;
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];"
               : "=l"(dropped)
               : "r"(address(&bar))
               : "memory");
  put(pending(dropped));
  ptx::mbarrier_arrive(&bar, 2);
  put(ptx::mbarrier_test_wait(&bar, dropped));
  u64 fourth = ptx::mbarrier_arrive(&bar, 2);
  put(ptx::mbarrier_test_wait(&bar, fourth));
  put(ptx::mbarrier_try_wait(&bar, fourth));
  put(ptx::mbarrier_try_wait_parity(&bar, 0));
  u64 open = ptx::mbarrier_arrive(&bar);
  put(ptx::mbarrier_try_wait(&bar, open, 1000u));
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(&bar)) : "memory");
  ptx::mbarrier_init(&bar, 1);
  put(pending(ptx::mbarrier_arrive(&bar)));
  put(parity_done(&bar, 0));
  out[31] = at;
}

// Producers fill a ring of stages and consumers empty it, with a full and an empty barrier each.
__global__ void ring(int* out) {
  constexpr int stages = 3, rounds = 11;
  __shared__ std::uint64_t full[stages], empty[stages];
  __shared__ int tile[stages][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < stages) {
    ptx::mbarrier_init(&full[threadIdx.x], 32);
    ptx::mbarrier_init(&empty[threadIdx.x], 64);
  }
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    int s = r % stages, phase = r / stages & 1;
    if (warp == 0) {
      while (!ptx::mbarrier_try_wait_parity(&empty[s], phase ^ 1)) {
      }
      tile[s][lane] = r * 100 + lane;
      ptx::mbarrier_arrive(&full[s]);
    } else {
      while (!ptx::mbarrier_try_wait_parity(&full[s], phase)) {
      }
      out[(r * 2 + warp - 1) * 32 + lane] = tile[s][lane ^ warp];
      ptx::mbarrier_arrive(&empty[s]);
    }
  }
}

// cp.async arrives at an mbarrier when done, with and without raising the pending count.
__global__ void copies(int* out, const int* in) {
  __shared__ std::uint64_t bar[2];
  __shared__ int tile[2][64];
  int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&bar[0], 64);
    ptx::mbarrier_init(&bar[1], 64);
  }
  __syncthreads();
  for (int r = 0; r < 4; ++r) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(&tile[0][t])),
                 "l"(in + r * 128 + t)
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(address(&bar[0]))
                 : "memory");
    ptx::mbarrier_arrive(&bar[0]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(&tile[1][t])),
                 "l"(in + r * 128 + 64 + t)
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address(&bar[1]))
                 : "memory");
    while (!ptx::mbarrier_try_wait_parity(&bar[0], r & 1)) {
    }
    int v = tile[0][63 - t];
    while (!ptx::mbarrier_try_wait_parity(&bar[1], r & 1)) {
    }
    out[r * 64 + t] = v * 3 + tile[1][t ^ 31];
    __syncthreads();
  }
}

int main() {
  std::vector<int> in(512);
  for (int i = 0; i < 512; ++i) in[i] = i * 29 % 997;
  Buffer<int> source(in), a(32), b(11 * 64), c(256);
  one_thread<<<1, 1>>>(a);
  ring<<<1, 96>>>(b);
  copies<<<1, 64>>>(c, source);
  print("one_thread", a.read(), 32);
  print("ring", b.read(), 32);
  print("copies", c.read(), 32);
}
