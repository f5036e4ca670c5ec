// Every PTX of a file, for tools that show it.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::cuda {

struct FoundText {
  std::string name;           // source file's, or empty
  Architecture architecture;  // of text without a container: its .target
  std::string text;
};
// Whatever the file is: host executable, shared object, fatbin, PTX text. An error is a sentence
// without its stop.
tl::expected<std::vector<FoundText>, std::string> find_ptx(std::span<const std::byte> file);

}  // namespace inflight::cuda
