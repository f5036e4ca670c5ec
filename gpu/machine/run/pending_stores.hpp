// Weak stores that host threads have reported but not performed yet. They show that two threads of
// the device write one value to one place, whichever is first.
#pragma once
#include <cstddef>
#include <cstdint>

namespace inflight::machine {

// The data of a warp's store: `bytes` for each lane of `mask`.
struct StoreData {
  static constexpr std::size_t most_words = 4;  // of a lane
  std::uint32_t mask = 0, bytes = 0;
  const std::uint64_t* addresses = nullptr;  // [32]
  // [word][lane]. words() of them are set, the last padded with zeros.
  std::uint64_t values[most_words][32];

  std::size_t words() const { return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t); }
};

// Can this host thread show one more store to others?
bool can_show_store();

// Shows a store to other host threads during its lifetime. A host thread has one at a time.
class PendingStore {
 public:
  explicit PendingStore(const StoreData& data);
  ~PendingStore();
  PendingStore(const PendingStore&) = delete;
  PendingStore& operator=(const PendingStore&) = delete;
};

// The lanes of `data` whose bytes another host thread is about to write to the same place. Stores
// that it has performed are in memory instead.
std::uint32_t written_by_others(const StoreData& data);

}  // namespace inflight::machine
