// The handler of SIGSEGV and the functions that it calls.
#include "gpu/machine/memory/faults.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace inflight::machine {
namespace {

std::array<std::atomic<FaultAnswer>, 4> answers{};
std::atomic<FaultAnswer> explanation{nullptr};
std::mutex mutex;  // guards the variables below
bool installed = false;
struct sigaction first;   // the handler before ours was first installed
struct sigaction before;  // the program's current handler
// The fault that is being passed to the program's handler. If that handler passes it to ours again,
// it goes to `first`. It stays set if a handler jumps away.
std::atomic<const siginfo_t*> passing{nullptr};

void call(const struct sigaction& handler, int signal, siginfo_t* info, void* context) {
  if (handler.sa_flags & SA_SIGINFO) return handler.sa_sigaction(signal, info, context);
  if (handler.sa_handler != SIG_DFL && handler.sa_handler != SIG_IGN)
    return handler.sa_handler(signal);
  sigaction(signal, &handler, nullptr);  // the instruction faults again, for the default action
}

// Linux calls a handler so that it returns to a call of rt_sigreturn: mov $15, %rax; syscall.
bool is_systems_return(const void* address) {
  constexpr std::uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  return std::memcmp(address, code, sizeof code) == 0;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const void* const caller = __builtin_extract_return_addr(__builtin_return_address(0));
  for (const auto& each : answers)
    if (const FaultAnswer answer = each.load(std::memory_order_acquire);
        answer && answer(info, context))
      return;
  if (passing.load() == info && !is_systems_return(caller))
    return call(first, signal, info, context);
  if (const FaultAnswer explain = explanation.load(std::memory_order_acquire))
    explain(info, context);
  passing = info;
  call(before, signal, info, context);
  passing = nullptr;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == on_fault;
}

bool install() {
  struct sigaction now {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0) return false;
  if (is_ours(now)) return true;
  if (!installed) first = now;
  before = now;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return installed = sigaction(SIGSEGV, &action, nullptr) == 0;
}

}  // namespace

bool answer_faults(FaultAnswer answer) {
  const std::lock_guard lock(mutex);
  for (auto& each : answers) {
    FaultAnswer none = nullptr;
    if (each.load() == answer || each.compare_exchange_strong(none, answer)) return install();
  }
  return false;
}

bool explain_faults(FaultAnswer explain) {
  const std::lock_guard lock(mutex);
  explanation = explain;
  return install();
}

bool faults_end_process() {
  return !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL;
}

void answer_first() {
  const std::lock_guard lock(mutex);
  if (installed) install();
}

bool replace_program_handler(const struct sigaction* next, struct sigaction* old) {
  const std::lock_guard lock(mutex);
  struct sigaction now {};
  if (!installed || sigaction(SIGSEGV, nullptr, &now) != 0 || !is_ours(now)) return false;
  if (old) *old = before;
  if (next) before = *next;
  return true;
}

}  // namespace inflight::machine
