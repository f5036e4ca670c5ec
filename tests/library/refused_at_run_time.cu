// stderr: assert.*in kernel
// Arguments that only a running kernel has: each wrong one ends its kernel with a sentence. The
// argument chooses the case; without one, the program runs itself for each.
#include <cstdlib>
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>
#include <inflight/pipeline_primitives.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

__global__ void cut(int* out, unsigned size) {
  out[threadIdx.x] =
      static_cast<int>(inflight::tiled_partition(inflight::this_thread_block(), size).size());
}
__global__ void cut_tile(int* out, unsigned size) {
  const auto tile = inflight::tiled_partition<16>(inflight::this_thread_block());
  out[threadIdx.x] = static_cast<int>(inflight::tiled_partition(tile, size).size());
}
__global__ void copy(int* out, const int* in, std::size_t bytes, std::size_t zeros) {
  alignas(16) __shared__ int tile[4];
  inflight::pipeline_memcpy_async(tile, in, bytes, zeros);
  inflight::pipeline_commit();
  inflight::pipeline_wait_prior(0);
  *out = tile[0];
}

using stages = inflight::pipeline_shared_state<inflight::thread_scope_block, 2>;
__global__ void fill_by_bytes(stages* state) {
  auto pipe =
      inflight::make_pipeline<inflight::transaction_bytes>(inflight::this_thread_block(), state);
  static_cast<void>(pipe);
}

const char* outcome() { return cudaGetErrorName(cudaDeviceSynchronize()); }

}  // namespace

int main(int argc, char** argv) {
  int *out, *in;
  cudaMallocManaged(&out, 1024);
  cudaMallocManaged(&in, 1024);
  switch (argc > 1 ? std::atoi(argv[1]) : -1) {
    case 0:
      cut<<<1, 64>>>(out, 3);
      break;
    case 1:
      cut<<<1, 64>>>(out, 64);
      break;
    case 2:
      cut<<<1, 64>>>(out, 0);
      break;
    case 3:
      cut_tile<<<1, 64>>>(out, 6);
      break;
    case 4:
      copy<<<1, 1>>>(out, in, 12, 0);
      break;
    case 5:
      copy<<<1, 1>>>(out, in, 16, 17);
      break;
    case 6:
      fill_by_bytes<<<1, 32>>>(reinterpret_cast<stages*>(out));
      break;
    default:
      cut<<<1, 64>>>(out, 8);
      cut_tile<<<1, 64>>>(out, 4);
      copy<<<1, 1>>>(out, in, 16, 16);
      std::printf("right arguments: %s\n", outcome());
      std::fflush(stdout);
      for (int i = 0; i < 7; ++i)
        std::system((std::string(argv[0]) + " " + std::to_string(i)).c_str());
      return 0;
  }
  std::printf("%s\n", outcome());
}
