// Parameters and work of graph nodes that copy.
#include "gpu/cuda/core/calls/copy_nodes.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <variant>

#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/texture/array.hpp"

namespace inflight::cuda {

std::size_t unit_of(const void* array) {
  const auto found = array ? find_array(array) : nullptr;
  return found ? found->image.format.bytes() : 1;
}

namespace {

// The parameters of a node whose program gave none: it was captured, or added as a linear copy.
abi::Copy3D described(const Copy& copy) {
  abi::Copy3D box{};
  const bool linear = copy.height == 1 && copy.depth == 1;
  const auto side = [&](const void* memory, std::uint64_t pitch, std::uint64_t rows) {
    auto* const start = const_cast<void*>(memory);
    return abi::PitchedPointer{start, linear ? 0 : pitch, 0, copy.depth == 1 ? 0 : rows};
  };
  box.extent = {copy.width, copy.height, copy.depth};
  box.extent.width /= unit_of(copy.to_array ? copy.to_array : copy.from_array);
  box.kind = int(copy.direction);
  box.from_array = const_cast<void*>(copy.from_array);
  box.to_array = const_cast<void*>(copy.to_array);
  if (copy.from_array)
    box.from_position = position_in(copy.from_array, copy.from);
  else
    box.from = side(copy.from, copy.from_pitch, copy.from_rows);
  if (copy.to_array)
    box.to_position = position_in(copy.to_array, copy.to);
  else
    box.to = side(copy.to, copy.to_pitch, copy.to_rows);
  return box;
}

}  // namespace

Result<Work> copy_node_work(const abi::Copy3D* node) {
  auto copy = copy_of(node);
  if (!copy) return tl::unexpected(copy.error());
  return copy_node_work(std::move(*copy), {*node, {}});
}

Work copy_node_work(Copy copy, GivenCopy given) {
  copy.given = std::make_shared<const GivenCopy>(std::move(given));
  return Work(std::move(copy));
}

Result<GivenCopy> copy_node(const void* handle) {
  const std::lock_guard lock(graph_mutex());
  const auto node = node_of(handle);
  const auto* const copy = node ? std::get_if<Copy>(&node->work) : nullptr;
  if (!copy) return fail(Status::invalid_value);
  return copy->given ? *copy->given : GivenCopy{described(*copy), {}};
}

Status get_copy_node(const void* handle, abi::Copy3D* place) {
  const auto node = copy_node(handle);
  if (!node) return node.error().status;
  if (!node->parameters) return Status::unknown;
  abi::Copy3D box = *node->parameters;
  box.from.width = box.to.width = 0;  // as an H100 returns them
  return store_value(place, box);
}

}  // namespace inflight::cuda
