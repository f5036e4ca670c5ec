// Handles by which a process finds another's memory or event. A handle names a file of the other
// process, which can be opened as long as that process lives.
#pragma once
#include <cstdint>
#include <type_traits>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/host/own_descriptor.hpp"

namespace inflight::cuda {

// cudaIpcMemHandle_t, cudaIpcEventHandle_t and cudaMemPoolPtrExportData: bytes that programs carry
// from process to process.
struct SharingHandle {
  enum class Kind : std::uint32_t { memory = 1, event = 2, pool_memory = 3, physical = 4 };
  static constexpr std::uint64_t right_mark = 0x7468'6769'6c66'6e69;  // "inflight"

  std::uint64_t mark = right_mark;
  Kind kind = Kind::memory;
  std::int32_t process = 0, file = -1;
  std::int32_t device = 0;              // its index on the machine
  std::uint64_t system = 0, inode = 0;  // of the file
  std::uint64_t offset = 0, bytes = 0;  // of the memory in the file
  std::uint64_t pool = 0;               // the number of its pool, or 0
};
static_assert(sizeof(SharingHandle) == 64 && std::is_trivially_copyable_v<SharingHandle>);

// A handle for `file`, which this process has open, and a device by its index on the machine.
Result<SharingHandle> sharing_handle(SharingHandle::Kind kind, int file, int device);

// Opens the file that a handle names, after checking that it is one of this kind which a process of
// this user made, and that it holds the handle's bytes (invalid_value: not a handle of this kind,
// or its bytes are not all in the file; invalid_context: this process made it; map_failed: its
// process has ended or is another user's, or the file is another one).
Result<host::OwnDescriptor> open_shared(const SharingHandle&, SharingHandle::Kind);
// The same for a handle that this process made.
Result<host::OwnDescriptor> open_own(const SharingHandle&, SharingHandle::Kind);

// Reports that the program closed a descriptor of this library, and fails (operating_system).
Status lost_descriptor();

}  // namespace inflight::cuda
