// A warp's operations in flight, in the order of issue: a growing ring buffer of records.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/async/pool.hpp"
#include "gpu/async/thread_copies.hpp"

namespace inflight::async {

struct Record {
  enum class Kind : std::uint8_t { copy, commit, arrival };
  Kind kind = Kind::copy;
  bool whole = true;          // copy: no thread fills with zeros
  bool noinc = false;         // arrival
  bool one = false;           // arrival: all threads' mbarriers are the same
  std::uint32_t mask = 0;     // threads for which it is still outstanding
  std::uint32_t due = 0;      // threads for which the call in progress completes it
  std::uint32_t watched = 0;  // copy: threads whose sources are watched
  Copy* carried = nullptr;    // for an arrival, dst holds the mbarriers' addresses
};

class ThreadRecords {
 public:
  std::size_t size() const { return count_; }
  Record& operator[](std::size_t i) { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  const Record& operator[](std::size_t i) const { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  Record& push(Record::Kind kind, std::uint32_t mask, bool carries) {
    if (count_ == ring_.size()) grow();
    Record& r = (*this)[count_++];
    r = {.kind = kind, .mask = mask, .carried = carries ? copies_.take() : nullptr};
    return r;
  }
  void pop_front() {
    if (Copy* carried = (*this)[0].carried) copies_.give_back(carried);
    head_ = (head_ + 1) & (ring_.size() - 1);
    --count_;
  }
  void clear() {
    while (count_ > 0) pop_front();
  }

 private:
  void grow() {
    std::vector<Record> larger(ring_.empty() ? 16 : 2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = (*this)[i];
    ring_.swap(larger);
    head_ = 0;
  }

  std::vector<Record> ring_;  // its size is a power of two
  std::size_t head_ = 0, count_ = 0;
  Pool<Copy, 8> copies_;
};

}  // namespace inflight::async
