// Multiprocessors as a resource that programs ask for, split and describe (CUDA Driver API, "Green
// Contexts").
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda/core/report/status.hpp"
#include "gpu/machine/config/limits.hpp"

namespace inflight::cuda {

class Device;

// CUdevResource. What it stands for lies in the bytes that programs leave alone.
struct DevResource {
  static constexpr int none = 0, multiprocessors = 1;  // CUdevResourceType
  static constexpr std::size_t most = 256;             // multiprocessors
  int type = none;
  std::uint32_t mark = 0;                      // of one that was made here
  std::uint64_t split = 0;                     // the split that made it; 0: none
  std::array<std::uint64_t, most / 64> set{};  // of multiprocessors, by their identifiers
  std::uint32_t together = 0;                  // so many of them lie in one GPC each time
  std::int32_t device = 0;
  unsigned char unused[40]{};
  std::uint32_t count = 0, least = 0, alignment = 0;  // CUdevSmResource
  unsigned char more[36]{};

  std::vector<std::uint32_t> members() const;
};
static_assert(sizeof(DevResource) == 144);

// Multiprocessors that kernels run on, and what a launch may ask of them.
struct Partition {
  Device* device = nullptr;
  DevResource resource;
  machine::Limits limits;
};

// All multiprocessors of a device, and those of a part of it.
DevResource resource_of(const Device& device);
DevResource resource_of(const Partition& partition);

// cuDevSmResourceSplitByCount.
Status split_resource(DevResource* groups, unsigned* count, const DevResource* input,
                      DevResource* remaining, unsigned flags, unsigned least);

// What cuDevResourceGenerateDesc makes: of several, all that they hold.
Result<std::shared_ptr<Partition>> describe_resources(const DevResource* resources, unsigned count);

}  // namespace inflight::cuda
