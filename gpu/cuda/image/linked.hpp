// Several PTX texts as one image, which cuLinkComplete returns and cuModuleLoadData accepts.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/image/source.hpp"

namespace inflight::cuda {

// PTX that stands for machine code ends with this comment, so that it is not taken for PTX that the
// driver has to assemble.
inline constexpr std::string_view assembled_mark = "\n// assembled\n";
bool is_assembled(std::string_view text);

std::string join_texts(std::span<const std::string> texts);
// Splits an image into its texts. An error is a sentence without a full stop.
tl::expected<std::vector<std::string>, std::string> split_texts(Source&);
tl::expected<std::vector<std::string>, std::string> split_texts(std::span<const std::byte> bytes);
// True if these first 16 bytes begin such an image; and the size in its header, or 0 if it is
// impossible.
bool is_linked(std::span<const std::byte> header);
std::uint64_t linked_size(std::span<const std::byte> header);

}  // namespace inflight::cuda
