// Driver API: events.
#include "gpu/cuda/driver/runtime.hpp"

namespace inflight::cuda::driver {

INFLIGHT_CU(cuEventCreate, (Handle * event, unsigned flags),
            { return runtime(cudaEventCreateWithFlags(event, flags)); })
INFLIGHT_CU_TWO_AT(of_event(event), cuEventDestroy, cuEventDestroy_v2, (Handle event),
                   { return runtime(cudaEventDestroy(event)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuEventRecord, cuEventRecord_ptsz,
                   (Handle event, Handle stream),
                   { return runtime(cudaEventRecordWithFlags(event, at(stream, second), 0)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz,
                   (Handle event, Handle stream, unsigned flags),
                   { return runtime(cudaEventRecordWithFlags(event, at(stream, second), flags)); })
INFLIGHT_CU_AT(of_event(event), cuEventQuery, (Handle event),
               { return runtime(cudaEventQuery(event)); })
INFLIGHT_CU_AT(of_event(event), cuEventSynchronize, (Handle event),
               { return runtime(cudaEventSynchronize(event)); })
INFLIGHT_CU_TWO_AT(of_event(start), cuEventElapsedTime, cuEventElapsedTime_v2,
                   (float* milliseconds, Handle start, Handle end),
                   { return runtime(cudaEventElapsedTime(milliseconds, start, end)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamWaitEvent, cuStreamWaitEvent_ptsz,
                   (Handle stream, Handle event, unsigned flags),
                   { return runtime(cudaStreamWaitEvent(at(stream, second), event, flags)); })

}  // namespace inflight::cuda::driver
