// Allocation and release of device, managed and pinned memory.
#include "gpu/cuda/core/calls/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/graph/graph_memory.hpp"
#include "gpu/cuda/core/memory/events.hpp"
#include "gpu/cuda/core/memory/host_limits.hpp"
#include "gpu/cuda/core/memory/host_memory.hpp"
#include "gpu/cuda/core/memory/mappings.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/machine/memory/ranges.hpp"

namespace inflight::cuda {
namespace {

using machine::AllocationKind;

constexpr std::uint64_t pitch_step = 512;  // bytes, as on an H200
constexpr unsigned host_flags = 0x7, register_flags = 0xf, host_is_mapped = 0x2;
constexpr unsigned attach_global = 1, attach_host = 2;

Status allocate(void** place, std::size_t bytes, AllocationKind kind) {
  if (!place) return Status::invalid_value;
  const int device = current_device().ordinal;
  auto address = Core::get().allocate(device, bytes, kind);
  if (!address) {
    Call::because(fmt::format("an allocation of {} bytes, with {} bytes left", bytes,
                              memory_state(device).free));
    return Status::out_of_memory;
  }
  *place = pointer_to(*address);
  return Status::success;
}

// Reads width and height from `box` and writes pointer and pitch to it.
Status allocate_pitched(abi::PitchedPointer& box, std::size_t depth) {
  std::size_t bytes = 0;
  bool wrapped = __builtin_add_overflow(box.width, pitch_step - 1, &box.pitch);
  box.pitch -= box.pitch % pitch_step;
  wrapped |= __builtin_mul_overflow(box.pitch, box.height, &bytes);
  wrapped |= __builtin_mul_overflow(bytes, depth, &bytes);
  // An H200 allocates the wrapped product: 0 bytes are invalid, and others are mostly too many.
  if (wrapped) return bytes ? Status::out_of_memory : Status::invalid_value;
  return allocate(&box.pointer, bytes, AllocationKind::device);
}

std::string refusal_to_free(const void* pointer) {
  const auto near = Core::get().memory.nearest(address_of(pointer));
  if (near && !near->live && near->base == address_of(pointer))
    return fmt::format("the {} bytes at {} have been freed before", near->size, pointer);
  if (near && near->live && machine::range_of(*near).contains(address_of(pointer)))
    return fmt::format("{} is not where an allocation begins that this call may free", pointer);
  return fmt::format("{} is in no allocation of a device", pointer);
}

// cudaMemoryType of an allocation.
int type_of(AllocationKind kind) {
  if (kind == AllocationKind::host) return 1;
  return kind == AllocationKind::managed ? 3 : 2;
}

}  // namespace

Status allocate_device(void** place, std::size_t bytes) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  return allocate(place, bytes, AllocationKind::device);
}

Status allocate_managed(void** place, std::size_t bytes, unsigned flags) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (flags != attach_global && flags != attach_host) return Status::invalid_value;
  return allocate(place, bytes, AllocationKind::managed);
}

Status allocate_rows(void** place, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!place || !pitch) return Status::invalid_value;
  abi::PitchedPointer box{nullptr, 0, width, height};
  if (Status status = allocate_pitched(box, 1); status != Status::success) return status;
  *place = box.pointer;
  *pitch = box.pitch;
  return Status::success;
}

Status allocate_box(abi::PitchedPointer* place, const abi::Extent& extent) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!place) return Status::invalid_value;
  abi::PitchedPointer box{nullptr, 0, extent.width, extent.height};
  Status status = allocate_pitched(box, extent.depth);
  if (status == Status::success) *place = box;
  return status;
}

Status free_memory(void* pointer) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  const auto address = address_of(pointer);
  if (!pointer) return Status::success;
  if (auto memory = GraphMemory::find(address)) {
    wait_for_users(address, memory->device);
    return memory->end() ? Status::success : Status::invalid_value;
  }
  auto allocation = Core::get().memory.find(address);
  if (!allocation || !claim_free(address)) {
    Call::because(refusal_to_free(pointer));
    return Status::invalid_value;
  }
  // Queued work may still use the memory. CUDA waits for that work too, unless the memory is of a
  // pool: then the program must know that the work is done.
  if (pool_of(address)) {
    wait_for_pending_work();
    observe_release(*allocation);
  } else {
    wait_for_users(address, allocation->device);
  }
  free_claimed(address);
  return Core::get().device(allocation->device).fault();
}

Status allocate_pinned(void** place, std::size_t bytes, unsigned flags) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!place) return Status::invalid_value;
  *place = nullptr;
  if (flags & ~host_flags) return Status::invalid_value;
  auto base = allocate_host(current_device(), bytes, flags | host_is_mapped);
  if (!base) return base.error().status;
  *place = *base;
  return Status::success;
}

Status free_pinned(void* pointer) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!pointer) return Status::success;
  auto block = host_block(pointer);
  if (!block) {
    Call::because(fmt::format("{} is no pinned memory of this API", pointer));
    return Status::invalid_value;
  }
  wait_for_users(block->base, block->device);
  return free_host(pointer);
}

Status register_pinned(void* pointer, std::size_t bytes, unsigned flags) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (flags & ~register_flags) return Status::invalid_value;
  return register_host(current_device(), pointer, bytes, flags | host_is_mapped);
}

Status unregister_pinned(void* pointer) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (auto block = host_block(pointer)) wait_for_users(block->base, block->device);
  return unregister_host(pointer);
}

Status get_device_pointer(void** place, void* pointer, unsigned flags) {
  if (!place || flags != 0 || !host_block(pointer)) return Status::invalid_value;
  *place = pointer;  // one address space
  return Status::success;
}

Status get_pinned_flags(unsigned* flags, const void* pointer) {
  auto block = host_block(pointer);
  if (!flags || !block) return Status::invalid_value;
  *flags = block->flags;
  return Status::success;
}

MemoryState memory_state(int device) {
  const std::uint64_t total = chosen_profile().memory;
  Core* const core = Core::existing();
  if (!core) return {total, std::min(total, settings().memory.value_or(default_host_share())), 0};
  const std::uint64_t used =
      std::min(total, core->memory.used(device) + core->device(device).physical +
                          graph_memory_totals(device).reserved);
  return {total, std::min(total - used, core->memory.host_share().left()), used};
}

Status get_memory_info(std::size_t* free, std::size_t* total) {
  const MemoryState state = memory_state(current_device().ordinal);
  if (total) *total = state.total;
  if (free) *free = state.free;
  return Status::success;
}

Status get_pointer_attributes(abi::PointerAttributes* attributes, const void* pointer) {
  if (!attributes) return Status::invalid_value;
  *attributes = {};
  auto found = Core::get().memory.find(address_of(pointer));
  void* same = const_cast<void*>(pointer);
  attributes->type = found ? type_of(found->kind) : 0;
  attributes->device = found ? found->device : -2;
  attributes->device_pointer = found ? same : nullptr;
  attributes->host_pointer = attributes->type == 2 ? nullptr : same;
  return Status::success;
}

}  // namespace inflight::cuda
