// flags: -lcuda
// Arguments of graph nodes that write values to memory and wait for them: list lengths, addresses
// and flags; and the allowed updates of such a node in an instantiated graph.
#include "tests/kernels/kernel_test.cuh"

#include <cuda.h>

#include <vector>

using Operation = CUstreamBatchMemOpParams;

CUcontext context;
CUgraph graph;
CUgraphNode node;
CUgraphExec exec;
CUdeviceptr memory;

Operation value(CUstreamBatchMemOpType kind, unsigned flags = 0, CUdeviceptr at = memory) {
  Operation made = {};
  made.operation = kind;
  made.waitValue.address = at;
  made.waitValue.flags = flags;
  return made;
}

Operation barrier(unsigned flags) {
  Operation made = {};
  made.operation = CU_STREAM_MEM_OP_BARRIER;
  made.memoryBarrier.flags = flags;
  return made;
}

int add(std::vector<Operation> list, CUcontext in = context, unsigned flags = 0) {
  CUDA_BATCH_MEM_OP_NODE_PARAMS given = {in, unsigned(list.size()), list.data(), flags};
  return cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &given);
}

int set(std::vector<Operation> list) {
  CUDA_BATCH_MEM_OP_NODE_PARAMS given = {context, unsigned(list.size()), list.data(), 0};
  return cuGraphExecBatchMemOpNodeSetParams(exec, node, &given);
}

int main() {
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  cuMemAlloc(&memory, 64);
  cuMemsetD32(memory, 0, 16);
  cuGraphCreate(&graph, 0);
  const Operation write = value(CU_STREAM_MEM_OP_WRITE_VALUE_32);
  std::printf("null context %d, 255 %d, 256 %d, flags %d, barrier 2 %d, empty %d\n",
              add({write}, nullptr), add(std::vector(255, write)), add(std::vector(256, write)),
              add({write}, context, 1), add({barrier(2)}), add({}));
  std::printf("misaligned: %d\n", add({value(CU_STREAM_MEM_OP_WRITE_VALUE_32, 0, memory + 2)}));
  std::printf("no memory: %d\n", add({value(CU_STREAM_MEM_OP_WRITE_VALUE_32, 0, 64)}));
  cuGraphDestroy(graph);
  cuGraphCreate(&graph, 0);
  const Operation wait = value(CU_STREAM_MEM_OP_WAIT_VALUE_32, CU_STREAM_WAIT_VALUE_EQ);
  add({wait});
  std::printf("instantiate %d\n", cuGraphInstantiate(&exec, graph, 0));
  std::printf("GEQ %d, flush %d, write %d, two %d\n", set({value(CU_STREAM_MEM_OP_WAIT_VALUE_32)}),
              set({value(CU_STREAM_MEM_OP_WAIT_VALUE_32,
                         CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH)}),
              set({write}), set({wait, wait}));
}
