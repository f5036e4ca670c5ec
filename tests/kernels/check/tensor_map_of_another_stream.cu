// arch: sm_90a
// flags: -lcuda
// A copy or kernel in another stream writes a tensor map that a kernel uses, with an event between
// the two and without. It writes the same map again, so that the kernel can use it in either
// order.
#include <cuda.h>

#include "tests/kernels/check/waiting_test.cuh"

constexpr unsigned rows = 8, columns = 32, elements = rows * columns;

struct alignas(128) Map {
  std::uint64_t words[16];
};

__global__ void load(const Map* map, int* out) {
  __shared__ alignas(128) int tile[elements];
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  if (threadIdx.x == 0) {
    arrive_expect(&bar, sizeof tile);
    // clang-format off
    // [load]
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3}], [%2];" ::"r"(shared_address(tile)), "l"(map), "r"(shared_address(&bar)), "r"(0) : "memory");
    // clang-format on
  }
  wait_parity(&bar, 0);
  for (unsigned i = threadIdx.x; i < elements; i += 32) out[i] = tile[i];
}

__global__ void rewrite(Map* map, const __grid_constant__ Map from) {
  if (threadIdx.x < 16) map->words[threadIdx.x] = from.words[threadIdx.x];  // [rewrite]
}

CUtensorMap encoded(int* tensor) {
  CUtensorMap map;
  const cuuint64_t dims[] = {columns, rows}, strides[] = {columns * sizeof(int)};
  const cuuint32_t box[] = {columns, rows}, steps[] = {1, 1};
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, dims, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

enum class By { copy_after, copy_before, kernel_after };

template <By by, bool right>
void run() {
  Buffer<int> tensor(elements), out(elements);
  Buffer<Map> map(1);
  CUtensorMap* host;
  CHECK(cudaMallocHost(&host, sizeof *host));
  *host = encoded(tensor);
  CHECK(cudaMemcpy(map, host, sizeof *host, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize());
  cudaStream_t a, b;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  const auto in_order = [&](cudaStream_t first, cudaStream_t second) {
    CHECK(cudaEventRecord(done, first));
    if (right) CHECK(cudaStreamWaitEvent(second, done));
  };
  const auto copy = [&] {
    CHECK(cudaMemcpyAsync(map, host, sizeof *host, cudaMemcpyHostToDevice, b));
  };
  if (by == By::copy_before) {
    copy();
    in_order(b, a);
  }
  load<<<1, 32, 0, a>>>(map, out);
  if (by != By::copy_before) in_order(a, b);
  if (by == By::copy_after) copy();
  if (by == By::kernel_after) {
    Map from;
    std::memcpy(&from, host, sizeof from);
    rewrite<<<1, 32, 0, b>>>(map, from);
  }
  CHECK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<By::copy_after, false>},
                   {"twin", run<By::copy_after, true>},
                   {"copy_before", run<By::copy_before, false>},
                   {"copy_before_twin", run<By::copy_before, true>},
                   {"kernel", run<By::kernel_after, false>},
                   {"kernel_twin", run<By::kernel_after, true>}});
}
