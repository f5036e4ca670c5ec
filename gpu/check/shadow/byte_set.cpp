// Finds pages through a two-level table, and changes them word by word.
#include "gpu/check/shadow/byte_set.hpp"

#include <algorithm>
#include <bit>

namespace inflight::shadow {
namespace {

constexpr std::memory_order relaxed = std::memory_order_relaxed;

// Calls f(word index, mask of its bits) for the words of [from, to) until f returns false.
template <class F>
bool each_word(std::uint64_t from, std::uint64_t to, F f) {
  while (from < to) {
    const std::uint64_t end = std::min(to, (from | 63) + 1);
    const std::uint64_t width = end - from;
    const std::uint64_t mask = (width == 64 ? ~0ull : (1ull << width) - 1) << (from & 63);
    if (!f(from / 64, mask)) return false;
    from = end;
  }
  return true;
}

// Calls f(page number, begin, end in the page) for the pages of a range until f returns false.
template <unsigned shift, class F>
bool each_page(std::uint64_t address, std::uint64_t bytes, F f) {
  constexpr std::uint64_t page = 1ull << shift;
  for (const std::uint64_t last = address + bytes; address < last;) {
    const std::uint64_t begin = address % page, end = std::min(page, begin + last - address);
    if (!f(address >> shift, begin, end)) return false;
    address += end - begin;
  }
  return true;
}

// The bits in which any of a warp's 32 addresses differs from the first. Compiled for each
// instruction set, as vectors of that set.
[[gnu::always_inline]] inline std::uint64_t differing(const std::uint64_t* addresses) {
  std::uint64_t bits = 0;
  for (int l = 0; l < 32; ++l) bits |= addresses[l] ^ addresses[0];
  return bits;
}

std::uint64_t differing_plain(const std::uint64_t* addresses) { return differing(addresses); }
#ifdef __x86_64__
__attribute__((target("avx2"))) std::uint64_t differing_avx2(const std::uint64_t* addresses) {
  return differing(addresses);
}
const auto differing_here = __builtin_cpu_supports("avx2") ? differing_avx2 : differing_plain;
#else
constexpr auto differing_here = differing_plain;
#endif

}  // namespace

ByteSet::ByteSet() : root_(std::make_unique<std::array<std::atomic<Leaf*>, 1u << root_shift>>()) {}

ByteSet::~ByteSet() {
  for (const auto& each : *root_) {
    Leaf* const leaf = each.load(relaxed);
    if (!leaf) continue;
    for (const Page& page : *leaf)
      if (page.load(relaxed) & ~state) delete &bits_of(page.load(relaxed));
    delete leaf;
  }
}

ByteSet::Page& ByteSet::page(std::uint64_t number) {
  auto& slot = (*root_)[number >> leaf_shift & ((1u << root_shift) - 1)];
  Leaf* leaf = slot.load(std::memory_order_acquire);
  if (!leaf) {
    auto fresh = std::make_unique<Leaf>();
    if (slot.compare_exchange_strong(leaf, fresh.get())) leaf = fresh.release();
  }
  return (*leaf)[number & ((1u << leaf_shift) - 1)];
}

std::uintptr_t ByteSet::load(std::uint64_t number) const {
  const Leaf* const leaf =
      (*root_)[number >> leaf_shift & ((1u << root_shift) - 1)].load(std::memory_order_acquire);
  return leaf ? (*leaf)[number & ((1u << leaf_shift) - 1)].load(std::memory_order_acquire) : none;
}

void ByteSet::set_whole(Page& page, bool in) {
  const std::lock_guard lock(mutex_);
  page.store((page.load(relaxed) & ~state) | (in ? all : none), std::memory_order_release);
}

ByteSet::Bits& ByteSet::split(Page& page) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t now = page.load(relaxed);
  if ((now & state) == some) return bits_of(now);
  Bits* const bits = now & ~state ? &bits_of(now) : new Bits;
  for (Word& word : *bits) word.store((now & state) == all ? ~0ull : 0, relaxed);
  page.store(reinterpret_cast<std::uintptr_t>(bits) | some, std::memory_order_release);
  return *bits;
}

