// Accesses that the host refuses, because the program has unmapped, protected or truncated memory
// that it registered. A GPU would still reach the pages, which it has pinned.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace inflight::cuda {

// From now on such an access to the range ends a copy or fill, or is explained on standard error
// before it ends the process.
void expect_faults(std::uint64_t base, std::uint64_t bytes);
void forget_faults(std::uint64_t base);

// Calls `transfer(argument)`, which copies or fills bytes and holds nothing that must be released.
// Returns 0, or the address in a registered range where the host refused an access, which ended it.
std::uint64_t refused_address(void (*transfer)(const void*), const void* argument);
template <class F>
std::uint64_t refused_address(const F& transfer) {
  static_assert(std::is_trivially_destructible_v<F>);
  return refused_address([](const void* f) { (*static_cast<const F*>(f))(); }, &transfer);
}

// The sentence about it. `what`: what accessed the memory, as the subject of the sentence.
std::string refusal(std::string_view what, std::uint64_t address);

}  // namespace inflight::cuda
