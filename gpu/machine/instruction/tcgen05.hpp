// The forms of tcgen05 (PTX ISA, "TensorCore 5th Generation Family Instructions"), as details of
// instructions.
#pragma once
#include <cstdint>
#include <string>

#include "gpu/ptx/module.hpp"

namespace inflight::machine {

// tcgen05.ld, st: a shape repeated `count` times to the right.
struct TensorMemoryUse {
  enum class Shape : std::uint8_t { l32x32b, l16x64b, l16x128b, l16x256b, l16x32bx2 };
  Shape shape = Shape::l32x32b;
  std::uint8_t count = 1;
  bool packs = false;  // .pack::16b, .unpack::16b: a register has the 16 bits of two columns

  // 32-bit registers of a thread.
  unsigned registers() const {
    return count * (shape == Shape::l16x256b ? 4u : shape == Shape::l16x128b ? 2u : 1u);
  }
  // The lane, counted from the address's, and the column of a thread's register. With `packs`, the
  // register holds the columns 2 * column and 2 * column + 1.
  struct Place {
    std::uint32_t lane, column;
  };
  Place place(unsigned thread, unsigned reg) const;
  // Columns from the address's on. l16x32bx2 has two such ranges.
  unsigned columns() const;
};

// tcgen05.cp
struct TensorMemoryCopyUse {
  std::uint16_t rows = 128;  // of the matrix in shared memory
  std::uint8_t chunks = 1;   // of 16 bytes, in a row
  std::uint8_t expanded_bits =
      0;  // of each of a chunk's 16 elements; 0: bytes are copied as they are
  std::uint8_t group = 1;
  enum class Multicast : std::uint8_t { none, x2_02_13, x2_01_23, x4 };
  Multicast multicast = Multicast::none;
  // Calls f(lane) for each lane that gets the row.
  template <class F>
  void each_lane(std::uint32_t row, F f) const {
    switch (multicast) {
      case Multicast::none:
        return f(rows == 4 ? row * 32 : row);
      case Multicast::x2_02_13:
        return f(row), f(row + 64);
      case Multicast::x2_01_23:
        return f(row % 32 + row / 32 * 64), f(row % 32 + row / 32 * 64 + 32);
      case Multicast::x4:
        return f(row), f(row + 32), f(row + 64), f(row + 96);
    }
  }
};

// tcgen05.mma, .sp, .ws
struct BlockMultiplyUse {
  enum class Kind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
  Kind kind = Kind::f16;
  std::uint8_t group = 1;
  bool sparse = false, weight_stationary = false;
  bool a_in_tensor_memory = false;
  std::uint8_t scales = 0;  // of each row and column in one instruction; 0: not scaled
  // Indices of operands; 0: it has none.
  std::uint8_t metadata = 0, descriptor = 0, mask = 0, scale_a = 0, scale_b = 0, accumulates = 0,
               scale_d = 0, zero_columns = 0;
  bool scaled() const { return kind >= Kind::mxf8f6f4; }
  bool four_bit() const { return kind >= Kind::mxf4; }
};

TensorMemoryUse tensor_memory_use(const ptx::Instruction& in);
TensorMemoryCopyUse tensor_memory_copy_use(const ptx::Instruction& in);
BlockMultiplyUse block_multiply_use(const ptx::Function& function, const ptx::Instruction& in);

// Why a module with this target cannot have the instruction; empty if it can. The targets are
// ptxas's.
std::string tcgen05_target_mistake(const ptx::Instruction& in, std::string_view target);

}  // namespace inflight::machine
