// How every entry point of the runtime begins and ends: what may be called now, and the last error.
#pragma once
#include "gpu/cuda/core/abi.hpp"
#include "gpu/cuda/core/core.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/report/guard.hpp"
#include "gpu/cuda/core/report/status.hpp"
#include "gpu/cuda/core/stream/work.hpp"

// Files whose entry points take a stream are compiled twice: the second time under the names that
// programs with --default-stream per-thread call, where stream 0 is the thread's own.
#ifdef INFLIGHT_PER_THREAD
#  define INFLIGHT_STREAMED(name) name##_ptsz
#  define INFLIGHT_DEFAULTED(name) name##_ptds
#else
#  define INFLIGHT_STREAMED(name) name
#  define INFLIGHT_DEFAULTED(name) name
#endif

namespace inflight::cuda {

#ifdef INFLIGHT_PER_THREAD
inline constexpr bool per_thread = true;
#else
inline constexpr bool per_thread = false;
#endif

// Keeps `status` as the thread's last error unless it is success or not_ready; its code.
int record(Status status);

// What forbids any call now: the process ends, or this is a host function in a stream.
Status callable();
// callable(), and that the current device's context is alive.
Status usable();

inline Status as_status(Status status) { return status; }
template <class T>
Status as_status(const Result<T>& result) {
  return tell(result);
}

// Every entry point that can fail ends in one of these, which let no exception out. `call` is the
// entry point's own name.

// A call that needs a working context.
template <class Body>
int entry(Body body, const char* call = __builtin_FUNCTION()) {
  return record(guarded(call, [&]() -> Status {
    Status status = usable();
    return status == Status::success ? as_status(body()) : status;
  }));
}
// One that does not: questions about devices, handles and errors.
template <class Body>
int query(Body body, const char* call = __builtin_FUNCTION()) {
  return record(guarded(call, [&]() -> Status {
    Status status = callable();
    return status == Status::success ? as_status(body()) : status;
  }));
}
// One that a stream capture forbids, as cudaMalloc.
template <class Body>
int uncaptured(Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        Status status = allowed_in_capture();
        return status == Status::success ? as_status(body()) : status;
      },
      call);
}
// One on a stream: body(Stream&).
template <class Body>
int on_stream(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        auto stream = stream_of(handle, per_thread);
        if (!stream) return stream.error().status;
        if (Status fault = (*stream)->device().fault(); fault != Status::success) return fault;
        return as_status(body(**stream));
      },
      call);
}
// One on an event: body(Event&).
template <class Body>
int on_event(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        auto event = Core::get().events.find(handle);
        return event ? as_status(body(*event)) : Status::invalid_handle;
      },
      call);
}

inline bool device_exists(int ordinal) {
  return ordinal >= 0 && ordinal < Core::get().device_count();
}

// The variable that host code names: by its host shadow, or, a managed one, by its own address.
Result<machine::Symbol> symbol_of(const void* host, int device);

// A cudaMemcpy3D between pointers.
Copy copy_of(const abi::Copy3D& box);

// A launch from what a program passes: arguments one pointer each, or packed by `extra`.
Result<KernelWork> kernel_work(Device& device, const void* function, const machine::Dim3& grid,
                               const machine::Dim3& block, void* const* arguments,
                               void* const* extra, std::size_t dynamic_shared);

// The kernel that a program names by a host function, a cudaKernel_t or a cudaFunction_t
// (invalid_device_function: null; invalid_handle: nothing of the kind).
Result<std::shared_ptr<Function>> function_of(const void* handle);

}  // namespace inflight::cuda
