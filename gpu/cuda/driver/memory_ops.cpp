// Driver API: values that streams write to memory and wait for.
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/work/value_operations.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

// In a capture, a batch becomes one node. A stream gets the operations one by one.
Status submit_all(Stream& stream, Result<ValueWork> batch) {
  if (!batch) return batch.error().status;
  if (const Status status = check(*batch); status != Status::success) return status;
  if (const Status status = check_places(*batch); status != Status::success) return status;
  if (capturing(stream)) return submit(stream, Work(std::move(*batch)));
  for (const ValueOperation& each : batch->operations)
    if (const Status status = submit(stream, Work(ValueWork{{each}})); status != Status::success)
      return status;
  return Status::success;
}

// Submits one operation to the stream of a handle.
Status submit_one(Handle stream, bool second, const ValueOperation& operation) {
  return with_stream(stream, second,
                     [&](Stream& s) { return submit_all(s, value_work(&operation, 1, 0)); });
}

}  // namespace

#define INFLIGHT_CU_VALUE(one, two, Value, kind)                                            \
  INFLIGHT_CU_TWO_AT(                                                                       \
      of_stream(stream), one, two,                                                          \
      (Handle stream, DevicePointer memory, Value value, unsigned flags), {                 \
        return submit_one(stream, second, {ValueOperation::kind, 0, memory, value, flags}); \
      })

INFLIGHT_CU_VALUE(cuStreamWaitValue32_v2, cuStreamWaitValue32_v2_ptsz, std::uint32_t, wait_32)
INFLIGHT_CU_VALUE(cuStreamWaitValue64_v2, cuStreamWaitValue64_v2_ptsz, std::uint64_t, wait_64)
INFLIGHT_CU_VALUE(cuStreamWriteValue32_v2, cuStreamWriteValue32_v2_ptsz, std::uint32_t, write_32)
INFLIGHT_CU_VALUE(cuStreamWriteValue64_v2, cuStreamWriteValue64_v2_ptsz, std::uint64_t, write_64)
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz,
                   (Handle stream, unsigned count, const ValueOperation* list, unsigned flags), {
                     if (!list) return Status::invalid_value;
                     return with_stream(stream, second, [&](Stream& s) {
                       return submit_all(s, value_work(list, count, flags));
                     });
                   })

}  // namespace inflight::cuda::driver
