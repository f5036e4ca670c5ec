// Allocation nodes, and captures from pools, whose memory is not a device's own.
// flags: -lcuda
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

#define TELL(call) std::printf("%s = %d\n", #call, int(call))

void describe(CUgraphNode node) {
  CUDA_MEM_ALLOC_NODE_PARAMS found{};
  TELL(cuGraphMemAllocNodeGetParams(node, &found));
  std::printf("type %d, location %d %d, %zu bytes\n", found.poolProps.allocType,
              found.poolProps.location.type, found.poolProps.location.id, found.bytesize);
}

void run(CUgraph graph, CUdeviceptr memory, cudaStream_t stream) {
  CUgraphExec exec;
  TELL(cuGraphInstantiate(&exec, graph, 0));
  TELL(cuGraphLaunch(exec, stream));
  TELL(cuStreamSynchronize(stream));
  int managed = -1, type = -1;
  TELL(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
  TELL(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  std::printf("managed %d, memory type %d\n", managed, type);
  TELL(cuMemFreeAsync(memory, stream));
  TELL(cuStreamSynchronize(stream));
}

int main() {
  cudaFree(nullptr);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  constexpr auto managed = CUmemAllocationType(2), pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  struct Place {
    const char* name;
    CUmemAllocationType type;
    CUmemLocationType location;
  };
  for (const Place& each : {Place{"managed", managed, CU_MEM_LOCATION_TYPE_DEVICE},
                            Place{"device", pinned, CU_MEM_LOCATION_TYPE_DEVICE},
                            Place{"host", pinned, CU_MEM_LOCATION_TYPE_HOST},
                            Place{"a node of the host", pinned, CU_MEM_LOCATION_TYPE_HOST_NUMA}}) {
    std::printf("an allocation node: %s\n", each.name);
    CUgraph graph;
    CUgraphNode node;
    cuGraphCreate(&graph, 0);
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps.allocType = each.type;
    parameters.poolProps.location = {each.location, 0};
    parameters.bytesize = 4096;
    TELL(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters));
    if (parameters.dptr == 0) continue;
    describe(node);
    run(graph, parameters.dptr, stream);
  }
  for (const Place& each : {Place{"managed", managed, CU_MEM_LOCATION_TYPE_DEVICE},
                            Place{"device", pinned, CU_MEM_LOCATION_TYPE_DEVICE},
                            Place{"host", pinned, CU_MEM_LOCATION_TYPE_HOST}}) {
    std::printf("a capture from a pool: %s\n", each.name);
    CUmemPoolProps properties{};
    properties.allocType = each.type;
    properties.location = {each.location, 0};
    CUmemoryPool pool;
    TELL(cuMemPoolCreate(&pool, &properties));
    TELL(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUdeviceptr memory = 0;
    TELL(cuMemAllocFromPoolAsync(&memory, 4096, pool, stream));
    CUgraph graph = nullptr;
    TELL(cuStreamEndCapture(stream, &graph));
    CUgraphNode nodes[2];
    size_t count = 2;
    TELL(cuGraphGetNodes(graph, nodes, &count));
    std::printf("%zu nodes\n", count);
    if (count != 1) continue;
    describe(nodes[0]);
    run(graph, memory, stream);
  }
}
