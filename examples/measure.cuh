// Helpers of the examples that are also measured on a GPU: PROGRAM --measure runs the full size and
// prints the median time of the kernel beside that of cudaMemcpyAsync for as many bytes.
#pragma once
#include <algorithm>
#include <cstring>

#include "examples/example.cuh"

// Whether the program was asked to measure.
inline bool measures(int argc, char** argv) {
  return argc > 1 && std::strcmp(argv[1], "--measure") == 0;
}

// Median seconds of 21 runs of `work` on the GPU, after two more to warm up.
template <class Work>
double median_seconds(Work work) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int round = -2; round < 21; ++round) {
    CHECK(cudaEventRecord(begin));
    work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaGetLastError());
    CHECK(cudaEventSynchronize(end));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (round >= 0) times.push_back(milliseconds);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2] / 1e3;
}

// Prints what `work` reaches of the speed at which cudaMemcpyAsync copies `bytes` in one direction,
// measured before and after it.
template <class Work>
void measure_beside_copy(const char* what, void* to, const void* from, std::size_t bytes,
                         Work work) {
  const auto copy = [&] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); };
  const double before = median_seconds(copy), mine = median_seconds(work),
               after = median_seconds(copy);
  std::printf("  %s: %.1f us, %.0f GB/s; cudaMemcpyAsync %.1f and %.1f us: %.3f of its speed\n",
              what, mine * 1e6, 2 * bytes / mine / 1e9, before * 1e6, after * 1e6,
              (before + after) / 2 / mine);
}
