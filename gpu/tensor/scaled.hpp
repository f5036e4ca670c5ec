// Products of matrices whose rows and columns have a scale for each block of k: the kinds mxf8f6f4,
// mxf4 and mxf4nvf4 of tcgen05.mma. The sums are those of the model that github.com/jackalcooper/
// tcgen05 checked on a B200 (MODEL.md there, MIT).
#pragma once
#include <cstddef>
#include <cstdint>

#include "gpu/tensor/product.hpp"

namespace inflight::tensor {

// The types of scales: an exponent (ue8m0), or e4m3 without a sign (ue4m3).
enum class Scale : std::uint8_t { ue8m0, ue4m3 };
// The scale as a number. Its sign is always positive.
Number unpack(Scale scale, std::uint8_t bits);

struct ScaledProduct {
  Element a = Element::e2m1, b = Element::e2m1;  // floats of 8, 6 and 4 bits, one in a byte
  int m = 0, n = 0, k = 0;
  int blocks = 1;             // scales of each row and column: k/blocks elements have one
  bool exact_groups = false;  // sums of 16 products are exact before they are aligned (k 64)
  Scale scale = Scale::ue8m0;
  bool negates_a = false, negates_b = false;
  bool sparse = false;  // A has k/2 values per row
  int values() const { return sparse ? k / 2 : k; }
};

struct ScaledMatrices {
  const std::uint8_t* a;                  // m rows of values() bytes
  const std::uint8_t* b;                  // n columns of k bytes
  const std::uint8_t* scale_a;            // m rows of `blocks` scales
  const std::uint8_t* scale_b;            // n columns of `blocks` scales
  const std::uint32_t* c;                 // n columns of m f32; null: none
  std::uint32_t* d;                       // may equal c
  const std::uint8_t* columns = nullptr;  // of a sparse A: the column of each value
};

void multiply(const ScaledProduct& product, const ScaledMatrices& matrices);

}  // namespace inflight::tensor
