// Bits in a frame's registers that the program has never written.
//
// Where a frame has such bits, variants of its registers hold other values in their place. What
// executes on registers alone executes on the variants too, and a bit is undefined where they
// differ: so every instruction passes undefined bits on exactly as it computes, without a rule of
// its own.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

inline constexpr unsigned variant_count = 3;
// Which bits of a byte that nothing has written a variant inverts: all, all but the sign, or the
// sign alone. So, whatever is there, an integer becomes large and negative, and a float NaN or
// large.
inline constexpr std::array<std::uint8_t, variant_count> flips{0xff, 0x7f, 0x80};

struct UndefinedRegisters {
  explicit UndefinedRegisters(Frame& of)
      : frame(of), origin(of.code->slots.size()), carry{}, carry_origin(0) {
    for (LineBuffer& each : variants) each = of.registers;
  }

  Frame& frame;
  std::array<LineBuffer, variant_count> variants;  // valid for registers with an origin
  std::vector<std::uint32_t>
      origin;  // by register: check::UndefinedBytes::origin; 0: it is defined
  std::array<std::uint32_t, variant_count> carry;
  std::uint32_t carry_origin;  // 0: the carry flag is defined
  std::uint32_t count = 0;     // registers that have an origin

  // Of the instruction that executes: where what it reads comes from (0: it is defined), and the op
  // to which its variants have come.
  std::uint32_t following = 0;
  const Op* expected = nullptr;
  std::uint64_t loads = 0;  // of undefined bytes

  unsigned slot_size(std::uint32_t reg) const;
  bool is_undefined(std::uint32_t reg) const { return origin[reg] != 0; }
  bool is_predicate(std::uint32_t reg) const { return slot_size(reg) == 4; }
  std::byte* at(unsigned variant, std::uint32_t reg);
  std::byte* actual(std::uint32_t reg);
  // Lanes of which some bit of the register is undefined.
  std::uint32_t lanes_of(std::uint32_t reg);
  // The variants get the register's value, of these lanes.
  void copy(std::uint32_t reg, std::uint32_t mask);
  // All of the variants, but for registers that have an origin.
  void refresh();
  // The register's undefined bits, if it has any, come from there. `w`: whose frame it is.
  void judge(Warp& w, std::uint32_t reg, std::uint32_t from);
  // These lanes have given it a value that is defined.
  void define(Warp& w, std::uint32_t reg, std::uint32_t mask);
};

// Made at the first time.
UndefinedRegisters& undefined_registers(Warp& w, Frame& frame);
// Nothing in the frame is undefined, for others are about to use it.
void forget_undefined(Warp& w, Frame& frame);

// A matrix is loaded or stored for a variant.
struct MatrixVariant {
  const check::UndefinedBytes* undefined = nullptr;  // of a load
  std::uint8_t flip = 0;
  std::byte* stored = nullptr;             // of a store: where its bytes go, and nowhere else
  static constexpr std::size_t most = 32;  // bytes a lane
  void load(int lane, void* bytes, std::size_t count) const;
  void store(int lane, const void* bytes, std::size_t count) const;
};

}  // namespace inflight::machine
