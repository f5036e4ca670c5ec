// Multiplies with the fast core for this host, and with the model what the core does not support.
#include "gpu/host/instruction_set.hpp"
#include "gpu/tensor/cores.hpp"
#include "gpu/tensor/model.hpp"

namespace inflight::tensor {
namespace {

const Cores& cores() {
  static const Cores chosen = [] {
    using host::InstructionSet;
    switch (host::instruction_set()) {
#ifdef INFLIGHT_HAS_AVX512
      case InstructionSet::avx512:
        return isa_avx512::cores();
#endif
#ifdef INFLIGHT_HAS_AVX2
      case InstructionSet::avx2:
        return isa_avx2::cores();
#endif
#ifdef INFLIGHT_HAS_BASELINE
      default:
        return isa_baseline::cores();
#else
      default:
        return Cores{};
#endif
    }
  }();
  return chosen;
}

bool by_a_core(const Numerics& numerics, const Product& p, const Matrices& matrices) {
  if (p.a == Element::f64) return cores().doubles(p, matrices);
  if (format(p.a).is_integer()) return cores().integers(p, matrices);
  return cores().floats(numerics, p, matrices);
}

}  // namespace

void multiply(const Numerics& numerics, const Product& product, const Matrices& matrices) {
  if (!by_a_core(numerics, product, matrices)) multiply_by_the_model(numerics, product, matrices);
}

}  // namespace inflight::tensor
