// arch: compute_80
// Times kernels whose threads access scattered addresses, or synchronise one by one, at sizes that
// double: what a checker does for each lane shows here. Prints lines in the format of
// workload::report.
//   irregular [REPETITIONS] [--kernel NAME]
#include <numeric>

#include "bench/engine/workload.hpp"
#include "examples/example.cuh"

namespace {

constexpr unsigned threads = 256, bins = 256;

__device__ __host__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
__device__ unsigned thread() { return blockIdx.x * threads + threadIdx.x; }

// `out` has 2n + 2 words that are 0, `in` n ones.
__global__ void gather(unsigned* out, const unsigned* in, unsigned n) {
  unsigned sum = 0;
  for (unsigned k = 0; k < 16; ++k) sum += in[mixed(thread() * 16 + k) & (n - 1)];
  out[thread()] = sum;
}
__global__ void scatter(unsigned* out, const unsigned* in, unsigned n) {
  for (unsigned k = 0; k < 4; ++k) out[thread() * 2654435761u & (n - 1)] += in[thread()];
}
__global__ void table(unsigned* out, const unsigned*, unsigned) {
  __shared__ unsigned next[1024];
  for (unsigned k = threadIdx.x; k < 1024; k += threads) next[k] = k * 5 + 1 & 1023;
  __syncthreads();
  unsigned x = mixed(thread()) & 1023;
  for (unsigned k = 0; k < 1024; ++k) x = next[x];  // comes back to where it began
  out[thread()] = x == (mixed(thread()) & 1023);
}
__global__ void histogram_shared(unsigned* out, const unsigned*, unsigned) {
  __shared__ unsigned count[bins];
  count[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned k = 0; k < 16; ++k) atomicAdd(&count[mixed(thread() * 16 + k) % bins], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], count[threadIdx.x]);
}
__global__ void histogram_global(unsigned* out, const unsigned*, unsigned) {
  for (unsigned k = 0; k < 4; ++k) atomicAdd(&out[mixed(thread() * 4 + k) % bins], 1);
}
__global__ void scatter_atomics(unsigned* out, const unsigned*, unsigned n) {
  for (unsigned k = 0; k < 4; ++k) atomicAdd(&out[mixed(thread() * 4 + k) & (n - 1)], 1);
}
__global__ void hash_set(unsigned* out, const unsigned*, unsigned n) {
  const unsigned key = thread() + 1;
  for (unsigned at = mixed(key);; ++at) {
    const unsigned held = atomicCAS(&out[2 + at % (2 * n)], 0, key);
    if (held == 0 || held == key) return;
  }
}
__global__ void last_block(unsigned* out, const unsigned* in, unsigned n) {
  __shared__ bool last;
  out[2 + thread()] = in[thread()];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&out[0], 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  unsigned sum = 0;
  for (unsigned k = threadIdx.x; k < n; k += threads) sum += out[2 + k];
  atomicAdd(&out[1], sum);
}
__global__ void locks(unsigned* out, const unsigned*, unsigned) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (threadIdx.x % 32 != lane) continue;
    unsigned* const lock = &out[mixed(thread()) % 64];
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    lock[64] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
__global__ void stack(unsigned* out, const unsigned*, unsigned) {
  unsigned* const next = out + 1;
  for (unsigned top = *reinterpret_cast<volatile unsigned*>(out);;) {
    next[thread() + 1] = top;
    __threadfence();
    const unsigned held = atomicCAS(out, top, thread() + 1);
    if (held == top) return;
    top = held;
  }
}

using Words = std::vector<unsigned>;
unsigned sum_of(const Words& w, std::size_t from, std::size_t to) {
  return std::accumulate(w.begin() + from, w.begin() + to, 0u);
}
unsigned nodes(const Words& w) {
  unsigned count = 0;
  for (unsigned at = w[0]; at != 0 && count < w.size(); at = w[1 + at]) ++count;
  return count;
}

struct Shape {
  const char* name;
  void (*kernel)(unsigned*, const unsigned*, unsigned);
  bool (*right)(const Words&, unsigned n);
};
constexpr Shape all_shapes[] = {
    {"gather", gather, [](const Words& w, unsigned n) { return sum_of(w, 0, n) == 16 * n; }},
    {"scatter", scatter, [](const Words& w, unsigned n) { return sum_of(w, 0, n) == 4 * n; }},
    {"table", table, [](const Words& w, unsigned n) { return sum_of(w, 0, n) == n; }},
    {"histogram_shared", histogram_shared,
     [](const Words& w, unsigned n) { return sum_of(w, 0, bins) == 16 * n; }},
    {"histogram_global", histogram_global,
     [](const Words& w, unsigned n) { return sum_of(w, 0, bins) == 4 * n; }},
    {"scatter_atomics", scatter_atomics,
     [](const Words& w, unsigned n) { return sum_of(w, 0, n) == 4 * n; }},
    {"hash_set", hash_set,
     [](const Words& w, unsigned n) { return w.size() - std::count(w.begin(), w.end(), 0u) == n; }},
    {"last_block", last_block, [](const Words& w, unsigned n) { return w[1] == n; }},
    {"locks", locks, [](const Words& w, unsigned n) { return sum_of(w, 64, 128) == n; }},
    {"stack", stack, [](const Words& w, unsigned n) { return nodes(w) == n; }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto asked = workload::parse(argc, argv);
  for (const Shape& shape : all_shapes)
    for (unsigned n = 1 << 14; n <= 1 << 18; n *= 4) {
      if (!asked.wants(shape.name)) continue;
      unsigned* const in = device_copy(Words(n, 1));
      unsigned* out;
      const std::size_t words = 2 * std::size_t{n} + 2;
      CHECK(cudaMalloc(&out, words * sizeof *out));
      workload::report(
          shape.name, int(n), asked, [&] { CHECK(cudaMemset(out, 0, words * sizeof *out)); },
          [&] {
            shape.kernel<<<n / threads, threads>>>(out, in, n);
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
          },
          [&] { return shape.right(host_copy(out, words), n); });
      CHECK(cudaFree(in));
      CHECK(cudaFree(out));
    }
  return 0;
}
