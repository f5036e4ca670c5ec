// Ctrl-C during a kernel ends the kernel. The program's own handling of SIGINT stays in effect.
#pragma once

namespace inflight::machine::interrupt {

// How the program handles SIGINT.
enum class Disposition {
  ends,     // it dies
  handles,  // it has a handler, as Python does, which is called too
};

// Handles SIGINT until `leave`, unless the program ignores it. May be called repeatedly.
void listen();
// Restores the program's handling of SIGINT, unless the program has changed it meanwhile.
void leave();
// How often SIGINT came between `listen` and `leave`.
unsigned count();
Disposition disposition();

// Ends the process as SIGINT would have, if it came and the program has no handler. Call it after
// the report of where the kernel was.
[[gnu::visibility("default")]] void die_if_due();

}  // namespace inflight::machine::interrupt
