// The element-wise reductions of cp.reduce.async.bulk and cp.reduce.async.bulk.tensor (PTX ISA; the
// table of operations and types).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gpu/async/tensor_type.hpp"

namespace inflight::async {

enum class ReduceOp : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };
inline constexpr std::uint32_t reduce_op_count = 8;

// PTX's spelling: "and".
constexpr std::string_view name(ReduceOp op) {
  constexpr std::string_view names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  return names[static_cast<unsigned>(op)];
}

// Reduces `bytes` (whole elements) at `source` into `destination`, which is aligned to the element.
// The update of each element is atomic for other host threads.
using Reduce = void (*)(std::byte* destination, const std::byte* source, std::size_t bytes);

// Returns the function of an operation and a type. Null if the instructions do not have it.
Reduce reduction(ReduceOp op, TensorType type);

}  // namespace inflight::async
