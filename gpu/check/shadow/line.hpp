// What a line of memory remembers: for each byte who wrote it last and who has read it since.
//
// An access takes the place of those that it comes after: whatever comes after it comes after them.
// Kept side by side are readers that nothing orders, and strong writes that may meet.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "gpu/check/shadow/judge.hpp"

namespace inflight::shadow {

// How many records of each kind a byte keeps; the oldest goes. Each has up to 32 actors.
struct Limits {
  std::uint32_t readers = 4, writers = 4;
};

class Line {
 public:
  // Judges against all that is kept, tells conflicts (addresses in the line) and remembers. Gives
  // how many records it had to forget.
  std::uint32_t access(const Record& now, const Judge& judge, const Limits& limits,
                       std::vector<Conflict>& conflicts);
  // A copy goes on past the moment that its epoch stood for.
  void restamp(order::Row row, unsigned lane, order::Epoch from, order::Epoch to);
  void forget(ByteMask bytes);
  std::size_t heap_bytes() const {
    return more_ ? sizeof *more_ + more_->capacity() * sizeof(Record) : 0;
  }

 private:
  static constexpr std::uint32_t inside = 2;
  Record& at(std::uint32_t i) { return i < inside ? first_[i] : (*more_)[i - inside]; }
  void push(const Record& r);
  void shrink(std::uint32_t count);
  bool extend(const Record& now);
  void cut(std::uint32_t i, ByteMask bytes);
  std::uint32_t bound(const Record& now, std::uint32_t limit);
  std::array<Record, inside> first_;
  std::uint32_t count_ = 0;
  std::unique_ptr<std::vector<Record>> more_;
};

}  // namespace inflight::shadow
