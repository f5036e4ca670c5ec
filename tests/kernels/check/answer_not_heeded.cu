// arch: sm_90a
// mbarrier.try_wait and test_wait may return false. A thread that goes on regardless has waited for
// nothing.
#include "tests/kernels/check/waiting_test.cuh"

constexpr unsigned elements = 256;

enum class How {
  until_done,    // loops until true
  once,          // ignores the result
  tested_once,   // ignores the result of test_wait
  counted,       // counts a false result, and goes on
  first_peeks,   // tests first, and waits if needed
  if_done,       // reads after true, else comes back
  asks_twice,    // ignores the second result
  others_waited  // after a barrier with a thread that waited in a loop
};

template <How how>
__global__ void load(const int* in, int* out, int* misses) {
  __shared__ alignas(128) int tile[elements];
  __shared__ Word bar;
  const unsigned t = threadIdx.x;
  if (t == 0) init(&bar, 1);
  publish_init();
  if (t == 0) {
    arrive_expect(&bar, sizeof tile);
    // clang-format off
    bulk_load(tile, in, sizeof tile, &bar);  // [copy]
    // clang-format on
  }
  if (how == How::until_done) wait_parity(&bar, 0);
  if (how == How::once) try_parity(&bar, 0);          // [ask once]
  if (how == How::tested_once) test_parity(&bar, 0);  // [test once]
  if (how == How::counted) {
    if (!try_parity(&bar, 0))  // [count]
      atomicAdd(misses, 1);
  }
  if (how == How::first_peeks) {
    if (!try_parity(&bar, 0)) wait_parity(&bar, 0);
  }
  if (how == How::asks_twice) {
    try_parity(&bar, 0);
    try_parity(&bar, 0);  // [ask again]
  }
  if (how == How::others_waited) {
    if (t == 0) wait_parity(&bar, 0);
    __syncthreads();
    try_parity(&bar, 0);
  }
  if (how == How::if_done) {
    for (bool read = false; !read;)
      if (try_parity(&bar, 0)) {
        out[t] = tile[t];
        read = true;
      }
    return;
  }
  out[t] = tile[t];  // [read]
  wait_parity(&bar, 0);
}

template <How how>
void run() {
  Buffer<int> in(elements), out(elements), misses(1);
  load<how><<<1, elements>>>(in, out, misses);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<How::once>},
                   {"twin", run<How::until_done>},
                   {"tested", run<How::tested_once>},
                   {"counted", run<How::counted>},
                   {"asks_twice", run<How::asks_twice>},
                   {"first_peeks_twin", run<How::first_peeks>},
                   {"if_done_twin", run<How::if_done>},
                   {"others_waited_twin", run<How::others_waited>}});
}
