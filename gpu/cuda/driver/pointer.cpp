// Driver API: attributes of pointers.
#include <cstring>

#include "gpu/cuda/core/calls/shared_memory.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/memory/synchronous.hpp"
#include "gpu/cuda/driver/owners.hpp"
#include "gpu/cuda/driver/vmm.hpp"

namespace inflight::cuda::driver {
namespace {

using machine::AllocationKind;

// An attribute's value of up to 8 bytes. 0 bytes: the pointer lacks the attribute.
struct Value {
  std::uint64_t bits = 0;
  std::size_t bytes = 0;
};

Value word(std::uint64_t value) { return {value, 8}; }
Value number(std::uint64_t value) { return {value, 4}; }
Value boolean(bool value) { return {value, 4}; }

struct Pointer {
  machine::Allocation allocation;
  DevicePointer address = 0;
  bool on_host() const { return allocation.kind == AllocationKind::host; }
  bool managed() const { return allocation.kind == AllocationKind::managed; }
};

std::uint64_t pool_handle(const Pointer& p) {
  auto pool = pool_of(p.allocation.base);
  return pool ? address(pool.get()) : 0;
}

std::uint64_t handle_types(DevicePointer inside) {
  const std::lock_guard lock(mapping_mutex());
  const auto physical = mapped_at(inside).physical;
  return physical ? std::uint64_t(physical->properties.handle_types) : 0;
}

constexpr unsigned host_memory = 1, device_memory = 2, read_and_write = 3;

// By CUpointer_attribute, starting at 1.
using Attribute = Value (*)(const Pointer&);
constexpr Attribute attributes[] = {
    [](const Pointer& p) { return word(address(owner_of(p.allocation))); },
    [](const Pointer& p) { return number(p.on_host() ? host_memory : device_memory); },
    [](const Pointer& p) { return word(p.address); },
    [](const Pointer& p) { return p.on_host() || p.managed() ? word(p.address) : Value{}; },
    [](const Pointer&) { return Value{}; },                                      // P2P tokens
    [](const Pointer& p) { return boolean(always_synchronous(p.allocation)); },  // SYNC_MEMOPS
    [](const Pointer& p) { return word(p.allocation.id); },                      // BUFFER_ID
    [](const Pointer& p) { return boolean(p.managed()); },
    [](const Pointer& p) { return number(unsigned(p.allocation.device)); },
    [](const Pointer& p) { return boolean(can_export(p.address)); },  // legacy IPC
    [](const Pointer& p) { return word(p.allocation.base); },
    [](const Pointer& p) { return word(p.allocation.size); },
    [](const Pointer&) { return boolean(true); },  // MAPPED
    [](const Pointer& p) { return word(handle_types(p.address)); },
    [](const Pointer&) { return boolean(false); },  // GPUDirect RDMA
    [](const Pointer&) { return number(read_and_write); },
    [](const Pointer& p) { return word(pool_handle(p)); },
    [](const Pointer& p) { return word(p.allocation.size); },  // mapping's size
    [](const Pointer& p) { return word(p.allocation.base); },  // mapping's base
    [](const Pointer& p) { return word(p.allocation.id); },    // memory block
    // Whether hardware can decompress into the memory, as on an H200.
    [](const Pointer& p) { return boolean(can_export(p.address)); },
};

bool is_attribute(int number) { return number >= 1 && number <= int(std::size(attributes)); }

constexpr int device_ordinal = 9;

Status store_attribute(void* to, int attribute, DevicePointer pointer) {
  if (!to || !is_attribute(attribute)) return Status::invalid_value;
  auto found = Core::get().memory.find(pointer);
  if (!found) return Status::invalid_value;
  const Value value = attributes[attribute - 1]({*found, pointer});
  if (value.bytes == 0) return Status::invalid_value;
  std::memcpy(to, &value.bits, value.bytes);
  return Status::success;
}

// For a pointer that CUDA does not know, every attribute is 0 except the device's number.
void store_unknown(void* to, int attribute) {
  if (!is_attribute(attribute)) return;
  const std::uint64_t bits = attribute == device_ordinal ? 0xfffffffeull : 0;
  const std::size_t bytes = attributes[attribute - 1]({}).bytes;
  std::memcpy(to, &bits, bytes ? bytes : sizeof bits);
}

}  // namespace

INFLIGHT_CU_AT(of_memory(pointer), cuPointerGetAttribute,
               (void* to, int attribute, DevicePointer pointer),
               { return store_attribute(to, attribute, pointer); })
INFLIGHT_CU_AT(of_memory(pointer), cuPointerGetAttributes,
               (unsigned count, int* numbers, void** to, DevicePointer pointer), {
                 if (!numbers || !to) return Status::invalid_value;
                 for (unsigned i = 0; i < count; ++i) {
                   Status status = store_attribute(to[i], numbers[i], pointer);
                   if (status != Status::success && to[i]) store_unknown(to[i], numbers[i]);
                 }
                 return Status::success;
               })
INFLIGHT_CU_AT(of_memory(pointer), cuPointerSetAttribute,
               (const unsigned* value, int attribute, DevicePointer pointer), {
                 constexpr int sync_memops = 6;
                 if (!value || attribute != sync_memops) return Status::invalid_value;
                 return set_always_synchronous(pointer, *value != 0);
               })

}  // namespace inflight::cuda::driver
