// Driver API: batches of copies, prefetches and discards.
#include "gpu/cuda/core/calls/batch.hpp"

#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

// Converts a list of addresses to a list of pointers.
void* const* pointers(const DevicePointer* list) { return reinterpret_cast<void* const*>(list); }
static_assert(sizeof(DevicePointer) == sizeof(void*));

}  // namespace

// Until CUDA 12.9, a pointer for the index of the failed copy came before the stream.
#define INFLIGHT_COPY_BATCH                                                                        \
  const DevicePointer *to, const DevicePointer *from, const std::size_t *bytes, std::size_t count, \
      const abi::CopyAttributes *attributes, const std::size_t *starts,                            \
      std::size_t attribute_count
#define INFLIGHT_THE_BATCH \
  { pointers(to), pointers(from), bytes, count, attributes, starts, attribute_count }

INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz,
                   (INFLIGHT_COPY_BATCH, std::size_t* failed, Handle stream), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return copy_batch(s, INFLIGHT_THE_BATCH, failed);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz,
                   (INFLIGHT_COPY_BATCH, Handle stream), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return copy_batch(s, INFLIGHT_THE_BATCH);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_ptsz,
                   (std::size_t count, const abi::BatchCopy3D* list, std::size_t* failed,
                    unsigned long long flags, Handle stream),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return copy_batch(s, list, count, flags, failed);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync_v2_ptsz,
                   (std::size_t count, const abi::BatchCopy3D* list, unsigned long long flags,
                    Handle stream),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return copy_batch(s, list, count, flags);
                     });
                   })

INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync_ptsz,
                   (const DevicePointer* list, const std::size_t* bytes, std::size_t count,
                    const abi::Location* locations, const std::size_t* starts,
                    std::size_t location_count, unsigned long long flags, Handle stream),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return prefetch_batch(
                           s, {pointers(list), bytes, count, locations, starts, location_count},
                           flags);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemDiscardBatchAsync, cuMemDiscardBatchAsync_ptsz,
                   (const DevicePointer* list, const std::size_t* bytes, std::size_t count,
                    unsigned long long flags, Handle stream),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return discard_batch(s, {pointers(list), bytes, count}, flags);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemDiscardAndPrefetchBatchAsync,
                   cuMemDiscardAndPrefetchBatchAsync_ptsz,
                   (const DevicePointer* list, const std::size_t* bytes, std::size_t count,
                    const abi::Location* locations, const std::size_t* starts,
                    std::size_t location_count, unsigned long long flags, Handle stream),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return discard_and_prefetch_batch(
                           s, {pointers(list), bytes, count, locations, starts, location_count},
                           flags);
                     });
                   })

}  // namespace inflight::cuda::driver
