// async: late early shuffled:1 shuffled:2
// Programmatic dependent launches: a kernel that waits with griddepcontrol sees all writes of the
// kernel before it, in every form of launch, in streams and in graphs, whenever that kernel allows
// it to start.
#include <cstdio>
#include <vector>

namespace {

constexpr int count = 4096, threads = 256, blocks = count / threads, chain = 6;

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t e = (call);                                                \
    if (e != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorString(e)); \
  } while (0)

// Each kernel of the chain adds its number to its predecessor's result, shifted by a block.
__global__ void link(const int* in, int* out, int number) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const int value = in[(i + threads) % count] * 3 + number;
  out[i] = value;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// The same, but lets the next kernel start at once.
__global__ void eager_link(const int* in, int* out, int number) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[i] = in[(i + threads) % count] * 3 + number;
}

// The same, but never lets it start before its end.
__global__ void silent_link(const int* in, int* out, int number) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[(i + threads) % count] * 3 + number;
}

using Link = void (*)(const int*, int*, int);

std::vector<int> expected() {
  std::vector<int> now(count, 1), next(count);
  for (int n = 0; n < chain; ++n) {
    for (int k = 0; k < count; ++k) next[k] = now[(k + threads) % count] * 3 + n;
    now = next;
  }
  return now;
}

struct Buffers {
  int* at[2];
  Buffers() {
    for (int*& p : at) CHECK(cudaMalloc(&p, count * sizeof(int)));
    std::vector<int> ones(count, 1);
    CHECK(cudaMemcpy(at[0], ones.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  }
  ~Buffers() {
    for (int* p : at) cudaFree(p);
  }
  int wrong() const {
    std::vector<int> host(count);
    CHECK(cudaMemcpy(host.data(), at[chain % 2], count * sizeof(int), cudaMemcpyDeviceToHost));
    const std::vector<int> right = expected();
    int bad = 0;
    for (int i = 0; i < count; ++i) bad += host[i] != right[i];
    return bad;
  }
};

void launch_chain(Buffers& b, cudaStream_t stream, cudaLaunchAttribute attribute,
                  Link kernel = link) {
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks, config.blockDim = threads, config.stream = stream;
  config.attrs = &attribute, config.numAttrs = 1;
  for (int n = 0; n < chain; ++n) {
    const int* in = b.at[n % 2];
    CHECK(cudaLaunchKernelEx(&config, kernel, in, b.at[(n + 1) % 2], n));
  }
}

cudaLaunchAttribute serialization(int on) {
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  a.val.programmaticStreamSerializationAllowed = on;
  return a;
}

void in_a_stream(const char* which, Link kernel) {
  Buffers b;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  launch_chain(b, stream, serialization(1), kernel);
  CHECK(cudaStreamSynchronize(stream));
  std::printf("in a stream%s: %d wrong\n", which, b.wrong());
  CHECK(cudaStreamDestroy(stream));
}

void without_overlap() {
  Buffers b;
  launch_chain(b, nullptr, serialization(0));
  CHECK(cudaDeviceSynchronize());
  std::printf("with serialization kept: %d wrong\n", b.wrong());
}

// The event is complete when every block has triggered it; another stream waits for it.
void by_event() {
  Buffers b;
  cudaStream_t first, second;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (int n = 0; n < chain; ++n) {
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeProgrammaticEvent;
    a.val.programmaticEvent.event = event;
    a.val.programmaticEvent.flags = 0;
    a.val.programmaticEvent.triggerAtBlockStart = 0;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = threads;
    config.stream = n % 2 ? second : first;
    config.attrs = &a, config.numAttrs = 1;
    const int* in = b.at[n % 2];
    CHECK(cudaLaunchKernelEx(&config, link, in, b.at[(n + 1) % 2], n));
    // Kernels after the event may read before the memory is flushed unless they wait. The stream
    // also waits for the whole kernel.
    CHECK(cudaStreamSynchronize(config.stream));
    CHECK(cudaStreamWaitEvent(n % 2 ? first : second, event));
  }
  CHECK(cudaDeviceSynchronize());
  std::printf("by event: %d wrong\n", b.wrong());
  CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
}

void captured(Link kernel) {
  Buffers b;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch_chain(b, stream, serialization(1), kernel);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  std::vector<cudaGraphNode_t> from(edges), to(edges);
  std::vector<cudaGraphEdgeData> data(edges);
  CHECK(cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &edges));
  std::printf("captured: %d nodes, %d edges", int(nodes), int(edges));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::printf(": %d wrong\n", b.wrong());
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
}

void built_by_hand() {
  Buffers b;
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t before = nullptr;
  for (int n = 0; n < chain; ++n) {
    const int* in = b.at[n % 2];
    int* out = b.at[(n + 1) % 2];
    void* arguments[] = {&in, &out, &n};
    cudaKernelNodeParams p = {};
    p.func = reinterpret_cast<void*>(link);
    p.gridDim = blocks, p.blockDim = threads, p.kernelParams = arguments;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
    if (before) {
      cudaGraphEdgeData edge = {};
      edge.from_port = cudaGraphKernelNodePortProgrammatic;
      edge.type = cudaGraphDependencyTypeProgrammatic;
      CHECK(cudaGraphAddDependencies(graph, &before, &node, &edge, 1));
    }
    before = node;
  }
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  std::printf("built by hand: %d wrong\n", b.wrong());
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  in_a_stream("", link);
  in_a_stream(", at once", eager_link);
  in_a_stream(", never", silent_link);
  without_overlap();
  by_event();
  captured(link);
  captured(eager_link);
  built_by_hand();
}
