// Passes edges to the listener, and the watch on the host's accesses follows them.
#include "gpu/cuda/core/queue/edges.hpp"

#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/watch/watch.hpp"

namespace inflight::cuda {

namespace {

check::StreamEdge edge_in(const Stream& stream, check::StreamEdge::Kind kind, std::uint64_t work) {
  check::StreamEdge event;
  event.kind = kind;
  event.device = stream.device().ordinal;
  event.stream = stream.number();
  event.work = work;
  event.blocking = !stream.non_blocking();
  return event;
}

void observe_dependent(check::StreamEdge::Kind kind, const Stream& stream, std::uint64_t work,
                       std::uint64_t other, bool dependent, bool programmatic = false) {
  if (!observes(check::Topic::host)) return;
  check::StreamEdge event = edge_in(stream, kind, work);
  event.other = other;
  event.dependent = dependent;
  event.programmatic = programmatic;
  observe_edge(event);
}

}  // namespace

void observe_edge(const check::StreamEdge& edge) {
  if (!observes(check::Topic::host)) return;
  watch::report_touches();
  observer()->stream_edge(edge);
  watch::follow(edge);
}

void observe_edge(check::StreamEdge::Kind kind, const Stream& stream, std::uint64_t work,
                  std::uint64_t other, std::uint64_t other_work) {
  if (!observes(check::Topic::host)) return;
  check::StreamEdge event = edge_in(stream, kind, work);
  event.other = other, event.other_work = other_work;
  observe_edge(event);
}

void observe_launch(const Stream& stream, std::uint64_t work, std::uint64_t launch, bool dependent,
                    bool programmatic) {
  observe_dependent(check::StreamEdge::Kind::launch, stream, work, launch, dependent, programmatic);
}

void observe_step(const Stream& stream, std::uint64_t work, std::uint64_t step) {
  observe_dependent(check::StreamEdge::Kind::step, stream, work, step, false);
}

void observe_step_after(const Stream& stream, std::uint64_t work, std::uint64_t other,
                        bool dependent) {
  observe_dependent(check::StreamEdge::Kind::step_after, stream, work, other, dependent);
}

}  // namespace inflight::cuda
