// Nodes of a graph use the same memory, with a path of edges between them and without.
#include "tests/kernels/check/check_test.cuh"

__global__ void writes(int* data) { data[threadIdx.x] = threadIdx.x; }  // [writes]
__global__ void reads(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x ^ 1];  // [reads]
}

void launch(cudaGraph_t graph) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaGraphLaunch(exec, nullptr));  // runs after the first
  CHECK(cudaDeviceSynchronize());
}

cudaGraphNode_t kernel(cudaGraph_t graph, void* function, void** arguments,
                       std::initializer_list<cudaGraphNode_t> after) {
  cudaKernelNodeParams p{};
  p.func = function;
  p.gridDim = 1, p.blockDim = 64;
  p.kernelParams = arguments;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, after.begin(), after.size(), &p));
  return node;
}

// writes -> (an empty node ->) reads
template <bool right>
void nodes() {
  Buffer<int> data(64), out(64);
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  int *d = data, *o = out;
  void* arguments[] = {&d, &o};
  const auto first = kernel(graph, (void*)writes, arguments, {});
  cudaGraphNode_t empty;
  CHECK(cudaGraphAddEmptyNode(&empty, graph, &first, right ? 1 : 0));
  kernel(graph, (void*)reads, arguments, {empty});
  launch(graph);
}

// Two captured streams. One joins the other too late.
template <bool right>
void captured() {
  Buffer<int> data(64), out(64);
  cudaStream_t a, b;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreate(&b));
  cudaEvent_t fork, join;
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaEventRecord(fork, a));
  CHECK(cudaStreamWaitEvent(b, fork));
  writes<<<1, 64, 0, b>>>(data);
  CHECK(cudaEventRecord(join, b));
  if (right) CHECK(cudaStreamWaitEvent(a, join));
  reads<<<1, 64, 0, a>>>(data, out);
  if (!right) CHECK(cudaStreamWaitEvent(a, join));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(a, &graph));
  launch(graph);
}

// The kernel that writes is in a child graph.
template <bool right>
void child() {
  Buffer<int> data(64), out(64);
  cudaGraph_t graph, inner;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphCreate(&inner, 0));
  int *d = data, *o = out;
  void* arguments[] = {&d, &o};
  kernel(inner, (void*)writes, arguments, {});
  cudaGraphNode_t node;
  CHECK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner));
  if (right) kernel(graph, (void*)reads, arguments, {node});
  else kernel(graph, (void*)reads, arguments, {});
  launch(graph);
}

// The child graph follows the kernel that reads.
void child_behind() {
  Buffer<int> data(64), out(64);
  cudaGraph_t graph, inner;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphCreate(&inner, 0));
  int *d = data, *o = out;
  void* arguments[] = {&d, &o};
  kernel(inner, (void*)writes, arguments, {});
  const auto front = kernel(graph, (void*)reads, arguments, {});
  cudaGraphNode_t node;
  CHECK(cudaGraphAddChildGraphNode(&node, graph, &front, 1, inner));
  launch(graph);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"nodes", nodes<false>},
                   {"nodes_twin", nodes<true>},
                   {"captured", captured<false>},
                   {"captured_twin", captured<true>},
                   {"child", child<false>},
                   {"child_twin", child<true>},
                   {"child_behind", child_behind}});
}
