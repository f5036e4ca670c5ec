// The order in which listeners hear of strong accesses to global memory.
#pragma once
#include <mutex>

namespace inflight::machine {

// A launch with a listener performs and reports each strong access to global memory under this
// lock. So listeners hear of them in the order in which they happen, between host threads too. Who
// sees a value otherwise, and reports that, first takes the lock: the store is then reported.
inline std::mutex& strong_order() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace inflight::machine
