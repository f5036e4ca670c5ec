// Memory without an address, and its mappings: shared by virtual memory management and multicast
// objects.
#pragma once
#include <memory>
#include <mutex>
#include <optional>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/handles.hpp"
#include "gpu/cuda/core/sharing/handle.hpp"
#include "gpu/cuda/driver/entry.hpp"
#include "gpu/machine/memory/multicast.hpp"

namespace inflight::cuda::driver {

inline constexpr std::size_t granularity = 2 << 20;  // bytes, as on an H200
inline bool whole(std::size_t bytes) { return bytes != 0 && bytes % granularity == 0; }

struct AllocationProperties {  // CUmemAllocationProp
  int type;
  int handle_types;
  abi::Location location;
  void* win32;
  unsigned char compression, rdma;
  unsigned short usage;
  unsigned char reserved[4];
};

// CUmemAllocationHandleType, one bit each.
inline constexpr int handle_none = 0, handle_file = 1;

// A CUmemGenericAllocationHandle: memory without an address, on a device or on the host.
class Physical {
 public:
  // Allocates new memory.
  Physical(const AllocationProperties& properties, std::size_t bytes);
  // Memory that another Physical allocated, perhaps in another process. It is accounted for there.
  Physical(const AllocationProperties& properties, std::size_t bytes, host::OwnDescriptor file);
  ~Physical();
  bool made() const { return made_; }
  bool on_device() const { return properties.location.type == abi::location_device; }
  int file() const { return file_.fd(); }  // or -1 if the program has closed it
  const AllocationProperties properties;
  const std::size_t bytes;
  int handles = 1;  // not yet released; guarded by mapping_mutex()

 private:
  bool take();
  const host::OwnDescriptor file_;
  bool made_ = false, counted_ = false;
};
Handles<Physical>& physicals();

std::mutex& mapping_mutex();
// The memory mapped at an address, and the offset in it. Null: nothing is mapped. Hold
// mapping_mutex().
struct Mapped {
  std::shared_ptr<Physical> physical;
  std::size_t offset = 0;
};
Mapped mapped_at(DevicePointer inside);
// Where devices reach `bytes` bytes of it from byte `from` on, or 0. Hold mapping_mutex().
DevicePointer mapped_place(const Physical& physical, std::size_t from, std::size_t bytes);
// The mapping that contains an address: its base and its size. 0 bytes: there is none.
struct MappedRange {
  DevicePointer base = 0;
  std::size_t bytes = 0;
};
MappedRange mapping_of(DevicePointer inside);

// Multicast objects (multicast.cpp), whose handles have the same type as those of memory.
std::shared_ptr<machine::MulticastObject> multicast_of(unsigned long long handle);
bool release_multicast(unsigned long long handle);
// Notifies multicast objects of changed mappings. Hold mapping_mutex().
void see_mappings();
// The file that stands for the multicast object when it is exported, or -1 if the program has
// closed it. Nothing if it may not be exported.
std::optional<int> multicast_file(unsigned long long handle);
// A handle of the object with this file. Every import returns the same one.
Result<unsigned long long> import_multicast(int file);

}  // namespace inflight::cuda::driver
