// flags: -lcuda
// A graph's kernel node needs a grid with blocks, both when added and when updated.
#include <cuda.h>

#include "kernel_test.cuh"

__global__ void count(int* to) { atomicAdd(to, 1); }

#define TELL(call) std::printf("%s: %d\n", #call, int(call))

int main() {
  Buffer<int> blocks(1);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CUfunction kernel;
  CHECK(cudaGetFuncBySymbol(&kernel, reinterpret_cast<const void*>(count)));
  int* to = blocks;
  void* arguments[] = {&to};

  TELL(cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));

  CUgraph graph;
  CUgraphNode none, node;
  CUgraphExec exec;
  CUDA_KERNEL_NODE_PARAMS what{};
  what.func = kernel;
  what.blockDimX = what.blockDimY = what.blockDimZ = 1;
  what.gridDimX = 0, what.gridDimY = what.gridDimZ = 1;
  what.kernelParams = arguments;
  TELL(cuGraphCreate(&graph, 0));
  TELL(cuGraphAddKernelNode(&none, graph, nullptr, 0, &what));

  cudaKernelNodeParams same{};
  cudaGraph_t plain;
  cudaGraphNode_t added;
  same.func = reinterpret_cast<void*>(count);
  same.gridDim = dim3(1, 0, 1), same.blockDim = dim3(1);
  same.kernelParams = arguments;
  CHECK(cudaGraphCreate(&plain, 0));
  TELL(cudaGraphAddKernelNode(&added, plain, nullptr, 0, &same));
  cudaGetLastError();

  what.gridDimX = 3;
  TELL(cuGraphAddKernelNode(&node, graph, nullptr, 0, &what));
  what.gridDimX = 0;
  TELL(cuGraphKernelNodeSetParams(node, &what));
  TELL(cuGraphInstantiate(&exec, graph, 0));
  TELL(cuGraphExecKernelNodeSetParams(exec, node, &what));
  TELL(cuGraphLaunch(exec, stream));
  TELL(cuStreamSynchronize(stream));
  print("blocks", blocks.read());
}
