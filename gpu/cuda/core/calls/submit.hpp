// What becomes of a piece of work: a node of a graph, or a task of a stream.
#pragma once
#include "gpu/cuda/core/work/work.hpp"

namespace inflight::cuda {

// Checks the work, then queues it in the stream, or adds it to the graph that the stream captures.
Status submit(Stream& stream, Work work);

}  // namespace inflight::cuda
