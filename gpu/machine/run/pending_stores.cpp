// Each host thread has a slot, which only it writes and all threads read, as a sequence lock.
#include "gpu/machine/run/pending_stores.hpp"

#include <array>
#include <atomic>

#include "gpu/host/of_this_thread.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {
namespace {

struct Slot {
  std::atomic<bool> taken = false;
  std::atomic<std::uint64_t> version = 0;  // odd: it holds a store
  std::atomic<std::uint32_t> mask = 0, bytes = 0;
  using Lanes = std::array<std::atomic<std::uint64_t>, lanes>;
  Lanes addresses{};
  std::array<Lanes, StoreData::most_words> values{};
};
std::array<Slot, 256> slots;       // further threads cannot show their stores
std::atomic<std::size_t> used{0};  // slots that have ever had a thread

class Own {
 public:
  Own() {
    for (std::size_t i = 0; i < slots.size() && !slot_; ++i) {
      if (slots[i].taken.exchange(true)) continue;
      slot_ = &slots[i];
      for (std::size_t most = used; most <= i && !used.compare_exchange_weak(most, i + 1);) {
      }
    }
  }
  ~Own() {
    if (slot_) slot_->taken = false;
  }
  Slot* slot() const { return slot_; }

 private:
  Slot* slot_ = nullptr;
};

const Own& own() { return host::of_this_thread<Own>(); }

bool same_value(const Slot& slot, int theirs, const StoreData& data, int mine) {
  for (std::size_t i = 0; i < data.words(); ++i) {
    const auto& there = slot.values[i][static_cast<std::size_t>(theirs)];
    if (there.load(std::memory_order_relaxed) != data.values[i][mine]) return false;
  }
  return true;
}

std::uint32_t written_by(const Slot& slot, const StoreData& data) {
  const std::uint64_t version = slot.version.load(std::memory_order_acquire);
  if (version % 2 == 0 || slot.bytes.load(std::memory_order_relaxed) != data.bytes) return 0;
  std::uint32_t found = 0;
  each_lane(slot.mask.load(std::memory_order_relaxed), [&](int theirs) {
    const std::uint64_t at =
        slot.addresses[static_cast<std::size_t>(theirs)].load(std::memory_order_relaxed);
    each_lane(data.mask & ~found, [&](int mine) {
      if (data.addresses[mine] == at && same_value(slot, theirs, data, mine)) found |= 1u << mine;
    });
  });
  std::atomic_thread_fence(std::memory_order_acquire);
  return slot.version.load(std::memory_order_relaxed) == version ? found : 0;
}

}  // namespace

bool can_show_store() { return own().slot() != nullptr; }

PendingStore::PendingStore(const StoreData& data) {
  Slot& slot = *own().slot();
  slot.mask.store(data.mask, std::memory_order_relaxed);
  slot.bytes.store(data.bytes, std::memory_order_relaxed);
  const auto put = [](Slot::Lanes& to, const std::uint64_t* from) {
    for (std::size_t l = 0; l < lanes; ++l) to[l].store(from[l], std::memory_order_relaxed);
  };
  put(slot.addresses, data.addresses);
  for (std::size_t i = 0; i < data.words(); ++i) put(slot.values[i], data.values[i]);
  slot.version.fetch_add(1, std::memory_order_release);
}

PendingStore::~PendingStore() {
  own().slot()->version.fetch_add(1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);  // before the next store's bytes
}

std::uint32_t written_by_others(const StoreData& data) {
  const Slot* const mine = own().slot();
  std::uint32_t found = 0;
  const std::size_t count = used.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count && found != data.mask; ++i)
    if (&slots[i] != mine) found |= written_by(slots[i], data);
  std::atomic_thread_fence(std::memory_order_acquire);  // stores performed since are in memory
  return found;
}

}  // namespace inflight::machine
