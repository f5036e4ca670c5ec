// arch: sm_90a
// A thread that may go on before its copy is complete: a loop that gives up, one that ends when
// another copy is complete, a vote of any lane instead of all.
#include "tests/kernels/check/waiting_test.cuh"

constexpr unsigned elements = 64;

enum class How {
  until_done,
  gives_up,        // after some polls, and reads
  gives_up_twice,  // asks three times, without a loop
  reports,         // after some polls, and does not read
  both,
  either,
  all_lanes,
  any_lane,
  peeks,  // asks for the next copy early, even behind the last one
};

template <How how>
__global__ void load(const int* in, int* out, int* misses, int polls) {
  __shared__ alignas(128) int tiles[2][elements];
  __shared__ Word bars[2];
  const unsigned t = threadIdx.x;
  if (t == 0) {
    init(&bars[0], 1);
    init(&bars[1], 1);
  }
  publish_init();
  if (t == 0)
    for (int i = 0; i < 2; ++i) {
      arrive_expect(&bars[i], sizeof tiles[i]);
      // clang-format off
      bulk_load(tiles[i], in, sizeof tiles[i], &bars[i]);  // [copy]
      // clang-format on
    }
  if (how == How::until_done || how == How::gives_up || how == How::gives_up_twice ||
      how == How::reports)
    wait_parity(&bars[1], 0);
  if (how == How::until_done) wait_parity(&bars[0], 0);
  if (how == How::gives_up)
    for (int i = 0; i < polls; ++i)
      if (try_parity(&bars[0], 0)) break;  // [poll]
  if (how == How::gives_up_twice)
    if (!test_parity(&bars[0], 0))
      if (!test_parity(&bars[0], 0))
        // clang-format off
        test_parity(&bars[0], 0);  // [third]
  // clang-format on
  if (how == How::reports) {
    bool done = false;
    for (int i = 0; i < polls && !done; ++i) done = try_parity(&bars[0], 0);
    if (!done) {
      atomicAdd(misses, 1);
      wait_parity(&bars[0], 0);
      return;
    }
  }
  if (how == How::both || how == How::either) {
    bool first, second;
    do {
      first = try_parity(&bars[0], 0);  // [first]
      second = try_parity(&bars[1], 0);
    } while (how == How::both ? !(first && second) : !(first || second));
  }
  if (how == How::all_lanes || how == How::any_lane) {
    const unsigned lane = t % 32;
    bool done;
    do {
      done = how == How::all_lanes;
      if (lane < 2) done = try_parity(&bars[lane], 0);  // [lanes]
    } while (how == How::all_lanes ? !__all_sync(~0u, done) : !__any_sync(~0u, done));
  }
  if (how == How::peeks) {
    bool ready = try_parity(&bars[0], 0);
    for (int i = 0; i < 2; ++i) {
      if (i < polls && !ready) wait_parity(&bars[i], 0);
      if (i < polls) out[t] += tiles[i][t];
      ready = try_parity(&bars[1], 0);
    }
    wait_parity(&bars[1], 0);
    return;
  }
  out[t] = tiles[0][t] + tiles[1][t];  // [read]
  wait_parity(&bars[0], 0);
  wait_parity(&bars[1], 0);
}

template <How how>
void run() {
  Buffer<int> in(elements), out(elements), misses(1);
  load<how><<<1, elements>>>(in, out, misses, 100);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<How::gives_up>},
                   {"twin", run<How::until_done>},
                   {"asks_three_times", run<How::gives_up_twice>},
                   {"reports_twin", run<How::reports>},
                   {"either", run<How::either>},
                   {"both", run<How::both>},
                   {"any_lane", run<How::any_lane>},
                   {"all_lanes", run<How::all_lanes>},
                   {"peeks_twin", run<How::peeks>}});
}
