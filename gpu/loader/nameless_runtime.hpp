// Finds NVIDIA's static CUDA runtime in a stripped object by its code, for the releases whose
// layout is in layouts/.
#pragma once
#include <cstdint>
#include <optional>

#include "gpu/loader/elf_view.hpp"
#include "gpu/loader/runtime_layouts.hpp"

namespace inflight::loader {

class NamelessRuntime {
 public:
  // Empty if the object lacks imports of the runtime, or contains no known release.
  static std::optional<NamelessRuntime> in(const ElfView& elf);

  unsigned major() const { return releases[release_].major; }
  // Calls f(Symbol) for each public function. Each is aligned, and the only one, in `room` bytes.
  template <class F>
  void each_public(F f) const {
    for (const PlacedFunction& each : placed_functions) {
      const std::uint32_t at = each.at[release_];
      if (at != absent) f(Symbol{each.name, start_ + at, room, true, true});
    }
  }
  static constexpr std::uint64_t room = 16;

 private:
  NamelessRuntime(unsigned release, std::uint64_t start) : release_(release), start_(start) {}

  unsigned release_;
  std::uint64_t start_;  // file address of the runtime's code
};

}  // namespace inflight::loader
