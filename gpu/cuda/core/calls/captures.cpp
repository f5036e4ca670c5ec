// Operations on captures, for both APIs.
#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/calls/graphs.hpp"
#include "gpu/cuda/core/calls/nodes.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/host/of_this_thread.hpp"

namespace inflight::cuda {

Status begin_capture(Stream& stream, int mode) {
  return begin_capture(stream, CaptureMode(mode), nullptr, {});
}

namespace {

Result<EdgeKinds> edge_kinds(const std::vector<Node*>& nodes, const abi::EdgeData* data) {
  EdgeKinds kinds;
  for (std::size_t i = 0; data && i < nodes.size(); ++i) {
    const auto kind = edge_kind(data + i);
    if (!kind) return tl::unexpected(kind.error());
    if (!kind->plain()) kinds[nodes[i]] = *kind;
  }
  return kinds;
}

}  // namespace

Status begin_capture_to_graph(Stream& stream, const void* handle, void* const* dependencies,
                              const abi::EdgeData* data, std::size_t count, int mode) {
  const std::lock_guard lock(graph_mutex());  // the nodes stay
  auto graph = Core::get().graphs.find(handle);
  auto nodes = nodes_of(dependencies, count);
  if (!graph || !nodes) return Status::invalid_value;
  const auto kinds = edge_kinds(*nodes, data);
  if (!kinds) return kinds.error().status;
  return begin_capture(stream, CaptureMode(mode), graph, *nodes, *kinds);
}

Status end_capture(Stream& stream, void** place) {
  auto graph = end_capture(stream);
  if (place) *place = nullptr;
  if (!graph) return graph.error().status;
  if (place) *place = Core::get().graphs.add(std::move(*graph));
  return Status::success;
}

Status get_capture_state(const Stream& stream, int* state) {
  auto found = capture_state(stream);
  if (!state) return Status::invalid_value;
  return found ? store_value(state, int(*found)) : found.error().status;
}

namespace {

// The lists that the thread's latest call of get_capture_info returned.
struct ShownCapture {
  std::vector<void*> tips;
  std::vector<abi::EdgeData> edges;
};

template <class T>
void store_if(T* to, const std::type_identity_t<T>& value) {
  if (to) *to = value;
}

}  // namespace

Status get_capture_info(Stream& stream, const CaptureInfo& info) {
  if (!info.state) return Status::invalid_value;
  const std::lock_guard lock(graph_mutex());  // the capture goes on
  auto found = capture_state(stream);
  if (!found) return found.error().status;
  *info.state = int(*found);
  if (*found != CaptureState::active) return Status::success;
  auto capture = capture_of(stream);
  const auto& nodes = capture->tips[&stream];
  auto& shown = host::of_this_thread<ShownCapture>();
  shown.tips.assign(nodes.begin(), nodes.end());
  shown.edges.clear();
  for (const Node* node : nodes) {
    const auto found = capture->kinds[&stream].find(node);
    const EdgeKind kind = found == capture->kinds[&stream].end() ? EdgeKind{} : found->second;
    if (!kind.plain() && info.tips && !info.edges) return Status::lossy_query;
    shown.edges.push_back({kind.from_port, kind.to_port, kind.type, {}});
  }
  store_if(info.id, capture->id);
  if (info.graph) *info.graph = Core::get().graphs.add(capture->graph);
  store_if(info.tips, shown.tips.data());
  store_if(info.edges, shown.edges.data());
  store_if(info.count, nodes.size());
  return Status::success;
}

Status update_capture(Stream& stream, void* const* tips, const abi::EdgeData* data,
                      std::size_t count, unsigned flags) {
  constexpr unsigned set = 1;
  const std::lock_guard lock(graph_mutex());  // the nodes stay
  auto nodes = nodes_of(tips, count);
  if (!nodes || flags > set) return Status::invalid_value;
  const auto kinds = edge_kinds(*nodes, data);
  if (!kinds) return kinds.error().status;
  return set_capture_tips(stream, *nodes, *kinds, flags != set);
}

Status exchange_capture_mode(int* mode) {
  if (!mode || *mode < 0 || *mode > int(CaptureMode::relaxed)) return Status::invalid_value;
  *mode = int(exchange_capture_mode(CaptureMode(*mode)));
  return Status::success;
}

}  // namespace inflight::cuda
