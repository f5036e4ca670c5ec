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
#include "gpu/check/shadow/records.hpp"

namespace inflight::shadow {

// How many records of each kind a byte keeps; the oldest goes. Each has up to 32 actors.
struct Limits {
  std::uint32_t readers = 4, writers = 4;
  bool own = true;  // shared memory is one block's, or one cluster's
};

class Line {
 public:
  // Judges against all that is kept, reports conflicts (addresses in the line) and remembers. Gives
  // how many records it had to forget.
  std::uint32_t access(const Record& now, const Judge& judge, const Limits& limits,
                       std::vector<Conflict>& conflicts);
  // Nothing is known of the line but this.
  void begin(const Record& first) { records_.push_back(first); }
  // A copy goes on past the moment that its epoch stood for.
  void restamp(order::Row row, unsigned lane, order::Epoch from, order::Epoch to);
  void forget(ByteMask bytes);
  std::size_t heap_bytes() const;

 private:
  static constexpr std::size_t many = 24;
  // Of a line with many records: those that lie within one word, by word.
  struct Crowd {
    std::array<std::vector<Record>, line_bytes / 4> words;
    std::uint64_t occupied = 0;  // words that may have some
    ByteMask shared;             // read-shared bytes
  };
  struct Met;
  template <class List>
  static void meet(List& list, const Record& now, const Judge& judge, Met& met,
                   std::vector<Conflict>& conflicts);
  // f(list) for each that may have records of these bytes.
  template <class F>
  void each_list(ByteMask bytes, F f);
  bool is_read_shared(const Record& now) const;
  void note_read_shared(const Record& now);
  void note_changed(ByteMask bytes);
  void drop_empty(ByteMask bytes);
  void add(const Record& now);
  void make_crowd();
  bool extend(const Record& now);
  std::uint32_t bound(const Record& now, std::uint32_t limit);

  Records records_;
  // Read-shared: two blocks of the launch of this number, from 1, have read these words, and none
  // has written there. Whichever of its threads writes there conflicts with one of the two, so that
  // other readers need not be remembered.
  std::uint32_t shared_in_ = 0, shared_words_ = 0;
  std::unique_ptr<Crowd> crowd_;
};

}  // namespace inflight::shadow
