// Reserved ranges: free lists, committed memory, and pages in a file.
#include "gpu/machine/memory/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "gpu/host/shared_file.hpp"
#include "gpu/machine/memory/move_pages.hpp"

namespace inflight::machine {
namespace {

constexpr std::uint64_t commit_step = 64 << 20;

void* at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

void* map_reserved(std::uint64_t hint, std::uint64_t bytes) {
  void* place =
      mmap(at(hint), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return place == MAP_FAILED ? nullptr : place;
}

Memory::Arena::Arena(Arena&& other) noexcept
    : mapped(std::exchange(other.mapped, nullptr)),
      mapped_bytes(other.mapped_bytes),
      base(other.base),
      end(other.end),
      top(other.top),
      committed(other.committed),
      free_by_base(std::move(other.free_by_base)),
      free_by_size(std::move(other.free_by_size)),
      used(other.used),
      heap_used(other.heap_used),
      file(std::move(other.file)),
      shared(std::move(other.shared)),
      view_(other.view_),
      device_(other.device_) {}

Memory::Arena::~Arena() {
  if (mapped) munmap(mapped, mapped_bytes);
}

void Memory::Arena::reserve(std::uint64_t hint, std::uint64_t bytes) {
  for (; mapped == nullptr && bytes >= least; bytes /= 2) {
    mapped = map_reserved(hint, bytes);
    mapped_bytes = mapped ? bytes : 0;
  }
  base = round_up(reinterpret_cast<std::uint64_t>(mapped), huge_page_bytes);
  end = mapped ? reinterpret_cast<std::uint64_t>(mapped) + mapped_bytes : base;
  top = committed = base;
}

void Memory::Arena::belongs_to(HostView& view, std::size_t device) {
  view_ = &view, device_ = device;
  view.place(device, base);
}

bool Memory::Arena::commit(std::uint64_t to) {
  if (to <= committed) return true;
  const std::uint64_t upto = std::min(round_up(to - base, commit_step) + base, end);
  const bool done = view_ ? view_->extend(device_, upto)
                          : mprotect(at(committed), upto - committed, PROT_READ | PROT_WRITE) == 0;
  if (!done) return false;
  madvise(at(committed), upto - committed, MADV_HUGEPAGE);
  committed = upto;
  return true;
}

void Memory::Arena::insert_free(std::uint64_t at, std::uint64_t bytes) {
  free_by_base.emplace(at, bytes);
  free_by_size.emplace(bytes, at);
}

void Memory::Arena::erase_free(std::map<std::uint64_t, std::uint64_t>::iterator it) {
  auto [first, last] = free_by_size.equal_range(it->second);
  while (first != last && first->second != it->first) ++first;
  free_by_size.erase(first);
  free_by_base.erase(it);
}

void Memory::Arena::give_back(std::uint64_t at, std::uint64_t bytes) {
  auto next = free_by_base.lower_bound(at);
  if (next != free_by_base.end() && part(at, bytes).end() == next->first) {
    bytes += next->second;
    erase_free(next++);
  }
  next = free_by_base.lower_bound(at);
  if (next != free_by_base.begin()) {
    auto before = std::prev(next);
    if (part(before->first, before->second).end() == at) {
      at = before->first;
      bytes += before->second;
      erase_free(before);
    }
  }
  insert_free(at, bytes);
}

// Takes the best fit among the free ranges.
std::uint64_t Memory::Arena::take_free(std::uint64_t bytes, std::uint64_t alignment) {
  for (auto it = free_by_size.lower_bound(bytes); it != free_by_size.end(); ++it) {
    const ByteRange free = part(it->second, it->first);
    const std::uint64_t low = free.base(), at = round_up(low, alignment);
    const auto taken = ByteRange::of(at, bytes);
    if (!taken || !free.contains(*taken)) continue;
    erase_free(free_by_base.find(low));
    if (at > low) insert_free(low, at - low);
    if (taken->end() < free.end()) insert_free(taken->end(), free.end() - taken->end());
    return at;
  }
  return 0;
}

std::uint64_t Memory::Arena::take_top(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t at = round_up(top, alignment);
  const auto taken = ByteRange::of(at, bytes);
  if (!taken || taken->end() > end || !commit(taken->end())) return 0;
  if (at > top) give_back(top, at - top);
  top = taken->end();
  return at;
}

template <class Visit>
bool Memory::Arena::for_pieces(std::uint64_t low, std::uint64_t high, Visit visit) const {
  auto next = shared.upper_bound(low);
  if (next != shared.begin() && std::prev(next)->second > low) --next;
  while (low < high) {
    const bool inside = next != shared.end() && next->first <= low;
    const std::uint64_t until = std::min(high, inside                 ? next->second
                                               : next != shared.end() ? next->first
                                                                      : high);
    if (!visit(low, until, inside)) return false;
    if (inside) ++next;
    low = until;
  }
  return true;
}

void Memory::Arena::discard(std::uint64_t low, std::uint64_t bytes) const {
  const std::uint64_t first = round_up(low, page_bytes),
                      last = part(low, bytes).end() / page_bytes * page_bytes;
  for_pieces(first, last, [](std::uint64_t from, std::uint64_t to, bool in_file) {
    madvise(at(from), to - from, in_file ? MADV_REMOVE : MADV_DONTNEED);
    return true;
  });
}

bool Memory::Arena::share(std::uint64_t low, std::uint64_t bytes) {
  if (!file.owns()) file = host::make_shared_file(host::device_memory_file, end - base);
  const int to = file.fd();
  if (to < 0 || !host::may_write(end - base)) return false;
  const std::uint64_t first = low / page_bytes * page_bytes,
                      last = round_up(part(low, bytes).end(), page_bytes);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> missing;
  for_pieces(first, last, [&](std::uint64_t from, std::uint64_t until, bool in_file) {
    if (!in_file) missing.emplace_back(from, until);
    return true;
  });
  for (const auto& [from, until] : missing) {
    if (!move_into_file(from, until - from, to, from - base)) return false;
    shared[from] = until;
  }
  return true;
}

}  // namespace inflight::machine
