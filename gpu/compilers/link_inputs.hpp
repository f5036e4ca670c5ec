// Reads the inputs of nvJitLink: extracts PTX from texts, fatbins, object files and archives, and
// identifies LTO-IR, which only NVIDIA's own linker can read.
#pragma once
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/compilers/link_options.hpp"
#include "gpu/cuda/image/bytes.hpp"

namespace inflight::compilers {

// nvJitLinkInputType.
enum class InputType : int {
  cubin = 1,
  ptx = 2,
  ltoir = 3,
  fatbin = 4,
  object = 5,
  library = 6,
  any = 10,
};

struct LinkInput {
  std::vector<std::string> texts;  // PTX
  bool for_original = false;       // it contains LTO-IR, and the link has -lto
  bool device_runtime = false;     // it contains NVIDIA's device runtime, which is omitted
};

// The content determines the format. A different `type` is an error.
tl::expected<LinkInput, LinkError> read_link_input(InputType type, cuda::Bytes bytes,
                                                   const LinkOptions& options);

}  // namespace inflight::compilers
