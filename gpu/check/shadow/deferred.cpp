// Decides which reads can be deferred.
#include "gpu/check/shadow/deferred.hpp"

#include <algorithm>
#include <bit>

#include "gpu/check/shadow/shadow.hpp"

namespace inflight::shadow {
namespace {

using Narrow = std::array<std::uint16_t, order::lanes>;

// Sets `to` to the low bits of all addresses. Returns the bitwise or of the addresses. Compiled for
// each instruction set, as vectors of that set.
[[gnu::always_inline]] inline std::uint64_t narrow(const std::uint64_t* from, Narrow& to) {
  std::uint64_t bits = 0;
  for (unsigned l = 0; l < order::lanes; ++l) {
    bits |= from[l];
    to[l] = static_cast<std::uint16_t>(from[l]);
  }
  return bits;
}

std::uint64_t narrow_plain(const std::uint64_t* from, Narrow& to) { return narrow(from, to); }
#ifdef __x86_64__
__attribute__((target("avx2"))) std::uint64_t narrow_avx2(const std::uint64_t* from, Narrow& to) {
  return narrow(from, to);
}
const auto narrow_here = __builtin_cpu_supports("avx2") ? narrow_avx2 : narrow_plain;
#else
constexpr auto narrow_here = narrow_plain;
#endif

// Whether the addresses of all lanes that read have 16 bits. Then sets `to`.
bool fit(const Access& read, Narrow& to) {
  std::uint64_t bits = narrow_here(read.addresses, to);
  if (read.lanes != ~order::Mask{0}) {
    bits = 0;
    for (order::Mask m = read.lanes; m != 0; m &= m - 1)
      bits |= read.addresses[std::countr_zero(m)];
  }
  return bits <= 0xffff;
}

}  // namespace

bool DeferredReads::may_defer(const order::Block& block) const {
  if (copied_ || written_ > block.joined() || block.in_cluster()) return false;
  return replayed_ <= dropped_ + max_excess_replays;  // else deferring does not pay off here
}

void DeferredReads::grow() {
  const std::size_t room = room_ == 0 ? least : 2 * room_;
  auto more = std::make_unique_for_overwrite<NotedRead[]>(room);
  std::copy_n(reads_.get(), count_, more.get());
  reads_ = std::move(more), room_ = room;
}

bool DeferredReads::try_defer(const order::Block& block, std::uint32_t warp, const Access& read) {
  if (read.strong || !may_defer(block)) return false;
  if (!none() && last_ <= block.joined()) {
    drop();
    ++dropped_;
  }
  if (count_ == most) {
    for (std::size_t i = 0; i < count_; ++i) summary_.add(reads_[i]);
    count_ = 0;
  }
  if (count_ == room_) grow();
  NotedRead& kept = reads_[count_];
  if (!fit(read, kept.addresses)) return false;  // few blocks have so much, filled by copies
  kept.lanes = read.lanes;
  kept.bytes = read.bytes, kept.place = read.place, kept.warp = warp;
  kept.epoch = last_ = block.epoch();
  ++count_;
  return true;
}

void DeferredReads::open(const order::Block& block, ReadLog& log) {
  if (none() || last_ <= block.joined() || !may_defer(block)) return;
  if (count_ == room_ && room_ < most) grow();
  log.next = reads_.get() + count_, log.end = reads_.get() + room_;
}

}  // namespace inflight::shadow
