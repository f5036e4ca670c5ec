// Driver API: streams and host functions.
#include "gpu/cuda/core/calls/managed.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/work/work.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

// A default stream belongs to the current context.
Status context_handle(const Stream& stream, Handle* context) {
  bool made = stream.kind() == Stream::Kind::user;
  return store_value(context, Handle(made ? home_of(stream) : current_context()));
}

// Stores the stream's primary context, and its green context if it has one.
Status context_handles(const Stream& stream, Handle* context, Handle* green) {
  const bool made = stream.kind() == Stream::Kind::user;
  Context* const in = made ? home_of(stream) : current_context();
  if (stream.kind() == Stream::Kind::per_thread && in->green) return Status::invalid_handle;
  if (green) *green = in->green;
  Context* const plain = in->green ? &Core::get().primary(in->device->ordinal) : in;
  return store_value(context, Handle(plain));
}

// The stream handle for a callback. Null in a per-thread name becomes CU_STREAM_PER_THREAD.
Handle callback_handle(Handle stream, bool per_thread) {
  return !stream && per_thread ? reinterpret_cast<Handle>(2) : stream;
}

}  // namespace

INFLIGHT_CU(cuStreamCreate, (Handle * stream, unsigned flags),
            { return create_stream(stream, flags, 0); })
INFLIGHT_CU(cuStreamCreateWithPriority, (Handle * stream, unsigned flags, int priority),
            { return create_stream(stream, flags, priority); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamDestroy, cuStreamDestroy_v2, (Handle stream),
                   { return destroy_stream(stream); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamSynchronize, cuStreamSynchronize_ptsz,
                   (Handle stream), {
                     return with_stream(stream, second, [](Stream& s) { return synchronize(s); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamQuery, cuStreamQuery_ptsz, (Handle stream),
                   { return with_stream(stream, second, [](Stream& s) { return query(s); }); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetPriority, cuStreamGetPriority_ptsz,
                   (Handle stream, int* priority), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return store_value(priority, s.priority());
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetFlags, cuStreamGetFlags_ptsz,
                   (Handle stream, unsigned* flags), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return store_value(flags, unsigned(s.non_blocking()));
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetId, cuStreamGetId_ptsz,
                   (Handle stream, unsigned long long* id), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return store_value(id, s.id()); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetDevice, cuStreamGetDevice_ptsz,
                   (Handle stream, int* device), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return store_value(device, s.device().ordinal);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCtx, cuStreamGetCtx_ptsz,
                   (Handle stream, Handle* context), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return context_handle(s, context); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz,
                   (Handle stream, Handle* context, Handle* green), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return context_handles(s, context, green);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamSetAttribute, cuStreamSetAttribute_ptsz,
                   (Handle stream, int attribute, const StreamAttribute* value), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return set_attribute(s, attribute, value);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetAttribute, cuStreamGetAttribute_ptsz,
                   (Handle stream, int attribute, StreamAttribute* value), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return get_attribute(s, attribute, value);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(to), cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz,
                   (Handle to, Handle from), {
                     return with_stream(from, second, [&](Stream& source) {
                       auto target = stream_of(to, second);
                       if (!target) return target.error().status;
                       copy_attributes(**target, source);
                       return Status::success;
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz,
                   (Handle stream, DevicePointer memory, std::size_t, unsigned flags), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return attach(s, pointer(memory), flags);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuLaunchHostFunc, cuLaunchHostFunc_ptsz,
                   (Handle stream, void (*function)(void*), void* data), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return submit(s, HostWork{function, data});
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamAddCallback, cuStreamAddCallback_ptsz,
                   (Handle stream, StreamCallback callback, void* data, unsigned flags), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return add_callback(s, callback_handle(stream, second), callback, data,
                                           flags);
                     });
                   })

}  // namespace inflight::cuda::driver
