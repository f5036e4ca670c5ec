// flags: -lcuda
// A graph that allocates memory has one executable graph at a time, and frees each address once.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

namespace {

#define ANSWER(call) std::printf("%s = %d\n", #call, static_cast<int>(call))

}  // namespace

int main() {
  CHECK(cudaFree(nullptr));
  CUgraph graph;
  CUgraphNode allocated, freed, again;
  CUgraphExec first, second;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.bytesize = 64;
  ANSWER(cuGraphCreate(&graph, 0));
  ANSWER(cuGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &parameters));
  ANSWER(cuGraphAddMemFreeNode(&freed, graph, &allocated, 1, parameters.dptr));
  ANSWER(cuGraphAddMemFreeNode(&again, graph, &freed, 1, parameters.dptr));
  ANSWER(cuGraphAddMemFreeNode(&again, graph, &allocated, 1, parameters.dptr));
  std::size_t nodes = 0;
  ANSWER(cuGraphGetNodes(graph, nullptr, &nodes));
  std::printf("%zu nodes\n", nodes);

  // An allocation at an address that is free again is another one.
  const CUdeviceptr before = parameters.dptr;
  ANSWER(cuGraphAddMemAllocNode(&allocated, graph, &freed, 1, &parameters));
  std::printf("the same address: %d\n", before == parameters.dptr);
  ANSWER(cuGraphAddMemFreeNode(&freed, graph, &allocated, 1, parameters.dptr));

  ANSWER(cuGraphInstantiate(&first, graph, 0));
  ANSWER(cuGraphInstantiate(&second, graph, 0));
  ANSWER(cuGraphLaunch(first, nullptr));
  ANSWER(cuGraphExecDestroy(first));
  ANSWER(cuGraphInstantiate(&second, graph, 0));
  ANSWER(cuGraphLaunch(second, nullptr));
  ANSWER(cuCtxSynchronize());
  ANSWER(cuGraphExecDestroy(second));
  ANSWER(cuGraphDestroy(graph));

  // Without memory, it may have several.
  ANSWER(cuGraphCreate(&graph, 0));
  ANSWER(cuGraphAddEmptyNode(&allocated, graph, nullptr, 0));
  ANSWER(cuGraphInstantiate(&first, graph, 0));
  ANSWER(cuGraphInstantiate(&second, graph, 0));
}
