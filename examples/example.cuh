// Helpers of the examples: checked calls, and one line for each run with its name, bytes, speed and
// result.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                             \
  do {                                                                          \
    cudaError_t check_error = (call);                                           \
    if (check_error != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(check_error)); \
      std::exit(1);                                                             \
    }                                                                           \
  } while (0)

// Runs `launch`, waits for it, and returns the seconds that it took.
template <class Launch>
double seconds_of(Launch launch) {
  auto start = std::chrono::steady_clock::now();
  launch();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Prints one line of the report. `bytes` counts bytes read and written. Returns `right`.
inline bool report(const char* what, double bytes, double seconds, bool right) {
  std::printf("  %-44s %7.1f MiB in %7.3f s  %8.1f MB/s  %s\n", what, bytes / (1 << 20), seconds,
              bytes / seconds / 1e6, right ? "right" : "WRONG");
  return right;
}

template <class T>
T* device_copy(const std::vector<T>& host) {
  T* device;
  CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <class T>
std::vector<T> host_copy(const T* device, std::size_t count) {
  std::vector<T> host(count);
  CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}
