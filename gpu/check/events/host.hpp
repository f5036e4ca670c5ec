// Events of the host: the order of stream work, and accesses to memory.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/check/events/kernel.hpp"
#include "gpu/check/events/memory.hpp"

namespace inflight::check {

// The order of kernels, copies and the host. A stream executes work items in sequence, numbered
// from 1. What the host did before it submitted an item comes before the item. The contents of an
// item (launches, HostAccess, steps of a graph) are reported between its `begun` and `ended`, on
// the same host thread.
struct StreamEdge {
  enum class Kind : std::uint8_t {
    created,  // a stream; `blocking`: it synchronises with the null stream
    destroyed,
    submitted,   // `work`, by the host
    begun,       // `work`: all earlier work of the stream is complete
    after,       // `work` also comes after `other_work` of stream `other`; reported before `begun`
    ended,       // `work`
    launch,      // in `work`; `other`: launch number
    step,        // from now on `work` executes step `other` of a graph, counted from 1
    step_after,  // that step comes after step `other`
    host_function,  // in `work`: a host function or callback runs
    value_write,    // in `work`; `other`: address
    value_wait,     // in `work`: the wait for a value at the address ended
    event_record,   // `other`: the event, which now stands for `work`
    event_wait,     // `work` comes after the work that event `other` stands for
    stream_sync,    // the host has waited for `work` and all before it
    event_sync,     // the same, through event `other`
    device_sync,    // the host has waited for every stream of the device
  };
  Kind kind = Kind::launch;
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t work = 0;
  std::uint64_t other = 0, other_work = 0;
  bool blocking = true;
  // launch: the preceding kernel let this one begin before its own end, so this one comes after it
  // only where it has waited (griddepcontrol). step_after: the edge permits that.
  bool dependent = false;
  // launch: it may begin before the end of the preceding kernel, whether or not that lets it.
  bool programmatic = false;
  // stream_sync: a copy's own wait, after which the host may know of `staged` copies in `work` only
  // that their sources have been read.
  bool staged = false;
};

// The host, or a copy in a stream, accesses memory: `rows` rows of `bytes` bytes each.
struct HostAccess {
  enum class Kind : std::uint8_t { copy, set };
  Kind kind = Kind::copy;
  std::uint64_t stream = 0;
  std::uint64_t work = 0;     // work item of the stream, as in StreamEdge
  bool asynchronous = false;  // the call is named Async
  // It copies pageable memory to a device's: the call may return before the bytes have arrived
  // (CUDA runtime API, "API synchronization behavior").
  bool staged = false;
  std::uint64_t launch = 0;  // its launch number if a kernel launched it, else 0
  LaunchOrigin origin;       // likewise, its origin
  // The library call that does it, for a library that replaces one of NVIDIA's. Then a `set` is
  // what it writes, and a `copy` without a destination what it reads.
  std::string_view call;
  // Addresses. Source 0: a set, or pageable host memory, which the call has already read.
  std::uint64_t destination = 0, source = 0;
  std::uint64_t destination_pitch = 0, source_pitch = 0;  // bytes between the starts of rows
  std::uint64_t bytes = 0, rows = 1;
};

// The program's own host code accesses memory that kernels may access, outside of any CUDA call.
// Reported in the order of StreamEdges. Only accesses while work of a stream may still run are
// reported, and not every one of them is detected.
struct HostTouch {
  std::uint64_t address = 0, bytes = 1;  // the first bytes that it accesses
  bool write = false;
  std::string_view place;  // for example "host code in main (a.out)"
};

// The program's own host code accesses device memory, which it cannot access on a GPU. Not every
// such access is detected.
struct DeviceTouch {
  HostTouch touch;
  // The allocation that holds the address. Without bytes: none does.
  Allocation::Kind kind = Allocation::Kind::device;
  int device = 0;
  std::uint64_t base = 0, bytes = 0;
  std::string_view name;  // of a variable
};

// A launch was refused or did not run to its end, other work of a stream failed, or a call of the
// API returned an error. Faults and hangs that detectors have explained are not among them.
struct CallFailed {
  enum class What : std::uint8_t {
    launch,  // a kernel was not launched
    work,    // a kernel, or other work of a stream, ended by an error
    input,   // a call refused what a kernel would have used: a tensor map
    call,    // any other call
  };
  What what = What::call;
  std::string_view call;      // the entry point; empty: the program is in none
  std::string_view caller;    // "main (a.out)": the host's function that called it; empty: unknown
  std::string_view kernel;    // name in the PTX; empty: unknown or none
  std::string_view sentence;  // what is wrong, then further lines
  int code = 0;               // what the call returned, or will return
  std::uint64_t launch = 0;   // its number, once it has begun
  bool deadlock = false;      // which often follows from another mistake of the launch
};

// The program ends. Reported once, after every other event.
struct ProcessEnd {};

}  // namespace inflight::check
