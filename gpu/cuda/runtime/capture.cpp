// Stream capture and graph launches. Compiled twice: see entry.hpp.
#include "gpu/cuda/core/graph/capture.hpp"

#include "gpu/cuda/core/calls/graphs.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamBeginCapture)(void* stream, int mode) {
  return on_stream(stream, [&](Stream& s) { return begin_capture(s, mode); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamBeginCaptureToGraph)(void* stream, void* handle,
                                                                  void* const* dependencies,
                                                                  const abi::EdgeData* edges,
                                                                  std::size_t count, int mode) {
  return on_stream(stream, [&](Stream& s) {
    return begin_capture_to_graph(s, handle, dependencies, edges, count, mode);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamEndCapture)(void* stream, void** graph) {
  return on_stream(stream, [&](Stream& s) { return end_capture(s, graph); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamIsCapturing)(void* stream, int* state) {
  return on_stream(stream, [&](Stream& s) { return get_capture_state(s, state); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetCaptureInfo)(void* stream, int* state,
                                                             unsigned long long* id, void** graph,
                                                             void* const** tips,
                                                             const abi::EdgeData** edges,
                                                             std::size_t* count) {
  return on_stream(stream, [&](Stream& s) {
    return get_capture_info(s, {state, id, graph, tips, edges, count});
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamUpdateCaptureDependencies)(void* stream, void** tips,
                                                                        const abi::EdgeData* edges,
                                                                        std::size_t count,
                                                                        unsigned flags) {
  return on_stream(stream, [&](Stream& s) { return update_capture(s, tips, edges, count, flags); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaGraphLaunch)(void* handle, void* stream) {
  return on_stream(stream, [&](Stream& s) { return launch_graph(s, handle); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaGraphUpload)(void* handle, void* stream) {
  return on_stream(stream, [&](Stream& s) { return upload_graph(s, handle); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaGraphInstantiateWithParams)(
    void** place, void* handle, abi::InstantiateParameters* parameters) {
  return entry([&] { return instantiate(place, handle, parameters); });
}

#ifndef INFLIGHT_PER_THREAD
INFLIGHT_API int cudaThreadExchangeStreamCaptureMode(int* mode) {
  return entry([&] { return exchange_capture_mode(mode); });
}
#endif
