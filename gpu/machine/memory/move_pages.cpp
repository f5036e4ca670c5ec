// While pages move, they are read-only. A thread that writes gets a signal, whose handler waits
// until they have moved. Then the thread repeats the write.
#include "gpu/machine/memory/move_pages.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>

#include "gpu/bytes/range.hpp"
#include "gpu/machine/memory/faults.hpp"

namespace inflight::machine {
namespace {

// Ranges that move or have moved. The list never shrinks, since a signal may arrive late and the
// handler walks it without a lock.
struct Range {
  const ByteRange bytes;
  std::atomic<bool> moving{true};
  Range* next = nullptr;
};
std::atomic<Range*> ranges{nullptr};

const Range* range_of(std::uint64_t address) {
  for (const Range* each = ranges; each; each = each->next)
    if (each->bytes.contains(address)) return each;
  return nullptr;
}

bool on_fault(siginfo_t* info, void*) {
  const Range* range = info->si_code == SEGV_ACCERR
                           ? range_of(reinterpret_cast<std::uint64_t>(info->si_addr))
                           : nullptr;
  if (!range) return false;
  while (range->moving.load(std::memory_order_acquire)) sched_yield();
  return true;
}

// Leaves out pieces that are all zero, so they take no room in the file.
bool copy(std::uint64_t base, std::uint64_t bytes, int file, std::uint64_t offset) {
  constexpr std::uint64_t piece = 64 << 10;
  for (std::uint64_t at = 0; at < bytes; at += piece) {
    const std::uint64_t size = std::min(piece, bytes - at);
    const std::span from(reinterpret_cast<const std::byte*>(base) + at, size);
    if (std::ranges::all_of(from, [](std::byte b) { return b == std::byte{0}; })) continue;
    for (std::uint64_t done = 0; done < size;) {
      const ssize_t wrote =
          pwrite(file, from.data() + done, size - done, off_t(offset + at + done));
      if (wrote <= 0) return false;
      done += std::uint64_t(wrote);
    }
  }
  return true;
}

bool replace(std::uint64_t base, std::uint64_t bytes, int file, std::uint64_t offset) {
  void* const place = reinterpret_cast<void*>(base);
  if (mprotect(place, bytes, PROT_READ) != 0) return false;
  const bool moved = copy(base, bytes, file, offset) &&
                     mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                          off_t(offset)) != MAP_FAILED;
  if (moved) madvise(place, bytes, MADV_HUGEPAGE);
  if (!moved) mprotect(place, bytes, PROT_READ | PROT_WRITE);
  return moved;
}

}  // namespace

bool move_into_file(std::uint64_t base, std::uint64_t bytes, int file, std::uint64_t offset) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!answer_faults(on_fault)) return false;
  const auto moved_bytes = ByteRange::of(base, bytes);
  if (!moved_bytes) return false;
  auto* const range = new Range{*moved_bytes};
  range->next = ranges;
  ranges = range;
  const bool moved = replace(base, bytes, file, offset);
  range->moving.store(false, std::memory_order_release);
  return moved;
}

}  // namespace inflight::machine
