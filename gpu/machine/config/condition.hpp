// The values that conditional nodes of graphs read and kernels set (cudaGraphSetConditional).
#pragma once
#include <string_view>

namespace inflight::machine {

// The name of the allocation whose one word is such a value.
inline constexpr std::string_view condition_name = "a graph's condition";

}  // namespace inflight::machine
