// flags: -lcuda
// Whose user objects an executable graph holds: those of the graph that it was last made or updated
// from, and of a child graph that it got. A child graph that was looked at goes with its parent.
#include <cuda.h>
#include <unistd.h>

#include "tests/kernels/kernel_test.cuh"

namespace {

#define ANSWER(call) std::printf("%s = %d\n", #call, static_cast<int>(call))

int destroyed[5];
std::size_t ran;  // the host node that ran last
void destroy(void* which) { ++destroyed[reinterpret_cast<std::size_t>(which)]; }
void run(void* which) { ran = reinterpret_cast<std::size_t>(which); }

// Its host node uses what its user object stands for.
CUgraph graph(std::size_t which) {
  CUgraph made;
  CUgraphNode node;
  CUuserObject object;
  auto* const data = reinterpret_cast<void*>(which);
  const CUDA_HOST_NODE_PARAMS parameters{run, data};
  ANSWER(cuGraphCreate(&made, 0));
  ANSWER(cuGraphAddHostNode(&node, made, nullptr, 0, &parameters));
  ANSWER(cuUserObjectCreate(&object, data, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  ANSWER(cuGraphRetainUserObject(made, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  return made;
}

void show(const char* when) {
  usleep(50000);  // CUDA destroys objects at its leisure.
  std::printf("%s, destroyed:", when);
  for (int i = 1; i < 5; ++i) std::printf(" %d", destroyed[i]);
  std::printf("\n");
}

}  // namespace

int main() {
  CHECK(cudaFree(nullptr));
  CUstream s;
  ANSWER(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CUgraph first = graph(1), second = graph(2);
  CUgraphExec exec;
  ANSWER(cuGraphInstantiate(&exec, first, 0));
  ANSWER(cuGraphDestroy(first));
  show("instantiated");
  CUgraphExecUpdateResultInfo info;
  ANSWER(cuGraphExecUpdate(exec, second, &info));
  show("updated");
  ANSWER(cuGraphDestroy(second));
  show("without the source");
  ANSWER(cuGraphLaunch(exec, s));
  ANSWER(cuStreamSynchronize(s));
  std::printf("node %zu ran\n", ran);
  ANSWER(cuGraphExecDestroy(exec));
  show("without the executable graph");

  CUgraph third = graph(3), fourth = graph(4), parent, seen, again;
  CUgraphNode node;
  ANSWER(cuGraphCreate(&parent, 0));
  ANSWER(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, third));
  ANSWER(cuGraphDestroy(third));
  ANSWER(cuGraphInstantiate(&exec, parent, 0));
  ANSWER(cuGraphExecChildGraphNodeSetParams(exec, node, fourth));
  ANSWER(cuGraphDestroy(fourth));
  show("with another child");
  ANSWER(cuGraphLaunch(exec, s));
  ANSWER(cuStreamSynchronize(s));
  std::printf("node %zu ran\n", ran);
  ANSWER(cuGraphExecDestroy(exec));
  show("without the executable graph");
  ANSWER(cuGraphChildGraphNodeGetGraph(node, &seen));
  ANSWER(cuGraphChildGraphNodeGetGraph(node, &again));
  std::printf("the same: %d\n", seen == again);
  ANSWER(cuGraphDestroy(parent));
  show("without the parent");
}
