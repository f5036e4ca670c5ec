// arch: compute_90a
// flags: -code=sm_90a,compute_90a
// A phase that completes whether or not a warp has waited for the one before, so that a warp that
// comes late waits for ever.
#include "tests/kernels/check/waiting_test.cuh"
#include "tests/kernels/check/wgmma_test.cuh"

constexpr unsigned late = 200000;  // ns, for which a warp sleeps before its wait

enum class Answer { by_one, by_both, behind_a_barrier, by_turns };

// Warps 0 and 1 wait for what thread 64 hands over, and answer before it hands over again.
template <Answer answer>
__global__ void hand_over(unsigned sleep) {
  __shared__ Word ready[2], empty;
  const unsigned t = threadIdx.x, warp = t / 32;
  if (t == 0) {
    init(&ready[0], 1);
    init(&ready[1], 1);
    init(&empty, answer == Answer::by_both ? 2 : 1);
  }
  publish_init();
  if (warp == 2) {
    if (t == 64) {
      arrive(&ready[0]);
      wait_parity(&empty, 0);
      arrive(&ready[answer == Answer::by_turns]);  // [completes]
    }
    return;
  }
  if (warp == 1 && sleep != 0) __nanosleep(sleep);
  wait_parity(&ready[0], 0);  // [waits]
  if (answer == Answer::behind_a_barrier) asm volatile("bar.sync 1, 64;" ::: "memory");
  if (t == 0 || (answer == Answer::by_both && t == 32)) arrive(&empty);
}

enum class Twice { unseen, seen };

// A thread completes two phases. Another warp waits for the first.
template <Twice twice>
__global__ void two_phases(unsigned sleep, unsigned producer_sleep) {
  __shared__ Word bar, seen;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    init(&seen, 1);
  }
  publish_init();
  if (threadIdx.x == 0) {
    arrive(&bar);
    if (producer_sleep != 0) __nanosleep(producer_sleep);
    if (twice == Twice::seen) wait_parity(&seen, 0);
    arrive(&bar);  // [again]
  } else if (threadIdx.x == 32) {
    if (sleep != 0) __nanosleep(sleep);
    wait_parity(&bar, 0);  // [once]
    if (twice == Twice::seen) arrive(&seen);
  }
}

// A ring whose consumers wait as two warps, and free each stage together or one for both. The
// second warp reads nothing.
template <bool both>
__global__ void ring(const int* in, int rounds) {
  __shared__ alignas(16) int tile[2][256];
  __shared__ Word full[2], empty[2];
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; ++s) {
      init(&full[s], 1);
      init(&empty[s], both ? 2 : 1);
    }
  publish_init();
  if (threadIdx.x == 0) {
    for (int i = 0; i < rounds; ++i) {
      wait_parity(&empty[i % 2], (i / 2 & 1) ^ 1);
      arrive_expect(&full[i % 2], 1024);  // [fills]
      bulk_load(tile[i % 2], in, 1024, &full[i % 2]);
    }
  } else if (threadIdx.x >= 32 && threadIdx.x % 32 == 0) {
    for (int i = 0; i < rounds; ++i) {
      wait_parity(&full[i % 2], i / 2 & 1);  // [looks]
      if (both || threadIdx.x == 32) arrive(&empty[i % 2]);
    }
  }
}

// All four warps of a warpgroup wait for a stage, and one thread frees it: the multiplication is of
// all four.
__global__ void warpgroup(const char* in, int rounds) {
  __shared__ Tile tile;
  __shared__ Word full, empty;
  if (threadIdx.x == 0) {
    init(&full, 1);
    init(&empty, 1);
  }
  publish_init();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128)
      for (int i = 0; i < rounds; ++i) {
        wait_parity(&empty, (i & 1) ^ 1);
        arrive_expect(&full, tile_bytes);
        bulk_load(&tile, in, tile_bytes, &full);
      }
    return;
  }
  float d[4] = {};
  for (int i = 0; i < rounds; ++i) {
    wait_parity(&full, i & 1);
    FENCE();
    MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));
    COMMIT_MULTIPLY();
    WAIT_MULTIPLY(0);
    if (threadIdx.x == 96) arrive(&empty);
  }
}

// The waiting warps answer by an atomic in global memory, for which the other thread polls.
template <bool both>
__global__ void answer_by_flag(unsigned* flag) {
  __shared__ Word ready;
  if (threadIdx.x == 0) init(&ready, 1);
  publish_init();
  if (threadIdx.x == 64) {
    arrive(&ready);
    unsigned came = 0;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(came) : "l"(flag) : "memory");
    while (came < (both ? 2u : 1u));
    arrive(&ready);  // [flagged]
  } else if (threadIdx.x == 0 || threadIdx.x == 32) {
    wait_parity(&ready, 0);  // [unflagged]
    if (both || threadIdx.x == 0)
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(flag) : "memory");
  }
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"one_answers", [] { hand_over<Answer::by_one><<<1, 96>>>(0); }},
                   {"one_is_late", [] { hand_over<Answer::by_one><<<1, 96>>>(late); }},
                   {"both_answer", [] { hand_over<Answer::by_both><<<1, 96>>>(0); }},
                   {"behind_a_barrier", [] { hand_over<Answer::behind_a_barrier><<<1, 96>>>(0); }},
                   {"by_turns", [] { hand_over<Answer::by_turns><<<1, 96>>>(late); }},
                   {"two_phases", [] { two_phases<Twice::unseen><<<1, 64>>>(0, 0); }},
                   {"two_phases_late", [] { two_phases<Twice::unseen><<<1, 64>>>(late, 0); }},
                   {"two_phases_in_time", [] { two_phases<Twice::unseen><<<1, 64>>>(0, late); }},
                   {"two_phases_seen", [] { two_phases<Twice::seen><<<1, 64>>>(late, 0); }},
                   {"ring", [] { ring<false><<<1, 96>>>(Buffer<int>(256), 8); }},
                   {"ring_freed_by_both", [] { ring<true><<<1, 96>>>(Buffer<int>(256), 8); }},
                   {"warpgroup", [] { warpgroup<<<1, 160>>>(Buffer<char>(tile_bytes), 5); }},
                   {"flag_of_one", [] { answer_by_flag<false><<<1, 96>>>(Buffer<unsigned>(1)); }},
                   {"flag_of_both", [] { answer_by_flag<true><<<1, 96>>>(Buffer<unsigned>(1)); }}});
}
