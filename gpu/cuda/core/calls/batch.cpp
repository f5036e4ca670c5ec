// Batches of copies, prefetches and discards.
#include "gpu/cuda/core/calls/batch.hpp"

#include <algorithm>
#include <vector>

#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/calls/managed.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/texture/array.hpp"
#include "gpu/cuda/core/work/work.hpp"

namespace inflight::cuda {
namespace {

constexpr unsigned known_copy_flags = 1;  // cudaMemcpyFlagPreferOverlapWithCompute

bool takes_batches(const Stream& stream) { return stream.kind() != Stream::Kind::legacy; }

// True if `parts` entries cover `count` items: `starts` begins at 0 and increases.
bool covers(const void* entries, const std::size_t* starts, std::size_t parts, std::size_t count) {
  if (!entries || !starts || parts == 0 || parts > count || starts[0] != 0) return false;
  for (std::size_t i = 1; i < parts; ++i)
    if (starts[i] <= starts[i - 1]) return false;
  return starts[parts - 1] < count;
}

// Calls body(item, index of the entry that applies to it) for every item until one fails.
template <class Body>
Status for_each_item(std::size_t count, const std::size_t* starts, std::size_t parts, Body body) {
  std::size_t part = 0;
  for (std::size_t i = 0; i < count; ++i) {
    while (part + 1 < parts && starts[part + 1] <= i) ++part;
    if (Status status = body(i, part); status != Status::success) return status;
  }
  return Status::success;
}

struct Item {
  Copy copy;
  SourceOrder order;
};

Status check(const Item& item, unsigned flags) {
  if (item.order < SourceOrder::stream || item.order > SourceOrder::any ||
      (flags & ~known_copy_flags))
    return Status::invalid_value;
  return check(item.copy);
}

Status copy_all(Stream& stream, const std::vector<Item>& items) {
  for (const Item& each : items) {
    Status status = copy(stream, each.copy, true, each.order);
    if (status != Status::success) return status;
  }
  return Status::success;
}

// Bytes of the array's element, the unit of the copy's extents. 0: the operand is memory.
Result<std::size_t> element_of(const abi::CopyOperand3D& operand) {
  constexpr int pointer = 1, array = 2;
  if (operand.type == pointer) return 0;
  if (operand.type != array) return fail(Status::invalid_value);
  const auto found = find_array(operand.array.array);
  if (!found) return fail(Status::invalid_handle);
  return found->image.format.bytes();
}

// One side of a copy whose elements have `element` bytes. A length of 0 means no padding.
Result<CopySide> batch_side(const abi::CopyOperand3D& operand, const abi::Extent& extent,
                            std::size_t element, bool in_array) {
  CopySide side;
  if (in_array) {
    const abi::Position& at = operand.array.offset;
    side.array = operand.array.array;
    side.x = (Checked(at.x) * element).saturated(), side.y = at.y, side.z = at.z;
    return side;
  }
  const auto& memory = operand.pointer;
  const std::size_t row = memory.row_length ? memory.row_length : extent.width;
  const std::size_t rows = memory.layer_height ? memory.layer_height : extent.height;
  if (row < extent.width || rows < extent.height) return fail(Status::invalid_value);
  const std::size_t pitch = (Checked(row) * element).saturated();
  side.pointer = {memory.pointer, pitch, pitch, rows};
  return side;
}

Result<Item> item_of(const abi::BatchCopy3D& box) {
  const abi::Extent& extent = box.extent;
  const auto from_element = element_of(box.from), to_element = element_of(box.to);
  if (!from_element || !to_element)
    return tl::unexpected(from_element ? to_element.error() : from_element.error());
  if (*from_element && *to_element && *from_element != *to_element)
    return fail(Status::invalid_value);
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
    return fail(Status::invalid_value);
  const std::size_t element = std::max<std::size_t>({1, *from_element, *to_element});
  const auto from = batch_side(box.from, extent, element, *from_element != 0);
  const auto to = batch_side(box.to, extent, element, *to_element != 0);
  if (!from || !to) return tl::unexpected(from ? to.error() : from.error());
  auto copy = array_copy(*to, *from, (Checked(extent.width) * element).saturated(), extent.height,
                         extent.depth, Direction::by_address);
  if (!copy) return tl::unexpected(copy.error());
  return Item{std::move(*copy), SourceOrder(box.order)};
}

void store_index(std::size_t* failed, std::size_t index) {
  if (failed) *failed = index;
}
constexpr std::size_t no_index = ~std::size_t{0};

Status check_ranges(const Stream& stream, const RangeBatch& batch, unsigned long long flags) {
  if (flags || !takes_batches(stream) || !batch.pointers || !batch.bytes || batch.count == 0)
    return Status::invalid_value;
  for (std::size_t i = 0; i < batch.count; ++i)
    if (!is_managed(batch.pointers[i], batch.bytes[i])) return Status::invalid_value;
  return Status::success;
}

}  // namespace

Status copy_batch(Stream& stream, const CopyBatch& batch, std::size_t* failed) {
  store_index(failed, no_index);
  if (!takes_batches(stream) || !batch.to || !batch.from || !batch.bytes ||
      !covers(batch.attributes, batch.starts, batch.attribute_count, batch.count))
    return Status::invalid_value;
  std::vector<Item> items;
  Status status = for_each_item(
      batch.count, batch.starts, batch.attribute_count, [&](std::size_t i, std::size_t part) {
        const abi::CopyAttributes& attributes = batch.attributes[part];
        items.push_back({linear(batch.to[i], batch.from[i], batch.bytes[i], Direction::by_address),
                         SourceOrder(attributes.order)});
        return check(items.back(), attributes.flags);
      });
  if (status == Status::success) return copy_all(stream, items);
  if (!items.empty()) store_index(failed, items.size() - 1);
  return status;
}

Status copy_batch(Stream& stream, const abi::BatchCopy3D* list, std::size_t count,
                  unsigned long long flags, std::size_t* failed) {
  store_index(failed, no_index);
  if (flags || !list || count == 0 || !takes_batches(stream)) return Status::invalid_value;
  std::vector<Item> items;
  for (std::size_t i = 0; i < count; ++i) {
    auto item = item_of(list[i]);
    const Status status = item ? check(*item, list[i].flags) : report(item);
    if (status != Status::success) {
      store_index(failed, i);
      return status;
    }
    items.push_back(*item);
  }
  return copy_all(stream, items);
}

Status prefetch_batch(Stream& stream, const RangeBatch& batch, unsigned long long flags) {
  Status status = check_ranges(stream, batch, flags);
  if (status != Status::success) return status;
  if (!covers(batch.locations, batch.starts, batch.location_count, batch.count) ||
      !std::all_of(batch.locations, batch.locations + batch.location_count, is_known))
    return Status::invalid_value;
  status = for_each_item(
      batch.count, batch.starts, batch.location_count, [&](std::size_t i, std::size_t part) {
        return prefetch(batch.pointers[i], batch.bytes[i], batch.locations[part]);
      });
  return status == Status::success ? submit(stream, EmptyWork{}) : status;
}

// The contents of a discarded range are undefined until it is written, so this does nothing.
Status discard_batch(Stream& stream, const RangeBatch& batch, unsigned long long flags) {
  Status status = check_ranges(stream, batch, flags);
  return status == Status::success ? submit(stream, EmptyWork{}) : status;
}

Status discard_and_prefetch_batch(Stream& stream, const RangeBatch& batch,
                                  unsigned long long flags) {
  return prefetch_batch(stream, batch, flags);
}

}  // namespace inflight::cuda
