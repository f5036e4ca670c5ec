// flags: -rdc=true -lcudadevrt
// async: late early shuffled:1
// Kernels of graphs launch graphs: concurrent, after their own, and their own again.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                \
  do {                                                             \
    if (const cudaError_t e = (call); e != cudaSuccess) {          \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(e)); \
      std::exit(1);                                                \
    }                                                              \
  } while (0)

__device__ cudaGraphExec_t other;
__device__ unsigned count;
__device__ int noted[4096];
__device__ void note(int what) { noted[atomicAdd(&count, 1)] = what; }

__global__ void says(int what) { note(what); }
__global__ void launches(size_t stream) {
  if (const cudaError_t e = cudaGraphLaunch(other, reinterpret_cast<cudaStream_t>(stream)))
    note(-int(e));
}
// Graphs may take turns: the scheduler runs again after the graphs that it launched.
__device__ cudaGraphExec_t workers[3];
__device__ int turn;
__global__ void schedules(int turns) {
  if (turn == turns) return;
  cudaGraphLaunch(workers[turn++ % 3], cudaStreamGraphFireAndForget);
  cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

constexpr size_t tail = size_t{1} << 56, detached = size_t{2} << 56, sibling = size_t{3} << 56;

struct Graph {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec = nullptr;
  Graph() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  }
  cudaGraphExec_t end(unsigned long long flags = cudaGraphInstantiateFlagDeviceLaunch) {
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, flags));
    return exec;
  }
  void upload() const {
    CHECK(cudaGraphUpload(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
  ~Graph() {
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
  }
};

// Runs the graph. Prints its kernels' notes, sorted where no order is guaranteed.
void run(const char* title, const Graph& graph, bool sorted) {
  unsigned n = 0;
  static int all[4096];
  CHECK(cudaMemcpyToSymbol(count, &n, sizeof n));
  CHECK(cudaGraphLaunch(graph.exec, graph.stream));
  CHECK(cudaStreamSynchronize(graph.stream));
  CHECK(cudaMemcpyFromSymbol(&n, count, sizeof n));
  CHECK(cudaMemcpyFromSymbol(all, noted, sizeof all));
  for (unsigned i = 0; sorted && i < n; ++i)
    for (unsigned j = i + 1; j < n; ++j)
      if (all[j] < all[i]) {
        const int less = all[j];
        all[j] = all[i], all[i] = less;
      }
  std::printf("%s:", title);
  for (unsigned i = 0; i < n && i < 40; ++i) std::printf(" %d", all[i]);
  std::printf(n > 40 ? " ... %u\n" : "\n", n);
}

// The launching graph may contain only host nodes.
void launch_one(const char* title, size_t how, bool sorted) {
  Graph child, parent;
  says<<<1, 1, 0, child.stream>>>(1);
  says<<<1, 1, 0, child.stream>>>(2);
  const cudaGraphExec_t exec = child.end();
  CHECK(cudaMemcpyToSymbol(other, &exec, sizeof exec));
  child.upload();
  launches<<<1, 1, 0, parent.stream>>>(how);
  says<<<1, 1, 0, parent.stream>>>(3);
  parent.end(0);
  run(title, parent, sorted);
  run("again", parent, sorted);
}

void scheduler() {
  Graph each[3], main;
  cudaGraphExec_t execs[3];
  for (int i = 0; i < 3; ++i) {
    says<<<1, 1, 0, each[i].stream>>>(10 * i);
    says<<<1, 1, 0, each[i].stream>>>(10 * i + 1);
    execs[i] = each[i].end();
    each[i].upload();
  }
  CHECK(cudaMemcpyToSymbol(workers, execs, sizeof execs));
  schedules<<<1, 1, 0, main.stream>>>(7);
  main.end();
  run("in turns", main, false);
  const int none = 0;
  CHECK(cudaMemcpyToSymbol(turn, &none, sizeof none));
  Graph often;
  schedules<<<1, 1, 0, often.stream>>>(1000);
  often.end();
  run("often", often, false);
}

void refused() {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t node;
  CHECK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  std::printf("nothing to do: %d\n",
              cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch) != 0);
  cudaHostNodeParams host = {[](void*) {}, nullptr};
  CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
  std::printf("a host function: %d\n",
              cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch) != 0);
  std::printf("freed at launch: %d\n",
              cudaGraphInstantiate(&exec, graph,
                                   cudaGraphInstantiateFlagDeviceLaunch |
                                       cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0);
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  launch_one("beside", detached, true);
  launch_one("behind", tail, false);
  launch_one("as a sibling", sibling, true);
  launch_one("into no such stream", 0, true);
  scheduler();
  refused();
}
