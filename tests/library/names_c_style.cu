// CUDA's C names for one thread's pipeline and for mbarriers.
#include <inflight/cuda_pipeline.h>

#include <inflight/inflight.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int threads = 64, batches = 12;

void verdict(const char* what, bool right) {
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
}

// --- copies ---

// Constant sizes, with and without zero fill; and the same sizes chosen at run time.
template <int Bytes>
__device__ void copy_constant(unsigned char* to, const unsigned char* from, unsigned t) {
  if (t % 2)
    __pipeline_memcpy_async(to, from, Bytes, Bytes / 2);
  else
    __pipeline_memcpy_async(to, from, Bytes);
}

__global__ void copy(uint4* out, const uint4* in, int bytes, bool constant) {
  __shared__ uint4 shared[threads];
  const unsigned t = threadIdx.x;
  shared[t] = uint4{~0u, ~0u, ~0u, ~0u};
  auto* to = reinterpret_cast<unsigned char*>(shared + t);
  const auto* from = reinterpret_cast<const unsigned char*>(in + t);
  if (!constant) {
    if (t == 0)
      __pipeline_memcpy_async(to, from, bytes);
    else
      __pipeline_memcpy_async(to, from, bytes, t % (bytes + 1));
  } else if (bytes == 4) {
    copy_constant<4>(to, from, t);
  } else if (bytes == 8) {
    copy_constant<8>(to, from, t);
  } else {
    copy_constant<16>(to, from, t);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = shared[t];
}

void copies() {
  std::vector<uint4> source(threads);
  auto* from = reinterpret_cast<unsigned char*>(source.data());
  Random random(1);
  for (int i = 0; i < threads * 16; ++i) from[i] = static_cast<unsigned char>(random.next32());
  Buffer<uint4> in(source), out(threads);
  for (int bytes : {4, 8, 16})
    for (bool constant : {true, false}) {
      copy<<<1, threads>>>(out, in, bytes, constant);
      const auto* got = reinterpret_cast<const unsigned char*>(out.read().data());
      bool right = true;
      for (int t = 0; t < threads; ++t)
        for (int b = 0; b < 16; ++b) {
          const int zeros = constant ? (t % 2 ? bytes / 2 : 0) : t % (bytes + 1);
          const int wanted = b >= bytes ? 255 : b < bytes - zeros ? from[16 * t + b] : 0;
          right &= got[16 * t + b] == wanted;
        }
      std::printf("%d bytes, ", bytes);
      verdict(constant ? "a constant" : "at run time", right);
    }
}

// --- waiting for all but the newest batches ---

// Each thread reads the batches that a wait for all but `prior` completes.
__device__ void read(int* out, const int (&shared)[batches][threads], int prior) {
  int sum = 0;
  for (int b = 0; b < batches - prior; ++b) sum += (b + 1) * shared[b][threadIdx.x];
  out[threadIdx.x] = sum;
}

__device__ void start(int (&shared)[batches][threads], const int* in) {
  for (int b = 0; b < batches; ++b) {
    shared[b][threadIdx.x] = -1;
    __pipeline_memcpy_async(&shared[b][threadIdx.x], in + b * threads + threadIdx.x, sizeof(int));
    __pipeline_commit();
  }
}

__global__ void wait_at_run_time(int* out, const int* in, int prior, bool of_namespace) {
  __shared__ int shared[batches][threads];
  start(shared, in);
  if (of_namespace)
    inflight::pipeline_wait_prior(prior);
  else
    __pipeline_wait_prior(prior);
  read(out, shared, prior);
  __pipeline_wait_prior(0);
}

// The loop is unrolled, so its variable is a constant in each copy of the body.
__global__ void wait_in_turn(int* out, const int* in) {
  __shared__ int shared[batches][threads];
  start(shared, in);
#pragma unroll
  for (int prior = batches - 1; prior >= 0; --prior) {
    __pipeline_wait_prior(prior);
    read(out + prior * threads, shared, prior);
  }
}

void waits() {
  Random random(2);
  std::vector<int> source(batches * threads);
  for (int& value : source) value = static_cast<int>(random.next32() % 10000);
  Buffer<int> in(source), out(threads), in_turn(batches * threads);
  const auto wanted = [&](int prior, int t) {
    int sum = 0;
    for (int b = 0; b < batches - prior; ++b) sum += (b + 1) * source[b * threads + t];
    return sum;
  };
  for (bool of_namespace : {false, true}) {
    bool right = true;
    for (int prior = 0; prior < batches; ++prior) {
      wait_at_run_time<<<1, threads>>>(out, in, prior, of_namespace);
      out.read();
      for (int t = 0; t < threads; ++t) right &= out.host[t] == wanted(prior, t);
    }
    verdict(of_namespace ? "pipeline_wait_prior(n)" : "__pipeline_wait_prior(n)", right);
  }
  wait_in_turn<<<1, threads>>>(in_turn, in);
  in_turn.read();
  bool right = true;
  for (int i = 0; i < batches * threads; ++i)
    right &= in_turn.host[i] == wanted(i / threads, i % threads);
  verdict("__pipeline_wait_prior in an unrolled loop", right);
}

// --- mbarriers ---

// A phase that waits for copies: every thread reads another's.
__global__ void arrive_on(int* out, const int* in) {
  __shared__ int shared[threads];
  __shared__ __mbarrier_t bar;
  if (threadIdx.x == 0) __mbarrier_init(&bar, threads);
  __syncthreads();
  __pipeline_memcpy_async(&shared[threadIdx.x], in + threadIdx.x, sizeof(int));
  __pipeline_arrive_on(&bar);
  const __mbarrier_token_t token = __mbarrier_arrive(&bar);
  while (!__mbarrier_test_wait(&bar, token)) {
  }
  out[threadIdx.x] = shared[threads - 1 - threadIdx.x];
}

// The ways to wait: by token or by parity, without waiting or with a time limit.
enum Way { token, parity, token_for, parity_for, ways };
const char* const names[] = {"__mbarrier_test_wait", "__mbarrier_test_wait_parity",
                             "__mbarrier_try_wait", "__mbarrier_try_wait_parity"};

template <int way>
__device__ bool completed(const __mbarrier_t* bar, __mbarrier_token_t mark, bool odd) {
  if constexpr (way == token) return __mbarrier_test_wait(bar, mark);
  if constexpr (way == parity) return __mbarrier_test_wait_parity(bar, odd);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  if constexpr (way == token_for) return __mbarrier_try_wait(bar, mark, 1000);
  if constexpr (way == parity_for) return __mbarrier_try_wait_parity(bar, odd, 1000);
#else
  if constexpr (way == token_for) return __mbarrier_test_wait(bar, mark);
  if constexpr (way == parity_for) return __mbarrier_test_wait_parity(bar, odd);
#endif
}

// Each thread passes a value to the next one, phase after phase; odd threads drop out at the end.
template <int way>
__global__ void phases(int* out) {
  __shared__ int value[threads];
  __shared__ __mbarrier_t bar;
  if (threadIdx.x == 0) __mbarrier_init(&bar, threads);
  __syncthreads();
  const int next = (threadIdx.x + 1) % threads;
  int mine = threadIdx.x;
  bool odd = false;
  for (int round = 0; round < 6; ++round) {
    value[threadIdx.x] = mine;
    const __mbarrier_token_t written = __mbarrier_arrive(&bar);
    while (!completed<way>(&bar, written, odd)) {
    }
    odd = !odd;
    mine = 3 * value[next] + 1;
    const bool last = round == 5 && threadIdx.x % 2;
    const __mbarrier_token_t seen =
        last ? __mbarrier_arrive_and_drop(&bar) : __mbarrier_arrive(&bar);
    while (!completed<way>(&bar, seen, odd)) {
    }
    odd = !odd;
  }
  if (threadIdx.x % 2 == 0) {
    // Half as many arrivals complete this phase.
    const __mbarrier_token_t mark = __mbarrier_arrive(&bar);
    while (!completed<way>(&bar, mark, odd)) {
    }
    mine += 1;
  }
  out[threadIdx.x] = mine;
}

template <int way>
void check_phases() {
  Buffer<int> out(threads);
  phases<way><<<1, threads>>>(out);
  std::vector<int> wanted(threads), before;
  for (int t = 0; t < threads; ++t) wanted[t] = t;
  for (int round = 0; round < 6; ++round) {
    before = wanted;
    for (int t = 0; t < threads; ++t) wanted[t] = 3 * before[(t + 1) % threads] + 1;
  }
  for (int t = 0; t < threads; t += 2) wanted[t] += 1;
  verdict(names[way], out.read() == wanted);
  if constexpr (way + 1 < ways) check_phases<way + 1>();
}

// One thread checks the pending counts of tokens from phase to phase.
__global__ void counts(unsigned* out) {
  __shared__ __mbarrier_t bar;
  __mbarrier_init(&bar, 3);
  const __mbarrier_token_t first = __mbarrier_arrive(&bar);
  *out++ = __mbarrier_token_pending_count(first);
  const __mbarrier_token_t second = __mbarrier_arrive(&bar);
  *out++ = __mbarrier_token_pending_count(second);
  *out++ = __mbarrier_test_wait(&bar, first);
  *out++ = __mbarrier_test_wait_parity(&bar, false);
  const __mbarrier_token_t third = __mbarrier_arrive_and_drop(&bar);
  *out++ = __mbarrier_token_pending_count(third);
  *out++ = __mbarrier_test_wait(&bar, first);
  *out++ = __mbarrier_test_wait(&bar, third);
  *out++ = __mbarrier_test_wait_parity(&bar, false);
  *out++ = __mbarrier_test_wait_parity(&bar, true);
  // Two arrivals are left.
  *out++ = __mbarrier_token_pending_count(__mbarrier_arrive(&bar));
  const __mbarrier_token_t last = __mbarrier_arrive(&bar);
  *out++ = __mbarrier_token_pending_count(last);
  *out++ = __mbarrier_test_wait(&bar, last);
  __mbarrier_inval(&bar);
  bar = 7;  // ordinary memory again
  *out++ = static_cast<unsigned>(bar);
  __mbarrier_init(&bar, 1);
  *out++ = __mbarrier_test_wait(&bar, __mbarrier_arrive(&bar));
  *out++ = __mbarrier_maximum_count();
}

}  // namespace

static_assert(__mbarrier_maximum_count() == (1u << 20) - 1, "It is a constant, too.");

int main() {
  copies();
  waits();
  std::vector<int> source(threads);
  for (int i = 0; i < threads; ++i) source[i] = 7 * i + 3;
  Buffer<int> in(source), reversed(threads);
  arrive_on<<<1, threads>>>(reversed, in);
  verdict("__pipeline_arrive_on",
          reversed.read() == std::vector<int>(source.rbegin(), source.rend()));
  check_phases<0>();
  const std::vector<unsigned> wanted{3, 2, 0, 0, 1, 1, 1, 1, 0, 2, 1, 1, 7, 1, (1u << 20) - 1};
  Buffer<unsigned> got(wanted.size());
  counts<<<1, 1>>>(got);
  verdict("counts", got.read() == wanted);
}
