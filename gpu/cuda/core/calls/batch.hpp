// Batches: many copies, prefetches or discards in one call.
#pragma once
#include <cstddef>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/queue/stream.hpp"

namespace inflight::cuda {

// Each checks every item before it does anything (invalid_value: lists are missing or do not match,
// or the stream is the legacy one, which CUDA excludes). On failure it returns the first bad item's
// status and stores the item's index in `failed`, if that is not null.

// `attributes[i]` applies to the copies from starts[i] on.
struct CopyBatch {
  void* const* to;
  const void* const* from;
  const std::size_t* bytes;
  std::size_t count;
  const abi::CopyAttributes* attributes;
  const std::size_t* starts;
  std::size_t attribute_count;
};
Status copy_batch(Stream& stream, const CopyBatch& batch, std::size_t* failed = nullptr);
Status copy_batch(Stream& stream, const abi::BatchCopy3D* list, std::size_t count,
                  unsigned long long flags, std::size_t* failed = nullptr);

// Ranges of managed memory; `locations[i]` is the destination of those from starts[i] on.
struct RangeBatch {
  void* const* pointers;
  const std::size_t* bytes;
  std::size_t count;
  const abi::Location* locations = nullptr;
  const std::size_t* starts = nullptr;
  std::size_t location_count = 0;
};
Status prefetch_batch(Stream& stream, const RangeBatch& batch, unsigned long long flags);
Status discard_batch(Stream& stream, const RangeBatch& batch, unsigned long long flags);
Status discard_and_prefetch_batch(Stream& stream, const RangeBatch& batch,
                                  unsigned long long flags);

}  // namespace inflight::cuda
