// The SIGINT handler that precedes the program's own while a launch runs long.
#include "gpu/machine/launch/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace inflight::machine::interrupt {
namespace {

// Written before the handler is in place, by the one thread that calls `listen`.
struct sigaction programs {};
std::atomic<pid_t> listener{0};  // the process that listens: a forked child runs no kernel
std::atomic<unsigned> arrivals{0};

bool has_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void die() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGINT, &standard, nullptr);
  kill(getpid(), SIGINT);
}

// Calls only async-signal-safe functions.
void on_interrupt(int number, siginfo_t* info, void* context) {
  const bool listening = listener.load() == getpid();
  if (listening) ++arrivals;
  if (!has_handler(programs)) {
    if (!listening && programs.sa_handler == SIG_DFL) die();
  } else if (programs.sa_flags & SA_SIGINFO) {
    programs.sa_sigaction(number, info, context);
  } else {
    programs.sa_handler(number);
  }
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == on_interrupt;
}

}  // namespace

void listen() {
  struct sigaction now {};
  if (sigaction(SIGINT, nullptr, &now) != 0) return;
  if (!is_ours(now)) {
    const bool ignored = !has_handler(now) && now.sa_handler == SIG_IGN;
    if (ignored || (now.sa_flags & SA_RESETHAND)) return;
    programs = now;
    struct sigaction ours = now;
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_sigaction = on_interrupt;
    if (sigaction(SIGINT, &ours, nullptr) != 0) return;
  }
  listener = getpid();
}

void leave() {
  if (listener.exchange(0) == 0) return;
  struct sigaction now {};
  if (sigaction(SIGINT, nullptr, &now) == 0 && is_ours(now)) sigaction(SIGINT, &programs, nullptr);
}

unsigned count() { return arrivals; }

Disposition disposition() {
  return has_handler(programs) ? Disposition::handles : Disposition::ends;
}

void die_if_due() {
  if (arrivals != 0 && disposition() == Disposition::ends) die();
}

}  // namespace inflight::machine::interrupt
