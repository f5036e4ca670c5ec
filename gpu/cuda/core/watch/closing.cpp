// Decides when pages are closed, and opens them.
#include "gpu/cuda/core/watch/closing.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "gpu/machine/memory/ranges.hpp"

namespace inflight::cuda::watch {
namespace {

// The first touches of a round open one page each. Later ones open up to `step_pages` pages, so
// that a program that walks through gigabytes takes fewer signals.
constexpr std::uint32_t single_pages = 2048;
constexpr std::uint64_t step_pages = 64;
// The most bytes that one call of the system reads or writes (read(2)).
constexpr std::uint64_t most_of_a_call = 1ull << 31;

bool protect(std::uint64_t low, std::uint64_t high, int access) {
  return mprotect(reinterpret_cast<void*>(low), high - low, access) == 0;
}
constexpr int open_access = PROT_READ | PROT_WRITE;

std::uint64_t page_of(std::uint64_t address) { return address / page_bytes * page_bytes; }
std::uint64_t page_end(std::uint64_t address) { return page_of(address + page_bytes - 1); }

struct Range {
  std::uint64_t low, high;
};
// In the program's own memory, excludes pages that other data shares.
Range watched_pages(const machine::Allocation& a) {
  if (a.fresh) return {page_of(a.base), page_end(machine::range_of(a).end())};
  return {page_end(a.base), page_of(machine::padded_range_of(a).end())};
}

bool is_watched(const machine::Allocation& a) {
  using Kind = machine::AllocationKind;
  return a.writable && (a.kind == Kind::managed || a.kind == Kind::host);
}

}  // namespace

void Closing::made(const machine::Allocation& allocation) {
  const Range range = watched_pages(allocation);
  if (!is_watched(allocation) || range.low >= range.high) return;
  const std::lock_guard lock(mutex_);
  for (std::uint64_t at = range.low; at < range.high; at += page_bytes)
    if (Page* const page = pages_.make(at); page && page->owners++ == 0)
      insert(at, at + page_bytes);
  any_ = true;
  dirty_ = true;
}

void Closing::released(const machine::Allocation& allocation) {
  const Range range = watched_pages(allocation);
  if (!is_watched(allocation) || range.low >= range.high) return;
  const std::lock_guard lock(mutex_);
  protect(range.low, range.high, open_access);
  dirty_ = true;
  for (std::uint64_t at = range.low; at < range.high; at += page_bytes)
    if (Page* const page = pages_.find(at); page && page->owners != 0 && --page->owners == 0)
      if (!std::exchange(page->left_open, false)) erase(at, at + page_bytes);
  any_ = !runs_.empty();
}

void Closing::insert(std::uint64_t low, std::uint64_t high) {
  auto next = runs_.lower_bound(low);
  if (next != runs_.end() && next->first == high) {
    high = next->second;
    next = runs_.erase(next);
  }
  if (next != runs_.begin() && std::prev(next)->second == low)
    std::prev(next)->second = high;
  else
    runs_.emplace_hint(next, low, high);
}

void Closing::erase(std::uint64_t low, std::uint64_t high) {
  const auto run = std::prev(runs_.upper_bound(low));
  const std::uint64_t first = run->first, end = run->second;
  if (first == low)
    runs_.erase(run);
  else
    run->second = low;
  if (high < end) runs_.emplace(high, end);
}

void Closing::submitted(int device, std::uint64_t stream, std::uint64_t work) {
  const std::lock_guard lock(mutex_);
  Pending& pending = streams_[stream];
  pending_ += pending.submitted == pending.known;
  pending.device = device;
  pending.submitted = std::max(pending.submitted, work);
  settle();
}

void Closing::known(std::uint64_t stream, std::uint64_t work) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.known >= work) return;
  Pending& pending = found->second;
  const bool before = pending.submitted != pending.known;
  pending.known = std::min(work, pending.submitted);
  pending_ -= before && pending.submitted == pending.known;
  settle();
}

void Closing::all_known(int device) {
  const std::lock_guard lock(mutex_);
  for (auto& [stream, pending] : streams_) {
    if (pending.device != device || pending.known == pending.submitted) continue;
    pending.known = pending.submitted;
    --pending_;
  }
  settle();
}

