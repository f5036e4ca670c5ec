// software-only
// options: --timeout 0.5
// stderr: a while node of a graph was stopped after 500 ms.*its body has run [0-9]+ times
// --timeout ends a while node whose condition stays true, although each kernel in it is short.
#include "tests/kernels/kernel_test.cuh"

__global__ void count(int* times) { ++*times; }

int main() {
  Buffer<int> times(1);
  cudaGraph_t graph;
  SAY(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle condition;
  SAY(cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional};
  loop.conditional.handle = condition;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node;
  SAY(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop));
  int* place = times;
  void* arguments[] = {&place};
  cudaKernelNodeParams body{};
  body.func = (void*)count;
  body.gridDim = body.blockDim = 1;
  body.kernelParams = arguments;
  SAY(cudaGraphAddKernelNode(&node, loop.conditional.phGraph_out[0], nullptr, 0, &body));
  cudaGraphExec_t executable;
  SAY(cudaGraphInstantiate(&executable, graph, 0));
  SAY(cudaGraphLaunch(executable, nullptr));
  SAY(cudaDeviceSynchronize());
}
