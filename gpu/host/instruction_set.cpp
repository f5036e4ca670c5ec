// Detects the host's instruction set, once.
#include "gpu/host/instruction_set.hpp"

namespace inflight::host {
namespace {

InstructionSet best() {
  __builtin_cpu_init();
#ifdef INFLIGHT_HAS_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma"))
    return InstructionSet::avx512;
#endif
#ifdef INFLIGHT_HAS_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return InstructionSet::avx2;
#endif
  return InstructionSet::baseline;
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet set = best();
  return set;
}

}  // namespace inflight::host
