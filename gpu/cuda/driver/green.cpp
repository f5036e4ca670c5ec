// Driver API: green contexts, their resources, and events of whole contexts.
#include "gpu/cuda/core/calls/context_events.hpp"
#include "gpu/cuda/core/green/green_context.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

Status store_resource(DevResource* place, int type, const DevResource& resource) {
  if (type != DevResource::multiprocessors) return Status::invalid_resource_type;
  return store_value(place, resource);
}

DevResource resource_of(const Context& context) {
  return context.green ? cuda::resource_of(*context.green->partition)
                       : cuda::resource_of(*context.device);
}

// Runs `body` with the green context (invalid_context: there is none).
template <class Body>
Status with_green(Handle handle, Body&& body) {
  auto found = green_context_of(handle);
  return found ? body(**found) : found.error().status;
}

// Stores the stream's green context, or null.
Status green_handle(const Stream& stream, Handle* green) {
  const Context* const context =
      stream.kind() == Stream::Kind::user ? stream.context : current_context();
  return store_value(green, context && context->green ? Handle(context->green) : nullptr);
}

}  // namespace

INFLIGHT_CU_INIT(cuDeviceGetDevResource, (int device, DevResource* place, int type), {
  Device* const found = device_at(device);
  if (!found) return Status::invalid_device;
  return store_resource(place, type, cuda::resource_of(*found));
})
INFLIGHT_CU_INIT(cuCtxGetDevResource, (Handle handle, DevResource* place, int type), {
  Context* const context = context_of(handle);
  if (!context) return Status::invalid_context;
  return store_resource(place, type, resource_of(*context));
})
INFLIGHT_CU_INIT(cuGreenCtxGetDevResource, (Handle handle, DevResource* place, int type), {
  return with_green(handle, [&](GreenContext& green) {
    return store_resource(place, type, cuda::resource_of(*green.partition));
  });
})
INFLIGHT_CU_INIT(cuDevSmResourceSplitByCount,
                 (DevResource * groups, unsigned* count, const DevResource* input,
                  DevResource* remaining, unsigned flags, unsigned least),
                 { return split_resource(groups, count, input, remaining, flags, least); })
INFLIGHT_CU_INIT(cuDevResourceGenerateDesc,
                 (Handle * place, const DevResource* resources, unsigned count),
                 { return create_description(place, resources, count); })

INFLIGHT_CU_INIT(cuGreenCtxCreate, (Handle * place, Handle description, int device, unsigned flags),
                 { return create_green_context(place, description, device, flags); })
INFLIGHT_CU_INIT(cuGreenCtxDestroy, (Handle green), { return destroy_green_context(green); })
INFLIGHT_CU_INIT(cuCtxFromGreenCtx, (Handle * place, Handle handle), {
  return with_green(
      handle, [&](GreenContext& green) { return store_value(place, Handle(green.context.get())); });
})
INFLIGHT_CU_INIT(cuGreenCtxGetId, (Handle handle, unsigned long long* id), {
  const Context* const current = current_context();
  if (!handle && current && current->green) return store_value(id, current->green->id());
  return with_green(handle, [&](GreenContext& green) { return store_value(id, green.id()); });
})

INFLIGHT_CU_INIT(cuGreenCtxStreamCreate,
                 (Handle * place, Handle handle, unsigned flags, int priority), {
                   return with_green(handle, [&](GreenContext& green) {
                     return create_green_stream(place, green, flags, priority);
                   });
                 })
INFLIGHT_CU_AT(of_stream(stream), cuStreamGetGreenCtx, (Handle stream, Handle* green), {
  return with_stream(stream, false, [&](Stream& s) {
    const Context* const current = current_context();
    if (s.kind() == Stream::Kind::per_thread && current->green) return Status::invalid_handle;
    return green_handle(s, green);
  });
})

INFLIGHT_CU_INIT(cuGreenCtxRecordEvent, (Handle handle, Handle event), {
  return with_green(handle, [&](GreenContext& g) { return record_event(*g.context, event); });
})
INFLIGHT_CU_INIT(cuGreenCtxWaitEvent, (Handle handle, Handle event), {
  return with_green(handle, [&](GreenContext& g) { return wait_event(*g.context, event); });
})
INFLIGHT_CU_INIT(cuCtxRecordEvent, (Handle handle, Handle event), {
  Context* const context = context_of(handle);
  return context ? record_event(*context, event) : Status::invalid_context;
})
INFLIGHT_CU_INIT(cuCtxWaitEvent, (Handle handle, Handle event), {
  Context* const context = context_of(handle);
  return context ? wait_event(*context, event) : Status::invalid_context;
})

}  // namespace inflight::cuda::driver
