// Reports host events to the process's listener (statistics, detectors). Without a listener an
// event costs one branch.
#pragma once
#include "gpu/check/listener.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"

namespace inflight::cuda {

// The listener that the settings choose, or null.
check::Listener* observer();
// Replaces the listener. Null restores the settings' one.
void observe_with(check::Listener* listener);
// The topics of the listener, which was asked for them once.
check::Topic observed_topics();
// True if the listener wants events of this topic.
inline bool observes(check::Topic topic) { return check::has(observed_topics(), topic); }
// Writes the listener's report. Called at the end of the process, and when a context dies, because
// programs often abort then. Nothing is written twice.
void report_observed();

void observe_edge(const check::StreamEdge& edge);
// `work`: a piece of the stream's work. Events inside work pass the current one.
void observe_edge(check::StreamEdge::Kind kind, const Stream& stream, std::uint64_t work,
                  std::uint64_t other = 0, std::uint64_t other_work = 0);
// Reports a launch in `work`. `dependent` and `programmatic` are as in check::StreamEdge.
void observe_launch(const Stream& stream, std::uint64_t work, std::uint64_t launch, bool dependent,
                    bool programmatic);
// Report that a graph's step in `work` begins, and that it comes after `other`. `dependent` is as
// in check::StreamEdge.
void observe_step(const Stream& stream, std::uint64_t work, std::uint64_t step);
void observe_step_after(const Stream& stream, std::uint64_t work, std::uint64_t other,
                        bool dependent);
// Report a copy or fill as it is done, in the stream's current work.
void observe_copy(const Stream& stream, const Copy& copy);
void observe_fill(const Stream& stream, const Fill& fill);
// Reports that `call` reads or writes a region in the stream's current work.
struct Region;
void observe_region(const Stream& stream, std::string_view call, const Region& region);
// Reports that memory which kernels may access is made or released.
void observe_memory(const machine::Allocation& allocation, bool made);
// Reports a stream-ordered step of an allocation, in the stream's current work.
// cudaFree of memory of a pool, which waits for no stream.
void observe_release(const machine::Allocation& allocation);
void observe_ordered(check::Allocation::Step step, std::uint64_t address, std::uint64_t bytes,
                     const Stream& stream);

}  // namespace inflight::cuda