void Closing::begin_work() {
  const std::lock_guard lock(mutex_);
  ++working_;
  settle();
}
void Closing::end_work() {
  const std::lock_guard lock(mutex_);
  --working_;
  settle();
}
void Closing::begin_wait() {
  const std::lock_guard lock(mutex_);
  ++waiting_;
}
void Closing::end_wait() {
  const std::lock_guard lock(mutex_);
  --waiting_;
  settle();
}

void Closing::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  settle();
}

void Closing::settle() {
  if (working_ != 0 || pending_ == 0 || ended_)
    open();
  else if (waiting_ == 0)
    close();
}

void Closing::close() {
  if (closed_ && !dirty_) return;
  dirty_ = false;
  touches_ = 0;
  ++round_;
  closed_ = true;
  exclude_locks();
  for (const auto& [low, high] : runs_)
    if (!protect(low, high, PROT_NONE)) dirty_ = true;
  open_new_locks();
}

void Closing::exclude_locks() {
  for (std::atomic<std::uint64_t>& each : new_locks_) {
    const std::uint64_t at = each.exchange(0);
    Page* const page = at ? pages_.find(at) : nullptr;
    if (page && page->owners != 0 && !std::exchange(page->left_open, true))
      erase(at, at + page_bytes);
  }
}

void Closing::open_new_locks() {
  for (const std::atomic<std::uint64_t>& each : new_locks_)
    if (const std::uint64_t at = each.load()) protect(at, at + page_bytes, open_access);
}

void Closing::leave_open(std::uint64_t address) {
  const std::uint64_t page = page_of(address);
  for (std::atomic<std::uint64_t>& each : new_locks_) {
    std::uint64_t expected = 0;
    if (each.compare_exchange_strong(expected, page) || expected == page) return;
  }
}

void Closing::open() {
  if (!closed_) return;
  closed_ = false;
  for (const auto& [low, high] : runs_) protect(low, high, open_access);
  dirty_ = true;
}

bool Closing::open_page(std::uint64_t address, bool& seen) {
  if (!pages_.watched(address)) return false;
  seen = closed_.load();
  dirty_ = true;
  const std::uint64_t page = page_of(address);
  if (touches_.fetch_add(1) < single_pages) return protect(page, page + page_bytes, open_access);
  std::uint64_t low = page, high = page + page_bytes;
  const std::uint64_t first = page / (step_pages * page_bytes) * (step_pages * page_bytes),
                      end = first + step_pages * page_bytes;
  while (low > first && pages_.watched(low - page_bytes)) low -= page_bytes;
  while (high < end && pages_.watched(high)) high += page_bytes;
  return protect(low, high, open_access);
}

bool Closing::open_range(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = (Checked(address) + std::min(bytes, most_of_a_call)).saturated();
  bool any = false;
  for (std::uint64_t at = page_of(address); at < end; at += page_bytes) any |= pages_.watched(at);
  if (!any || !closed_) return false;
  dirty_ = true;
  for (std::uint64_t at = page_of(address); at < end; at += page_bytes)
    if (pages_.watched(at)) protect(at, at + page_bytes, open_access);
  return true;
}

// A later touch of a page may be the mistake, so the first touches of each page are seen one by
// one.
bool Closing::may_close_again(std::uint64_t address) {
  constexpr std::uint8_t most = 16;
  constexpr std::uint32_t most_in_round = 512;
  Page* const page = pages_.find(address);
  if (!page || !closed_ || touches_ > most_in_round) return false;
  if (const std::uint16_t now = round_; page->round.exchange(now) != now) page->touches = 0;
  return page->touches++ < most;
}

void Closing::close_again(std::uint64_t address) {
  if (!closed_ || !pages_.watched(address)) return;
  const std::uint64_t page = page_of(address);
  protect(page, page + page_bytes, PROT_NONE);
  // Work that began in the meantime has opened the pages.
  if (!closed_) protect(page, page + page_bytes, open_access);
}

}  // namespace inflight::cuda::watch
