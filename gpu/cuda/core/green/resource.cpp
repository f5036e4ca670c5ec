// Splits a device's multiprocessors as an H200 does.
#include "gpu/cuda/core/green/resource.hpp"

#include <algorithm>
#include <atomic>

#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

constexpr std::uint32_t made_here = 0x696e666c;

// The smallest part and its steps (cuda.h, "Green Contexts").
struct Steps {
  std::uint32_t least, alignment;
};
Steps steps_of(const Device& device) {
  return device.profile.architecture.number >= first_with_clusters ? Steps{8, 8} : Steps{4, 2};
}
// Multiprocessors come in pairs at least.
constexpr Steps pairs{2, 2};

enum SplitFlag : unsigned { ignore_coscheduling = 1, largest_clusters = 2 };

DevResource make(const Device& device, std::uint64_t split, std::uint32_t together) {
  DevResource made;
  made.type = DevResource::multiprocessors;
  made.mark = made_here;
  made.split = split;
  made.device = device.ordinal;
  made.together = together;
  return made;
}

void add(DevResource& to, std::uint32_t multiprocessor) {
  to.set[multiprocessor / 64] |= std::uint64_t{1} << multiprocessor % 64;
  ++to.count;
}

Device* device_of(const DevResource& resource) {
  const bool good = resource.mark == made_here && device_exists(resource.device);
  return good ? &Core::get().device(resource.device) : nullptr;
}

// How many groups of `size` multiprocessors there are. Groups of the smallest size with a GPC's
// guarantee each lie in one GPC, where some may be left over.
std::uint32_t groups_of(const DevResource& whole, std::uint32_t size, const Steps& steps,
                        const machine::Limits& limits) {
  const bool all = whole.count == limits.multiprocessors;
  if (!all || limits.gpcs.empty() || size != steps.alignment || size == pairs.alignment)
    return whole.count / size;
  std::uint32_t groups = 0;
  for (const std::uint32_t multiprocessors : limits.gpcs) groups += multiprocessors / size;
  return groups;
}

}  // namespace

std::vector<std::uint32_t> DevResource::members() const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < most; ++i)
    if (set[i / 64] >> i % 64 & 1) result.push_back(i);
  return result;
}

DevResource resource_of(const Device& device) {
  const Steps steps = steps_of(device);
  DevResource all = make(device, 0, steps.alignment);
  all.least = steps.least, all.alignment = steps.alignment;
  for (std::uint32_t i = 0; i < device.machine_limits.multiprocessors; ++i) add(all, i);
  return all;
}

DevResource resource_of(const Partition& partition) {
  DevResource all = partition.resource;
  const Steps steps = all.together == pairs.alignment ? pairs : steps_of(*partition.device);
  all.split = 0;  // it may be split again
  all.least = steps.least, all.alignment = steps.alignment;
  return all;
}

Status split_resource(DevResource* groups, unsigned* count, const DevResource* input,
                      DevResource* remaining, unsigned flags, unsigned least) {
  static std::atomic<std::uint64_t> splits{0};
  if (!count || !input) return Status::invalid_value;
  if (input->type != DevResource::multiprocessors) return Status::invalid_resource_type;
  const Device* const device = device_of(*input);
  if (!device || flags == (ignore_coscheduling | largest_clusters)) return Status::invalid_value;
  if (input->split != 0 || least > input->count) return Status::invalid_resource_configuration;
  const Steps steps = flags & ignore_coscheduling ? pairs : steps_of(*device);
  const std::uint32_t wanted = std::max(least, steps.least);
  const std::uint32_t size =
      std::min((wanted + steps.alignment - 1) / steps.alignment * steps.alignment, input->count);
  const std::uint32_t possible = groups_of(*input, size, steps, device->machine_limits);
  if (!groups) {
    *count = possible;
    return Status::success;
  }
  if (*count == 0) return Status::invalid_value;
  *count = std::min(*count, possible);
  const std::uint64_t split = ++splits;
  const std::vector<std::uint32_t> members = input->members();
  auto next = members.begin();
  for (unsigned i = 0; i < *count; ++i) {
    groups[i] = make(*device, split, steps.alignment);
    for (std::uint32_t taken = 0; taken < size; ++taken) add(groups[i], *next++);
  }
  if (!remaining) return Status::success;
  *remaining = DevResource{};
  if (next != members.end()) *remaining = make(*device, split, pairs.alignment);
  while (next != members.end()) add(*remaining, *next++);
  return Status::success;
}

Result<std::shared_ptr<Partition>> describe_resources(const DevResource* resources,
                                                      unsigned count) {
  if (!resources || count == 0) return fail(Status::invalid_value);
  auto made = std::make_shared<Partition>();
  made->resource = resources[0];
  for (unsigned i = 0; i < count; ++i) {
    const DevResource& each = resources[i];
    if (each.type != DevResource::multiprocessors) return fail(Status::invalid_resource_type);
    made->device = device_of(each);
    if (!made->device || each.count == 0) return fail(Status::invalid_value);
    if (each.device != resources[0].device) return fail(Status::invalid_resource_configuration);
    for (std::size_t word = 0; word < each.set.size(); ++word)
      made->resource.set[word] |= each.set[word];
    made->resource.together = std::min(made->resource.together, each.together);
  }
  machine::Limits& limits = made->limits;
  limits = made->device->machine_limits;
  limits.part_of = limits.multiprocessors;
  limits.part = made->resource.members();
  made->resource.count = limits.multiprocessors = std::uint32_t(limits.part.size());
  if (limits.multiprocessors != limits.part_of) {
    const std::uint32_t together = made->resource.together;
    limits.gpcs.assign(limits.multiprocessors / together, together);
    limits.max_cluster = std::min(limits.max_cluster, together);
  }
  return made;
}

}  // namespace inflight::cuda
