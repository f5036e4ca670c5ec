// flags: -lcurand
// args: --only first.philox.device
// Prints what cuRAND's host API gives: for each generator, ordering, seed, offset and distribution
// the status, a sum of all bytes, and values where sequences of several threads meet; then what
// follows a call, what misuse returns, and the tables that it hands out. One line per case, whose
// name comes first. `--only PREFIX` does the cases whose names begin with it. All cases take
// minutes on a GPU. curand_truth.h200.txt has those of the tests, as cuRAND 10.4.0 gave them.
//
// nvcc -std=c++17 -arch=sm_90 -I. tests/gpu/curand_truth.cu -lcurand -o curand_truth
#include <cstdlib>

#include "tests/gpu/curand/distributions.cuh"
#include "tests/gpu/curand/misuse.cuh"
#include "tests/gpu/curand/sequences.cuh"
#include "tests/gpu/curand/tables.cuh"
#include "tests/gpu/curand/work.cuh"

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (!std::strcmp(argv[i], "--only")) only = argv[i + 1];
  if (cudaMalloc(&on_device, most)) return 1;
  on_host = static_cast<char*>(std::malloc(most));
  {
    int version = 0, runtime = 0;
    curandGetVersion(&version);
    cudaRuntimeGetVersion(&runtime);
    cudaDeviceProp about{};
    cudaGetDeviceProperties(&about, 0);
    std::fprintf(stderr, "cuRAND %d, runtime %d, %s, %d multiprocessors\n", version, runtime,
                 about.name, about.multiProcessorCount);
  }
  tables();
  misuse_of_calls();
  discrete();
  for (const Kind& k : kinds) {
    for (const bool host : {false, true}) {
      first(k, host);
      misuse(k, host);
      calls(k, host);
      if (k.quasi) quasi(k, host);
      ordered(k, host);
      many(k, host);
      poissons(k, host);
      order_of_work(k, host);
      graph(k, host);
    }
    skewed(k);
    range(k);
  }
  return 0;
}
