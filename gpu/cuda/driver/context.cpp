// Driver API: contexts, the context stack, limits, settings and peers.
#include "gpu/cuda/core/base/handles.hpp"
#include "gpu/cuda/core/base/retired.hpp"
#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/calls/devices.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/green/green_context.hpp"
#include "gpu/cuda/core/queue/awaited.hpp"
#include "gpu/cuda/driver/entry.hpp"
#include "gpu/cuda/driver/module.hpp"
#include "gpu/cuda/driver/owners.hpp"

namespace inflight::cuda::driver {
namespace {

constexpr unsigned flags_mask = 0x1ff;
constexpr unsigned api_version = 3020;

Status create(Handle* context, unsigned flags, int ordinal) {
  Device* device = device_at(ordinal);
  if (!context || (flags & ~flags_mask)) return Status::invalid_value;
  if (!device) return Status::invalid_device;
  auto made = std::make_shared<Context>();
  made->device = device;
  made->flags = flags;
  push_context(made.get());
  *context = Core::get().contexts.add(std::move(made));
  return Status::success;
}

// Other threads may still have the context on their stacks. Then the object stays, and only its
// handle becomes invalid.
void retire(std::shared_ptr<Context> context) {
  static auto* retired = new Retired<Context>([](const Context&) { return false; });
  retired->add(std::move(context));
}

// Destroys what was made in the context and has not been destroyed yet.
void empty(Context& context) {
  for (const auto& stream : Core::get().streams.all())
    if (stream->context == &context) destroy_stream(stream.get());
  for (const auto& event : Core::get().events.all())
    if (event->context == &context) destroy_event(event.get());
  for (const auto& module : modules().all())
    if (module->context == &context) unload(module.get());
  free_memory_of(context);
  forget_context(context);
}

Status destroy(Handle handle) {
  auto context = Core::get().contexts.find(handle);
  if (!context || context->primary || context->green) return Status::invalid_context;
  context->device->synchronize();
  if (current_context() == context.get()) pop_context();
  Core::get().contexts.remove(handle);
  empty(*context);
  retire(std::move(context));
  return Status::success;
}

Status attach(Handle* place, unsigned flags) {
  Context* const context = current_context();
  if (!place || flags != 0) return Status::invalid_value;
  if (!context) return Status::invalid_context;
  ++context->attachments;
  *place = context;
  return Status::success;
}

// The last user's call destroys the context.
Status detach(Handle handle) {
  Context* const context = context_of(handle, false);
  if (!context || context != current_context()) return Status::invalid_context;
  if (context->primary || context->green) return Status::success;
  return --context->attachments > 0 ? Status::success : destroy(handle);
}

Status pop(Handle* context) {
  Context* top = pop_context();
  if (context) *context = top;
  return top ? Status::success : Status::invalid_context;
}

Status push(Handle context) {
  Context* found = context_of(context, false);
  if (!found) return Status::invalid_context;
  push_context(found);
  return Status::success;
}

// Waits only for the work of the context's own streams.
Status synchronize_green(const Context& context) {
  for (const auto& stream : streams_of(context))
    if (Status status = cuda::synchronize(*stream); status != Status::success) return status;
  return context.device->fault();
}

Status synchronize(Handle handle) {
  Context* context = context_of(handle);
  if (!context) return Status::invalid_context;
  if (context->green) return synchronize_green(*context);
  if (Status status = device_waitable(*context->device); status != Status::success) return status;
  return context->device->synchronize();
}

// CUctxCreateParams of cuCtxCreate_v4: an affinity, or a context shared with graphics.
struct CreateParameters {
  const void* affinity;
  int affinity_count;
  const void* shared;
};

// No device supports an affinity. cuDeviceGetExecAffinitySupport says the same.
Status create_with(Handle* context, const CreateParameters& p, unsigned flags, int device) {
  if (p.affinity) return Status::unsupported_exec_affinity;
  if (p.affinity_count != 0) return Status::invalid_value;
  return p.shared ? Status::not_supported : create(context, flags, device);
}

// Like begin(), but allows a primary context that is no longer retained: its device and flags are
// still known.
Status begin_or_released() {
  const Status status = begin(Needs::context);
  const bool released = status == Status::context_is_destroyed && current_context()->primary;
  return released ? Status::success : status;
}

// CUexecAffinityParam.
struct Affinity {
  int type;
  unsigned multiprocessors;
};
constexpr int affinity_of_multiprocessors = 0;

// A context runs on all multiprocessors, or on its green context's part of them.
Affinity affinity_of(const Context& context) {
  const auto part = partition_of(&context);
  const DevResource resource = part ? part->resource : resource_of(*context.device);
  return {affinity_of_multiprocessors, resource.count};
}

constexpr int sync_depth_limit = 3;  // of dynamic parallelism; gone since CUDA 12

Status limit_status(int limit) {
  if (limit < 0 || limit >= limit_count) return Status::invalid_value;
  return limit == sync_depth_limit ? Status::unsupported_limit : Status::success;
}

}  // namespace

INFLIGHT_CU_INIT(cuCtxCreate_v2, (Handle * context, unsigned flags, int device),
                 { return create(context, flags, device); })
INFLIGHT_CU_INIT(cuCtxCreate_v3,
                 (Handle * context, void* affinity, int count, unsigned flags, int device), {
                   return create_with(context, {affinity, count, nullptr}, flags, device);
                 })
INFLIGHT_CU_INIT(cuCtxCreate_v4,
                 (Handle * context, const CreateParameters* parameters, unsigned flags, int device),
                 {
                   const CreateParameters none{};
                   return create_with(context, parameters ? *parameters : none, flags, device);
                 })
INFLIGHT_CU_TWO_INIT(cuCtxDestroy, cuCtxDestroy_v2, (Handle context), { return destroy(context); })
INFLIGHT_CU_INIT(cuCtxAttach, (Handle * context, unsigned flags),
                 { return attach(context, flags); })
INFLIGHT_CU_INIT(cuCtxDetach, (Handle context), { return detach(context); })
INFLIGHT_CU_TWO_INIT(cuCtxPopCurrent, cuCtxPopCurrent_v2, (Handle * context),
                     { return pop(context); })
INFLIGHT_CU_TWO_INIT(cuCtxPushCurrent, cuCtxPushCurrent_v2, (Handle context),
                     { return push(context); })
INFLIGHT_CU_INIT(cuCtxGetCurrent, (Handle * context), {
  if (Stream::on_worker()) return Status::not_permitted;
  return store_value(context, Handle(current_context()));
})
INFLIGHT_CU_INIT(cuCtxSetCurrent, (Handle context), {
  Context* found = context_of(context, false);
  if (context && !found) return Status::invalid_context;
  set_current_context(found);
  return Status::success;
})
INFLIGHT_CU_INIT(cuCtxGetDevice, (int* device), {
  const Status status = begin_or_released();
  if (status != Status::success) return status;
  return store_value(device, current_context()->device->ordinal);
})
INFLIGHT_CU_INIT(cuCtxGetDevice_v2, (int* device, Handle context), {
  Context* found = context_of(context);
  return found ? store_value(device, found->device->ordinal) : Status::invalid_context;
})
INFLIGHT_CU(cuCtxSynchronize, (), { return synchronize(nullptr); })
INFLIGHT_CU_INIT(cuCtxSynchronize_v2, (Handle context), { return synchronize(context); })
INFLIGHT_CU_INIT(cuCtxGetApiVersion, (Handle context, unsigned* version), {
  return context_of(context) ? store_value(version, api_version) : Status::invalid_context;
})
INFLIGHT_CU_INIT(cuCtxGetId, (Handle context, unsigned long long* id), {
  Context* found = context_of(context);
  return found ? store_value(id, address(found)) : Status::invalid_context;
})
INFLIGHT_CU(cuCtxGetExecAffinity, (Affinity * affinity, int type), {
  if (!affinity) return Status::invalid_value;
  if (type != affinity_of_multiprocessors) return Status::unsupported_exec_affinity;
  return store_value(affinity, affinity_of(*current_context()));
})
INFLIGHT_CU_INIT(cuCtxGetFlags, (unsigned* flags), {
  if (const Status status = begin_or_released(); status != Status::success) return status;
  Context* context = current_context();
  const bool shared = context->primary || context->green;
  return store_value(flags, shared ? context->device->flags.load() : context->flags);
})
INFLIGHT_CU(cuCtxSetFlags, (unsigned flags), {
  if (flags & ~flags_mask) return Status::invalid_value;
  Context* context = current_context();
  context->flags = flags;
  if (context->primary) context->device->flags = flags;
  return Status::success;
})
INFLIGHT_CU(cuCtxGetLimit, (std::size_t * value, int limit), {
  if (Status status = limit_status(limit); status != Status::success) return status;
  return store_value(value, std::size_t(current_device().limits[limit]));
})
INFLIGHT_CU(cuCtxSetLimit, (int limit, std::size_t value), {
  if (Status status = limit_status(limit); status != Status::success) return status;
  return set_limit(limit, value);
})
INFLIGHT_CU(cuCtxGetCacheConfig, (int* config),
            { return store_value(config, current_device().cache_config.load()); })
INFLIGHT_CU(cuCtxSetCacheConfig, (int config), {
  if (config < 0 || config > 3) return Status::invalid_value;
  current_device().cache_config = config;
  return Status::success;
})
// Shared memory has banks of four bytes since Volta. Other widths are accepted and ignored.
INFLIGHT_CU(cuCtxGetSharedMemConfig, (int* config), { return store_value(config, 1); })
INFLIGHT_CU(cuCtxSetSharedMemConfig, (int config),
            { return config < 0 || config > 2 ? Status::invalid_value : Status::success; })
INFLIGHT_CU(cuCtxResetPersistingL2Cache, (), { return Status::success; })
INFLIGHT_CU(cuCtxGetStreamPriorityRange, (int* least, int* greatest), {
  if (least) *least = 0;
  if (greatest) *greatest = highest_priority;
  return Status::success;
})
INFLIGHT_CU(cuCtxEnablePeerAccess, (Handle context, unsigned flags), {
  Context* peer = context_of(context, false);
  if (flags != 0) return Status::invalid_value;
  if (!peer) return Status::invalid_context;
  int from = current_device().ordinal;
  int to = peer->device->ordinal;
  if (from == to) return Status::invalid_context;
  if (Core::get().memory.peer_access(from, to)) return Status::peer_access_already_enabled;
  Core::get().memory.set_peer_access(from, to, true);
  return Status::success;
})
INFLIGHT_CU(cuCtxDisablePeerAccess, (Handle context), {
  Context* peer = context_of(context, false);
  if (!peer) return Status::invalid_context;
  int from = current_device().ordinal;
  int to = peer->device->ordinal;
  if (!Core::get().memory.peer_access(from, to)) return Status::peer_access_not_enabled;
  Core::get().memory.set_peer_access(from, to, false);
  return Status::success;
})

}  // namespace inflight::cuda::driver
