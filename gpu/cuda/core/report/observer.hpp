// Events of the host for the process's listener (statistics, detectors). Without one, an event
// costs a branch.
#pragma once
#include "gpu/check/listener.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"

namespace inflight::cuda {

// The listener that the settings choose, or null.
check::Listener* observer();
// Listens instead, until it is told otherwise by null.
void observe_with(check::Listener* listener);
// Does it want to be notified of this?
inline bool observes(check::Topic topic) {
  const check::Listener* const listener = observer();
  return listener && check::has(listener->topics(), topic);
}
// Writes the listener's report: at the end of the process, and when a context dies, since programs
// often abort then. Nothing is written twice.
void report_observed();

void observe_edge(const check::StreamEdge& edge);
// `work`: of the stream; what it is doing now, for what happens in it.
void observe_edge(check::StreamEdge::Kind kind, const Stream& stream, std::uint64_t work,
                  std::uint64_t other = 0, std::uint64_t other_work = 0);
// A launch in `work`; `dependent` as in check::StreamEdge.
void observe_launch(const Stream& stream, std::uint64_t work, std::uint64_t launch, bool dependent);
// A graph's step in `work` begins, and comes after `other`; `dependent` as in check::StreamEdge.
void observe_step(const Stream& stream, std::uint64_t work, std::uint64_t step);
void observe_step_after(const Stream& stream, std::uint64_t work, std::uint64_t other,
                        bool dependent);
// As they are done, in what the stream is doing now.
void observe_copy(const Stream& stream, const Copy& copy);
void observe_fill(const Stream& stream, const Fill& fill);
// `call` reads or writes a region in what the stream is doing now.
struct Region;
void observe_region(const Stream& stream, std::string_view call, const Region& region);
// Memory that kernels may touch comes or goes.
void observe_memory(const machine::Allocation& allocation, bool made);
// Its order in a stream, in what the stream is doing now.
void observe_ordered(check::Allocation::Step step, std::uint64_t address, std::uint64_t bytes,
                     const Stream& stream);

}  // namespace inflight::cuda
