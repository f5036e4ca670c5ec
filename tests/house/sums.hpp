// Finds sums of an address and a size, and products with a pitch, that can wrap.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace inflight::house {

// The raw sums and products of code without comments, by the names of their operands: `base +
// bytes`, `row * pitch`. Sums and products of Checked are left out, since they cannot wrap.
std::vector<std::string> raw_sums(std::string_view code);

}  // namespace inflight::house
