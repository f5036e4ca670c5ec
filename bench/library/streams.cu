// Streams through shared memory, out[i] = in[i] * 3 + 1 over int, compared with cudaMemcpyAsync in
// one run:
//   streams [ELEMENTS [ROUNDS]]      1 GiB and 11 by default
// Measures the documented shapes of a pipeline and a group's copies, NVIDIA's and Inflight's from
// one source (shapes.cuh), with one element per thread as documented and with tiles of a few KiB.
// Also measures hand-written code and transform. Prints medians after 2 warm-ups, as ratios to the
// median copy measured just before. Every result is checked. Markdown on standard output.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <inflight/transform.cuh>
#include <string>
#include <vector>

#include "bench/library/shapes.cuh"
#include "examples/example.cuh"

namespace {

struct Triple {
  __device__ int operator()(int v) const { return v * 3 + 1; }
};

__device__ int affine(int v) { return v * 3 + 1; }
__device__ int4 affine(int4 v) {
  return make_int4(affine(v.x), affine(v.y), affine(v.z), affine(v.w));
}
template <int Bytes>
__device__ void fetch_async(void* shared, const void* global) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(Bytes)
                 : "memory");
}

// A hand-written stream in which no thread reads another's data, so it has no barrier. Each thread
// handles one int or one int4.
template <class T, int Threads, int Stages>
__global__ void __launch_bounds__(Threads) by_hand(int* out, const int* in, int batches) {
  __shared__ T tile[Stages][Threads];
  const T* from = reinterpret_cast<const T*>(in);
  T* to = reinterpret_cast<T*>(out);
  const auto at = [](int b) {
    return (std::size_t(b) * gridDim.x + blockIdx.x) * Threads + threadIdx.x;
  };
  const auto fetch = [&](int b) {
    if (b < batches) fetch_async<sizeof(T)>(&tile[b % Stages][threadIdx.x], from + at(b));
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int s = 0; s < Stages - 1; ++s) fetch(s);
  for (int b = 0; b < batches; ++b) {
    fetch(b + Stages - 1);
    asm volatile("cp.async.wait_group %0;" ::"n"(Stages - 1) : "memory");
    to[at(b)] = affine(tile[b % Stages][threadIdx.x]);
  }
}

// One int per thread, fetched in 16-byte pieces by a quarter of the threads. One barrier per batch
// shows both that a batch has arrived and that the previous one has been used.
template <int Threads, int Stages>
__global__ void __launch_bounds__(Threads) by_hand_together(int* out, const int* in, int batches) {
  alignas(16) __shared__ int tile[Stages][Threads];
  const auto start = [](int b) { return (std::size_t(b) * gridDim.x + blockIdx.x) * Threads; };
  const auto fetch = [&](int b) {
    if (b < batches && threadIdx.x < Threads / 4)
      fetch_async<16>(&tile[b % Stages][threadIdx.x * 4], in + start(b) + threadIdx.x * 4);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int s = 0; s < Stages - 1; ++s) fetch(s);
  for (int b = 0; b < batches; ++b) {
    asm volatile("cp.async.wait_group %0;" ::"n"(Stages - 2) : "memory");
    __syncthreads();
    fetch(b + Stages - 1);
    out[start(b) + threadIdx.x] = affine(tile[b % Stages][threadIdx.x]);
  }
}

struct Bench {
  std::size_t n;
  int rounds;
  std::vector<int> source;
  int *in = nullptr, *out = nullptr;
  cudaEvent_t begin, end;
  bool all_right = true;

  Bench(std::size_t elements, int rounds) : n(elements), rounds(rounds), source(elements) {
    for (std::size_t i = 0; i < n; ++i) source[i] = int(i * 2654435761u);
    in = device_copy(source);
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }

