// Looks up the addresses of this library's code once.
#include "gpu/host/own_code.hpp"

#include <link.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace inflight::host {
namespace {

std::uint64_t code_begin = 0, code_end = 0;

void find_code() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        const auto here = reinterpret_cast<std::uint64_t>(&find_code);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_LOAD || here - begin >= part.p_memsz) continue;
          code_begin = begin, code_end = begin + part.p_memsz;
          return 1;
        }
        return 0;
      },
      nullptr);
}

bool is_in_own_code(std::uint64_t code) { return code >= code_begin && code < code_end; }

}  // namespace

void find_own_code() {
  static std::once_flag once;
  std::call_once(once, find_code);
}

__attribute__((no_sanitize("address", "thread"))) bool is_access_of_ours(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  const auto* const top = reinterpret_cast<const volatile std::uint64_t*>(machine.gregs[REG_RSP]);
  return is_in_own_code(static_cast<std::uint64_t>(machine.gregs[REG_RIP])) || is_in_own_code(*top);
}

}  // namespace inflight::host
