// Stream capture.
#include "gpu/cuda/core/graph/capture.hpp"

#include <algorithm>

namespace inflight::cuda {
namespace {

// Guarded by graph_mutex().
std::vector<std::shared_ptr<Capture>>& all_captures() {
  static auto& instance = *new std::vector<std::shared_ptr<Capture>>;
  return instance;
}
thread_local CaptureMode thread_mode = CaptureMode::global;

void forget(const std::shared_ptr<Capture>& capture) {
  for (auto& [stream, tips] : capture->tips) stream->capture = nullptr;
  capture->ended = true;
  std::erase(all_captures(), capture);
  captures_in_progress = int(captures().size());
}

void join(const std::shared_ptr<Capture>& capture, Stream& stream) {
  stream.capture = capture;
  stream.at_end = leave_capture;
  capture->tips.try_emplace(&stream);
}

void merge(std::vector<Node*>& tips, const std::vector<Node*>& more) {
  for (Node* node : more)
    if (std::find(tips.begin(), tips.end(), node) == tips.end()) tips.push_back(node);
}

// Work that depends on a node in two ways waits for all of it.
void merge(Capture& capture, Stream& stream, const std::vector<Node*>& more,
           const EdgeKinds& kinds) {
  auto& tips = capture.tips[&stream];
  EdgeKinds& now = capture.kinds[&stream];
  for (const Node* node : more) {
    const bool known = std::find(tips.begin(), tips.end(), node) != tips.end();
    const auto kind = kinds.find(node);
    if (!known && kind != kinds.end()) now.insert(*kind);
    if (known && (kind == kinds.end() || now.count(node) == 0 || now[node] != kind->second))
      now.erase(node);
  }
  merge(tips, more);
}

std::uint64_t next_capture_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

std::atomic<int> captures_in_progress{0};

const std::vector<std::shared_ptr<Capture>>& captures() { return all_captures(); }

Status invalidate(Capture& capture, Status status) {
  capture.state = CaptureState::invalidated;
  return status;
}

Status begin_capture(Stream& stream, CaptureMode mode, std::shared_ptr<Graph> into,
                     const std::vector<Node*>& dependencies, const EdgeKinds& kinds) {
  if (mode < CaptureMode::global || mode > CaptureMode::relaxed) return Status::invalid_value;
  if (stream.kind() == Stream::Kind::legacy) return Status::capture_unsupported;
  std::lock_guard lock(graph_mutex());
  if (stream.capture) return Status::illegal_state;
  for (const Node* node : dependencies)
    if (node->graph != into.get()) return Status::invalid_value;
  auto capture = std::make_shared<Capture>();
  capture->to_graph = into != nullptr;
  capture->graph = into ? std::move(into) : std::make_shared<Graph>();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = &stream;
  capture->id = next_capture_id();
  join(capture, stream);
  capture->tips[&stream] = dependencies;
  capture->kinds[&stream] = kinds;
  all_captures().push_back(capture);
  captures_in_progress = int(captures().size());
  return Status::success;
}

Result<std::shared_ptr<Graph>> end_capture(Stream& stream) {
  // If it is dropped, the program's destructors run without the mutex.
  std::shared_ptr<Graph> graph;
  std::lock_guard lock(graph_mutex());
  std::shared_ptr<Capture> capture = stream.capture;
  if (!capture) return fail(Status::illegal_state);
  if (capture->origin != &stream) {
    invalidate(*capture, Status::capture_unmatched);
    return fail(Status::capture_unmatched);
  }
  if (capture->mode != CaptureMode::relaxed && capture->thread != std::this_thread::get_id())
    return fail(Status::capture_wrong_thread);
  forget(capture);
  graph = std::move(capture->graph);  // events keep the capture
  if (capture->state == CaptureState::invalidated) return fail(Status::capture_invalidated);
  const auto& tips = capture->tips[&stream];
  bool joined = Graph::joined(capture->left, tips);
  for (const auto& [other, nodes] : capture->tips) joined &= Graph::joined(nodes, tips);
  if (!joined) return fail(Status::capture_unjoined);
  return graph;
}

CaptureMode capture_mode() { return thread_mode; }

CaptureMode exchange_capture_mode(CaptureMode mode) { return std::exchange(thread_mode, mode); }

bool capturing(const Stream& stream) {
  if (none_captures()) return false;
  std::lock_guard lock(graph_mutex());
  return stream.capture != nullptr;
}

std::shared_ptr<Capture> capture_of(const Stream& stream) { return stream.capture; }

bool has_blocking_stream(const Capture& capture, const Device& device) {
  return std::any_of(capture.tips.begin(), capture.tips.end(), [&](const auto& each) {
    return &each.first->device() == &device && !each.first->non_blocking();
  });
}

Result<CaptureState> capture_state(const Stream& stream) {
  if (none_captures()) return CaptureState::none;
  std::lock_guard lock(graph_mutex());
  if (stream.capture) return stream.capture->state;
  if (stream.kind() != Stream::Kind::legacy) return CaptureState::none;
  for (const auto& capture : captures())
    if (has_blocking_stream(*capture, stream.device())) return fail(Status::capture_implicit);
  return CaptureState::none;
}

Status set_capture_tips(Stream& stream, const std::vector<Node*>& nodes, const EdgeKinds& kinds,
                        bool add) {
  std::lock_guard lock(graph_mutex());
  if (!stream.capture) return Status::illegal_state;
  if (stream.capture->state == CaptureState::invalidated) return Status::capture_invalidated;
  for (const Node* node : nodes)
    if (node->graph != stream.capture->graph.get()) return Status::invalid_value;
  if (!add) {
    stream.capture->tips[&stream].clear();
    stream.capture->kinds[&stream].clear();
  }
  merge(*stream.capture, stream, nodes, kinds);
  return Status::success;
}

std::optional<Status> capture_work(Stream& stream, Work& work) {
  if (none_captures()) return std::nullopt;
  std::lock_guard lock(graph_mutex());
  if (!stream.capture) return std::nullopt;
  Capture& capture = *stream.capture;
  if (capture.state == CaptureState::invalidated) return Status::capture_invalidated;
  auto& tips = capture.tips[&stream];
  const auto* kernel = std::get_if<KernelWork>(&work);
  const bool programmatic = kernel && kernel->programmatic;
  auto node = capture.graph->add(std::move(work), tips);
  if (!node) return node.error().status;
  EdgeKinds& kinds = capture.kinds[&stream];
  for (const Node* tip : tips) {
    const auto given = kinds.find(tip);
    const EdgeKind kind = given != kinds.end() ? given->second
                          : programmatic       ? programmatic_edge
                                               : EdgeKind{};
    if (!kind.plain() && can_connect(kind, *tip, **node)) (*node)->kinds[tip] = kind;
  }
  tips = {*node};
  kinds.clear();
  return Status::success;
}

void forget_capture(Event& event) {
  if (none_captures()) return;  // its capture has ended
  std::lock_guard lock(graph_mutex());
  event.capture = nullptr;
}

std::optional<Status> capture_record(Stream& stream, Event& event, EdgeKind kind) {
  if (none_captures()) return std::nullopt;
  std::lock_guard lock(graph_mutex());
  if (!stream.capture) return std::nullopt;
  if (stream.capture->state == CaptureState::invalidated) return Status::capture_invalidated;
  event.capture = stream.capture;
  event.captured_nodes = stream.capture->tips[&stream];
  event.captured_kinds = stream.capture->kinds[&stream];
  if (!kind.plain())
    for (const Node* node : event.captured_nodes) event.captured_kinds[node] = kind;
  return Status::success;
}

std::optional<Status> capture_wait(Stream& stream, Event& event) {
  if (none_captures()) return std::nullopt;
  std::lock_guard lock(graph_mutex());
  const bool captured = event.capture && !event.capture->ended;
  if (!stream.capture && !captured) return std::nullopt;
  if (!captured)
    return event.latest() ? invalidate(*stream.capture, Status::capture_isolation)
                          : Status::success;
  if (event.capture->state == CaptureState::invalidated) return Status::capture_invalidated;
  if (!stream.capture) {
    if (stream.kind() == Stream::Kind::legacy)
      return invalidate(*event.capture, Status::capture_implicit);
    join(event.capture, stream);
  }
  if (stream.capture != event.capture) {
    invalidate(*event.capture, Status::capture_merge);
    return invalidate(*stream.capture, Status::capture_merge);
  }
  merge(*stream.capture, stream, event.captured_nodes, event.captured_kinds);
  return Status::success;
}

void leave_capture(Stream& stream) {
  if (none_captures()) return;
  // If it is dropped, the program's destructors run without the mutex.
  std::shared_ptr<Capture> capture;
  std::lock_guard lock(graph_mutex());
  capture = stream.capture;
  if (!capture) return;
  if (capture->origin == &stream) {
    invalidate(*capture, Status::capture_invalidated);
    return forget(capture);
  }
  merge(capture->left, capture->tips[&stream]);
  capture->tips.erase(&stream);
  capture->kinds.erase(&stream);
  stream.capture = nullptr;
}

bool captured_into(const Graph& graph) {
  return std::any_of(captures().begin(), captures().end(),
                     [&](const auto& each) { return each->graph.get() == &graph; });
}

}  // namespace inflight::cuda
