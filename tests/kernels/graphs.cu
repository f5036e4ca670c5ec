// Graphs: captured from streams that fork and join, built by hand, launched again, updated.
#include "tests/kernels/kernel_test.cuh"

__global__ void step(int* v, int mul, int add) { v[threadIdx.x] = v[threadIdx.x] * mul + add; }
__global__ void sum(int* to, const int* a, const int* b) {
  to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

int host_calls = 0;
void CUDART_CB on_host(void* add) { host_calls += *static_cast<int*>(add); }

void captured() {
  Buffer<int> a(32), b(32), c(32);
  cudaStream_t s, t;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamCreate(&t));
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  step<<<1, 32, 0, s>>>(a, 1, 1);
  CHECK(cudaEventRecord(fork, s));
  CHECK(cudaStreamWaitEvent(t, fork, 0));
  step<<<1, 32, 0, t>>>(b, 2, 3);
  step<<<1, 32, 0, s>>>(a, 3, 0);
  CHECK(cudaEventRecord(join, t));
  CHECK(cudaStreamWaitEvent(s, join, 0));
  sum<<<1, 32, 0, s>>>(c, a, b);
  int add = 1;
  CHECK(cudaLaunchHostFunc(s, on_host, &add));
  CHECK(cudaStreamIsCapturing(s, &status));
  std::printf("capturing: %d\n", int(status));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(s, &graph));
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  std::printf("nodes: %zu\n", nodes);
  print("nothing ran", c.read());
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 4; ++i) CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaStreamSynchronize(s));
  print("ran four times", c.read());
  std::printf("host calls: %d\n", host_calls);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));

  // A capture that never joins fails.
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(fork, s));
  CHECK(cudaStreamWaitEvent(t, fork, 0));
  step<<<1, 32, 0, t>>>(b, 2, 3);
  SAY(cudaStreamEndCapture(s, &graph));
  SAY(cudaGetLastError());
}

void by_hand() {
  Buffer<int> a(32), b(32);
  std::vector<int> from(32), to(32);
  for (int i = 0; i < 32; ++i) from[i] = i;
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t in, set, kernel, add, out, host;
  CHECK(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, a, from.data(), 128,
                                 cudaMemcpyHostToDevice));
  cudaMemsetParams fill{};
  fill.dst = b;
  fill.elementSize = 4;
  fill.value = 5;
  fill.width = 32;
  fill.height = 1;
  CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
  int *pa = a, *pb = b, mul = 7, plus = 2;
  void* step_arguments[] = {&pa, &mul, &plus};
  cudaKernelNodeParams p{};
  p.func = (void*)step;
  p.gridDim = dim3(1);
  p.blockDim = dim3(32);
  p.kernelParams = step_arguments;
  CHECK(cudaGraphAddKernelNode(&kernel, graph, &in, 1, &p));
  void* sum_arguments[] = {&pb, &pa, &pb};
  cudaKernelNodeParams q = p;
  q.func = (void*)sum;
  q.kernelParams = sum_arguments;
  cudaGraphNode_t both[] = {kernel, set};
  CHECK(cudaGraphAddKernelNode(&add, graph, both, 2, &q));
  CHECK(cudaGraphAddMemcpyNode1D(&out, graph, &add, 1, to.data(), b, 128, cudaMemcpyDeviceToHost));
  int calls = 100;
  cudaHostNodeParams h{on_host, &calls};
  CHECK(cudaGraphAddHostNode(&host, graph, &out, 1, &h));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, 0));
  CHECK(cudaDeviceSynchronize());
  print("by hand", to);
  std::printf("host calls: %d\n", host_calls);

  mul = 11;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &p));
  CHECK(cudaGraphLaunch(exec, 0));
  CHECK(cudaDeviceSynchronize());
  print("new parameters", to);

  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(add, &type));
  std::size_t edges = 0, roots = 0;
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  std::printf("type %d, %zu edges, %zu roots\n", int(type), edges, roots);

  cudaGraph_t copy, outer;
  cudaGraphNode_t child, after;
  CHECK(cudaGraphClone(&copy, graph));
  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, copy));
  CHECK(cudaGraphAddEmptyNode(&after, outer, &child, 1));
  cudaGraphExec_t outer_exec;
  CHECK(cudaGraphInstantiate(&outer_exec, outer, 0));
  CHECK(cudaGraphLaunch(outer_exec, 0));
  CHECK(cudaDeviceSynchronize());
  print("as a child", to);
  std::printf("host calls: %d\n", host_calls);
  cudaGraphNode_t cycle[2] = {kernel, in};
  SAY(cudaGraphAddDependencies(graph, &cycle[0], &cycle[1], nullptr, 1));
}

int main() {
  captured();
  by_hand();
}
