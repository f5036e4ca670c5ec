// Bits in a frame's registers that the program has never written.
//
// If a frame has such bits, variants of its registers hold other values in their place. What
// executes on registers alone executes on the variants too, and a bit is undefined where they
// differ. So every instruction propagates undefined bits exactly as it computes, without a rule of
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
// The bits of an unwritten byte that each variant inverts: all, all but the sign, or the sign
// alone. So, whatever is there, an integer becomes large and negative in some variant, and a float
// becomes NaN or large.
inline constexpr std::array<std::uint8_t, variant_count> flips{0xff, 0x7f, 0x80};

struct UndefinedRegisters {
  explicit UndefinedRegisters(Frame& of)
      : frame(of),
        origin(of.code->slots.size()),
        moved(origin.size()),
        part(origin.size()),
        carry{},
        carry_origin(0) {
    for (LineBuffer& each : variants) each = of.registers;
  }

  Frame& frame;
  std::array<LineBuffer, variant_count> variants;  // valid for registers with an origin
  std::vector<std::uint32_t>
      origin;               // by register: check::UndefinedBytes::origin; 0: it is defined
  std::vector<bool> moved;  // by register with an origin: only bitwise operations and moves made it
  // By register with an origin: the bytes of one of the values that it packs, such as 2 of f16x2.
  std::vector<std::uint8_t> part;
  std::array<std::uint32_t, variant_count> carry;
  std::uint32_t carry_origin;  // 0: the carry flag is defined
  std::uint32_t count = 0;     // registers that have an origin

  // Of the current instruction: the origin of its undefined inputs (0: all are defined), and the
  // next op that its variants have to execute.
  std::uint32_t following = 0;
  bool inputs_moved = false;  // UndefinedRegisters::moved of all these inputs
  const Op* expected = nullptr;
  std::uint64_t loads = 0;  // of undefined bytes

  unsigned slot_size(std::uint32_t reg) const;
  bool is_undefined(std::uint32_t reg) const { return origin[reg] != 0; }
  bool is_predicate(std::uint32_t reg) const { return slot_size(reg) == 4; }
  std::byte* at(unsigned variant, std::uint32_t reg);
  std::byte* actual(std::uint32_t reg);
  // Lanes in which some bit of the register is undefined.
  std::uint32_t lanes_of(std::uint32_t reg);
  // Copies the register's value to the variants, for the lanes of `mask`.
  void copy(std::uint32_t reg, std::uint32_t mask);
  // Copies all registers but those that have an origin to the variants.
  void refresh();
  // How an instruction wrote a register.
  struct Written {
    bool moves;                             // by moving bits
    unsigned part = sizeof(std::uint64_t);  // see `part`; at most the register's width counts
  };
  // The lanes of `mask` have written the register. Sets its origin to `from` if it has undefined
  // bits, else to 0. `w` is the frame's warp.
  void judge(Warp& w, std::uint32_t reg, std::uint32_t from, std::uint32_t mask, Written how);
  // The lanes of `mask` have written a defined value to the register.
  void define(Warp& w, std::uint32_t reg, std::uint32_t mask);
};

// Created on first use.
UndefinedRegisters& undefined_registers(Warp& w, Frame& frame);
// Marks the whole frame as defined, before others use it.
void forget_undefined(Warp& w, Frame& frame);

// The load or store of a matrix on behalf of a variant.
struct MatrixVariant {
  const check::UndefinedBytes* undefined = nullptr;  // for a load
  std::uint8_t flip = 0;
  std::byte* stored = nullptr;             // for a store: the only destination of its bytes
  static constexpr std::size_t most = 32;  // bytes per lane
  void load(int lane, void* bytes, std::size_t count) const;
  void store(int lane, const void* bytes, std::size_t count) const;
};

}  // namespace inflight::machine
