// Logs a touch of a closed page and opens the page. For a page's first touches, a trap after the
// instruction closes it again.
#include "gpu/cuda/core/watch/faults.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>

#include "gpu/machine/memory/faults.hpp"

namespace inflight::cuda::watch {
namespace {

Closing* closing = nullptr;
TouchLog* log = nullptr;
struct sigaction trap_before;

// A thread that executes one instruction on an open page.
struct Step {
  std::atomic<long> thread{0};
  std::uint64_t address = 0;
};
std::array<Step, 64> steps;

// Restores errno, which a signal handler must not change.
struct KeepErrno {
  const int value = errno;
  ~KeepErrno() { errno = value; }
};

constexpr greg_t trap_flag = 0x100, written = 2;  // bits of the flags and of the error code

Step* step_of(long thread, long next) {
  for (Step& each : steps) {
    long expected = thread;
    if (each.thread.compare_exchange_strong(expected, next)) return &each;
  }
  return nullptr;
}

// An atomic instruction. A program that locks a word often calls the system with it next.
bool locks(const mcontext_t& machine) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(machine.gregs[REG_RIP]);
  return *code == 0xf0 || *code == 0x86 || *code == 0x87;
}

// Copies up to the end of the page, where the stack surely goes. AddressSanitizer must not check
// this.
__attribute__((no_sanitize("address"))) void copy_stack(Touch& touch, std::uint64_t top) {
  const auto* const words = reinterpret_cast<const volatile std::uint64_t*>(top);
  const std::uint64_t left = (page_bytes - top % page_bytes) / sizeof *words;
  for (std::size_t i = 0; i < touch.stack.size(); ++i) touch.stack[i] = i < left ? words[i] : 0;
}

void on_trap(int signal, siginfo_t* info, void* context);
bool handles_sigtrap() {
  struct sigaction now {};
  return sigaction(SIGTRAP, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
         now.sa_sigaction == on_trap;
}

bool on_fault(siginfo_t* info, void* context) {
  const KeepErrno errno_stays;
  if (info->si_code != SEGV_ACCERR) return false;
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  bool seen = false;
  if (!closing->open_page(address, seen)) return false;
  if (!seen) return true;
  log->add([&](Touch& touch) { note(touch, address, machine); });
  if (locks(machine)) closing->leave_open(address);
  if ((machine.gregs[REG_EFL] & trap_flag) || locks(machine) ||
      !closing->may_close_again(address) || !handles_sigtrap())
    return true;
  if (Step* const step = step_of(0, syscall(SYS_gettid))) {
    step->address = address;
    machine.gregs[REG_EFL] |= trap_flag;
  }
  return true;
}

// A processor's trap after one instruction. It should have the code TRAP_TRACE. On some virtual
// machines the debug status register is lost at times, and Linux then gives TRAP_BRKPT.
bool is_step(const siginfo_t& info, const mcontext_t& machine) {
  return info.si_code > 0 && (machine.gregs[REG_EFL] & trap_flag);
}

void on_trap(int signal, siginfo_t* info, void* context) {
  const KeepErrno errno_stays;
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  Step* const step = is_step(*info, machine) ? step_of(syscall(SYS_gettid), -1) : nullptr;
  if (step) {
    machine.gregs[REG_EFL] &= ~trap_flag;
    closing->close_again(step->address);
    step->thread = 0;
    return;
  }
  if (trap_before.sa_flags & SA_SIGINFO) return trap_before.sa_sigaction(signal, info, context);
  if (trap_before.sa_handler != SIG_DFL && trap_before.sa_handler != SIG_IGN)
    return trap_before.sa_handler(signal);
  sigaction(signal, &trap_before, nullptr);
  raise(signal);
}

}  // namespace

void note(Touch& touch, std::uint64_t address, const mcontext_t& machine) {
  touch.address = address, touch.bytes = 1;
  touch.write = machine.gregs[REG_ERR] & written;
  touch.code = static_cast<std::uint64_t>(machine.gregs[REG_RIP]);
  copy_stack(touch, static_cast<std::uint64_t>(machine.gregs[REG_RSP]));
}

bool catch_touches(Closing& pages, TouchLog& touches) {
  closing = &pages, log = &touches;
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGTRAP, &action, &trap_before) == 0 && machine::answer_faults(on_fault);
}

}  // namespace inflight::cuda::watch
