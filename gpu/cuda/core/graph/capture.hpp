// Stream capture: work that is submitted to streams becomes nodes of a graph (CUDA guide, "Creating
// a Graph Using Stream Capture").
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "gpu/cuda/core/graph/graph.hpp"

namespace inflight::cuda {

// cudaStreamCaptureMode by its numbers.
enum class CaptureMode : int { global = 0, thread_local_ = 1, relaxed = 2 };
// cudaStreamCaptureStatus by its numbers.
enum class CaptureState : int { none = 0, active = 1, invalidated = 2 };

struct Capture {
  std::shared_ptr<Graph> graph;
  CaptureMode mode = CaptureMode::global;
  CaptureState state = CaptureState::active;
  std::thread::id thread;
  Stream* origin = nullptr;
  std::uint64_t id = 0;
  bool ended = false;
  bool to_graph = false;  // cudaStreamBeginCaptureToGraph: the program owns the graph
  // The nodes that each stream's next work depends on,
  std::unordered_map<Stream*, std::vector<Node*>> tips;
  std::unordered_map<Stream*, EdgeKinds> kinds;  // and the kinds of those edges
  std::vector<Node*> left;  // the tips of streams that were destroyed during the capture
};

Status begin_capture(Stream& stream, CaptureMode mode, std::shared_ptr<Graph> into = nullptr,
                     const std::vector<Node*>& dependencies = {}, const EdgeKinds& kinds = {});
Result<std::shared_ptr<Graph>> end_capture(Stream& stream);
CaptureMode exchange_capture_mode(CaptureMode mode);

bool capturing(const Stream& stream);
// The state of `stream`'s capture (capture_implicit: the legacy stream, while a blocking one
// captures).
Result<CaptureState> capture_state(const Stream& stream);
// The capture that `stream` is part of, or null. Hold graph_mutex() while reading it.
std::shared_ptr<Capture> capture_of(const Stream& stream);
Status set_capture_tips(Stream& stream, const std::vector<Node*>& nodes, const EdgeKinds& kinds,
                        bool add);

// Adds `work` as a node that depends on the stream's tips (capture_invalidated). Nothing: the
// stream does not capture (now), and the work stays as it is. Another thread may end a capture at
// any time, so whoever adds to one asks here, and not capturing() before.
std::optional<Status> capture_work(Stream& stream, Work& work);
// The event is recorded outside of captures.
void forget_capture(Event& event);
// Records the event at the stream's tips. `kind`: the kind of the edges from those nodes. Nothing:
// the stream does not capture.
std::optional<Status> capture_record(Stream& stream, Event& event, EdgeKind kind = {});
// Makes the stream's next work depend on the event's nodes. `stream` joins the event's capture.
// Nothing: neither the stream nor the event is in a capture.
std::optional<Status> capture_wait(Stream& stream, Event& event);

// The mode of the calling thread (cudaThreadExchangeStreamCaptureMode).
CaptureMode capture_mode();

// How many captures are in progress. Lets most calls skip the lock.
extern std::atomic<int> captures_in_progress;
inline bool none_captures() { return captures_in_progress.load(std::memory_order_acquire) == 0; }
// Captures in progress. Hold graph_mutex().
const std::vector<std::shared_ptr<Capture>>& captures();
// True if a stream of the capture waits for the device's legacy stream.
bool has_blocking_stream(const Capture& capture, const Device& device);
// Marks the capture as invalid. Returns `status`.
Status invalidate(Capture& capture, Status status);

// Removes a stream that ends from its capture.
void leave_capture(Stream& stream);

// True if a capture in progress adds nodes to the graph. The graph and its nodes cannot be
// destroyed then (illegal_state, as on an H200). Hold graph_mutex().
bool captured_into(const Graph& graph);

}  // namespace inflight::cuda
