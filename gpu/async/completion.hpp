// How a copy completes, and the operands of a wait for groups.
#pragma once
#include <cstdint>

namespace inflight::async {

// How a copy completes.
enum class Completion : std::uint8_t {
  thread_group,  // cp.async: groups of the issuing thread, and arrivals after the copy
  bulk_group,    // bulk groups of the issuing thread
  transaction,   // bytes of an mbarrier's tx-count
};
inline constexpr std::uint32_t completion_count = 3;

struct GroupWait {
  static constexpr std::uint32_t all_copies = 0xffffffff;  // wait_all: uncommitted ones too
  Completion completion = Completion::thread_group;        // never `transaction`
  std::uint32_t allowed = 0;  // number of newest groups that may still be in flight
  bool read_only = false;     // .read: sources only
};

}  // namespace inflight::async
