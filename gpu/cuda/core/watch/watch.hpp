// What the program's own code on the host touches of managed, pinned and registered memory while
// something in a stream may still use it. Only for the checker.
//
// Host and device share one mapping of that memory. So while such work is pending and none of it
// runs, its pages are closed to the whole process: who touches one gets a signal, whose handler
// notes the touch and opens the page (closing). Work is held back for a moment, as no rule says
// when it begins, so that the host's next steps are seen. The detectors judge each touch as any
// other access: what the host has waited for comes before it.
#pragma once
#include <chrono>
#include <cstdint>

#include "gpu/check/events.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda::watch {

// Are there detectors that want to know?
bool enabled();
// Is there memory that is watched? One load.
bool active();

// Memory comes and goes.
void made(const machine::Allocation& allocation);
void released(const machine::Allocation& allocation);

// Streams, by their edges: after the detectors were told of it.
void follow(const check::StreamEdge& edge);
// Tells the detectors of all touches so far. Before every edge of a stream.
void report_touches();

// The program ends: pages are open from now on.
void end();

// A thread does what may touch such memory for a stream.
class Working {
 public:
  Working();
  ~Working();
  Working(const Working&) = delete;

 private:
  const bool counted_;
};

// A thread of the program waits for work: for all that was submitted, so that none is held back, or
// for what was submitted up to a stamp, so that what is behind stays where it is.
class Waiting {
 public:
  static constexpr std::uint64_t all = ~std::uint64_t{0};
  explicit Waiting(bool really = true, std::uint64_t up_to = all);
  ~Waiting();
  Waiting(const Waiting&) = delete;

 private:
  const bool counted_, for_all_;
};

// When a piece of work was submitted.
struct Stamp {
  std::uint64_t number = 0;  // 0: nothing was watched
  std::chrono::steady_clock::time_point time;
  int thread = 0;                  // the system's number of the thread that submitted it
  int clock = 0;                   // clockid_t of that thread's time on a processor,
  std::chrono::nanoseconds had{};  // and how much of it the thread had then
};
Stamp stamp_now();
// Is it held back? And: returns when it is no more.
bool holds(const Stamp& stamp);
void wait_for(const Stamp& stamp);
// The program has asked whether work is done: what was submitted is not held back any longer.
void asked();

// Opens a range for a call of the system's, as a touch by the program's code at `code`.
void touched_by_call(const void* address, std::uint64_t bytes, bool write, const void* code);

}  // namespace inflight::cuda::watch
