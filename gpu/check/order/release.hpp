// What writes to one location publish, and to whom: each release reaches the threads in its scope.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/check/order/knowledge.hpp"

namespace inflight::order {

// What a relaxed write tells of its thread: in `loose` alone, so it is put together when somebody
// reads it. A thread's later one tells all that its earlier ones did.
struct Said {
  Clock knows;  // `loose`, without the thread's own
  Row row = 0;
  Mask lane = 0;  // 0: nothing is said
  Epoch epoch = 0;
  Snapshot::Together together;

  void tell(Clock& loose) const;
  bool is_known(const Clock& loose) const;
  // This thread says so, and knows all that was said before. False: it may not.
  bool renew(const Clock& now_knows, const Snapshot::Together& now_together, Row by, Mask by_lane,
             Epoch now);
};

class Release {
 public:
  Release() = default;
  explicit Release(Said said) : said_(std::move(said)) {}
  // Nothing was published but what a relaxed write says, and now this one says all of that too.
  bool renew(const Snapshot& by, Row row, Mask lane, Epoch epoch) {
    version_ = 0;
    return empty() && loose_.empty() && said_.renew(by.known.loose, by.together, row, lane, epoch);
  }
  // A release pattern whose first operation has this scope, by a thread that stands there.
  void add(const Place& from, Scope scope, const Knowledge& knowledge);
  // The same of what these lanes publish, as Snapshot::published has it.
  void add_published(const Place& from, Scope scope, const Snapshot& by, std::uint32_t warp,
                     Mask mask, Epoch epoch);
  // Whatever the pattern: for `loose` alone.
  void add_loose(const Clock& loose) {
    version_ = 0;
    loose_.join(loose);
  }
  void merge(const Release& other);
  // Copies and their completion are known to whoever acquires at all.
  void add_everywhere(const Knowledge& knowledge) {
    version_ = 0;
    everyone_.join(knowledge);
    loose_.join(knowledge.loose);
  }
  void raise_everywhere(Row row, Mask mask, Epoch epoch);

  // What a thread there gets by an acquire pattern whose last operation has a scope, for each.
  using ByScope = std::array<Knowledge, scope_count>;
  ByScope acquired(const Place& reader) const;
  void acquire_loose(Knowledge& into) const {
    into.loose.join(loose_);
    said_.tell(into.loose);
  }
  // To whom that brings nothing new: who knows so much, as `loose`, and is this lane.
  bool is_known(const Clock& loose, Row row, Mask lane) const {
    return loose.includes(loose_) &&
           ((said_.row == row && said_.lane == lane) || said_.is_known(loose));
  }
  bool empty() const { return reach_.empty() && everyone_.order.empty(); }
  // Stands for what it publishes at present, and for nothing else ever.
  std::uint64_t version() const;

 private:
  struct Reach {
    Scope scope;
    std::uint64_t id;  // the block, cluster or device
    Knowledge knowledge;
  };
  Reach& reach(Scope scope, std::uint64_t id);
  template <class F>
  void add_up_to(const Place& from, Scope scope, F&& add);
  std::vector<Reach> reach_;  // by scope and id
  Knowledge everyone_;
  Clock loose_;
  Said said_;                          // beside loose_
  mutable std::uint64_t version_ = 0;  // 0: it has changed since somebody asked
};

// A location that threads synchronise on: what reads of its last writes get. A read-modify-write
// carries on what it read (observation order), any other write begins anew.
class Location {
 public:
  static constexpr std::size_t kept =
      4;  // versions; a read that saw an older one gets all of those
  static constexpr std::uint64_t latest = ~std::uint64_t{0};

  struct Version {
    std::uint64_t first = 0, last = 0;  // writes, as numbered by write() and update()
    Place writer;
    Scope scope = Scope::cta;  // of the write itself
    Release release;
  };
  // Gives the write's number. `chained`: it is a read-modify-write and morally strong with the
  // last.
  std::uint64_t write(const Place& writer, Scope scope, Release release, bool chained);
  // A relaxed write by this lane, which has nothing of its own to publish.
  std::uint64_t say(const Place& writer, Scope scope, const Snapshot& by, Row row, Mask lane,
                    Epoch epoch);
  // What a read gets that saw that write; null: nothing, as it and the write are not morally
  // strong.
  const Release* seen(const Place& reader, Scope scope, std::uint64_t saw = latest) const;
  std::uint64_t writes() const { return next_; }
  const Release* last() const { return versions_.empty() ? nullptr : &versions_.back().release; }

 private:
  std::vector<Version> versions_;
  std::unique_ptr<Release> older_;  // null: there are none
  std::uint64_t next_ = 1;
};

}  // namespace inflight::order
