// Uses every L2 policy in a copy: none changes the copied data, and all policies differ.
#include <inflight/cache_policy.cuh>
#include <inflight/copy.cuh>
#include <set>

#include "tests/kernels/kernel_test.cuh"

namespace {

using inflight::l2_priority;

template <l2_priority Primary, l2_priority Secondary>
__global__ void copy(int4* out, const int4* in, unsigned long long* policy, float fraction) {
  __shared__ int4 shared[32];
  *policy = inflight::cache_policy<Primary, Secondary>(fraction);
  inflight::cp_async_policy<16>(&shared[threadIdx.x], in + threadIdx.x, *policy);
  inflight::cp_async_wait_all();
  out[threadIdx.x] = shared[threadIdx.x];
}

std::set<unsigned long long> seen;

// `own`: no earlier policy has the same bits.
template <l2_priority Primary, l2_priority Secondary>
void check(const char* name, float fraction = 1, bool own = true) {
  std::vector<int> values(128);
  for (int i = 0; i < 128; ++i) values[i] = i * i;
  const auto source = values;
  Buffer<int> in(source), out(128);
  Buffer<unsigned long long> policy(1);
  copy<Primary, Secondary><<<1, 32>>>(reinterpret_cast<int4*>(out.device),
                                      reinterpret_cast<const int4*>(in.device), policy, fraction);
  const bool right = out.read() == source, fresh = seen.insert(policy.read()[0]).second;
  std::printf("%s: %s, %s\n", name, right ? "right" : "WRONG",
              fresh || !own ? "fine" : "seen before");
}

}  // namespace

int main() {
  constexpr auto first = l2_priority::first, last = l2_priority::last, normal = l2_priority::normal,
                 unchanged = l2_priority::unchanged;
  check<first, unchanged>("first");
  check<last, unchanged>("last");
  check<normal, unchanged>("normal");
  check<unchanged, unchanged>("unchanged");
  check<first, unchanged>("half of it first", 0.5f);
  check<last, first>("half of it last, the rest first", 0.5f);
  check<normal, first>("half of it normal, the rest first", 0.5f);
  check<unchanged, first>("half of it unchanged, the rest first", 0.5f, false);
}
