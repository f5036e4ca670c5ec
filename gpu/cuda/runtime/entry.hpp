// Common code of the runtime's entry points: the checks before a call, and the last error.
#pragma once
#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/calls/called.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/cuda/core/work/work.hpp"

// Files whose entry points take a stream are compiled twice. The second time they define the names
// for programs with --default-stream per-thread, where stream 0 is the thread's own.
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

// The copy of the runtime that the program has called, for a call that has just begun: 0 for the
// shared one, else the number of a static one (loader/jump). Each copy has last errors of its own.
using RuntimeCopy = std::uint32_t;
RuntimeCopy called_copy();
// Stores `status` as the thread's last error unless it is success or not_ready. Returns its code.
int record(Status status, RuntimeCopy copy = called_copy());

// success, or why no call is permitted: the process is exiting, it is a forked child, or this is a
// host function in a stream.
Status callable();
// The same, or the fault that killed the current device's context.
Status usable();

inline Status as_status(Status status) { return status; }
template <class T>
Status as_status(const Result<T>& result) {
  return report(result);
}

// Every entry point that can fail uses one of these, which let no exception out. `call` is the
// entry point's own name.

// A call that needs a working context.
template <class Body>
int entry(Body body, const char* call = __builtin_FUNCTION()) {
  const auto keep = [copy = called_copy()](Status status) { return record(status, copy); };
  return called(call, keep, [&]() -> Status {
    Status status = usable();
    return status == Status::success ? as_status(body()) : status;
  });
}
// A call that does not need one: queries of devices, handles and errors.
template <class Body>
int query(Body body, const char* call = __builtin_FUNCTION()) {
  const auto keep = [copy = called_copy()](Status status) { return record(status, copy); };
  return called(call, keep, [&]() -> Status {
    Status status = callable();
    return status == Status::success ? as_status(body()) : status;
  });
}
// A call on a stream: body(Stream&).
template <class Body>
int on_stream(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        auto stream = live_stream(handle, per_thread);
        return stream ? as_status(body(**stream)) : stream.error().status;
      },
      call);
}
// A call on an event: body(Event&).
template <class Body>
int on_event(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        auto event = Core::get().events.find(handle);
        return event ? as_status(body(*event)) : Status::invalid_handle;
      },
      call);
}

}  // namespace inflight::cuda
