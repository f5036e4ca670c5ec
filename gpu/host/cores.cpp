// Reads the process's CPU affinity from the operating system.
#include "gpu/host/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace inflight::host {
namespace {

unsigned ask() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // Fails if the host has more cores than cpu_set_t can hold.
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
}

}  // namespace

unsigned cores() {
  static const unsigned count = ask();
  return count;
}

}  // namespace inflight::host
