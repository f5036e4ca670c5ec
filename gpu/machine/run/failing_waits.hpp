// Waits for an mbarrier that fail after a time, as try_wait may (PTX ISA, "mbarrier.try_wait").
#pragma once
#include <cstdint>

namespace inflight::machine {

struct Cluster;
struct Worker;

struct FailedWaits {
  std::uint64_t tries = 0;  // turns of warps that waited
  bool progressed = false;  // one of them then did something that others may see
};
// Lets each thread of the cluster that waits so go on as if its time were over, once.
FailedWaits let_waits_fail(Cluster& cluster, Worker& worker);

}  // namespace inflight::machine
