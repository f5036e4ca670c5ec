// Graph nodes that copy. Such a node keeps its parameters as the program gave them, because
// programs read them back.
#pragma once
#include <any>
#include <cstddef>
#include <optional>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/graph/graph.hpp"

namespace inflight::cuda {

struct GivenCopy {
  std::optional<abi::Copy3D> parameters;  // null: this form cannot hold what the program gave
  std::any as_given;  // the parameters in the caller's own form, if it has another
};

// The bytes of a position's or an extent's unit: a texel if the copy has an array, else a byte.
std::size_t unit_of(const void* array);

Result<Work> copy_node_work(const abi::Copy3D* node);  // invalid_value: null
Work copy_node_work(Copy copy, GivenCopy given);

// The parameters of a copy's node (invalid_value: the node does not copy).
Result<GivenCopy> copy_node(const void* node);
// Stores GivenCopy::parameters (invalid_value: there is no place; unknown: it has none).
Status get_copy_node(const void* node, abi::Copy3D* place);

}  // namespace inflight::cuda
