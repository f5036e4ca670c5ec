// Products computed by the software GPU's tensor cores.
#include "gpu/blas/product.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/tensor/whole.hpp"

namespace inflight::blas {
namespace {

int architecture() {
  const cuda::Profile* const profile = cuda::find_profile(cuda::settings().device);
  return profile ? profile->architecture.number : 90;
}

// The rows of op(matrix), or its columns if `across`.
tensor::Operand operand(const Place& at, Operation operation, bool across) {
  const bool swapped = (operation != Operation::none) != across;
  return {static_cast<const std::uint16_t*>(at.data), swapped ? at.column_step : at.row_step,
          swapped ? at.row_step : at.column_step};
}

}  // namespace

std::vector<float> tensor_core_sums(const Shape& s, Type type, const Place& a, const Place& b) {
  std::vector<float> sums(std::size_t(s.m * s.n));
  tensor::multiply_whole(architecture(),
                         {.input = type == Type::f16 ? tensor::Element::f16 : tensor::Element::bf16,
                          .m = s.m,
                          .n = s.n,
                          .k = s.k,
                          .a = operand(a, s.a, false),
                          .b = operand(b, s.b, true),
                          .sums = sums.data(),
                          .leading = s.m});
  return sums;
}

}  // namespace inflight::blas
