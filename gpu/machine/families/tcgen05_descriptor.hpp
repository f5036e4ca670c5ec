// The instruction descriptor of tcgen05.mma (PTX ISA, "TensorCore 5th Generation: Instruction
// Descriptor").
#pragma once
#include <cstdint>
#include <string>

#include "gpu/async/matrix_descriptor.hpp"
#include "gpu/machine/instruction/tcgen05.hpp"
#include "gpu/tensor/scaled.hpp"

namespace inflight::machine {

struct InstructionDescriptor {
  tensor::Product product;  // .m: of both blocks of a pair
  async::Major a_major = async::Major::k, b_major = async::Major::k;
  tensor::Scale scale = tensor::Scale::ue8m0;
  std::uint32_t scale_a_id = 0, scale_b_id = 0;
  std::uint32_t max_shift = 0;

  // Rows of each block, and the bytes of a row of A and of a column of B.
  std::uint32_t rows(std::uint32_t group) const {
    return static_cast<std::uint32_t>(product.m) / group;
  }
  static constexpr std::uint32_t row_bytes_a = 32;
  std::uint32_t row_bytes_b() const { return product.sparse ? 64 : 32; }
};

// Reads the bits. If they break a rule, `mistake` says which field is wrong, and `check` is the
// name that NVIDIA's checks have for it, if they have one.
InstructionDescriptor instruction_descriptor(std::uint32_t bits, const BlockMultiplyUse& use,
                                             std::string& mistake, std::string_view& check);

}  // namespace inflight::machine
