// What a team has in flight, in the order of issue: a growing ring of records and a pool of what
// they carry.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/async/copy_groups.hpp"

namespace inflight::async {

struct Record {
  enum class Kind : std::uint8_t { copy, commit, arrival };
  Kind kind = Kind::copy;
  bool whole = true;          // copy: no thread zero-fills
  bool noinc = false;         // arrival
  std::uint32_t mask = 0;     // threads for which it is still outstanding
  std::uint32_t due = 0;      // threads for which the call in progress completes it
  std::uint32_t watched = 0;  // copy: threads whose sources are watched
  Copy* carried = nullptr;    // of an arrival, dst holds the mbarriers' addresses
};

class RecordQueue {
 public:
  std::size_t size() const { return count_; }
  Record& operator[](std::size_t i) { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  const Record& operator[](std::size_t i) const { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  Record& push(Record::Kind kind, std::uint32_t mask, bool carries) {
    if (count_ == ring_.size()) grow();
    Record& r = (*this)[count_++];
    r = {.kind = kind, .mask = mask, .carried = carries ? take() : nullptr};
    return r;
  }
  void pop_front() {
    if (Copy* carried = (*this)[0].carried) free_.push_back(carried);
    head_ = (head_ + 1) & (ring_.size() - 1);
    --count_;
  }
  void clear() {
    while (count_ > 0) pop_front();
  }

 private:
  static constexpr std::size_t chunk = 8;
  Copy* take() {
    if (free_.empty()) refill();
    Copy* carried = free_.back();
    free_.pop_back();
    return carried;
  }
  void refill() {
    chunks_.push_back(std::make_unique<Copy[]>(chunk));
    for (std::size_t i = chunk; i-- > 0;) free_.push_back(&chunks_.back()[i]);
  }
  void grow() {
    std::vector<Record> larger(ring_.empty() ? 16 : 2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = (*this)[i];
    ring_.swap(larger);
    head_ = 0;
  }

  std::vector<Record> ring_;  // a power of two
  std::size_t head_ = 0, count_ = 0;
  std::vector<std::unique_ptr<Copy[]>> chunks_;
  std::vector<Copy*> free_;
};

}  // namespace inflight::async
