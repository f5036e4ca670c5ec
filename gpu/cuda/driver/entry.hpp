// Common code of the driver API's entry points: the checks before a call, and its result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/calls/called.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/report/call.hpp"

namespace inflight::cuda::driver {

// CUDA Driver API: handles are opaque, device memory is an integer.
using DevicePointer = unsigned long long;
using Handle = void*;

// Every CUresult is an int.
int code_of(Status);

// The state that a call requires.
enum class Needs { nothing, initialisation, context };
// success; not_initialized, deinitialized, not_permitted (inside a host function), invalid_context,
// or the fault that killed the context.
Status begin(Needs);

// Runs an entry point's body. `call` is its name. No exception leaves.
template <class Body>
int enter(Needs needs, const char* call, Body&& body) {
  return called(call, code_of, [&]() -> Status {
    Status status = begin(needs);
    return status == Status::success ? body() : status;
  });
}

// Runs the body in the current context, or, if there is none, in the context that `home` returns
// (invalid_context: null).
template <class Home, class Body>
Status in_context(Home&& home, Body&& body) {
  Status status = begin(Needs::initialisation);
  if (status != Status::success) return status;
  if (current_context() || Stream::on_worker()) {
    status = begin(Needs::context);
    return status == Status::success ? body() : status;
  }
  Context* context = home();
  if (!context) return Status::invalid_context;
  ScopedContext scope(context);
  status = context->device->fault();
  return status == Status::success ? body() : status;
}

// An entry point that names an object. Without a current context it runs in the object's context.
template <class Home, class Body>
int enter_at(const char* call, Home&& home, Body&& body) {
  return called(call, code_of, [&] { return in_context(home, body); });
}

inline void* pointer(DevicePointer address) { return reinterpret_cast<void*>(address); }
inline DevicePointer address(const void* p) { return reinterpret_cast<DevicePointer>(p); }

// The device of a CUdevice, or null.
Device* device_at(int ordinal);
// The context of a CUcontext; with `or_current`, null means the current one.
Context* context_of(Handle context, bool or_current = true);

// The contexts of objects that programs name. An invalid handle gives device 0's context, and the
// call then fails. A default stream has none (null).
Context* of_any();  // for objects without one, such as graphs
Context* of_device(int ordinal);
Context* of_stream(Handle);
Context* of_event(Handle);
Context* of_memory(DevicePointer inside);
Context* of_pool(Handle);
Context* of_module(Handle);
Context* of_function(Handle);
inline Context* of_memory(const void* inside) {
  return of_memory(reinterpret_cast<DevicePointer>(inside));
}
// The context in which a stream was created.
Context* home_of(const Stream&);

// Runs `body` with the stream (invalid_handle: there is none; the fault of its device's context).
template <class Body>
Status with_stream(Handle handle, bool per_thread, Body&& body) {
  auto stream = live_stream(handle, per_thread);
  return stream ? body(**stream) : stream.error().status;
}

}  // namespace inflight::cuda::driver

// INFLIGHT_CU(name, (parameters), { body }): an entry point whose body returns a Status; it
// requires a current context. INFLIGHT_CU_AT(home, ...) is for calls that name an object with a
// context: `home` is one of the of_...() above. _INIT requires cuInit only, _BARE nothing. _TWO
// defines two names of one operation; in its body, `second` is whether the second name was called
// (_ptsz and _ptds names: the thread's own default stream). Use them inside this namespace.
#define INFLIGHT_CU_ENTRY(needs, name, params, ...)                   \
  extern "C" __attribute__((visibility("default"))) int name params { \
    return enter(Needs::needs, #name, [&]() -> Status __VA_ARGS__);   \
  }
#define INFLIGHT_CU(name, params, ...) INFLIGHT_CU_ENTRY(context, name, params, __VA_ARGS__)
#define INFLIGHT_CU_INIT(name, params, ...) \
  INFLIGHT_CU_ENTRY(initialisation, name, params, __VA_ARGS__)
#define INFLIGHT_CU_BARE(name, params, ...) INFLIGHT_CU_ENTRY(nothing, name, params, __VA_ARGS__)
#define INFLIGHT_CU_AT(home, name, params, ...)                       \
  extern "C" __attribute__((visibility("default"))) int name params { \
    return enter_at(                                                  \
        #name, [&] { return home; }, [&]() -> Status __VA_ARGS__);    \
  }
#define INFLIGHT_CU_PAIR(entry, kind, one, two, params, ...) \
  entry(kind, one, params, {                                 \
    [[maybe_unused]] constexpr bool second = false;          \
    __VA_ARGS__                                              \
  }) entry(kind, two, params, {                              \
    [[maybe_unused]] constexpr bool second = true;           \
    __VA_ARGS__                                              \
  })
#define INFLIGHT_CU_TWO(one, two, params, ...) \
  INFLIGHT_CU_PAIR(INFLIGHT_CU_ENTRY, context, one, two, params, __VA_ARGS__)
#define INFLIGHT_CU_TWO_INIT(one, two, params, ...) \
  INFLIGHT_CU_PAIR(INFLIGHT_CU_ENTRY, initialisation, one, two, params, __VA_ARGS__)
#define INFLIGHT_CU_TWO_AT(home, one, two, params, ...) \
  INFLIGHT_CU_PAIR(INFLIGHT_CU_AT, home, one, two, params, __VA_ARGS__)
