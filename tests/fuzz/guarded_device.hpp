// A small device on which fuzzed kernels run: memory of every kind, with guards around it that no
// kernel may change.
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
  Piece freed, foreign;  // of another device; freed
  std::vector<Piece> pieces() const { return {small, large, host, maps}; }

  // A module on this device; null if it does not parse or link.
  std::unique_ptr<machine::Program> link(const std::string& text);

  // Runs a launch and requires what must hold however hostile it is: a sentence with every fault,
  // and every guard as it was.
  machine::Outcome run(machine::Launch& launch, const machine::Options& options);

  // Tensor maps of every kind on the pieces: mostly good ones, and some that lie.
  void write_maps(Choices& choices);
  // The address of a map of this kind: 0 to 4 are tiles of 1 to 5 dimensions, 5 to 7 im2col of 3
  // to 5.
  static constexpr std::uint32_t map_kinds = 8, tile_maps = 5;
  std::uint64_t map(std::uint32_t kind, Choices& choices) const;

  // Addresses that programs get wrong.
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

// Options and a launch of `kernel` that the choices decide: mostly possible shapes.
machine::Options any_options(Choices& choices);
machine::Launch any_launch(Choices& choices, const machine::Kernel& kernel);

}  // namespace inflight::fuzz
