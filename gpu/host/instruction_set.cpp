// Detects the host's instruction set, once.
#include "gpu/host/instruction_set.hpp"

#include <cstdlib>

namespace inflight::host {
namespace {

bool always() { return true; }
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma");
}

struct Known {
  InstructionSet set;
  std::string_view name;
  bool is_built;
  bool (*is_supported)();
};

#ifdef INFLIGHT_HAS_BASELINE
constexpr bool baseline_is_built = true;
#else
constexpr bool baseline_is_built = false;
#endif
#ifdef INFLIGHT_HAS_AVX2
constexpr bool avx2_is_built = true;
#else
constexpr bool avx2_is_built = false;
#endif
#ifdef INFLIGHT_HAS_AVX512
constexpr bool avx512_is_built = true;
#else
constexpr bool avx512_is_built = false;
#endif

constexpr Known known[] = {
    // a later one is better
    {InstructionSet::baseline, "baseline", baseline_is_built, always},
    {InstructionSet::avx2, "avx2", avx2_is_built, has_avx2},
    {InstructionSet::avx512, "avx512", avx512_is_built, has_avx512},
};

bool can_be_used(const Known& each) {
  __builtin_cpu_init();
  return each.is_built && each.is_supported();
}

InstructionSet best() {
  InstructionSet set = InstructionSet::baseline;
  for (const Known& each : known)
    if (can_be_used(each)) set = each.set;
  return set;
}

InstructionSet chosen() {
  const char* const name = std::getenv("INFLIGHT_ISA");
  return usable_instruction_set(name ? name : "").value_or(best());
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet set = chosen();
  return set;
}

std::string_view name_of(InstructionSet set) { return known[static_cast<int>(set)].name; }

std::optional<InstructionSet> usable_instruction_set(std::string_view name) {
  for (const Known& each : known)
    if (each.name == name && can_be_used(each)) return each.set;
  return std::nullopt;
}

std::string usable_instruction_sets() {
  std::string names;
  for (const Known& each : known) {
    if (!can_be_used(each)) continue;
    if (!names.empty()) names += " or ";
    names += each.name;
  }
  return names;
}

}  // namespace inflight::host
