// Watches accesses by the program's host code to managed, pinned and registered memory that work in
// a stream may still use. Only for the checker. (device_memory watches device memory.)
//
// Host and device share one mapping of that memory. So while such work is pending and none of it
// runs, its pages are closed to the whole process. A touch raises a signal, whose handler logs the
// touch and opens the page (closing). Work is held back for a moment, so that the host's next steps
// are seen; CUDA does not say when work begins. The detectors judge a touch like any other access:
// work that the host has waited for comes before it.
#pragma once
#include <chrono>
#include <cstdint>

#include "gpu/check/events.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda::watch {

// True if the checker is on.
bool enabled();
// True if any memory is watched. Cheap enough for every call.
bool active();

// Called when memory is made and released.
void made(const machine::Allocation& allocation);
void released(const machine::Allocation& allocation);

// Follows an edge of a stream. Call it after the detectors have received it.
void follow(const check::StreamEdge& edge);
// Reports all touches so far to the detectors. Call it before every edge of a stream.
void report_touches();

// Called when the program ends. Pages stay open from now on.
void end();

// While one exists, a thread does work of a stream that may touch such memory.
class Working {
 public:
  Working();
  ~Working();
  Working(const Working&) = delete;

 private:
  const bool counted_;
};

// While one exists, a thread of the program waits for work: for all submitted work, so that none is
// held back, or for work up to a stamp, so that later work stays held back.
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
  int thread = 0;                  // the submitting thread's id in the system
  int clock = 0;                   // clockid_t of that thread's processor time,
  std::chrono::nanoseconds had{};  // and its value then
};
Stamp stamp_now();
// Whether the program has neither waited nor queried since, and a wait until it does or a moment
// has passed.
bool holds(const Stamp& stamp);
void wait_for(const Stamp& stamp);
// Called when the program queries whether work is done. Submitted work is no longer held back.
void queried();

// Opens a range for a system call, and logs a touch by the program's code at `code`.
void touched_by_call(const void* address, std::uint64_t bytes, bool write, const void* code);

}  // namespace inflight::cuda::watch
