// arch: compute_80
// Measures the cost of empty launches and of loading a module. Prints one line per measurement.
//   launch REPETITIONS [FILE.ptx]
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

__global__ void empty() {}

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "launch: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  std::exit(1);
}
void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(what);
}

// Prints the best and median of `samples` timings of body(), each divided by `each`.
template <class Body>
void report(const char* name, int samples, double each, const char* unit, double scale, Body body) {
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    const auto begin = Clock::now();
    body();
    times.push_back(seconds_since(begin) / each * scale);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-52s best %10.2f  median %10.2f  %s\n", name, times.front(),
              times[times.size() / 2], unit);
}

void time_launches(int samples) {
  constexpr int burst = 1000;
  for (const auto& [blocks, threads] : {std::pair{1, 1}, {1, 256}, {132, 256}}) {
    char name[80];
    std::snprintf(name, sizeof name, "launch and wait, %d x %d threads", blocks, threads);
    report(name, samples * 100, 1, "us", 1e6, [b = blocks, t = threads] {
      empty<<<b, t>>>();
      check(cudaDeviceSynchronize(), "empty kernel");
    });
    std::snprintf(name, sizeof name, "launch, 1000 in a row, %d x %d threads", blocks, threads);
    report(name, samples, burst, "us a launch", 1e6, [b = blocks, t = threads] {
      for (int i = 0; i < burst; ++i) empty<<<b, t>>>();
      check(cudaDeviceSynchronize(), "empty kernels");
    });
  }
}

// Returns the name of the first kernel in PTX text.
std::string first_kernel(const std::string& text) {
  const std::size_t at = text.find(".entry ");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + 7;
  return text.substr(begin, text.find_first_of("( \n", begin) - begin);
}

template <class Call>
Call driver_call(const char* name) {
  void* call = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(name, &call, 12000, cudaEnableDefault, &found), name);
  return reinterpret_cast<Call>(call);
}

// Loads PTX text and finds its first kernel.
void time_module(const char* path, int samples) {
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.empty()) return;
  const auto load = driver_call<CUresult (*)(CUmodule*, const void*)>("cuModuleLoadData");
  const auto get =
      driver_call<CUresult (*)(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction");
  const auto unload = driver_call<CUresult (*)(CUmodule)>("cuModuleUnload");
  const std::string kernel = first_kernel(text);
  const double megabytes = double(text.size()) / 1e6;
  const std::string name = std::string("load ") + path;
  report(name.c_str(), samples, megabytes, "ms a MB of PTX", 1e3, [&] {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    if (load(&module, text.c_str()) != CUDA_SUCCESS ||
        get(&function, module, kernel.c_str()) != CUDA_SUCCESS)
      fail("the module does not load");
    unload(module);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int samples = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
  check(cudaFree(nullptr), "cudaFree");
  time_launches(samples);
  for (int i = 2; i < argc; ++i) time_module(argv[i], samples);
  return 0;
}
