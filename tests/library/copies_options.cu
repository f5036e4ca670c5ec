// cp.async with every legal combination of its modifiers: size, cache operator, prefetch size, zero
// fill or an ignored source, and an L2 policy; and memcpy_async with a policy.
#include <inflight/cache_policy.cuh>
#include <inflight/groups.cuh>
#include <inflight/memcpy_async.cuh>
#include <inflight/pipeline.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

using inflight::cache_operator;
using inflight::l2_prefetch;

constexpr int threads = 32;
enum Form { plain, zero_fill, ignore, forms };

// Each thread copies Bytes to its own place; the odd threads copy half of them, or nothing.
template <int Bytes, cache_operator Cache, l2_prefetch Level, Form form, class... Policy>
__device__ void copy_one(char* to, const char* from, Policy... policy) {
  const unsigned odd = threadIdx.x % 2;
  if constexpr (form == plain)
    inflight::cp_async<Bytes, Cache, Level>(to, from, policy...);
  else if constexpr (form == zero_fill)
    inflight::cp_async_zero_fill<Bytes, Cache, Level>(to, from, odd ? Bytes / 2 : Bytes, policy...);
  else
    inflight::cp_async_ignore<Bytes, Cache, Level>(to, from, odd, policy...);
}

template <int Bytes, cache_operator Cache, l2_prefetch Level, Form form, bool hinted>
__global__ void copy(unsigned char* out, const unsigned char* in) {
  alignas(16) __shared__ char shared[threads * 16];
  char* to = shared + threadIdx.x * Bytes;
  const char* from = reinterpret_cast<const char*>(in) + threadIdx.x * Bytes;
  if constexpr (hinted)
    copy_one<Bytes, Cache, Level, form>(to, from,
                                        inflight::cache_policy<inflight::l2_priority::last>());
  else
    copy_one<Bytes, Cache, Level, form>(to, from);
  inflight::cp_async_wait_all();
  for (int i = 0; i < Bytes; ++i) out[threadIdx.x * Bytes + i] = to[i];
}

int combinations, wrong;

template <int Bytes, cache_operator Cache, l2_prefetch Level, Form form, bool hinted>
void check(unsigned char* out, const unsigned char* in) {
  copy<Bytes, Cache, Level, form, hinted><<<1, threads>>>(out, in);
  cudaDeviceSynchronize();
  bool right = true;
  for (int i = 0; i < threads * Bytes; ++i) {
    const bool odd = i / Bytes % 2, zero = odd && (form == ignore || i % Bytes >= Bytes / 2);
    right &= out[i] == (form != plain && zero ? 0 : in[i]);
  }
  ++combinations;
  wrong += !right;
}

template <int Bytes, cache_operator Cache, l2_prefetch Level, int form = 0>
void check_forms(unsigned char* out, const unsigned char* in) {
  check<Bytes, Cache, Level, Form(form), false>(out, in);
  check<Bytes, Cache, Level, Form(form), true>(out, in);
  if constexpr (form + 1 < forms) check_forms<Bytes, Cache, Level, form + 1>(out, in);
}

template <int Bytes, cache_operator Cache>
void check_levels(unsigned char* out, const unsigned char* in) {
  check_forms<Bytes, Cache, l2_prefetch::none>(out, in);
  check_forms<Bytes, Cache, l2_prefetch::b64>(out, in);
  check_forms<Bytes, Cache, l2_prefetch::b128>(out, in);
  check_forms<Bytes, Cache, l2_prefetch::b256>(out, in);
}

// memcpy_async with a policy, as a group's copy, with a barrier, and into a pipeline; the policy is
// for a range of memory.
__global__ void divided(int* out, const int* in, int count) {
  __shared__ int to[3][4 * threads];
  __shared__ inflight::barrier<> done;
  const auto block = inflight::this_thread_block();
  const auto policy =
      inflight::cache_policy_range<inflight::l2_priority::normal, inflight::l2_priority::first>(
          in, 256, 512);
  if (threadIdx.x == 0) done.init(threads);
  block.sync();
  inflight::memcpy_async(block, to[0], in, sizeof to[0], policy);
  const auto told = inflight::memcpy_async(block, to[1], in, sizeof to[1], done, policy);
  done.arrive_and_wait();
  inflight::wait(block);
  auto pipe = inflight::make_pipeline();
  pipe.producer_acquire();
  inflight::memcpy_async(block, to[2], in, sizeof to[2], pipe, policy);
  pipe.producer_commit();
  pipe.consumer_wait();
  block.sync();
  for (int i = threadIdx.x; i < count; i += threads)
    out[i] = to[0][i] == in[i] && to[1][i] == in[i] && to[2][i] == in[i] &&
             told == inflight::async_contract_fulfillment::async;
}

}  // namespace

int main() {
  unsigned char *in, *out;
  cudaMallocManaged(&in, 4096);
  cudaMallocManaged(&out, 4096);
  for (int i = 0; i < 4096; ++i) in[i] = static_cast<unsigned char>(i * 7 + 1);
  check_levels<4, cache_operator::all>(out, in);
  check_levels<8, cache_operator::all>(out, in);
  check_levels<16, cache_operator::all>(out, in);
  check_levels<16, cache_operator::global>(out, in);
  std::printf("%d combinations, %d wrong\n", combinations, wrong);

  auto* same = reinterpret_cast<int*>(out);
  divided<<<1, threads>>>(same, reinterpret_cast<const int*>(in), 4 * threads);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int differ = 0;
  for (int i = 0; i < 4 * threads; ++i) differ += same[i] != 1;
  std::printf("memcpy_async: %d words differ\n", differ);
}
