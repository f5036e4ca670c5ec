// What the host does: the order of streams, and its accesses to memory.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/check/events/kernel.hpp"

namespace inflight::check {

// What orders kernels, copies and the host. A stream does pieces of work one after the other, which
// are numbered from 1. What the host did before it submitted one comes before it. What is done in
// one (launches, HostAccess, steps of a graph) is reported between its `begun` and `ended`, on the
// same thread of the host.
struct StreamEdge {
  enum class Kind : std::uint8_t {
    created,  // a stream; `blocking` says whether it orders with the null stream
    destroyed,
    submitted,      // `work`, by the host
    begun,          // `work`: all earlier work of the stream is done
    after,          // and so is work `other_work` of stream `other`: told before `begun`
    ended,          // `work`
    launch,         // `other`: the launch; in `work`
    step,           // what `work` does from now on is step `other` of a graph, counted from 1
    step_after,     // which comes after step `other`
    host_function,  // a function of the host's or a callback runs; in `work`
    value_write,    // `other`: the address; in `work`
    value_wait,     // what is there is what `work` has waited for
    event_record,   // `other`: the event, which stands for `work` from now on
    event_wait,     // `work`, which comes after what `other` stands for
    stream_sync,    // the host knows that `work` is done, and all before it
    event_sync,     // likewise, having asked for `other`
    device_sync,    // the host has waited for every stream of the device
  };
  Kind kind = Kind::launch;
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t work = 0;
  std::uint64_t other = 0, other_work = 0;
  bool blocking = true;
  // Of launch: the kernel in front let it begin before its own end, so it comes after that kernel
  // only where it has waited (griddepcontrol). Of step_after: the edge permits that.
  bool dependent = false;
};

// The host, or a copy in a stream, reads and writes memory. Rows of `bytes`, `rows` of them.
struct HostAccess {
  enum class Kind : std::uint8_t { copy, set };
  Kind kind = Kind::copy;
  std::uint64_t stream = 0;
  std::uint64_t work = 0;     // of the stream, as in StreamEdge
  bool asynchronous = false;  // of a call that says so in its name
  std::uint64_t launch = 0;   // where a kernel has asked for it: its number; else 0
  Descent descent;            // likewise
  // Of a library that stands in for one of NVIDIA's: the call whose work it is. A `set` is then
  // what it writes, a `copy` without a destination what it reads.
  std::string_view call;
  // Addresses. No source: a set, or pageable memory of the host's, which the call has read.
  std::uint64_t destination = 0, source = 0;
  std::uint64_t destination_pitch = 0, source_pitch = 0;  // bytes from row to row
  std::uint64_t bytes = 0, rows = 1;
};

// The program's own code on the host reads or writes memory that kernels may touch, outside of any
// call of CUDA's. Told in the order of StreamEdges, of some accesses: those after which something
// in a stream may still run, as far as they were seen.
struct HostTouch {
  std::uint64_t address = 0, bytes = 1;  // the first ones that it touches
  bool write = false;
  std::string_view place;  // where: "host code in main (a.out)"
};

// The program ends: nothing more runs. Told once, after every other event.
struct ProcessEnd {};

}  // namespace inflight::check
