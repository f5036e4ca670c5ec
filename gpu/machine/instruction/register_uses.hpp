// Which instructions read and write each register of a function, and where its value may be used.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

class RegisterUses {
 public:
  using Blocks = std::optional<std::vector<std::uint32_t>>;
  // `most_blocks`: in which a register's value is followed.
  RegisterUses(const Function& function, std::size_t most_blocks);
  // In source order. A guard is a read.
  std::span<const std::uint32_t> readers(std::uint32_t reg) const { return reads_.of(reg); }
  std::span<const std::uint32_t> writers(std::uint32_t reg) const { return writes_.of(reg); }
  std::uint32_t block_of(std::uint32_t instruction) const;
  // The position in Flow::order.
  std::uint32_t position(std::uint32_t block) const { return position_[block]; }
  // The blocks at whose start the register's value may still be read. None: there are more than the
  // most.
  const Blocks& live_blocks(std::uint32_t reg);

 private:
  struct Lists {
    std::vector<std::uint32_t> first, all;
    std::span<const std::uint32_t> of(std::uint32_t reg) const {
      return std::span(all).subspan(first[reg], first[reg + 1] - first[reg]);
    }
  };
  Lists lists(bool written) const;
  bool is_written(std::uint32_t reg, std::uint32_t block, std::uint32_t before) const;

  Blocks find_live(std::uint32_t reg) const;

  const Function& f_;
  const std::size_t most_blocks_;
  std::unordered_map<std::uint32_t, Blocks> live_;  // by register
  Lists reads_, writes_;
  std::vector<std::uint32_t> position_;
};

}  // namespace inflight::machine
