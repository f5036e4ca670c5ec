// Finds NVIDIA's static CUDA runtime in a stripped object by its code, whose layout is known of the
// releases in layouts/.
#pragma once
#include <cstdint>
#include <optional>

#include "gpu/loader/elf_view.hpp"
#include "gpu/loader/runtime_layouts.hpp"

namespace inflight::loader {

class NamelessRuntime {
 public:
  // None where the object lacks what the runtime imports, or its code is of no known release.
  static std::optional<NamelessRuntime> in(const ElfView& elf);

  unsigned major() const { return releases[release_].major; }
  // f(Symbol) for each public function; one is aligned, and alone, in as many bytes as `room`.
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
  std::uint64_t start_;  // of the runtime's code, as the file has addresses
};

}  // namespace inflight::loader
