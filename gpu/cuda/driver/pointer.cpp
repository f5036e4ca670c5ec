// Driver API: what a pointer is.
#include <cstring>

#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

using machine::AllocationKind;

// One attribute's answer: up to 8 bytes, or nothing where the attribute does not fit the pointer.
struct Answer {
  std::uint64_t value = 0;
  std::size_t bytes = 0;
};

Answer word(std::uint64_t value) { return {value, 8}; }
Answer number(std::uint64_t value) { return {value, 4}; }
Answer boolean(bool value) { return {value, 1}; }

struct Asked {
  machine::Allocation allocation;
  DevicePointer pointer = 0;
  bool on_host() const { return allocation.kind == AllocationKind::host; }
  bool managed() const { return allocation.kind == AllocationKind::managed; }
};

std::uint64_t pool_handle(const Asked& a) {
  auto pool = pool_of(a.allocation.base);
  return pool ? address(pool.get()) : 0;
}

constexpr unsigned host_memory = 1, device_memory = 2, read_and_write = 3;

// By CUpointer_attribute, from 1.
using Question = Answer (*)(const Asked&);
constexpr Question questions[] = {
    [](const Asked& a) { return word(address(&Core::get().primary(a.allocation.device))); },
    [](const Asked& a) { return number(a.on_host() ? host_memory : device_memory); },
    [](const Asked& a) { return word(a.pointer); },
    [](const Asked& a) { return a.on_host() || a.managed() ? word(a.pointer) : Answer{}; },
    [](const Asked&) { return Answer{}; },                 // P2P tokens
    [](const Asked&) { return boolean(false); },           // SYNC_MEMOPS
    [](const Asked& a) { return word(a.allocation.id); },  // BUFFER_ID
    [](const Asked& a) { return boolean(a.managed()); },
    [](const Asked& a) { return number(unsigned(a.allocation.device)); },
    [](const Asked&) { return boolean(false); },  // legacy IPC
    [](const Asked& a) { return word(a.allocation.base); },
    [](const Asked& a) { return word(a.allocation.size); },
    [](const Asked&) { return boolean(true); },   // MAPPED
    [](const Asked&) { return word(0); },         // shareable handle types
    [](const Asked&) { return boolean(false); },  // GPUDirect RDMA
    [](const Asked&) { return number(read_and_write); },
    [](const Asked& a) { return word(pool_handle(a)); },
    [](const Asked& a) { return word(a.allocation.size); },  // mapping's size
    [](const Asked& a) { return word(a.allocation.base); },  // mapping's base
    [](const Asked& a) { return word(a.allocation.id); },    // memory block
    [](const Asked&) { return boolean(false); },             // hardware decompression
};

constexpr int device_ordinal = 9;

Status answer(void* to, int attribute, DevicePointer pointer) {
  if (!to || attribute < 1 || attribute > int(std::size(questions))) return Status::invalid_value;
  auto found = Core::get().memory.find(pointer);
  if (!found) return Status::invalid_value;
  Answer a = questions[attribute - 1]({*found, pointer});
  if (a.bytes == 0) return Status::invalid_value;
  std::memcpy(to, &a.value, a.bytes);
  return Status::success;
}

// For a pointer that CUDA does not know, every answer is 0, except the device's number.
void answer_unknown(void* to, int attribute) {
  std::uint64_t value = attribute == device_ordinal ? 0xfffffffeull : 0;
  if (attribute < 1 || attribute > int(std::size(questions))) return;
  std::size_t bytes = questions[attribute - 1]({}).bytes;
  std::memcpy(to, &value, bytes ? bytes : sizeof value);
}

}  // namespace

INFLIGHT_CU_AT(of_memory(pointer), cuPointerGetAttribute,
               (void* to, int attribute, DevicePointer pointer),
               { return answer(to, attribute, pointer); })
INFLIGHT_CU_AT(of_memory(pointer), cuPointerGetAttributes,
               (unsigned count, int* attributes, void** to, DevicePointer pointer), {
                 if (!attributes || !to) return Status::invalid_value;
                 for (unsigned i = 0; i < count; ++i) {
                   Status status = answer(to[i], attributes[i], pointer);
                   if (status != Status::success && to[i]) answer_unknown(to[i], attributes[i]);
                 }
                 return Status::success;
               })
INFLIGHT_CU_AT(of_memory(pointer), cuPointerSetAttribute,
               (const void* value, int attribute, DevicePointer pointer), {
                 constexpr int sync_memops = 6;
                 if (!value || attribute != sync_memops) return Status::invalid_value;
                 return Core::get().memory.find(pointer) ? Status::success : Status::invalid_value;
               })

}  // namespace inflight::cuda::driver