template <bool in>
void ByteSet::change(std::uint64_t address, std::uint64_t bytes) {
  if (in && !used_.load(relaxed)) used_.store(true, relaxed);
  each_page<page_shift>(address, bytes, [&](std::uint64_t number, auto begin, auto end) {
    const std::uintptr_t now = load(number);
    if ((now & state) == (in ? all : none)) return true;
    if (end - begin == page_bytes) return set_whole(page(number), in), true;
    Bits& bits = (now & state) == some ? bits_of(now) : split(page(number));
    return each_word(begin, end, [&](std::uint64_t index, std::uint64_t mask) {
      Word& word = bits[index];
      const std::uint64_t there = word.load(relaxed) & mask;
      if (in && there != mask) word.fetch_or(mask, relaxed);
      if (!in && there != 0) word.fetch_and(~mask, relaxed);
      return true;
    });
  });
}
template void ByteSet::change<true>(std::uint64_t, std::uint64_t);
template void ByteSet::change<false>(std::uint64_t, std::uint64_t);

void ByteSet::insert_moved(const ByteSet& other, std::uint64_t from, std::uint64_t to,
                           std::uint64_t bytes) {
  std::uint64_t begin = from, end = from;  // the run of bytes found so far
  const auto found = [&](std::uint64_t at, std::uint64_t length) {
    if (at != end) {
      if (end != begin) insert(begin - from + to, end - begin);
      begin = at;
    }
    end = at + length;
  };
  each_page<page_shift>(from, bytes, [&](std::uint64_t number, auto first, auto last) {
    const std::uintptr_t now = other.load(number);
    const std::uint64_t base = number << page_shift;
    if ((now & state) == all) found(base + first, last - first);
    if ((now & state) != some) return true;
    return each_word(first, last, [&](std::uint64_t index, std::uint64_t mask) {
      for (std::uint64_t bits = bits_of(now)[index].load(relaxed) & mask; bits != 0;) {
        const int skipped = std::countr_zero(bits), length = std::countr_one(bits >> skipped);
        found(base + index * 64 + static_cast<unsigned>(skipped), static_cast<unsigned>(length));
        bits &= skipped + length == 64 ? 0 : ~0ull << (skipped + length);
      }
      return true;
    });
  });
  if (end != begin) insert(begin - from + to, end - begin);
}

bool ByteSet::has_any(std::uint64_t address, std::uint64_t bytes) const {
  return !each_page<page_shift>(address, bytes, [&](std::uint64_t number, auto begin, auto end) {
    const std::uintptr_t now = load(number);
    if ((now & state) != some) return (now & state) == none;
    return each_word(begin, end, [&](std::uint64_t index, std::uint64_t mask) {
      return (bits_of(now)[index].load(relaxed) & mask) == 0;
    });
  });
}

bool ByteSet::has_none_near(const std::uint64_t* addresses, std::uint32_t lanes,
                            std::uint32_t bytes) const {
  // The usual case: aligned elements, which do not cross pages, in a page without bytes in the set.
  if (lanes == ~0u && std::has_single_bit(bytes)) {
    const std::uint64_t differ = differing_here(addresses);
    if (differ < page_bytes && ((addresses[0] | differ) & (bytes - 1)) == 0 &&
        (load(addresses[0] >> page_shift) & state) == none)
      return true;
  }
  std::uint64_t low = ~0ull, high = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t at = addresses[std::countr_zero(lanes)];
    low = std::min(low, at), high = std::max(high, at);
  }
  constexpr std::uint64_t wide = 4096;
  return high - low < wide && !has_any(low, high - low + bytes);
}

bool ByteSet::has_all(std::uint64_t address, std::uint64_t bytes) const {
  return each_page<page_shift>(address, bytes, [&](std::uint64_t number, auto begin, auto end) {
    const std::uintptr_t now = load(number);
    if ((now & state) != some) return (now & state) == all;
    return each_word(begin, end, [&](std::uint64_t index, std::uint64_t mask) {
      return (bits_of(now)[index].load(relaxed) & mask) == mask;
    });
  });
}

std::uint64_t ByteSet::count(std::uint64_t address, std::uint64_t bytes) const {
  std::uint64_t found = 0;
  each_page<page_shift>(address, bytes, [&](std::uint64_t number, auto begin, auto end) {
    const std::uintptr_t now = load(number);
    if ((now & state) == all) found += end - begin;
    if ((now & state) != some) return true;
    return each_word(begin, end, [&](std::uint64_t index, std::uint64_t mask) {
      found += static_cast<unsigned>(std::popcount(bits_of(now)[index].load(relaxed) & mask));
      return true;
    });
  });
  return found;
}

}  // namespace inflight::shadow
