// Memory without an address, and where a program has mapped it: what virtual memory management and
// multicast objects share.
#pragma once
#include <memory>
#include <mutex>

#include "gpu/cuda/core/abi.hpp"
#include "gpu/cuda/core/handles.hpp"
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

// A CUmemGenericAllocationHandle: memory without an address.
class Physical {
 public:
  Physical(const AllocationProperties& properties, std::size_t bytes);
  ~Physical();
  bool made() const { return made_; }
  int file() const { return file_; }
  const AllocationProperties properties;
  const std::size_t bytes;
  int handles = 1;  // that programs have not released yet; guarded by mapping_mutex()

 private:
  void give_back();
  int file_;
  bool made_ = false;
};
Handles<Physical>& physicals();

std::mutex& mapping_mutex();
// The memory that is mapped at an address, and which of its bytes; null: none is. With the mutex.
struct Mapped {
  std::shared_ptr<Physical> physical;
  std::size_t offset = 0;
};
Mapped mapped_at(DevicePointer inside);

// A multicast object's handle is one of the same kind (multicast.cpp).
std::shared_ptr<machine::MulticastObject> multicast_of(unsigned long long handle);
bool release_multicast(unsigned long long handle);

}  // namespace inflight::cuda::driver
