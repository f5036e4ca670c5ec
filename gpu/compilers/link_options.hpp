// Parses the options of nvJitLinkCreate.
#pragma once
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::compilers {

// nvJitLinkResult.
enum class LinkStatus : int {
  success = 0,
  unrecognized_option = 1,
  missing_arch = 2,
  invalid_input = 3,
  ptx_compile = 4,
  nvvm_compile = 5,
  internal = 6,
  unrecognized_input = 8,
  null_input = 10,
  incompatible_options = 11,
  incorrect_input_type = 12,
  unsupported_arch = 17,
  lto_not_enabled = 18,
};

struct LinkError {
  LinkStatus status = LinkStatus::internal;
  std::string message;  // for the error log, without a newline
};

struct LinkOptions {
  cuda::Architecture architecture;
  bool lto = false;
  bool ptx = false;        // linked PTX is requested
  unsigned registers = 0;  // limit per thread; 0: no limit
  std::vector<std::string> words;
};

// Rejects the same options as NVIDIA's library, with the same codes and messages.
tl::expected<LinkOptions, LinkError> read_link_options(std::span<const char* const> words);

}  // namespace inflight::compilers
