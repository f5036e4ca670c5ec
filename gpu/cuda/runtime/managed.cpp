// Managed memory's entry points. Compiled twice: see entry.hpp.
#include "gpu/cuda/core/calls/managed.hpp"

#include "gpu/cuda/core/calls/batch.hpp"
#include "gpu/cuda/runtime/entry.hpp"

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
  return entry([&] { return range_attributes(data, bytes, attributes, count, pointer, range); });
}
#endif

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemPrefetchAsync)(const void* pointer, std::size_t bytes,
                                                         abi::Location location, unsigned flags,
                                                         void* stream) {
  return on_stream(stream, [&](Stream& s) { return prefetch(s, pointer, bytes, location, flags); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamAttachMemAsync)(void* stream, void* pointer,
                                                             std::size_t, unsigned flags) {
  return on_stream(stream, [&](Stream& s) { return attach(s, pointer, flags); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemPrefetchBatchAsync)(
    void** pointers, std::size_t* bytes, std::size_t count, abi::Location* locations,
    std::size_t* starts, std::size_t location_count, unsigned long long flags, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return prefetch_batch(s, {pointers, bytes, count, locations, starts, location_count}, flags);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemDiscardBatchAsync)(void** pointers, std::size_t* bytes,
                                                             std::size_t count,
                                                             unsigned long long flags,
                                                             void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return discard_batch(s, {pointers, bytes, count}, flags);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemDiscardAndPrefetchBatchAsync)(
    void** pointers, std::size_t* bytes, std::size_t count, abi::Location* locations,
    std::size_t* starts, std::size_t location_count, unsigned long long flags, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return discard_and_prefetch_batch(
        s, {pointers, bytes, count, locations, starts, location_count}, flags);
  });
}
