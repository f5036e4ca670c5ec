// Conditional nodes of graphs: if, while and switch bodies on values that kernels set.
#include <cstdio>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    if (cudaError_t e = call; e != cudaSuccess) {                                       \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(e));                      \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)

__device__ unsigned count, trace[64];
__device__ void note(unsigned what) { trace[count++] = what; }

__global__ void says(unsigned what) { note(what); }
__global__ void sets(cudaGraphConditionalHandle handle, const unsigned* value) {
  cudaGraphSetConditional(handle, *value);
}
__global__ void counts_down(cudaGraphConditionalHandle handle, unsigned* left) {
  note(100 + *left);
  cudaGraphSetConditional(handle, --*left);
}
// Starts an inner loop of `n` rounds.
__global__ void starts(cudaGraphConditionalHandle handle, unsigned* left, unsigned n) {
  note(200);
  *left = n;
  cudaGraphSetConditional(handle, n);
}

struct Node {
  cudaGraphNode_t node;
  cudaGraph_t bodies[4];
};

template <class... Arguments>
cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, void (*function)(Arguments...),
                       Arguments... arguments) {
  void* pointers[] = {&arguments...};
  cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
  p.kernel.func = reinterpret_cast<void*>(function);
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = pointers;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &p));
  return node;
}

Node conditional(cudaGraph_t graph, cudaGraphNode_t after, cudaGraphConditionalHandle handle,
                 cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  Node made{};
  CHECK(cudaGraphAddNode(&made.node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &p));
  for (unsigned i = 0; i < size; ++i) made.bodies[i] = p.conditional.phGraph_out[i];
  return made;
}

void run(cudaGraphExec_t exec, const char* what) {
  unsigned n = 0, all[64];
  CHECK(cudaMemcpyToSymbol(count, &n, sizeof n));
  CHECK(cudaGraphLaunch(exec, 0));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpyFromSymbol(&n, count, sizeof n));
  CHECK(cudaMemcpyFromSymbol(all, trace, sizeof all));
  std::printf("%s:", what);
  for (unsigned i = 0; i < n; ++i) std::printf(" %u", all[i]);
  std::printf("\n");
}

struct Built {
  cudaGraph_t graph;
  cudaGraphExec_t exec = nullptr;
  Built() { CHECK(cudaGraphCreate(&graph, 0)); }
  void finish() { CHECK(cudaGraphInstantiate(&exec, graph, 0)); }
  ~Built() {
    if (exec) CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
  }
  cudaGraphConditionalHandle handle(unsigned value = 0, unsigned flags = 0) {
    cudaGraphConditionalHandle made;
    CHECK(cudaGraphConditionalHandleCreate(&made, graph, value, flags));
    return made;
  }
};

