// Memory limits and mappings from /proc and /sys.
#include "gpu/cuda/core/memory/host_limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "gpu/bytes/range.hpp"
#include "gpu/cuda/core/base/addresses.hpp"

namespace inflight::cuda {
namespace {

// The number in a control group's file. The greatest number if there is none, or `max`.
std::uint64_t limit_in(const std::string& path) {
  std::uint64_t bytes = 0;
  std::ifstream file(path);
  return file >> bytes ? bytes : ~std::uint64_t{0};
}

// The smallest limit of the control group `folder` under `root` and of its ancestors.
std::uint64_t least_limit(const std::string& root, std::string folder, const char* file) {
  std::uint64_t least = limit_in(root + "/" + file);
  for (; folder.size() > 1; folder.resize(folder.rfind('/')))
    least = std::min(least, limit_in(root + folder + "/" + file));
  return least;
}

// Lines are `ID:CONTROLLERS:/FOLDER`. A line without controllers is version 2 (cgroups(7)).
std::uint64_t control_group_limit() {
  std::uint64_t least = ~std::uint64_t{0};
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string folder = line.substr(second + 1);
    if (controllers.empty())
      least = std::min(least, least_limit("/sys/fs/cgroup", folder, "memory.max"));
    if (controllers == "memory")
      least =
          std::min(least, least_limit("/sys/fs/cgroup/memory", folder, "memory.limit_in_bytes"));
  }
  return least;
}

}  // namespace

std::uint64_t host_memory() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(pages * page, control_group_limit());
}

std::uint64_t default_host_share() { return host_memory() / 8 * 7; }

Mapped mapped(const void* base, std::uint64_t bytes) {
  const auto range = ByteRange::of(address_of(base), bytes);
  if (!range) return {};
  auto at = range->base();
  const std::uint64_t end = range->end();
  Mapped result{false, true};
  std::ifstream maps("/proc/self/maps");
  for (std::string line; at < end && std::getline(maps, line);) {
    unsigned long long low = 0, high = 0;
    char access[5] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %4s", &low, &high, access) != 3) continue;
    if (high <= at) continue;
    if (low > at || access[0] != 'r') break;
    result.writable &= access[1] == 'w';
    at = high;
  }
  result.all = at >= end;
  result.writable &= result.all;
  return result;
}

}  // namespace inflight::cuda
