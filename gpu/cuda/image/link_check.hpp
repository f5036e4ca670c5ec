// Checks PTX before it is linked. Errors are worded like those of ptxas and nvlink.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace inflight::cuda {

struct NamedText {
  std::string name, text;
};

// Checks that the text parses. An error is what ptxas would print, without the last newline.
tl::expected<void, std::string> check_text(const NamedText& text);

// Checks that every called function has exactly one definition. With `open`, an undefined function
// is an error only at a launch that needs it. An error is what nvlink would print, without the last
// newline.
tl::expected<void, std::string> check_link(const std::vector<NamedText>& texts, bool open);

}  // namespace inflight::cuda
