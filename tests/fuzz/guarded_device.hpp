// A small device for fuzzed kernels: memory of every kind, between guards that no kernel may
// change.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gpu/machine/launch/launch.hpp"
#include "gpu/texture/table.hpp"
#include "tests/fuzz/choices.hpp"

namespace inflight::fuzz {

class GuardedDevice {
 public:
  GuardedDevice();

  struct Piece {
    std::uint64_t base = 0, size = 0;
  };
  machine::Memory memory;
  ~GuardedDevice();
  GuardedDevice(const GuardedDevice&) = delete;
  GuardedDevice& operator=(const GuardedDevice&) = delete;

  Piece small, large, host, maps;
  Piece beyond;          // of the host, behind memory that cannot be read
  Piece freed, foreign;  // freed memory; another device's memory
  Piece
      multicast;  // the mapping of a multicast object; both devices bound memory to its first half
  std::vector<Piece> pieces() const { return {small, large, host, maps, beyond}; }

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

  // A map of three dimensions, and coordinates with which it leads to the last bytes of all
  // addresses.
  struct Far {
    std::uint64_t map;
    std::uint32_t at[3];
  };
  static constexpr std::uint32_t far_maps = 2;
  Far far(std::uint32_t kind, Choices& choices) const;

  // Makes textures and surfaces on the pieces. Some reach past their piece, perhaps into another.
  void make_textures(Choices& choices);
  std::uint64_t texture(Choices& choices) const { return choices.pick(textures_); }
  std::uint64_t surface(Choices& choices) const { return choices.pick(surfaces_); }

  // A likely invalid address.
  std::uint64_t hostile_address(Choices& choices) const;

 private:
  Piece allocate(std::uint64_t size, int device = 0);
  Piece adopt(std::uint8_t* at, std::size_t bytes, std::uint8_t* end);
  void bind_multicast();
  static std::uint8_t* map(std::size_t bytes, int protection);
  void check_guards() const;

  struct Guard {
    const std::uint8_t* begin;
    std::size_t size;
  };
  // Pages of the host: with `host`, one that cannot be read, and with `beyond`.
  static constexpr std::size_t page = 4096, host_pages = 7, hole = 3;
  std::vector<Guard> guards_;
  std::uint8_t* host_ = nullptr;
  std::uint8_t* reserved_ = nullptr;  // the multicast object's addresses
  texture::Objects objects_;
  std::shared_ptr<const texture::Table> table_;
  std::vector<std::uint64_t> textures_, surfaces_;
};

// Options and a launch of `kernel` from the choices. Most shapes are valid.
machine::Options any_options(Choices& choices);
machine::Launch any_launch(Choices& choices, const machine::Kernel& kernel);

}  // namespace inflight::fuzz