  float milliseconds(const std::function<void()>& work) {
    CHECK(cudaEventRecord(begin));
    work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaGetLastError());
    CHECK(cudaEventSynchronize(end));
    float time;
    CHECK(cudaEventElapsedTime(&time, begin, end));
    return time;
  }
  float median(const std::function<void()>& work) {
    std::vector<float> times;
    for (int i = -2; i < rounds; ++i) {
      const float time = milliseconds(work);
      if (i >= 0) times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }
  bool right() {
    const std::vector<int> got = host_copy(out, n);
    for (std::size_t i = 0; i < n; ++i)
      if (got[i] != int(unsigned(source[i]) * 3u + 1u)) return false;
    return true;
  }
  double rate(float time) const { return 2.0 * n * sizeof(int) / time / 1e6; }

  // The rate, and its ratio to that of a copy.
  std::string measure(const std::function<void()>& work) {
    const float copy =
        median([&] { CHECK(cudaMemcpyAsync(out, in, n * sizeof(int), cudaMemcpyDeviceToDevice)); });
    CHECK(cudaMemset(out, 0, n * sizeof(int)));
    const float time = median(work);
    const bool fine = right();
    all_right &= fine;
    char text[64];
    std::snprintf(text, sizeof text, "%.0f (%.3f)%s", rate(time), copy / time,
                  fine ? "" : " WRONG");
    return text;
  }

  using Kernel = void (*)(int*, const int*, int);
  void shape(const char* name, Kernel ours, Kernel theirs, int threads, int elements, int batches) {
    const auto run = [&](Kernel kernel) {
      const std::size_t block = std::size_t(threads) * elements * batches;
      return measure([&] { kernel<<<unsigned(n / block), threads>>>(out, in, batches); });
    };
    const std::string of_theirs = theirs ? run(theirs) : "", of_ours = ours ? run(ours) : "";
    std::printf("| %s | %d x %d, %d batches | %s | %s |\n", name, threads, elements, batches,
                of_theirs.c_str(), of_ours.c_str());
    std::fflush(stdout);
  }
  template <int Threads, int PerThread>
  void shapes_with(int batches) {
    using namespace shapes;
    shape("one stage", single_stage<ours, Threads, PerThread, 1>,
          single_stage<nvidia, Threads, PerThread, 1>, Threads, PerThread, batches);
    shape("two stages", staging<ours, Threads, PerThread, 2>,
          staging<nvidia, Threads, PerThread, 2>, Threads, PerThread, batches);
    shape("unified, 2 stages", unified<ours, Threads, PerThread, 2>,
          unified<nvidia, Threads, PerThread, 2>, Threads, PerThread, batches);
    shape("unified, 4 stages", unified<ours, Threads, PerThread, 4>,
          unified<nvidia, Threads, PerThread, 4>, Threads, PerThread, batches);
    shape("producers and consumers", specialised<ours, Threads, PerThread, 2>,
          specialised<nvidia, Threads, PerThread, 2>, Threads, PerThread, batches);
    shape("thread scope, 2 stages", thread_scope<ours, Threads, PerThread, 2>,
          thread_scope<nvidia, Threads, PerThread, 2>, Threads, PerThread, batches);
    shape("memcpy_async of a group", group_copies<ours, Threads, PerThread, 2>,
          group_copies<nvidia, Threads, PerThread, 2>, Threads, PerThread, batches);
  }
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 28,
              argc > 2 ? std::atoi(argv[2]) : 11);
  std::printf("GB/s read and written (ratio to cudaMemcpyAsync, device to device)\n\n");
  std::printf(
      "| shape | threads x elements a tile | cuda::pipeline | inflight |\n|---|---|---|---|\n");
  bench.shapes_with<256, 1>(8);
  bench.shapes_with<128, 8>(2);
  bench.shapes_with<64, 8>(2);
  bench.shapes_with<128, 4>(4);
  const auto hand = [&](const char* name, Bench::Kernel kernel, int threads, int each,
                        int batches) {
    bench.shape(name, kernel, nullptr, threads, each, batches);
  };
  hand("by hand, 1 stage, no barrier", by_hand<int, 256, 1>, 256, 1, 8);
  hand("by hand, 2 stages, no barrier", by_hand<int, 256, 2>, 256, 1, 8);
  hand("by hand, 4 stages, no barrier", by_hand<int, 256, 4>, 256, 1, 8);
  hand("by hand, 2 stages, one barrier", by_hand_together<256, 2>, 256, 1, 8);
  hand("by hand, 4 stages, one barrier", by_hand_together<256, 4>, 256, 1, 8);
  hand("by hand, 8 stages, one barrier", by_hand_together<256, 8>, 256, 1, 8);
  hand("by hand, 4 stages, no barrier", by_hand<int4, 128, 4>, 128, 4, 4);
  std::printf(
      "| transform | 256 x 4, one batch | | %s |\n",
      bench.measure([&] { CHECK(inflight::transform(bench.out, bench.in, bench.n, Triple{})); })
          .c_str());
  return bench.all_right ? 0 : 1;
}
