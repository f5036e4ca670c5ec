// Multiprocessors as a resource that programs query, split and describe (CUDA Driver API, "Green
// Contexts").
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/machine/config/limits.hpp"

namespace inflight::cuda {

class Device;

// CUdevResource. Our own data lies in the bytes that CUDA reserves.
struct DevResource {
  static constexpr int none = 0, multiprocessors = 1;  // CUdevResourceType
  static constexpr std::size_t most = 256;             // multiprocessors
  int type = none;
  std::uint32_t mark = 0;                      // set if this library made it
  std::uint64_t split = 0;                     // the split that made it; 0: none
  std::array<std::uint64_t, most / 64> set{};  // of multiprocessors, a bit each
  std::uint32_t together = 0;                  // groups of this size lie in one GPC
  std::int32_t device = 0;
  unsigned char unused[40]{};
  std::uint32_t count = 0, least = 0, alignment = 0;  // CUdevSmResource
  unsigned char more[36]{};

  std::vector<std::uint32_t> members() const;
};
static_assert(sizeof(DevResource) == 144);

// The multiprocessors that kernels run on, and the limits of launches on them.
struct Partition {
  Device* device = nullptr;
  DevResource resource;
  machine::Limits limits;
};

// The resource with all multiprocessors of a device, or of a part of it.
DevResource resource_of(const Device& device);
DevResource resource_of(const Partition& partition);

// cuDevSmResourceSplitByCount.
Status split_resource(DevResource* groups, unsigned* count, const DevResource* input,
                      DevResource* remaining, unsigned flags, unsigned least);

// What cuDevResourceGenerateDesc makes: the union of the resources.
Result<std::shared_ptr<Partition>> describe_resources(const DevResource* resources, unsigned count);

}  // namespace inflight::cuda
