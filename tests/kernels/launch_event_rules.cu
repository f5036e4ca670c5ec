// The events and flags that a launch accepts in its attributes ProgrammaticEvent and
// LaunchCompletionEvent, in a stream and during capture.
#include "tests/kernels/kernel_test.cuh"

namespace {

__global__ void nothing() {}

struct Kind {
  const char* name;
  unsigned flags;
};
constexpr Kind kinds[] = {{"without timing", cudaEventDisableTiming},
                          {"with timing", cudaEventDefault},
                          {"interprocess", cudaEventDisableTiming | cudaEventInterprocess}};

cudaError_t launch(cudaLaunchAttributeID id, cudaEvent_t event, int flags, int at_start,
                   cudaStream_t stream) {
  cudaLaunchAttribute a = {};
  a.id = id;
  if (id == cudaLaunchAttributeProgrammaticEvent) {
    a.val.programmaticEvent.event = event;
    a.val.programmaticEvent.flags = flags;
    a.val.programmaticEvent.triggerAtBlockStart = at_start;
  } else {
    a.val.launchCompletionEvent.event = event;
    a.val.launchCompletionEvent.flags = flags;
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = 2, config.blockDim = 32, config.stream = stream;
  config.attrs = &a, config.numAttrs = 1;
  const cudaError_t said = cudaLaunchKernelEx(&config, nothing);
  cudaGetLastError();
  return said;
}

void ask(cudaLaunchAttributeID id, const char* name, cudaStream_t stream) {
  for (const Kind& kind : kinds)
    for (int flags = 0; flags < 4; ++flags)
      for (int captured = 0; captured < 2; ++captured) {
        cudaEvent_t event;
        CHECK(cudaEventCreateWithFlags(&event, kind.flags));
        if (captured) CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        const cudaError_t said = launch(id, event, flags, 0, stream);
        std::printf("%s, event %s, flags %d%s: %s", name, kind.name, flags,
                    captured ? ", captured" : "", cudaGetErrorName(said));
        if (captured) {
          cudaGraph_t graph = nullptr;
          const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
          cudaGetLastError();
          size_t nodes = 0;
          if (graph) {
            CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
            CHECK(cudaGraphDestroy(graph));
          }
          std::printf("; the capture: %s, %d nodes", cudaGetErrorName(ended), int(nodes));
        }
        std::printf("\n");
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaEventDestroy(event));
      }
  std::printf("%s, no event: %s\n", name, cudaGetErrorName(launch(id, nullptr, 0, 0, stream)));
}

}  // namespace

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ask(cudaLaunchAttributeProgrammaticEvent, "ProgrammaticEvent", stream);
  ask(cudaLaunchAttributeLaunchCompletionEvent, "LaunchCompletionEvent", stream);
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (int at_start : {2, -1})
    std::printf(
        "triggerAtBlockStart %d: %s\n", at_start,
        cudaGetErrorName(launch(cudaLaunchAttributeProgrammaticEvent, event, 0, at_start, stream)));
  CHECK(cudaStreamSynchronize(stream));
}
