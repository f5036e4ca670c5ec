// What cublasLtMatmul does to a product before it is stored: bias, activation, auxiliary output.
#pragma once
#include <cmath>

#include "gpu/blas/lt/objects.hpp"
#include "gpu/blas/numbers.hpp"

namespace inflight::blas::lt {

// cublasLtEpilogue_t's bits.
struct Epilogue {
  static constexpr std::uint32_t relu_bit = 2, bias_bit = 4, gelu_bit = 32, aux_bit = 128;
  std::uint32_t bits = 1;
  bool relu() const { return bits & relu_bit; }
  bool gelu() const { return bits & gelu_bit; }
  bool bias() const { return bits & bias_bit; }
  bool aux() const { return bits & aux_bit; }
  bool supported() const {
    return bits == 1 || (!(bits & ~(relu_bit | bias_bit | gelu_bit | aux_bit)) &&
                         !(relu() && gelu()) && (!aux() || relu() || gelu()));
  }
};

// The tanh form, which cublasLt computes.
template <class S>
S gelu(S x) {
  constexpr double root = 0.7978845608028654, cube = 0.044715;  // sqrt(2/pi)
  const double value = double(x);
  return S(0.5 * value * (1 + std::tanh(root * (value + cube * value * value * value))));
}

// One batch's: `result` is m×n, column by column. `aux` is a mask of bits for ReLU, else what the
// activation is given.
template <class S>
void finish(Epilogue epilogue, S* result, Size m, Size n, const void* bias, Type bias_type,
            void* aux, Type aux_type, Size aux_leading) {
  if constexpr (!is_complex<S>) {
    for (Size j = 0; j < n; ++j) {
      for (Size i = 0; i < m; ++i) {
        S& value = result[j * m + i];
        if (epilogue.bias())
          with_type(bias_type,
                    [&]<class T>(T) { value += number<S>(static_cast<const T*>(bias)[i]); });
        if (epilogue.aux() && epilogue.relu()) {
          auto& byte = static_cast<std::uint8_t*>(aux)[(j * aux_leading + i) / 8];
          const auto bit = std::uint8_t(1u << i % 8);
          byte = std::uint8_t(value > 0 ? byte | bit : byte & ~bit);
        } else if (epilogue.aux()) {
          with_type(aux_type, [&]<class T>(T) {
            static_cast<T*>(aux)[j * aux_leading + i] = number<T>(value);
          });
        }
        if (epilogue.relu()) value = value > 0 || value != value ? value : S(0);
        if (epilogue.gelu()) value = gelu(value);
      }
    }
  }
}

}  // namespace inflight::blas::lt
