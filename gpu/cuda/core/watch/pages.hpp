// The table of watched pages. Lookup takes no locks, because a signal handler does it.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

namespace inflight::cuda::watch {

inline constexpr std::uint64_t page_bytes = 4096;

struct Page {
  std::atomic<std::uint8_t> owners{0};   // allocations in this page
  std::atomic<std::uint8_t> touches{0};  // touches seen in `round`
  std::atomic<std::uint16_t> round{0};   // of closing
  bool left_open = false;                // it holds a lock, so it is closed no more
};

class Pages {
 public:
  // Null: no page of that chunk was ever watched.
  Page* find(std::uint64_t address) const {
    const std::uint64_t number = address / page_bytes;
    if (number / chunk_pages >= chunks_.size()) return nullptr;
    Chunk* const chunk = chunks_[number / chunk_pages].load(std::memory_order_acquire);
    return chunk ? &(*chunk)[number % chunk_pages] : nullptr;
  }
  bool watched(std::uint64_t address) const {
    const Page* const page = find(address);
    return page && page->owners.load(std::memory_order_relaxed) != 0;
  }
  // For one thread at a time. Null: not a valid address of a process.
  Page* make(std::uint64_t address) {
    const std::uint64_t number = address / page_bytes;
    if (number / chunk_pages >= chunks_.size()) return nullptr;
    std::atomic<Chunk*>& chunk = chunks_[number / chunk_pages];
    if (!chunk.load(std::memory_order_relaxed)) chunk.store(new Chunk(), std::memory_order_release);
    return find(address);
  }

 private:
  static constexpr std::uint64_t chunk_pages = 1 << 15;  // 128 MiB of addresses
  using Chunk = std::array<Page, chunk_pages>;
  std::array<std::atomic<Chunk*>, (std::uint64_t{1} << 47) / page_bytes / chunk_pages> chunks_{};
};

}  // namespace inflight::cuda::watch
