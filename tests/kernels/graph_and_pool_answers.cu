// flags: -lcuda
// What the driver answers about allocations of no bytes, pools during a capture, shared memory that
// is left for a kernel, ranges' accessors, and changes of graphs that allocate memory.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

namespace {

#define ANSWER(call) std::printf("%s = %d\n", #call, static_cast<int>(call))

__global__ void with_static(int* to) {
  __shared__ int some[64];
  some[threadIdx.x] = 1;
  __syncthreads();
  *to = some[3];
}
__global__ void without(int* to) { *to = 1; }

constexpr unsigned long long mark = 1;

void no_bytes(CUstream s, CUmemoryPool pool) {
  CUdeviceptr p = mark;
  ANSWER(cuMemAllocAsync(&p, 0, s));
  std::printf("p %llx\n", p);
  ANSWER(cuMemFreeAsync(p, s));
  p = mark;
  ANSWER(cuMemAllocFromPoolAsync(&p, 0, pool, s));
  std::printf("p %llx\n", p);
  CUgraph graph;
  std::size_t nodes = 0;
  ANSWER(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  p = mark;
  ANSWER(cuMemAllocAsync(&p, 0, s));
  ANSWER(cuStreamEndCapture(s, &graph));
  ANSWER(cuGraphGetNodes(graph, nullptr, &nodes));
  std::printf("p %llx, nodes %zu\n", p, nodes);
  ANSWER(cuGraphDestroy(graph));
}

void pools_in_a_capture(CUstream s, CUmemoryPool pool) {
  CUgraph graph;
  cuuint64_t value = 0;
  ANSWER(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  ANSWER(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
  ANSWER(cuStreamEndCapture(s, &graph));
  ANSWER(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  ANSWER(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
  ANSWER(cuStreamEndCapture(s, &graph));
}

void shared_memory_left(const char* name, void (*kernel)(int*)) {
  for (int blocks = 1; blocks <= 32; blocks *= 2) {
    std::size_t left = 0;
    const int error = cudaOccupancyAvailableDynamicSMemPerBlock(&left, kernel, blocks, 64);
    std::printf("%s, %d blocks: %d %zu\n", name, blocks, error, left);
  }
}

void accessors() {
  CUdeviceptr range;
  ANSWER(cuMemAllocManaged(&range, 1 << 20, CU_MEM_ATTACH_GLOBAL));
  CUmemLocation device{}, host{};
  device.type = CU_MEM_LOCATION_TYPE_DEVICE;
  host.type = CU_MEM_LOCATION_TYPE_HOST;
  for (const CUmemLocation& each : {device, device, host}) {
    int seen[3] = {};
    ANSWER(cuMemAdvise(range, 1 << 20, CU_MEM_ADVISE_SET_ACCESSED_BY, each));
    ANSWER(cuMemRangeGetAttribute(seen, sizeof seen, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, range,
                                  1 << 20));
    std::printf("%d %d %d\n", seen[0], seen[1], seen[2]);
  }
  ANSWER(cuMemFree(range));
}

void graphs_with_memory() {
  CUgraph graph, parent, clone;
  CUgraphNode allocated, freed, child;
  ANSWER(cuGraphCreate(&graph, 0));
  ANSWER(cuGraphCreate(&parent, 0));
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.bytesize = 64;
  ANSWER(cuGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &parameters));
  ANSWER(cuGraphAddMemFreeNode(&freed, graph, &allocated, 1, parameters.dptr));
  ANSWER(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
  ANSWER(cuGraphDestroyNode(freed));
  ANSWER(cuGraphRemoveDependencies(graph, &allocated, &freed, nullptr, 1));
  ANSWER(cuGraphClone(&clone, graph));
  ANSWER(cuGraphDestroy(parent));
  ANSWER(cuGraphDestroy(graph));
}

}  // namespace

int main() {
  CHECK(cudaFree(nullptr));
  CUstream s;
  CUmemoryPool pool;
  ANSWER(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  ANSWER(cuDeviceGetDefaultMemPool(&pool, 0));
  no_bytes(s, pool);
  pools_in_a_capture(s, pool);
  shared_memory_left("static", with_static);
  shared_memory_left("none", without);
  CHECK(cudaFuncSetAttribute(with_static, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  shared_memory_left("100,000", with_static);
  accessors();
  graphs_with_memory();
}
