// Programs with a mistake and its corrected twin, each a case named by the program's argument.
#pragma once
#include <initializer_list>

#include "tests/kernels/kernel_test.cuh"

struct Case {
  const char* name;
  void (*run)();
};

// Runs the named case and waits for it. Always returns 0, whatever its kernels' result: only the
// checker's findings count.
inline int run_case(int argc, char** argv, std::initializer_list<Case> cases) {
  for (const Case& each : cases) {
    if (argc != 2 || std::strcmp(argv[1], each.name) != 0) continue;
    each.run();
    cudaDeviceSynchronize();
    return 0;
  }
  std::fprintf(stderr, "usage: %s CASE, one of:", argv[0]);
  for (const Case& each : cases) std::fprintf(stderr, " %s", each.name);
  std::fprintf(stderr, "\n");
  return 2;
}

inline __device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
