// flags: -lcuda
// A condition is for the graph that it was made for and for the bodies in it, not for other graphs.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

namespace {

#define ANSWER(call) std::printf("%s = %d\n", #call, static_cast<int>(call))

CUgraphNodeParams conditional(CUgraphConditionalHandle handle) {
  CUgraphNodeParams p = {};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = handle;
  p.conditional.type = CU_GRAPH_COND_TYPE_IF;
  p.conditional.size = 1;
  cuCtxGetCurrent(&p.conditional.ctx);
  return p;
}

}  // namespace

int main() {
  CHECK(cudaFree(nullptr));
  CUcontext context;
  CUgraph graph, other;
  CUgraphNode node;
  CUgraphConditionalHandle outer, inner;
  ANSWER(cuCtxGetCurrent(&context));
  ANSWER(cuGraphCreate(&graph, 0));
  ANSWER(cuGraphCreate(&other, 0));
  ANSWER(cuGraphConditionalHandleCreate(&outer, graph, context, 0, 0));
  ANSWER(cuGraphConditionalHandleCreate(&inner, graph, context, 0, 0));
  CUgraphNodeParams elsewhere = conditional(outer), here = conditional(outer),
                    within = conditional(inner);
  ANSWER(cuGraphAddNode(&node, other, nullptr, nullptr, 0, &elsewhere));
  std::size_t nodes = 9;
  ANSWER(cuGraphGetNodes(other, nullptr, &nodes));
  std::printf("%zu nodes\n", nodes);
  ANSWER(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &here));
  ANSWER(cuGraphAddNode(&node, here.conditional.phGraph_out[0], nullptr, nullptr, 0, &within));
  ANSWER(cuGraphDestroy(other));
  ANSWER(cuGraphDestroy(graph));
}
