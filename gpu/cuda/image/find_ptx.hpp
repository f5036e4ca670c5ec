// Finds every PTX text in a file, for tools that show them.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::cuda {

struct FoundText {
  std::string name;           // of the source file, or empty
  Architecture architecture;  // from .target if text has no container
  std::string text;
};
// The file may be a host executable, a shared object, a fatbin or PTX text. An error is a sentence
// without a full stop.
tl::expected<std::vector<FoundText>, std::string> find_ptx(std::span<const std::byte> file);

}  // namespace inflight::cuda
