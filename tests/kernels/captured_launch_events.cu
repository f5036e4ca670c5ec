// Events of launch attributes in captured streams, and the graph edges that they become.
#include <vector>

#include "tests/kernels/kernel_test.cuh"

namespace {

__global__ void first(int* data) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  data[threadIdx.x] = threadIdx.x;
}
__global__ void second(const int* data, int* out) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[threadIdx.x] = data[threadIdx.x] + 1;
}

cudaLaunchAttribute programmatic(cudaEvent_t event, int at_begin) {
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributeProgrammaticEvent;
  a.val.programmaticEvent.event = event;
  a.val.programmaticEvent.triggerAtBlockStart = at_begin;
  return a;
}
cudaLaunchAttribute completion(cudaEvent_t event) {
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributeLaunchCompletionEvent;
  a.val.launchCompletionEvent.event = event;
  return a;
}

void print_edges(const char* what, cudaGraph_t graph) {
  size_t edges = 0;
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  std::vector<cudaGraphNode_t> from(edges), to(edges);
  std::vector<cudaGraphEdgeData> data(edges);
  CHECK(cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &edges));
  std::printf("%s:", what);
  for (const cudaGraphEdgeData& each : data)
    std::printf(" port %d type %d", each.from_port, each.type);
  std::printf("\n");
}

// `first` in one stream, `second` in another after the event.
void capture(const char* what, cudaLaunchAttribute (*attribute)(cudaEvent_t), bool kernel) {
  cudaStream_t a, b;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  cudaEvent_t event, done;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  int *data, *out;
  CHECK(cudaMalloc(&data, 32 * sizeof(int)));
  CHECK(cudaMalloc(&out, 32 * sizeof(int)));
  CHECK(cudaMemset(out, 0, 32 * sizeof(int)));
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  cudaLaunchAttribute attr = attribute(event);
  cudaLaunchConfig_t config = {};
  config.gridDim = 1, config.blockDim = 32, config.stream = a;
  config.attrs = &attr, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, first, data));
  CHECK(cudaStreamWaitEvent(b, event));
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* tips = nullptr;
  const cudaGraphEdgeData* kinds = nullptr;
  size_t count = 0;
  CHECK(cudaStreamGetCaptureInfo(b, &status, nullptr, nullptr, &tips, &kinds, &count));
  for (size_t i = 0; i < count; ++i)
    std::printf("%s, next work behind port %d type %d\n", what, kinds[i].from_port, kinds[i].type);
  if (kernel) second<<<1, 32, 0, b>>>(data, out);
  else CHECK(cudaMemsetAsync(out, 1, sizeof(int), b));
  CHECK(cudaEventRecord(done, b));
  CHECK(cudaStreamWaitEvent(a, done));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(a, &graph));
  print_edges(what, graph);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, a));
  CHECK(cudaStreamSynchronize(a));
  int last[2] = {};
  CHECK(cudaMemcpy(last, out, sizeof last, cudaMemcpyDeviceToHost));
  // After the start of the first, the second may read before the first writes.
  if (attr.id == cudaLaunchAttributeProgrammaticEvent) std::printf("%d %d\n", last[0], last[1]);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(data));
  CHECK(cudaFree(out));
  CHECK(cudaEventDestroy(event));
  CHECK(cudaEventDestroy(done));
  CHECK(cudaStreamDestroy(a));
  CHECK(cudaStreamDestroy(b));
}

// The edge types that a program sets for the work that it captures next.
void given() {
  cudaStream_t a;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  int* data;
  CHECK(cudaMalloc(&data, 32 * sizeof(int)));
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  first<<<1, 32, 0, a>>>(data);
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* tips = nullptr;
  const cudaGraphEdgeData* kinds = nullptr;
  size_t count = 0;
  CHECK(cudaStreamGetCaptureInfo(a, &status, nullptr, nullptr, &tips, &kinds, &count));
  cudaGraphNode_t node = tips[0];
  cudaGraphEdgeData edge = {};
  edge.from_port = cudaGraphKernelNodePortProgrammatic;
  edge.type = cudaGraphDependencyTypeProgrammatic;
  CHECK(cudaStreamUpdateCaptureDependencies(a, &node, &edge, 1, cudaStreamSetCaptureDependencies));
  second<<<1, 32, 0, a>>>(data, data);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(a, &graph));
  print_edges("given", graph);
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(data));
  CHECK(cudaStreamDestroy(a));
}

}  // namespace

int main() {
  capture(
      "programmatic", [](cudaEvent_t e) { return programmatic(e, 0); }, true);
  capture(
      "programmatic, at block start", [](cudaEvent_t e) { return programmatic(e, 1); }, true);
  capture("launch completion", completion, true);
  capture("launch completion, fill", completion, false);
  given();
}
