// Ctrl-C while a kernel runs: it ends the kernel, and what the program does with SIGINT stays the
// program's.
#pragma once

namespace inflight::machine::interrupt {

// What the program does with SIGINT.
enum class Disposition {
  ends,     // it dies of it
  handles,  // a handler of its own, as Python's: it is called too, and goes on
};

// Handles SIGINT until `leave`, unless the program ignores it. Called again and again.
void listen();
// Gives SIGINT back, unless the program took it in the meantime.
void leave();
// How often it came while somebody listened.
unsigned count();
Disposition disposition();

// Ends the process as SIGINT would have, if it came and the program has no handler: after the
// report of where the kernel was.
[[gnu::visibility("default")]] void die_if_due();

}  // namespace inflight::machine::interrupt
