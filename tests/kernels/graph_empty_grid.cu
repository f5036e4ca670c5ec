// flags: -lcuda
// A graph's kernel node may have a grid of no blocks, to be given its size later; a launch may not.
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
  CUgraphNode node, other;
  CUgraphExec exec;
  CUDA_KERNEL_NODE_PARAMS what{};
  what.func = kernel;
  what.blockDimX = what.blockDimY = what.blockDimZ = 1;
  what.gridDimX = 0, what.gridDimY = what.gridDimZ = 1;
  what.kernelParams = arguments;
  TELL(cuGraphCreate(&graph, 0));
  TELL(cuGraphAddKernelNode(&node, graph, nullptr, 0, &what));
  CUDA_KERNEL_NODE_PARAMS kept{};
  TELL(cuGraphKernelNodeGetParams(node, &kept));
  std::printf("grid: %u %u %u\n", kept.gridDimX, kept.gridDimY, kept.gridDimZ);
  TELL(cuGraphKernelNodeSetParams(node, &what));
  what.blockDimX = 0;
  TELL(cuGraphAddKernelNode(&other, graph, nullptr, 0, &what));
  what.blockDimX = 1;
  TELL(cuGraphInstantiate(&exec, graph, 0));

  cudaKernelNodeParams same{};
  cudaGraph_t plain;
  cudaGraphNode_t added;
  same.func = reinterpret_cast<void*>(count);
  same.gridDim = dim3(1, 0, 1), same.blockDim = dim3(1);
  same.kernelParams = arguments;
  CHECK(cudaGraphCreate(&plain, 0));
  TELL(cudaGraphAddKernelNode(&added, plain, nullptr, 0, &same));
  TELL(cudaGetLastError());

  what.gridDimX = 3;
  TELL(cuGraphExecKernelNodeSetParams(exec, node, &what));
  TELL(cuGraphLaunch(exec, stream));
  TELL(cuStreamSynchronize(stream));
  print("blocks", blocks.read());

  what.gridDimX = 0;
  TELL(cuGraphExecKernelNodeSetParams(exec, node, &what));
  TELL(cuGraphLaunch(exec, stream));
  TELL(cuStreamSynchronize(stream));
  std::printf("after it: %d\n", int(cudaGetLastError()));
  int read = -1;
  TELL(cudaMemcpy(&read, to, sizeof read, cudaMemcpyDefault));
  std::printf("blocks: %d\n", read);
}
