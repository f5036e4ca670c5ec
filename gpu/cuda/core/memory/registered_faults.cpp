// Handles SIGSEGV and SIGBUS in registered memory.
#include "gpu/cuda/core/memory/registered_faults.hpp"

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "gpu/host/own_code.hpp"
#include "gpu/machine/memory/faults.hpp"

namespace inflight::cuda {
namespace {

// A signal handler reads the ranges, so they are never freed. One without bytes can be used again.
struct Range {
  std::atomic<std::uint64_t> base{0}, bytes{0};
  Range* next = nullptr;
};
std::atomic<Range*> ranges{nullptr};
std::mutex mutex;  // guards changes

struct Found {
  std::uint64_t base = 0, bytes = 0;
};
Found range_of(std::uint64_t address) {
  for (const Range* each = ranges.load(std::memory_order_acquire); each; each = each->next) {
    const std::uint64_t bytes = each->bytes.load(std::memory_order_acquire), base = each->base;
    if (address - base < bytes) return {base, bytes};
  }
  return {};
}

// The transfer that the thread is doing, or null.
thread_local sigjmp_buf* resume = nullptr;
thread_local volatile std::uint64_t refused = 0;

// A sentence that is made without memory from the heap.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t room = text_.size() - used_, count = std::min(room, text.size());
    std::memcpy(text_.data() + used_, text.data(), count);
    used_ += count;
    return *this;
  }
  Line& number(std::uint64_t value, int base) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    return *this << std::string_view(digits.data(), end);
  }
  std::string_view text() const { return {text_.data(), used_}; }

 private:
  std::array<char, 640> text_;
  std::size_t used_ = 0;
};

void explain(Line& line, std::string_view what, std::uint64_t address) {
  const Found range = range_of(address);
  line << what << " accesses 0x";
  line.number(address, 16) << ", where this host refuses the access. The address is in the ";
  line.number(range.bytes, 10) << " bytes at 0x";
  line.number(range.base, 16)
      << " that the program registered (cudaHostRegister, cuMemHostRegister) and has unmapped, "
         "protected or truncated since. Unregister memory before such a change "
         "(cudaHostUnregister, cuMemHostUnregister).";
}

// Returns if the fault is for others, also after it has been explained.
bool on_fault(siginfo_t* info, void* context, bool ends_process) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (range_of(address).bytes == 0) return false;
  if (resume) {
    refused = address;
    siglongjmp(*resume, 1);
  }
  // A handler of the program may give the access its page.
  if (!ends_process || !host::is_access_of_ours(context)) return false;
  Line line;
  line << "inflight: ";
  explain(line, "a kernel", address);
  line << "\n";
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, line.text().data(), line.text().size());
  return false;
}

bool on_segmentation_fault(siginfo_t* info, void* context) {
  return on_fault(info, context, machine::faults_end_process());
}

struct sigaction bus_before;
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const bool is_handled = (bus_before.sa_flags & SA_SIGINFO) || bus_before.sa_handler != SIG_DFL;
  on_fault(info, context, !is_handled);
  if (bus_before.sa_flags & SA_SIGINFO) return bus_before.sa_sigaction(signal, info, context);
  if (bus_before.sa_handler != SIG_DFL && bus_before.sa_handler != SIG_IGN)
    return bus_before.sa_handler(signal);
  sigaction(signal, &bus_before, nullptr);  // the instruction faults again, for the default action
}

// Also puts the handlers first again, in case the program has installed its own since.
void install() {
  host::find_own_code();
  machine::explain_faults(on_segmentation_fault);
  struct sigaction now {};
  if (sigaction(SIGBUS, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus_error) return;
  bus_before = now;
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

void expect_faults(std::uint64_t base, std::uint64_t bytes) {
  const std::lock_guard lock(mutex);
  install();
  Range* free = ranges.load();
  while (free && free->bytes != 0) free = free->next;
  if (!free) {
    free = new Range;
    free->next = ranges.load();
    ranges.store(free, std::memory_order_release);
  }
  free->base = base;
  free->bytes.store(bytes, std::memory_order_release);
}

void forget_faults(std::uint64_t base) {
  const std::lock_guard lock(mutex);
  for (Range* each = ranges.load(); each; each = each->next)
    if (each->base == base) each->bytes = 0;
}

std::uint64_t refused_address(void (*transfer)(const void*), const void* argument) {
  if (!ranges.load(std::memory_order_acquire)) {
    transfer(argument);
    return 0;
  }
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    resume = nullptr;
    return refused;
  }
  resume = &here;
  transfer(argument);
  resume = nullptr;
  return 0;
}

std::string refusal(std::string_view what, std::uint64_t address) {
  Line line;
  explain(line, what, address);
  return std::string(line.text());
}

}  // namespace inflight::cuda
