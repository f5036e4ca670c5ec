// flags: -lcuda
// Conditional nodes made by driver calls: a loop that contains a branch.
#include <cstdio>
#include <cstdlib>

#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call)                                     \
  do {                                                  \
    if (const CUresult e = (call); e != CUDA_SUCCESS) { \
      std::printf("line %d: %d\n", __LINE__, int(e));   \
      std::exit(1);                                     \
    }                                                   \
  } while (0)

__device__ unsigned count, noted[64];
__global__ void notes(unsigned what) { noted[count++] = what; }
__global__ void counts_down(cudaGraphConditionalHandle again, cudaGraphConditionalHandle odd,
                            unsigned* left) {
  noted[count++] = *left;
  cudaGraphSetConditional(odd, *left % 2);
  cudaGraphSetConditional(again, --*left);
}

template <class... Arguments>
CUgraphNode kernel(CUgraph graph, CUgraphNode after, void (*function)(Arguments...),
                   Arguments... arguments) {
  cudaFunction_t handle;
  if (cudaGetFuncBySymbol(&handle, reinterpret_cast<void*>(function)) != cudaSuccess) std::exit(1);
  void* pointers[] = {&arguments...};
  CUgraphNodeParams p = {};
  p.type = CU_GRAPH_NODE_TYPE_KERNEL;
  p.kernel.func = handle;
  p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = 1;
  p.kernel.blockDimX = p.kernel.blockDimY = p.kernel.blockDimZ = 1;
  p.kernel.kernelParams = pointers;
  CUgraphNode node;
  CHECK(cuGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &p));
  return node;
}

CUgraphNodeParams conditional(CUcontext context, CUgraphConditionalHandle handle,
                              CUgraphConditionalNodeType type, unsigned size) {
  CUgraphNodeParams p = {};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  p.conditional.ctx = context;
  return p;
}

int main() {
  cudaFree(nullptr);
  CUcontext context;
  CHECK(cuCtxGetCurrent(&context));
  unsigned* left;
  cudaMallocManaged(&left, sizeof *left);

  CUgraph graph;
  CHECK(cuGraphCreate(&graph, 0));
  CUgraphConditionalHandle again, odd;
  CHECK(cuGraphConditionalHandleCreate(&again, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CHECK(cuGraphConditionalHandleCreate(&odd, graph, context, 0, 0));
  CUgraphNodeParams loop = conditional(context, again, CU_GRAPH_COND_TYPE_WHILE, 1);
  CUgraphNode loop_node, branch_node;
  CHECK(cuGraphAddNode(&loop_node, graph, nullptr, nullptr, 0, &loop));
  const CUgraph body = loop.conditional.phGraph_out[0];
  const CUgraphNode first = kernel(body, nullptr, counts_down, cudaGraphConditionalHandle{again},
                                   cudaGraphConditionalHandle{odd}, left);
  CUgraphNodeParams branch = conditional(context, odd, CU_GRAPH_COND_TYPE_IF, 2);
  CHECK(cuGraphAddNode(&branch_node, body, &first, nullptr, 1, &branch));
  kernel(branch.conditional.phGraph_out[0], nullptr, notes, 111u);
  kernel(branch.conditional.phGraph_out[1], nullptr, notes, 222u);
  kernel(graph, loop_node, notes, 999u);

  CUgraphNodeType type;
  CHECK(cuGraphNodeGetType(loop_node, &type));
  std::printf("type %d\n", int(type));
  CUgraphExec exec;
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  for (const unsigned rounds : {3u, 1u}) {
    *left = rounds;
    CHECK(cuGraphLaunch(exec, nullptr));
    CHECK(cuCtxSynchronize());
  }
  unsigned n, all[64];
  cudaMemcpyFromSymbol(&n, count, sizeof n);
  cudaMemcpyFromSymbol(all, noted, sizeof all);
  for (unsigned i = 0; i < n; ++i) std::printf("%u ", all[i]);
  std::printf("\n");

  // A switch on a number, with values past the number of bodies.
  CUgraph other;
  CHECK(cuGraphCreate(&other, 0));
  CUgraphConditionalHandle chosen;
  CHECK(cuGraphConditionalHandleCreate(&chosen, other, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams choice = conditional(context, chosen, CU_GRAPH_COND_TYPE_SWITCH, 3);
  CHECK(cuGraphAddNode(&branch_node, other, nullptr, nullptr, 0, &choice));
  for (unsigned i = 0; i < 3; ++i)
    kernel(choice.conditional.phGraph_out[i], nullptr, notes, 10 + i);
  CUgraphExec second;
  CHECK(cuGraphInstantiate(&second, other, 0));
  CHECK(cuGraphLaunch(second, nullptr));
  CHECK(cuCtxSynchronize());
  unsigned last;
  cudaMemcpyFromSymbol(&last, noted, sizeof last, n * sizeof last);
  std::printf("by a number: %u\n", last);

  CUgraphNodeParams wrong = conditional(context, again, CU_GRAPH_COND_TYPE_WHILE, 2);
  std::printf("two bodies of a loop: %d\n",
              int(cuGraphAddNode(&branch_node, graph, nullptr, nullptr, 0, &wrong)));
  std::printf("no graph: %d, unknown flags: %d\n",
              int(cuGraphConditionalHandleCreate(&again, nullptr, context, 0, 0)),
              int(cuGraphConditionalHandleCreate(&again, graph, context, 0, 8)));
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphExecDestroy(second));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuGraphDestroy(other));
}
