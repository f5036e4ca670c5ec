// Advice and prefetching for managed memory.
#include "gpu/cuda/core/calls/managed.hpp"

#include <algorithm>
#include <map>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/work/work.hpp"
#include "gpu/machine/memory/ranges.hpp"

namespace inflight::cuda {
namespace {

constexpr int device_cpu = -1, device_invalid = -2;

// A program's advice on one allocation.
struct Advice {
  bool read_mostly = false;
  abi::Location preferred{abi::location_none, device_invalid};
  abi::Location prefetched{abi::location_none, device_invalid};
  std::vector<int> accessed_by;
};
std::mutex advice_mutex;
std::map<std::uint64_t, Advice> advised;  // by the allocation's id

// The id of the managed allocation that holds the range, or 0.
std::uint64_t managed_range(const void* pointer, std::size_t bytes) {
  const auto range = ByteRange::of(address_of(pointer), bytes);
  if (!range || range->empty()) return 0;
  const auto found = Core::get().memory.find(range->base());
  if (!found || found->kind != machine::AllocationKind::managed) return 0;
  return machine::range_of(*found).contains(*range) ? found->id : 0;
}

int ordinal_of(const abi::Location& location) {
  if (location.type == abi::location_device) return location.id;
  return location.type == abi::location_none ? device_invalid : device_cpu;
}

// cudaMemoryAdvise.
enum AdviceKind {
  set_read_mostly = 1,
  unset_read_mostly = 2,
  set_preferred = 3,
  unset_preferred = 4,
  set_accessed_by = 5,
  unset_accessed_by = 6,
};

Status apply(Advice& advice, int kind, const abi::Location& location) {
  const bool needs_location =
      kind == set_preferred || kind == set_accessed_by || kind == unset_accessed_by;
  if (needs_location && !is_known(location)) return Status::invalid_device;
  switch (kind) {
    case set_read_mostly:
    case unset_read_mostly:
      advice.read_mostly = kind == set_read_mostly;
      break;
    case set_preferred:
      advice.preferred = location;
      break;
    case unset_preferred:
      advice.preferred = {abi::location_none, device_invalid};
      break;
    case set_accessed_by:
      std::erase(advice.accessed_by, ordinal_of(location));
      advice.accessed_by.push_back(ordinal_of(location));
      break;
    case unset_accessed_by:
      std::erase(advice.accessed_by, ordinal_of(location));
      break;
    default:
      return Status::invalid_value;
  }
  return Status::success;
}

// Reads the value of a cudaMemRangeAttribute. At most `count` ints are written.
Status read(const Advice& advice, int attribute, int* values, std::size_t count) {
  const int results[] = {0,
                         advice.read_mostly,
                         ordinal_of(advice.preferred),
                         0,
                         ordinal_of(advice.prefetched),
                         advice.preferred.type,
                         advice.preferred.id,
                         advice.prefetched.type,
                         advice.prefetched.id};
  if (attribute < 1 || attribute >= int(std::size(results)) || count == 0)
    return Status::invalid_value;
  constexpr int accessed_by = 3;
  if (attribute != accessed_by) {
    values[0] = results[attribute];
    return Status::success;
  }
  std::fill(values, values + count, device_invalid);
  std::copy_n(advice.accessed_by.begin(), std::min(count, advice.accessed_by.size()), values);
  return Status::success;
}

}  // namespace

bool is_managed(const void* pointer, std::size_t bytes) { return managed_range(pointer, bytes); }

bool is_known(const abi::Location& location) {
  if (location.type == abi::location_device)
    return location.id >= 0 && location.id < Core::get().device_count();
  return abi::is_on_host(location.type);
}

Status advise(const void* pointer, std::size_t bytes, int advice, const abi::Location& location) {
  const std::uint64_t id = managed_range(pointer, bytes);
  if (!id) return Status::invalid_value;
  std::lock_guard lock(advice_mutex);
  return apply(advised[id], advice, location);
}

Status range_attribute(void* data, std::size_t bytes, int attribute, const void* pointer,
                       std::size_t range) {
  const std::uint64_t id = managed_range(pointer, range);
  if (!id || !data || bytes % sizeof(int)) return Status::invalid_value;
  std::lock_guard lock(advice_mutex);
  return read(advised[id], attribute, static_cast<int*>(data), bytes / sizeof(int));
}

Status range_attributes(void* const* data, const std::size_t* bytes, const int* attributes,
                        std::size_t count, const void* pointer, std::size_t range) {
  if (!data || !bytes || !attributes || count == 0) return Status::invalid_value;
  Status status = Status::success;
  for (std::size_t i = 0; i < count && status == Status::success; ++i)
    status = range_attribute(data[i], bytes[i], attributes[i], pointer, range);
  return status;
}

Status prefetch(const void* pointer, std::size_t bytes, const abi::Location& location) {
  const std::uint64_t id = managed_range(pointer, bytes);
  if (!id) return Status::invalid_value;
  if (!is_known(location)) return Status::invalid_device;
  std::lock_guard lock(advice_mutex);
  advised[id].prefetched = location;
  return Status::success;
}

Status prefetch(Stream& stream, const void* pointer, std::size_t bytes,
                const abi::Location& location, unsigned flags) {
  if (flags != 0) return Status::invalid_value;
  Status status = prefetch(pointer, bytes, location);
  return status == Status::success ? submit(stream, EmptyWork{}) : status;
}

Status attach(Stream& stream, const void* pointer, unsigned flags) {
  constexpr unsigned global = 1, host = 2, single = 4;  // cudaMemAttach*
  if (flags != global && flags != host && flags != single) return Status::invalid_value;
  if (!is_managed(pointer, 1)) return Status::invalid_value;
  return submit(stream, EmptyWork{});
}

}  // namespace inflight::cuda
