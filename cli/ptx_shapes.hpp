// The listing of `inflight ptx --shapes`: what the values of a kernel's registers have in common
// over the lanes of a warp.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "gpu/ptx/module.hpp"

namespace inflight::cli {

using BlockSize = std::array<std::uint32_t, 3>;

struct ShapeListing {
  std::string title;  // the blocks that it is for, and how many registers have which shape
  // By line of the text: notes on the instructions there.
  std::unordered_map<std::uint32_t, std::string> notes;
  // By line: whether lanes may be apart at its instructions.
  std::unordered_map<std::uint32_t, bool> apart;
};

// For blocks of this size; without one for those that the kernel requires, or else of one row.
ShapeListing list_shapes(const ptx::Module& module, const ptx::Function& kernel,
                         const std::optional<BlockSize>& block);

}  // namespace inflight::cli
