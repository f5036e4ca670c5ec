// Driver API: events.
#include <cstring>

#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

// Runs `body` with the event (invalid_handle: there is none).
template <class Body>
Status with_event(Handle handle, Body&& body) {
  auto event = event_of(handle);
  return event ? body(**event) : event.error().status;
}

}  // namespace

INFLIGHT_CU(cuEventCreate, (Handle * event, unsigned flags), { return create_event(event, flags); })
// On failure the handle is zero, as a driver of CUDA 13.0 leaves it.
INFLIGHT_CU(cuIpcGetEventHandle, (SharingHandle * to, Handle event), {
  const Status status = export_event(to, event);
  if (to && status != Status::success) std::memset(static_cast<void*>(to), 0, sizeof *to);
  return status;
})
INFLIGHT_CU(cuIpcOpenEventHandle, (Handle * event, SharingHandle handle),
            { return import_event(event, handle); })
INFLIGHT_CU_TWO_AT(of_event(event), cuEventDestroy, cuEventDestroy_v2, (Handle event),
                   { return destroy_event(event); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuEventRecord, cuEventRecord_ptsz,
                   (Handle event, Handle stream), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return record_event(s, event, 0); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz,
                   (Handle event, Handle stream, unsigned flags), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return record_event(s, event, flags); });
                   })
// Host functions in streams may query events too.
INFLIGHT_CU_INIT(cuEventQuery, (Handle event), {
  const auto ask = [&] { return with_event(event, [](Event& e) { return query(e); }); };
  return Stream::on_worker() ? ask() : in_context([&] { return of_event(event); }, ask);
})
INFLIGHT_CU_AT(of_event(event), cuEventSynchronize, (Handle event),
               { return with_event(event, [](Event& e) { return synchronize(e); }); })
INFLIGHT_CU_TWO_AT(of_event(start), cuEventElapsedTime, cuEventElapsedTime_v2,
                   (float* milliseconds, Handle start, Handle end),
                   { return get_elapsed(milliseconds, start, end); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamWaitEvent, cuStreamWaitEvent_ptsz,
                   (Handle stream, Handle event, unsigned flags), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return wait_event(s, event, flags); });
                   })

}  // namespace inflight::cuda::driver
