// Weak stores that host threads have reported and not performed yet, so that two threads of the
// device that write one value to one place are known for that whoever is first.
#pragma once
#include <cstddef>
#include <cstdint>

namespace inflight::machine {

// What a store of a warp writes: `bytes` for each lane of `mask`.
struct StoreData {
  static constexpr std::size_t most_words = 4;  // of a lane
  std::uint32_t mask = 0, bytes = 0;
  const std::uint64_t* addresses = nullptr;  // [32]
  // [word][lane]: as many as `bytes` take, the last filled up with zeros. The others are not set.
  std::uint64_t values[most_words][32];

  std::size_t words() const { return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t); }
};

// Whether this host thread has room to show others a store.
bool can_show_store();

// Others see the store until this goes. A host thread has one at a time.
class PendingStore {
 public:
  explicit PendingStore(const StoreData& data);
  ~PendingStore();
  PendingStore(const PendingStore&) = delete;
  PendingStore& operator=(const PendingStore&) = delete;
};

// The lanes of `data` whose bytes another host thread is about to write to the same place. What it
// has written by now, memory has.
std::uint32_t written_by_others(const StoreData& data);

}  // namespace inflight::machine
