// Copies and fills as programs call them.
#pragma once
#include "gpu/cuda/core/memory/transfer.hpp"

namespace inflight::cuda {

// cudaMemcpySrcAccessOrder by its numbers: when an asynchronous copy may read its source.
enum class SourceOrder : int { stream = 1, during_call = 2, any = 3 };
// The whole call: checks it, then does it in stream order or adds a node to the graph that the
// stream captures. A call that is not `asynchronous` returns when the bytes have moved. CUDA's
// rules for pageable memory hold either way (CUDA runtime API, "API synchronization behavior").
Status copy(Stream& stream, const Copy& copy, bool asynchronous,
            SourceOrder order = SourceOrder::stream);
Status fill(Stream& stream, const Fill& fill, bool asynchronous);

}  // namespace inflight::cuda
