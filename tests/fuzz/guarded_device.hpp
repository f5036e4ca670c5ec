// A small device for fuzzed kernels: memory of every kind, between guards that no kernel may
// change.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gpu/machine/launch/launch.hpp"
#include "tests/fuzz/choices.hpp"

namespace inflight::fuzz {

class GuardedDevice {
 public:
  GuardedDevice();

  struct Piece {
    std::uint64_t base = 0, size = 0;
  };
  machine::Memory memory;
  Piece small, large, host, maps;
  Piece freed, foreign;  // freed memory; another device's memory
  std::vector<Piece> pieces() const { return {small, large, host, maps}; }

  // Builds a module on this device. Null if the text does not parse or link.
  std::unique_ptr<machine::Program> link(const std::string& text);

  // Runs a launch and checks what must hold for any input: every fault has a message, and every
  // guard is unchanged.
  machine::Outcome run(machine::Launch& launch, const machine::Options& options);

  // True if a piece holds several bytes as the guards do, which a kernel must have copied. Of use
  // where no kernel writes such bytes itself.
  bool holds_guard_bytes() const;

  // Writes tensor maps of every kind on the pieces. Most are valid, some are not.
  void write_maps(Choices& choices);
  // The address of a map. Kinds 0 to 4 are tiles of 1 to 5 dimensions, 5 to 7 are im2col of 3 to 5.
  static constexpr std::uint32_t map_kinds = 8, tile_maps = 5;
  std::uint64_t map(std::uint32_t kind, Choices& choices) const;

  // A likely invalid address.
  std::uint64_t hostile_address(Choices& choices) const;

 private:
  Piece allocate(std::uint64_t size, int device = 0);
  void check_guards() const;

  struct Guard {
    const std::uint8_t* begin;
    std::size_t size;
  };
  std::vector<Guard> guards_;
  std::vector<std::uint8_t> host_;
};

// Options and a launch of `kernel` from the choices. Most shapes are valid.
machine::Options any_options(Choices& choices);
machine::Launch any_launch(Choices& choices, const machine::Kernel& kernel);

}  // namespace inflight::fuzz