int main() {
  unsigned* value;
  CHECK(cudaMallocManaged(&value, 2 * sizeof *value));

  {  // if, else, and later nodes
    Built g;
    const auto handle = g.handle();
    const auto first = kernel(g.graph, nullptr, sets, handle, static_cast<const unsigned*>(value));
    const Node node = conditional(g.graph, first, handle, cudaGraphCondTypeIf, 2);
    kernel(node.bodies[0], nullptr, says, 1u);
    kernel(node.bodies[1], kernel(node.bodies[1], nullptr, says, 2u), says, 3u);
    kernel(g.graph, node.node, says, 4u);
    g.finish();
    *value = 7;
    run(g.exec, "if");
    *value = 0;
    run(g.exec, "else");
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(node.node, &type));
    std::printf("type %d\n", type);
  }
  {  // if, without else
    Built g;
    const auto handle = g.handle();
    const auto first = kernel(g.graph, nullptr, sets, handle, static_cast<const unsigned*>(value));
    const Node node = conditional(g.graph, first, handle, cudaGraphCondTypeIf, 1);
    kernel(node.bodies[0], nullptr, says, 1u);
    kernel(g.graph, node.node, says, 4u);
    g.finish();
    *value = 0;
    run(g.exec, "if not");
    *value = 1;
    run(g.exec, "if so");
  }
  {  // while, with a default value at the start of each launch
    Built g;
    const auto handle = g.handle(1, cudaGraphCondAssignDefault);
    const Node node = conditional(g.graph, nullptr, handle, cudaGraphCondTypeWhile, 1);
    kernel(node.bodies[0], nullptr, counts_down, handle, value);
    kernel(g.graph, node.node, says, 4u);
    g.finish();
    *value = 5;
    run(g.exec, "while");
    *value = 2;
    run(g.exec, "again");
  }
  {  // while with no rounds
    Built g;
    const auto handle = g.handle(0, cudaGraphCondAssignDefault);
    const Node node = conditional(g.graph, nullptr, handle, cudaGraphCondTypeWhile, 1);
    kernel(node.bodies[0], nullptr, says, 1u);
    g.finish();
    run(g.exec, "never");
  }
  {  // switch
    Built g;
    const auto handle = g.handle();
    const auto first = kernel(g.graph, nullptr, sets, handle, static_cast<const unsigned*>(value));
    const Node node = conditional(g.graph, first, handle, cudaGraphCondTypeSwitch, 3);
    for (unsigned i = 0; i < 3; ++i) kernel(node.bodies[i], nullptr, says, 10 + i);
    g.finish();
    for (const unsigned each : {2u, 0u, 1u, 3u, 100u}) {
      *value = each;
      run(g.exec, "switch");
    }
  }
  {  // a loop in a loop
    Built g;
    const auto outer = g.handle(1, cudaGraphCondAssignDefault), inner = g.handle();
    const Node rounds = conditional(g.graph, nullptr, outer, cudaGraphCondTypeWhile, 1);
    const auto start = kernel(rounds.bodies[0], nullptr, starts, inner, value + 1, 3u);
    const Node turns = conditional(rounds.bodies[0], start, inner, cudaGraphCondTypeWhile, 1);
    kernel(turns.bodies[0], nullptr, counts_down, inner, value + 1);
    kernel(rounds.bodies[0], turns.node, counts_down, outer, value);
    g.finish();
    value[0] = 2;
    run(g.exec, "nested");
  }
  {  // a body that a stream's capture fills
    Built g;
    const auto handle = g.handle(1, cudaGraphCondAssignDefault);
    const Node node = conditional(g.graph, nullptr, handle, cudaGraphCondTypeWhile, 1);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCaptureToGraph(stream, node.bodies[0], nullptr, nullptr, 0,
                                        cudaStreamCaptureModeGlobal));
    says<<<1, 1, 0, stream>>>(1);
    counts_down<<<1, 1, 0, stream>>>(handle, value);
    CHECK(cudaStreamEndCapture(stream, nullptr));
    CHECK(cudaStreamDestroy(stream));
    g.finish();
    *value = 3;
    run(g.exec, "captured");
  }
  {  // invalid uses
    Built g;
    const auto handle = g.handle();
    const auto refused = [&](int type, unsigned size, cudaGraphConditionalHandle h) {
      cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
      p.conditional.handle = h;
      p.conditional.type = static_cast<cudaGraphConditionalNodeType>(type);
      p.conditional.size = size;
      cudaGraphNode_t node;
      return static_cast<int>(cudaGraphAddNode(&node, g.graph, nullptr, nullptr, 0, &p));
    };
    std::printf("refused: %d %d %d %d %d\n", refused(cudaGraphCondTypeWhile, 2, handle),
                refused(cudaGraphCondTypeIf, 3, handle), refused(cudaGraphCondTypeSwitch, 0, handle),
                refused(9, 1, handle), refused(cudaGraphCondTypeIf, 0, handle));
    cudaGraphConditionalHandle none;
    std::printf("no graph: %d, flags: %d\n", cudaGraphConditionalHandleCreate(&none, nullptr, 0, 0),
                cudaGraphConditionalHandleCreate(&none, g.graph, 0, 8));
    // A handle that no node uses.
    std::printf("unused: %d\n", cudaGraphInstantiate(&g.exec, g.graph, 0));
    g.exec = nullptr;
  }
}
