// Allocates the lowest free columns.
#include "gpu/machine/run/tensor_memory.hpp"

#include <algorithm>
#include <bit>

#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

TensorMemory::TensorMemory() : words_(std::size_t{columns} * lanes, ~0u) {}

void TensorMemory::start() {
  owner_ = {};
  may_allocate = true;
  group = 0;
  wanted = 0;
  granted.reset();
}

bool TensorMemory::is_size(std::uint32_t count) {
  return std::has_single_bit(count) && count >= granule && count <= columns;
}

std::optional<std::uint32_t> TensorMemory::find(std::uint32_t count,
                                                const TensorMemory* other) const {
  const std::uint32_t wanted = count / granule;
  std::uint32_t run = 0;
  for (std::uint32_t i = 0; i < owner_.size(); ++i) {
    run = owner_[i] || (other && other->owner_[i]) ? 0 : run + 1;
    if (run == wanted) return (i + 1 - wanted) * granule;
  }
  return {};
}

void TensorMemory::take(std::uint32_t first, std::uint32_t count) {
  std::fill_n(owner_.begin() + first / granule, count / granule,
              static_cast<std::uint16_t>(first + 1));
  std::fill_n(column(first), std::size_t{count} * lanes, ~0u);
}

TensorMemory::Release TensorMemory::give_back(std::uint32_t first, std::uint32_t count) {
  if (first % granule || first + count > columns || !holds(first, count))
    return Release::unallocated;
  const auto begin = owner_.begin() + first / granule, end = begin + count / granule;
  const auto is_its = [&](std::uint16_t owner) { return owner == first + 1; };
  if (!std::all_of(begin, end, is_its) || std::count_if(owner_.begin(), owner_.end(), is_its) !=
                                              static_cast<std::ptrdiff_t>(count / granule))
    return Release::another_allocation;
  std::fill(begin, end, std::uint16_t{0});
  return Release::done;
}

bool TensorMemory::holds(std::uint32_t first, std::uint32_t count) const {
  if (first + count > columns) return false;
  for (std::uint32_t i = first / granule; i * granule < first + count; ++i)
    if (!owner_[i]) return false;
  return true;
}

std::uint32_t TensorMemory::free() const {
  return granule * static_cast<std::uint32_t>(std::count(owner_.begin(), owner_.end(), 0));
}

TensorMemory& tensor_memory(Block& block) {
  if (!block.tensor_memory) block.tensor_memory = std::make_unique<TensorMemory>();
  return *block.tensor_memory;
}

void wake_for_columns(Block& block) {
  for (auto& w : block.warps) w->wake(Wait::columns, Warp::any_detail);
}

}  // namespace inflight::machine
