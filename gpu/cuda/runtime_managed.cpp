// Managed memory's entry points. Compiled twice: see runtime_entry.hpp.
#include "gpu/cuda/managed.hpp"
#include "gpu/cuda/runtime_entry.hpp"

using namespace inflight::cuda;

#ifndef INFLIGHT_PER_THREAD
INFLIGHT_API int cudaMemAdvise(const void* pointer, std::size_t bytes, int advice,
                               abi::Location location) {
  return entry([&] { return advise(pointer, bytes, advice, location); });
}

INFLIGHT_API int cudaMemRangeGetAttribute(void* data, std::size_t bytes, int attribute,
                                          const void* pointer, std::size_t range) {
  return entry([&] { return range_attribute(data, bytes, attribute, pointer, range); });
}

INFLIGHT_API int cudaMemRangeGetAttributes(void** data, std::size_t* bytes, int* attributes,
                                           std::size_t count, const void* pointer,
                                           std::size_t range) {
  return entry([&] {
    if (!data || !bytes || !attributes || count == 0) return Status::invalid_value;
    Status status = Status::success;
    for (std::size_t i = 0; i < count && status == Status::success; ++i)
      status = range_attribute(data[i], bytes[i], attributes[i], pointer, range);
    return status;
  });
}
#endif

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemPrefetchAsync)(const void* pointer, std::size_t bytes,
                                                         abi::Location location, unsigned flags,
                                                         void* stream) {
  return on_stream(stream, [&](Stream& s) {
    if (flags != 0) return Status::invalid_value;
    Status status = prefetch(pointer, bytes, location);
    return status == Status::success ? submit(s, EmptyWork{}) : status;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamAttachMemAsync)(void* stream, void* pointer,
                                                             std::size_t, unsigned flags) {
  return on_stream(stream, [&](Stream& s) {
    if (flags != 1 && flags != 2 && flags != 4) return Status::invalid_value;
    if (!is_managed(pointer, 1)) return Status::invalid_value;
    return submit(s, EmptyWork{});
  });
}

namespace {

// Which location each range of a batch goes to: ranges from index[i] on to locations[i].
const abi::Location* location_at(std::size_t range, const abi::Location* locations,
                                 const std::size_t* starts, std::size_t count) {
  const abi::Location* chosen = nullptr;
  for (std::size_t i = 0; i < count && starts[i] <= range; ++i) chosen = &locations[i];
  return chosen;
}

Status prefetch_all(void** pointers, const std::size_t* bytes, std::size_t count,
                    const abi::Location* locations, const std::size_t* starts,
                    std::size_t location_count) {
  if (!pointers || !bytes || !count || !locations || !starts || !location_count)
    return Status::invalid_value;
  Status status = Status::success;
  for (std::size_t i = 0; i < count && status == Status::success; ++i) {
    const abi::Location* location = location_at(i, locations, starts, location_count);
    status = location ? prefetch(pointers[i], bytes[i], *location) : Status::invalid_value;
  }
  return status;
}

// A discarded range has no defined contents until it is written, so nothing needs doing.
Status discard_all(void** pointers, const std::size_t* bytes, std::size_t count) {
  if (!pointers || !bytes || !count) return Status::invalid_value;
  for (std::size_t i = 0; i < count; ++i)
    if (!is_managed(pointers[i], bytes[i])) return Status::invalid_value;
  return Status::success;
}

}  // namespace

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemPrefetchBatchAsync)(
    void** pointers, std::size_t* bytes, std::size_t count, abi::Location* locations,
    std::size_t* starts, std::size_t location_count, unsigned long long flags, void* stream) {
  return on_stream(stream, [&](Stream&) {
    if (flags) return Status::invalid_value;
    return prefetch_all(pointers, bytes, count, locations, starts, location_count);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemDiscardBatchAsync)(void** pointers, std::size_t* bytes,
                                                             std::size_t count,
                                                             unsigned long long flags,
                                                             void* stream) {
  return on_stream(stream, [&](Stream&) {
    return flags ? Status::invalid_value : discard_all(pointers, bytes, count);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemDiscardAndPrefetchBatchAsync)(
    void** pointers, std::size_t* bytes, std::size_t count, abi::Location* locations,
    std::size_t* starts, std::size_t location_count, unsigned long long flags, void* stream) {
  return on_stream(stream, [&](Stream&) {
    Status status = flags ? Status::invalid_value : discard_all(pointers, bytes, count);
    if (status != Status::success) return status;
    return prefetch_all(pointers, bytes, count, locations, starts, location_count);
  });
}
