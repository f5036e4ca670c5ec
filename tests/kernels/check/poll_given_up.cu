// arch: sm_90a
// A loop with a limit waits for a phase that can never be complete, and gives up.
#include "tests/kernels/check/waiting_test.cuh"

constexpr unsigned threads = 64, elements = 64;

enum class By { test, attempt };

template <By by>
INLINED bool is_complete(Word* bar, unsigned parity) {
  return by == By::test ? test_parity(bar, parity) : try_parity(bar, parity);
}

// All threads arrive.
template <By by>
__global__ void count(int* out, unsigned expected, int polls, bool invalidates) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, expected);  // [init count]
  publish_init();
  arrive(&bar);  // [arrive]
  bool done = false;
  // [poll]
  for (int i = 0; i < polls && !done; ++i) done = is_complete<by>(&bar, 0);
  out[threadIdx.x] = done;
  __syncthreads();
  if (invalidates && threadIdx.x == 0) inval(&bar);
}

// One thread arrives in the first round only.
__global__ void arrive_once(int* out, bool always, int polls) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, threads);  // [init once]
  publish_init();
  bool done = false;
  for (int round = 0; round < 2; ++round) {
    if (always || round == 0 || threadIdx.x != 5) arrive(&bar);  // [arrive once]
    done = false;
    for (int i = 0; i < polls && !done; ++i) done = test_parity(&bar, round % 2);  // [second]
  }
  out[threadIdx.x] = done;
}

__global__ void load(int* out, const int* in, unsigned bytes, bool arrives, int polls) {
  __shared__ alignas(128) int tile[elements];
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);  // [init]
  publish_init();
  if (threadIdx.x == 0) {
    if (arrives) arrive_expect(&bar, bytes);  // [expect]
    else expect(&bar, bytes);
    // [copy]
    bulk_load(tile, in, sizeof tile, &bar);
  }
  bool done = false;
  for (int i = 0; i < polls && !done; ++i) done = test_parity(&bar, 0);  // [for bytes]
  if (done) out[threadIdx.x] = tile[threadIdx.x];
}

// Workers arrive while there is work, and a flag ends the wait for the last, partial phase.
__global__ void stop_by_flag(int* out, int* stop) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, threads);
  publish_init();
  if (threadIdx.x >= 32) {
    if (threadIdx.x % 2) arrive(&bar);
    __syncwarp();
    if (threadIdx.x == 32) atomicExch(stop, 1);
  } else {
    while (!test_parity(&bar, 0))
      if (atomicAdd(stop, 0) != 0) break;
  }
  out[threadIdx.x] = 1;
}

// Looks once, and does something else.
__global__ void look_once(int* out) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, threads);
  publish_init();
  if (threadIdx.x % 2) arrive(&bar);
  out[threadIdx.x] = test_parity(&bar, 0);
}

// Nobody sends anything.
__global__ void empty_box(int* out, int polls) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  bool done = false;
  for (int i = 0; i < polls && !done; ++i) done = test_parity(&bar, 0);
  out[threadIdx.x] = done;
}

template <By by, unsigned expected, bool invalidates = false>
void run() {
  count<by><<<1, threads>>>(Buffer<int>(threads), expected, 100, invalidates);
}
template <unsigned bytes, bool arrives>
void run_load() {
  load<<<1, threads>>>(Buffer<int>(threads), Buffer<int>(std::vector<int>(elements, 1)), bytes,
                       arrives, 100);
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"mistake", run<By::test, threads + 1>},
       {"twin", run<By::test, threads>},
       {"attempts", run<By::attempt, threads + 1>},
       {"attempts_twin", run<By::attempt, threads>},
       {"invalidates", run<By::test, threads + 1, true>},
       {"invalidates_twin", run<By::test, threads, true>},
       {"second_phase", [] { arrive_once<<<1, threads>>>(Buffer<int>(threads), false, 100); }},
       {"second_phase_twin", [] { arrive_once<<<1, threads>>>(Buffer<int>(threads), true, 100); }},
       {"bytes", run_load<512, true>},
       {"bytes_twin", run_load<256, true>},
       {"no_arrival", run_load<256, false>},
       {"by_flag_twin",
        [] {
          stop_by_flag<<<1, threads>>>(Buffer<int>(threads), Buffer<int>(std::vector<int>(1)));
        }},
       {"once_twin", [] { look_once<<<1, threads>>>(Buffer<int>(threads)); }},
       {"empty_twin", [] { empty_box<<<1, threads>>>(Buffer<int>(threads), 100); }}});
}
