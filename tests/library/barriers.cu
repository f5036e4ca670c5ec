// Barriers: tokens, parities, arrive_and_drop, arrivals of copies, arrival counts.
#include <inflight/barrier.cuh>
#include <inflight/copy.cuh>
#include <type_traits>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int threads = 96, rounds = 5;
static_assert(std::is_trivial_v<inflight::barrier<>> && sizeof(inflight::barrier<>) == 8,
              "a barrier in __shared__ needs no constructor");

// In each round every thread passes a number to its neighbour, using tokens.
__global__ void by_token(int* out) {
  __shared__ int given[2][threads];
  __shared__ inflight::barrier<inflight::thread_scope_block> all;
  if (threadIdx.x == 0) init(&all, threads);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    given[round % 2][threadIdx.x] = round * 1000 + int(threadIdx.x);
    auto token = all.arrive();
    all.wait(token);
    sum += given[round % 2][(threadIdx.x + 1) % threads];
  }
  out[threadIdx.x] = sum;
}

// One thread waits for the others in every phase without arriving itself.
__global__ void by_parity(int* out) {
  __shared__ inflight::barrier<> ready, taken;
  __shared__ int value[threads];
  if (threadIdx.x == 0) {
    ready.init(threads - 1);
    taken.init(1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    inflight::barrier_phase done(ready);
    for (int round = 0; round < rounds; ++round) {
      done.wait();
      int sum = 0;
      for (int i = 1; i < threads; ++i) sum += value[i];
      out[round] = sum;
      taken.arrive();
    }
    out[rounds] = done.parity();
  } else {
    inflight::barrier_phase free(taken);
    for (int round = 0; round < rounds; ++round) {
      value[threadIdx.x] = round + int(threadIdx.x);
      ready.arrive();
      free.wait();
    }
  }
}

// Threads drop out one by one; the phases need only the remaining ones.
__global__ void dropping(int* out) {
  __shared__ inflight::barrier<> all;
  __shared__ int here[threads];
  here[threadIdx.x] = 0;
  if (threadIdx.x == 0) all.init(threads);
  __syncthreads();
  const int stays = 1 + int(threadIdx.x) % rounds;
  for (int round = 0; round < stays; ++round) {
    atomicAdd(&here[round], 1);
    if (round + 1 == stays) {
      all.arrive_and_drop();
      break;
    }
    all.arrive_and_wait();
    if (threadIdx.x == threads - 1) out[round] = here[round];
  }
}

// Copies arrive on behalf of their threads.
__global__ void with_copies(int* out, const int* in) {
  __shared__ int shared[threads];
  __shared__ inflight::barrier<> copied;
  if (threadIdx.x == 0) copied.init(threads);
  __syncthreads();
  inflight::cp_async<4>(&shared[threadIdx.x], in + threadIdx.x);
  copied.arrive_on_copies();
  copied.wait_parity(0);
  out[threadIdx.x] = shared[threads - 1 - threadIdx.x];
}

__global__ void tests(int* out) {
  __shared__ inflight::barrier<> two;
  two.init(2);
  auto first = two.arrive();
  out[0] = two.test(first), out[1] = two.test_parity(0), out[2] = two.test_parity(1);
  two.arrive();
  out[3] = two.test(first), out[4] = two.test_parity(0), out[5] = two.test_parity(1);
  inflight::barrier_phase view(two);
  out[6] = view.test();
  view.wait();
  out[7] = view.test();
  out[8] = two.max();
  out[9] = inflight::ptx::mbarrier_pending_count(
      inflight::ptx::mbarrier_arrive_no_complete(two.address(), 1));
  two.invalidate();
}

}  // namespace

int main() {
  Buffer<int> out(threads);
  by_token<<<1, threads>>>(out);
  out.read();
  bool right = true;
  for (int t = 0; t < threads; ++t)
    right &= out.host[t] == 1000 * (rounds * (rounds - 1) / 2) + rounds * ((t + 1) % threads);
  std::printf("by token: %s\n", right ? "right" : "WRONG");

  by_parity<<<1, threads>>>(out);
  out.read();
  right = out.host[rounds] == rounds % 2;
  for (int r = 0; r < rounds; ++r)
    right &= out.host[r] == r * (threads - 1) + threads * (threads - 1) / 2;
  std::printf("by parity: %s\n", right ? "right" : "WRONG");

  dropping<<<1, threads>>>(out);
  print("dropping", std::vector<int>(out.read().begin(), out.host.begin() + rounds - 1));

  std::vector<int> values(threads);
  for (int t = 0; t < threads; ++t) values[t] = 7 * t;
  const auto source = values;
  Buffer<int> in(source);
  with_copies<<<1, threads>>>(out, in);
  out.read();
  right = true;
  for (int t = 0; t < threads; ++t) right &= out.host[t] == source[threads - 1 - t];
  std::printf("with copies: %s\n", right ? "right" : "WRONG");

  tests<<<1, 1>>>(out);
  print("tests", std::vector<int>(out.read().begin(), out.host.begin() + 10));
}
