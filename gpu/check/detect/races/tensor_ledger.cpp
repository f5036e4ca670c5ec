// Keeps the operations and the cells.
#include "gpu/check/detect/races/tensor_ledger.hpp"

#include <algorithm>

namespace inflight::check::races {

TensorLedger::Cell& TensorLedger::Memory::cell(std::uint32_t segment, std::uint32_t column) {
  std::vector<Cell>& row = cells[segment % cells.size()];
  if (row.empty()) row.resize(columns);
  return row[column % columns];
}

void TensorLedger::Memory::clear(std::uint32_t first, std::uint32_t count, Id by, bool allocates) {
  for (std::vector<Cell>& row : cells)
    if (!row.empty()) std::fill_n(row.begin() + first, count, Cell());
  const std::size_t at = first / granule, granules = count / granule;
  std::fill_n(allocated.begin() + at, granules, allocates ? by : none);
  std::fill_n(freed.begin() + at, granules, allocates ? none : by);
}

TensorLedger::Id TensorLedger::add(const TensorOperation& operation) {
  operations_.push_back(operation);
  if (operations_.size() > most) {
    operations_.pop_front();
    ++first_;
  }
  return first_ + static_cast<Id>(operations_.size()) - 1;
}

TensorOperation* TensorLedger::find(Id id) {
  return id < first_ || id == none ? nullptr : &operations_[id - first_];
}

TensorLedger::Memory& TensorLedger::of(std::uint32_t rank) {
  if (memories_.size() <= rank) memories_.resize(rank + 1);
  if (!memories_[rank]) memories_[rank] = std::make_unique<Memory>();
  return *memories_[rank];
}

void TensorLedger::remember(const Last& last) {
  const auto same = std::ranges::find_if(last_, [&](const Last& each) {
    return each.operation.row == last.operation.row &&
           each.operation.place == last.operation.place &&
           each.operation.who.mask == last.operation.who.mask;
  });
  if (same == last_.end())
    last_.push_back(last);
  else
    *same = last;
}

}  // namespace inflight::check::races
