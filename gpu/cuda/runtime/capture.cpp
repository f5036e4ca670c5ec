// Stream capture and graph launches. Compiled twice: see entry.hpp.
#include "gpu/cuda/core/of_this_thread.hpp"
#include "gpu/cuda/runtime/entry.hpp"
#include "gpu/cuda/runtime/graph.hpp"

using namespace inflight::cuda;

namespace {

Status answer_graph(void** place, Result<std::shared_ptr<Graph>> graph) {
  if (place) *place = nullptr;
  if (!graph) return graph.error().status;
  if (place) *place = Core::get().graphs.add(std::move(*graph));
  return Status::success;
}

// What cudaStreamGetCaptureInfo points into: the thread's last answer.
struct ShownCapture {
  std::vector<void*> tips;
  std::vector<abi::EdgeData> edges;
};

Status capture_info(Stream& stream, int* state, unsigned long long* id, void** graph,
                    void* const** tips, const abi::EdgeData** edges, std::size_t* count) {
  if (!state) return Status::invalid_value;
  auto found = capture_state(stream);
  if (!found) return found.error().status;
  *state = int(*found);
  if (*found != CaptureState::active) return Status::success;
  std::lock_guard lock(graph_mutex());
  auto capture = capture_of(stream);
  const auto& nodes = capture->tips[&stream];
  auto& shown = of_this_thread<ShownCapture>();
  shown.tips.assign(nodes.begin(), nodes.end());
  shown.edges.assign(nodes.size(), {});
  if (id) *id = capture->id;
  if (graph) *graph = Core::get().graphs.add(capture->graph);
  if (tips) *tips = shown.tips.data();
  if (edges) *edges = shown.edges.data();
  if (count) *count = nodes.size();
  return Status::success;
}

// A launch into a capturing stream becomes a child node.
Status launch_graph(Stream& stream, GraphExec& exec) {
  if (!capturing(stream)) return exec.launch(stream.shared_from_this());
  return submit(stream, ChildWork{exec.source()});
}

}  // namespace

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamBeginCapture)(void* stream, int mode) {
  return on_stream(stream, [&](Stream& s) { return begin_capture(s, CaptureMode(mode)); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamBeginCaptureToGraph)(void* stream, void* handle,
                                                                  void* const* dependencies,
                                                                  const abi::EdgeData*,
                                                                  std::size_t count, int mode) {
  return on_stream(stream, [&](Stream& s) {
    auto graph = Core::get().graphs.find(handle);
    auto nodes = nodes_of(dependencies, count);
    if (!graph || !nodes) return Status::invalid_value;
    return begin_capture(s, CaptureMode(mode), graph, *nodes);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamEndCapture)(void* stream, void** graph) {
  return on_stream(stream, [&](Stream& s) { return answer_graph(graph, end_capture(s)); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamIsCapturing)(void* stream, int* state) {
  return on_stream(stream, [&](Stream& s) {
    auto found = capture_state(s);
    if (!state) return Status::invalid_value;
    if (found) *state = int(*found);
    return found ? Status::success : found.error().status;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetCaptureInfo)(void* stream, int* state,
                                                             unsigned long long* id, void** graph,
                                                             void* const** tips,
                                                             const abi::EdgeData** edges,
                                                             std::size_t* count) {
  return on_stream(
      stream, [&](Stream& s) { return capture_info(s, state, id, graph, tips, edges, count); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamUpdateCaptureDependencies)(void* stream, void** tips,
                                                                        const abi::EdgeData*,
                                                                        std::size_t count,
                                                                        unsigned flags) {
  constexpr unsigned set = 1;
  return on_stream(stream, [&](Stream& s) {
    auto nodes = nodes_of(tips, count);
    if (!nodes || flags > set) return Status::invalid_value;
    return set_capture_tips(s, *nodes, flags != set);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaGraphLaunch)(void* handle, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    auto exec = Core::get().graph_execs.find(handle);
    return exec ? launch_graph(s, *exec) : Status::invalid_value;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaGraphUpload)(void* handle, void* stream) {
  return on_stream(stream, [&](Stream&) {
    return Core::get().graph_execs.find(handle) ? Status::success : Status::invalid_value;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaGraphInstantiateWithParams)(
    void** place, void* handle, abi::InstantiateParameters* parameters) {
  return entry([&] {
    if (!parameters) return Status::invalid_value;
    Status status = instantiate(place, handle, parameters->flags);
    parameters->error_node = nullptr;
    parameters->result = status == Status::success ? 0 : 1;  // cudaGraphInstantiateResult
    return status;
  });
}

#ifndef INFLIGHT_PER_THREAD
INFLIGHT_API int cudaThreadExchangeStreamCaptureMode(int* mode) {
  return query([&] {
    if (!mode || *mode < 0 || *mode > int(CaptureMode::relaxed)) return Status::invalid_value;
    *mode = int(exchange_capture_mode(CaptureMode(*mode)));
    return Status::success;
  });
}
#endif
