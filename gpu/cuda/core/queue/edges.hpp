// The order of streams' work, as listeners hear of it.
#pragma once
#include "gpu/check/events.hpp"
#include "gpu/cuda/core/queue/stream.hpp"

namespace inflight::cuda {

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

}  // namespace inflight::cuda
