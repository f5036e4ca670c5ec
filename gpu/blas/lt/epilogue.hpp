// The epilogues of cublasLtMatmul: bias, activation, auxiliary output for training, and gradients.
#pragma once
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "gpu/blas/lt/objects.hpp"
#include "gpu/blas/numbers.hpp"

namespace inflight::blas::lt {

// cublasLtEpilogue_t.
struct Epilogue {
  enum Bit : std::uint32_t {
    plain = 1,
    relu_bit = 2,
    bias_bit = 4,
    relu_gradient_bit = 8,
    sums_bit = 16,
    gelu_bit = 32,
    gelu_gradient_bit = 64,
    aux_bit = 128,
    sums_of_a_bit = 256,
    sums_of_b_bit = 512,
  };
  std::uint32_t bits = plain;
  bool relu() const { return bits & relu_bit; }
  bool gelu() const { return bits & gelu_bit; }
  bool relu_gradient() const { return bits & relu_gradient_bit; }
  bool gelu_gradient() const { return bits & gelu_gradient_bit; }
  bool bias() const { return bits & bias_bit; }
  bool aux() const { return bits & aux_bit; }
  // A bias gradient is stored through the bias pointer. It is the sums of the result's rows, of
  // op(A)'s rows or of op(B)'s columns.
  bool sums_of_a() const { return bits & sums_of_a_bit; }
  bool sums_of_b() const { return bits & sums_of_b_bit; }
  bool bias_gradient() const { return bits & (sums_bit | sums_of_a_bit | sums_of_b_bit); }
  // True if the auxiliary data is read, not written. A mask has one bit per element.
  bool reads_aux() const { return relu_gradient() || gelu_gradient(); }
  bool aux_is_mask() const { return relu() || relu_gradient(); }
  bool supported() const {
    constexpr std::uint32_t known[] = {
        plain,
        relu_bit,
        relu_bit | aux_bit,
        bias_bit,
        relu_bit | bias_bit,
        relu_bit | bias_bit | aux_bit,
        relu_gradient_bit | aux_bit,
        relu_gradient_bit | aux_bit | sums_bit,
        gelu_bit,
        gelu_bit | aux_bit,
        gelu_bit | bias_bit,
        gelu_bit | bias_bit | aux_bit,
        gelu_gradient_bit | aux_bit,
        gelu_gradient_bit | aux_bit | sums_bit,
        sums_of_a_bit,
        sums_of_b_bit,
    };
    return std::find(std::begin(known), std::end(known), bits) != std::end(known);
  }
};

// GELU in the tanh form, which cublasLt computes, and its derivative.
struct Gelu {
  static constexpr double root = 0.7978845608028654, cube = 0.044715;  // sqrt(2/pi)
  static double tanh_of(double x) { return std::tanh(root * (x + cube * x * x * x)); }
  static double value(double x) { return 0.5 * x * (1 + tanh_of(x)); }
  static double derivative(double x) {
    const double t = tanh_of(x);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * cube * x * x);
  }
};

// The input of an activation, kept for its gradient: one bit per element for ReLU, else numbers.
// 8-bit floats have a scale and record their greatest magnitude.
struct Auxiliary {
  void* data = nullptr;
  Type type = Type::f32;
  Size leading = 0;
  float scale = 1;
  float* greatest = nullptr;

  bool bit(Size i, Size j) const {
    const Size at = j * leading + i;
    return static_cast<const std::uint8_t*>(data)[at / 8] >> at % 8 & 1;
  }
  void set_bit(Size i, Size j, bool on) const {
    const Size at = j * leading + i;
    auto& byte = static_cast<std::uint8_t*>(data)[at / 8];
    const auto bit = std::uint8_t(1u << at % 8);
    byte = std::uint8_t(on ? byte | bit : byte & ~bit);
  }
  template <class S>
  S number_at(Size i, Size j) const {
    S result{};
    with_type(type, [&]<class T>(T) {
      result = number<S>(static_cast<const T*>(data)[j * leading + i]);
    });
    return result;
  }
  template <class S>
  void set_number(Size i, Size j, S value) const {
    if (greatest) *greatest = std::max(*greatest, float(std::fabs(value)));
    with_type(type, [&]<class T>(T) {
      static_cast<T*>(data)[j * leading + i] = number<T>(S(value * S(scale)));
    });
  }
};

// Applies the epilogue to one matrix of a batch. `result` is m×n, column by column.
template <class S>
void finish(Epilogue epilogue, S* result, Size m, Size n, const void* bias, Type bias_type,
            const Auxiliary& aux) {
  if constexpr (!is_complex<S>) {
    const bool writes = epilogue.aux() && !epilogue.reads_aux();
    if (aux.greatest && writes) *aux.greatest = 0;
    for (Size j = 0; j < n; ++j) {
      for (Size i = 0; i < m; ++i) {
        S& value = result[j * m + i];
        if (epilogue.bias())
          with_type(bias_type,
                    [&]<class T>(T) { value += number<S>(static_cast<const T*>(bias)[i]); });
        if (writes && epilogue.relu()) aux.set_bit(i, j, value > 0);
        if (writes && epilogue.gelu()) aux.set_number(i, j, value);
        if (epilogue.relu()) value = value > 0 || value != value ? value : S(0);
        if (epilogue.gelu()) value = S(Gelu::value(double(value)));
        if (epilogue.relu_gradient()) value = aux.bit(i, j) ? value : S(0);
        if (epilogue.gelu_gradient())
          value = S(double(value) * Gelu::derivative(double(aux.number_at<S>(i, j))));
      }
    }
  }
}

// Lines of elements, with the step between lines and the step between a line's elements.
template <class S>
struct Lines {
  const S* data;
  Size count, line_step, length, step;
};
template <class S>
std::vector<S> sums(const Lines<S>& lines) {
  std::vector<S> result(std::size_t(lines.count), S(0));
  for (Size i = 0; i < lines.count; ++i)
    for (Size j = 0; j < lines.length; ++j)
      result[std::size_t(i)] += lines.data[i * lines.line_step + j * lines.step];
  return result;
}

}  // namespace inflight::blas::lt
