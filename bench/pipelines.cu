// arch: compute_80
// Times the documented shapes of a pipeline with cuda::pipeline: out[i] = in[i] * 3 + 1 over 2^20
// ints, one element per thread. Prints lines in the format of workload::report.
//   pipelines [REPETITIONS] [--kernel NAME]
#include "bench/engine/workload.hpp"
#include "bench/library/shapes.cuh"
#include "examples/example.cuh"

namespace {

constexpr int threads = 256, batches = 64, count = 1 << 20;

using Kernel = void (*)(int*, const int*, int);

struct Shape {
  const char* name;
  Kernel kernel;
};

constexpr Shape documented[] = {
    {"single_stage", shapes::single_stage<shapes::nvidia, threads, 1, 1>},
    {"staging", shapes::staging<shapes::nvidia, threads, 1, 2>},
    {"unified", shapes::unified<shapes::nvidia, threads, 1, 4>},
    {"specialised", shapes::specialised<shapes::nvidia, threads, 1, 2>},
    {"thread_scope", shapes::thread_scope<shapes::nvidia, threads, 1, 2>},
    {"group_copies", shapes::group_copies<shapes::nvidia, threads, 1, 2>},
};

}  // namespace

int main(int argc, char** argv) {
  const auto asked = workload::parse(argc, argv);
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i) values[i] = int(i * 2654435761u);
  int* const in = device_copy(values);
  int* out;
  CHECK(cudaMalloc(&out, count * sizeof(int)));
  for (const Shape& shape : documented)
    workload::report(
        shape.name, count, asked, [&] { CHECK(cudaMemset(out, 0, count * sizeof(int))); },
        [&] {
          shape.kernel<<<count / threads / batches, threads>>>(out, in, batches);
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
        },
        [&] {
          const std::vector<int> got = host_copy(out, count);
          for (int i = 0; i < count; ++i)
            if (got[i] != int(unsigned(values[i]) * 3u + 1u)) return false;
          return true;
        });
  return 0;
}
