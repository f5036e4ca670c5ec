// Errors in PTX that will be linked, in the words of ptxas and nvlink.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace inflight::cuda {

struct NamedText {
  std::string name, text;
};

// Whether the text parses. An error is what ptxas would print, without the last newline.
tl::expected<void, std::string> check_text(const NamedText& text);

// Whether every function that is called has exactly one definition. With `open`, undefined
// functions are left to the launch that needs them. An error is what nvlink would print, without
// the last newline.
tl::expected<void, std::string> check_link(const std::vector<NamedText>& texts, bool open);

}  // namespace inflight::cuda
