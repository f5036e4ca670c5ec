// The checks before a driver call, and its result. Also cuInit, versions and errors.
#include "gpu/cuda/driver/entry.hpp"

#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/memory/pool.hpp"

namespace inflight::cuda::driver {
namespace {

// Codes that only the runtime API has, and the driver API's codes for the same errors.
struct Translation {
  Status runtime;
  Status driver;
};
constexpr Translation translations[] = {
    {Status::invalid_configuration, Status::invalid_value},
    {Status::invalid_pitch, Status::invalid_value},
    {Status::invalid_symbol, Status::not_found},
    {Status::invalid_device_pointer, Status::invalid_value},
    {Status::invalid_direction, Status::invalid_value},
    {Status::invalid_device_function, Status::not_found},
};

}  // namespace

int code_of(Status status) {
  for (const Translation& t : translations) {
    if (t.runtime == status) return int(t.driver);
  }
  return int(status);
}

Status begin(Needs needs) {
  if (Core::ending()) return Status::deinitialized;
  if (needs == Needs::nothing) return Status::success;
  if (Core::forked()) return report_forked();
  Context* context = current_context();
  if (!context && !driver_initialised()) return Status::not_initialized;
  if (needs == Needs::initialisation) return Status::success;
  if (Stream::on_worker()) return Status::not_permitted;  // a host function in a stream
  if (!context) return Status::invalid_context;
  bool live = Core::get().contexts.find(context) && (!context->primary || context->active);
  return live ? context->device->fault() : Status::context_is_destroyed;
}

namespace {

Context* primary_of(int device) { return &Core::get().primary(device); }

}  // namespace

Context* of_any() { return primary_of(0); }

Context* of_device(int ordinal) { return device_at(ordinal) ? primary_of(ordinal) : of_any(); }

Context* of_stream(Handle handle) {
  constexpr std::uintptr_t last_default = 2;  // cudaStreamPerThread
  if (reinterpret_cast<std::uintptr_t>(handle) <= last_default) return nullptr;
  auto stream = Core::get().streams.find(handle);
  return stream ? home_of(*stream) : of_any();
}

Context* of_event(Handle handle) {
  auto event = Core::get().events.find(handle);
  if (!event) return of_any();
  return event->context ? event->context : primary_of(event->device().ordinal);
}

Context* of_memory(DevicePointer inside) {
  auto found = Core::get().memory.find(inside);
  return found ? primary_of(found->device) : of_any();
}

Context* of_pool(Handle handle) {
  auto pool = Core::get().pools.find(handle);
  return pool ? primary_of(pool->device) : of_any();
}

Context* home_of(const Stream& stream) {
  return stream.context ? stream.context : primary_of(stream.device().ordinal);
}

Device* device_at(int ordinal) {
  bool there = ordinal >= 0 && ordinal < Core::get().device_count();
  return there ? &Core::get().device(ordinal) : nullptr;
}

Context* context_of(Handle context, bool or_current) {
  if (!context) return or_current ? current_context() : nullptr;
  return Core::get().contexts.find(context).get();
}

INFLIGHT_CU_BARE(cuInit, (unsigned flags), {
  if (flags != 0) return Status::invalid_value;
  if (Core::forked()) return report_forked();
  const Status visible = Core::get().visible();
  if (visible != Status::success) return visible;
  initialise_driver();
  return Status::success;
})

INFLIGHT_CU_BARE(cuDriverGetVersion, (int* version),
                 { return store_value(version, settings().driver_version); })

namespace {

Status error_text(std::string_view text, const char** to) {
  if (!to) return Status::invalid_value;
  *to = text.empty() ? nullptr : text.data();
  return text.empty() ? Status::invalid_value : Status::success;
}

}  // namespace

INFLIGHT_CU_BARE(cuGetErrorName, (int error, const char** text),
                 { return error_text(driver_error_name(error), text); })

INFLIGHT_CU_BARE(cuGetErrorString, (int error, const char** text),
                 { return error_text(driver_error_text(error), text); })

INFLIGHT_CU(cuProfilerStart, (), { return Status::success; })
INFLIGHT_CU(cuProfilerStop, (), { return Status::success; })

}  // namespace inflight::cuda::driver
