// async: late early shuffled:1
// Events that nodes of graphs record and wait for (cudaEventRecordExternal, cudaEventWaitExternal):
// from its launch on, a graph's record is the event's latest, and a later launch waits for it.
#include "tests/kernels/kernel_test.cuh"

namespace {

__global__ void add(int* to, int value) { *to += value; }
__global__ void sum(const int* a, const int* b, int* to) { *to = *a + *b; }
__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}

struct Pinned {
  volatile int* at;
  Pinned() {
    int* place;
    CHECK(cudaHostAlloc(&place, sizeof(int), cudaHostAllocMapped));
    *place = 0;
    at = place;
  }
  ~Pinned() { CHECK(cudaFreeHost(const_cast<int*>(at))); }
};

cudaStream_t stream() {
  cudaStream_t made;
  CHECK(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  return made;
}

// The graph of what `work` does in a stream.
template <class Work>
cudaGraphExec_t captured(cudaStream_t in, Work work) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(in, cudaStreamCaptureModeThreadLocal));
  work();
  CHECK(cudaStreamEndCapture(in, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return exec;
}

const char* state(cudaEvent_t event) { return cudaGetErrorName(cudaEventQuery(event)); }

struct Test {
  cudaStream_t first = stream(), second = stream();
  cudaEvent_t event;
  int* values;
  Test() {
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaMalloc(&values, 3 * sizeof(int)));
    CHECK(cudaMemset(values, 0, 3 * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
  }
  int value(int i) {
    int read;
    CHECK(cudaMemcpy(&read, values + i, sizeof read, cudaMemcpyDeviceToHost));
    return read;
  }
  void end() {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(values));
  }
};

// One graph counts, and another in another stream adds the counts up.
void two_graphs() {
  Test t;
  const auto counts = captured(t.first, [&] {
    add<<<1, 1, 0, t.first>>>(t.values, 1);
    add<<<1, 1, 0, t.first>>>(t.values + 1, 10);
    CHECK(cudaEventRecordWithFlags(t.event, t.first, cudaEventRecordExternal));
  });
  const auto sums = captured(t.second, [&] {
    CHECK(cudaStreamWaitEvent(t.second, t.event, cudaEventWaitExternal));
    sum<<<1, 1, 0, t.second>>>(t.values, t.values + 1, t.values + 2);
  });
  // The counts wait for the sums of the round before, so that the sum is of this round.
  cudaEvent_t summed;
  CHECK(cudaEventCreateWithFlags(&summed, cudaEventDisableTiming));
  for (int i = 0; i < 3; ++i) {
    CHECK(cudaGraphLaunch(counts, t.first));
    CHECK(cudaGraphLaunch(sums, t.second));
    CHECK(cudaEventRecord(summed, t.second));
    CHECK(cudaStreamWaitEvent(t.first, summed));
  }
  CHECK(cudaStreamSynchronize(t.second));
  std::printf("two graphs: %d\n", t.value(2));
  CHECK(cudaEventDestroy(summed));
  CHECK(cudaGraphExecDestroy(counts));
  CHECK(cudaGraphExecDestroy(sums));
  t.end();
}

// The event is reached at its node, before the graph's end.
void in_the_middle() {
  Test t;
  Pinned before, after;
  const auto graph = captured(t.first, [&] {
    wait_for<<<1, 1, 0, t.first>>>(before.at);
    CHECK(cudaEventRecordWithFlags(t.event, t.first, cudaEventRecordExternal));
    wait_for<<<1, 1, 0, t.first>>>(after.at);
  });
  std::printf("in the middle: %s", state(t.event));
  CHECK(cudaGraphLaunch(graph, t.first));
  std::printf(", launched: %s", state(t.event));
  // A stream that waits for the event waits for the node of this launch.
  CHECK(cudaStreamWaitEvent(t.second, t.event));
  add<<<1, 1, 0, t.second>>>(t.values, 1);
  std::printf(", behind it: %s", cudaGetErrorName(cudaStreamQuery(t.second)));
  *before.at = 1;
  CHECK(cudaEventSynchronize(t.event));
  CHECK(cudaStreamSynchronize(t.second));
  std::printf(", reached: %s, the graph: %s\n", state(t.event),
              cudaGetErrorName(cudaStreamQuery(t.first)));
  *after.at = 1;
  CHECK(cudaStreamSynchronize(t.first));
  CHECK(cudaGraphExecDestroy(graph));
  t.end();
}

// Each launch waits for the launch before, in the other stream. The first waits for nothing.
void in_turns() {
  Test t;
  const auto graph = captured(t.first, [&] {
    CHECK(cudaStreamWaitEvent(t.first, t.event, cudaEventWaitExternal));
    add<<<1, 1, 0, t.first>>>(t.values, 1);
    CHECK(cudaEventRecordWithFlags(t.event, t.first, cudaEventRecordExternal));
  });
  const auto other = captured(t.second, [&] {
    CHECK(cudaStreamWaitEvent(t.second, t.event, cudaEventWaitExternal));
    add<<<1, 1, 0, t.second>>>(t.values, 10);
    CHECK(cudaEventRecordWithFlags(t.event, t.second, cudaEventRecordExternal));
  });
  for (int i = 0; i < 4; ++i) {
    CHECK(cudaGraphLaunch(graph, t.first));
    CHECK(cudaGraphLaunch(other, t.second));
  }
  CHECK(cudaEventSynchronize(t.event));
  std::printf("in turns: %d\n", t.value(0));
  CHECK(cudaGraphExecDestroy(graph));
  CHECK(cudaGraphExecDestroy(other));
  t.end();
}

}  // namespace

int main() {
  two_graphs();
  in_the_middle();
  in_turns();
}
