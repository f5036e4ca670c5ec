// Memory without an address, and where a program has mapped it: what virtual memory management and
// multicast objects share.
#pragma once
#include <memory>
#include <mutex>

#include "gpu/cuda/core/abi.hpp"
#include "gpu/cuda/core/handles.hpp"
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

// CUmemAllocationHandleType, a bit each.
inline constexpr int handle_none = 0, handle_file = 1;

// A CUmemGenericAllocationHandle: memory without an address, on a device or on the host.
class Physical {
 public:
  // Fresh memory.
  Physical(const AllocationProperties& properties, std::size_t bytes);
  // Memory that another Physical, perhaps another process's, made: the device counts it there.
  Physical(const AllocationProperties& properties, std::size_t bytes, Descriptor file);
  ~Physical();
  bool made() const { return made_; }
  bool on_device() const { return properties.location.type == abi::location_device; }
  int file() const { return file_.number(); }
  const AllocationProperties properties;
  const std::size_t bytes;
  int handles = 1;  // that programs have not released yet; guarded by mapping_mutex()

 private:
  bool take();
  Descriptor file_;
  bool made_ = false, counted_ = false;
};
Handles<Physical>& physicals();

std::mutex& mapping_mutex();
// The memory that is mapped at an address, and which of its bytes; null: none is. With the mutex.
struct Mapped {
  std::shared_ptr<Physical> physical;
  std::size_t offset = 0;
};
Mapped mapped_at(DevicePointer inside);
// Where devices reach `bytes` of it, from its byte `from` on; 0: nowhere. With the mutex.
DevicePointer mapped_place(const Physical& physical, std::size_t from, std::size_t bytes);
// The mapping at an address: its first byte, and how many there are. 0: there is none.
struct MappedRange {
  DevicePointer base = 0;
  std::size_t bytes = 0;
};
MappedRange mapping_of(DevicePointer inside);

// A multicast object's handle is one of the same kind (multicast.cpp).
std::shared_ptr<machine::MulticastObject> multicast_of(unsigned long long handle);
bool release_multicast(unsigned long long handle);
// What is mapped where has changed, of which multicast objects are to know. With the mutex.
void see_mappings();
// The file that names it for export; -1: it has none.
int multicast_file(unsigned long long handle);
// A handle of the object whose file this is: the same for every time that it is imported.
Result<unsigned long long> import_multicast(int file);

}  // namespace inflight::cuda::driver
