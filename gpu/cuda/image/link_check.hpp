// What is wrong with PTX that is to be linked, told where ptxas and nvlink would tell it.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace inflight::cuda {

struct NamedText {
  std::string name, text;
};

// Can it be read? An error is what ptxas would print, without the last newline.
tl::expected<void, std::string> check_text(const NamedText& text);

// Does every function that is called have one definition? `open` leaves undefined functions to the
// launch that needs them. An error is what nvlink would print, without the last newline.
tl::expected<void, std::string> check_link(const std::vector<NamedText>& texts, bool open);

}  // namespace inflight::cuda
