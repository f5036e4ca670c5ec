// The accesses that a line of memory records: for each byte, the last writer and the readers since.
//
// An access replaces those that it is ordered after, because order is transitive. Several records
// of a byte are kept for unordered readers and for strong writes that may be unordered.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "gpu/check/shadow/judge.hpp"
#include "gpu/check/shadow/records.hpp"

namespace inflight::shadow {

// How many records of each kind a byte keeps at most. The oldest is dropped first. Each has up to
// 32 actors.
struct Limits {
  std::uint32_t readers = 4, writers = 4;
  bool own = true;  // shared memory belongs to one block or one cluster
};

class Line {
 public:
  // Checks `now` against all records, reports conflicts (addresses relative to the line), and
  // records it. Returns the number of records dropped because of the limits.
  std::uint32_t access(const Record& now, const Judge& judge, const Limits& limits,
                       std::vector<Conflict>& conflicts);
  // Adds the first record of an empty line.
  void begin(const Record& first) { records_.push_back(first); }
  // Moves the record of a copy that is still in flight to a later epoch.
  void restamp(order::Row row, unsigned lane, order::Epoch from, order::Epoch to);
  void forget(ByteMask bytes);
  std::size_t heap_bytes() const;

 private:
  static constexpr std::size_t many = 24;
  // Used if a line has many records: those within few words, by word. Lanes at scattered addresses
  // make many records of two words or three, which every access would have to look at.
  struct WordIndex {
    static constexpr int few = 4;
    // Adds a part of the record to each of its words. Returns false if it has more than few words.
    bool add(const Record& now);
    std::array<std::vector<Record>, line_bytes / 4> words;
    std::uint64_t occupied = 0;  // words that may have records
    ByteMask shared;             // read-shared bytes
  };
  struct Comparison;
  // The bytes of `part`, written by list[i], at which the actors of `now` come after a later
  // read-modify-write that has observed it.
  template <class List>
  static ByteMask updated_since(List& list, std::size_t i, const Record& now, const Judge& judge,
                                ByteMask part);
  // Notes the writes that `now`, a strong read, observes.
  void observe(const Record& now, const Judge& judge);
  template <class List>
  static void compare(List& list, const Record& now, const Judge& judge, Comparison& result,
                      std::vector<Conflict>& conflicts);
  // Calls f(list) for each list that may have records of these bytes.
  template <class F>
  void each_list(ByteMask bytes, F f);
  bool is_read_shared(const Record& now) const;
  void note_read_shared(const Record& now);
  void note_changed(ByteMask bytes);
  void drop_empty(ByteMask bytes);
  void add(const Record& now);
  void index_by_word();
  bool extend(const Record& now);
  std::uint32_t bound(const Record& now, std::uint32_t limit);

  Records records_;
  // Read-shared words: at least two blocks of launch number shared_in_ - 1 have read them and none
  // has written them. A write by any thread of that launch conflicts with one of the two, so
  // further readers need not be recorded.
  std::uint32_t shared_in_ = 0, shared_words_ = 0;
  std::unique_ptr<WordIndex> by_word_;
};

}  // namespace inflight::shadow
