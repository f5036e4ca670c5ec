// Launches that synchronise their whole grid (grid_group::sync()) without being cooperative.
#pragma once
#include <map>
#include <mutex>
#include <optional>

#include "gpu/check/events.hpp"

namespace inflight::check {

class GridBarriers {
 public:
  // An atomic access by a launch of that kernel.
  void accessed(const Kernel& kernel, const Access& access);
  // The first arrival, if the launch may not synchronise its grid. Forgets the launch.
  std::optional<Who> take(std::uint64_t launch);

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, Who> first_;  // by launch
};

}  // namespace inflight::check
