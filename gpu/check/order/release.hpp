// What writes to one location publish, and to which threads: a release reaches those in its scope.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gpu/check/order/arrivals.hpp"

namespace inflight::order {

// What a relaxed write publishes, which goes into `loose` only. It is built when a thread reads it.
// A thread's later write publishes all that its earlier ones did.
struct RelaxedPublication {
  Clock knows;  // the thread's `loose`, without its own accesses
  Row row = 0;
  Mask lane = 0;  // 0: nothing is published
  Epoch epoch = 0;
  Snapshot::Together together;

  void add_to(Clock& loose) const;
  bool is_known(const Clock& loose) const;
  // Replaces it by a later write of this thread. Returns false, and changes nothing, if the thread
  // may not know all that was published before.
  bool extend(const Clock& now_knows, const Snapshot::Together& now_together, Row by, Mask by_lane,
              Epoch now);
};

class Release {
 public:
  Release() = default;
  explicit Release(RelaxedPublication relaxed) : relaxed_(std::move(relaxed)) {}
  // If only a relaxed write has published here, replaces it by this one, as
  // RelaxedPublication::extend() does. Otherwise returns false.
  bool extend(const Snapshot& by, Row row, Mask lane, Epoch epoch) {
    version_ = 0;
    return empty() && loose_.empty() &&
           relaxed_.extend(by.known.loose, by.together, row, lane, epoch);
  }
  // Adds a release pattern whose first operation has this scope, by a thread at `from`.
  void add(const Place& from, Scope scope, const Knowledge& knowledge);
  void add(const Place& from, Scope scope, Arrivals& arrivals);
  // Adds to `loose` only, without any release pattern.
  void add_loose(const Clock& loose) {
    version_ = 0;
    loose_.join(loose);
  }
  void merge(const Release& other);
  // Makes equal clocks one object (Knowledge::unite).
  void unite();
  // Adds a copy or its completion, which an acquire of any scope gets.
  void add_everywhere(const Knowledge& knowledge);
  void raise_everywhere(Row row, Mask mask, Epoch epoch);

  // What a thread at `reader` acquires, by the scope of its acquire pattern's last operation.
  using ByScope = std::array<Knowledge, scope_count>;
  ByScope acquired(const Place& reader) const;
  // The same for this scope and all wider ones, if that is one publication. Null: it may not be.
  const Knowledge* acquired_alike(const Place& reader, Scope scope) const;
  void acquire_loose(Knowledge& into) const {
    into.loose.join(loose_);
    relaxed_.add_to(into.loose);
  }
  // It brings nothing new to `loose` of this lane.
  bool is_known(const Clock& loose, Row row, Mask lane) const {
    return loose.includes(loose_) &&
           ((relaxed_.row == row && relaxed_.lane == lane) || relaxed_.is_known(loose));
  }
  bool empty() const { return reach_.empty() && everyone_.order.empty(); }
  // A number that identifies its present content and is never used for another.
  std::uint64_t version() const;

  // What merge() or extend() has replaced, with which it is undone.
  struct Replaced;
  // What a merge of `more` will replace, added to what later changes have already replaced.
  void replaced_by(const Release& more, Replaced& kept) const;
  // The part of it that a thread at `reader` may acquire.
  Release for_reader(const Place& reader) const;
  // Undoes a change in a release that is for_reader().
  void undo(const Replaced& change, const Place& reader);

 private:
  struct Reach {
    Scope scope;
    std::uint64_t id;  // the block, cluster or device
    Knowledge knowledge;
  };
  class Parts;
  static bool before(const Reach& r, Scope scope, std::uint64_t id);
  Reach& reach(Scope scope, std::uint64_t id);
  const Knowledge* find(Scope scope, std::uint64_t id) const;
  template <class F>
  void add_up_to(const Place& from, Scope scope, F&& add);
  template <class F>
  void add_to_all(F&& add);
  // First the scopes that are wider than a cluster, then by id and scope, so that a later block's
  // come last. Each includes everyone_.
  std::vector<Reach> reach_;
  Knowledge everyone_;
  Clock loose_;  // includes all of the above. Where one of them has all of it, both are one object.
  RelaxedPublication relaxed_;         // in addition to loose_
  mutable std::uint64_t version_ = 0;  // 0: changed since the last version()
};

struct Release::Replaced {
  struct Part {
    Scope scope;
    std::uint64_t id;
    bool had;  // false: there was none
    Knowledge knowledge;
  };
  bool any = false;
  std::vector<Part> parts;
  Clock loose;
  RelaxedPublication relaxed;
};

// A location that threads synchronise on, with what its last writes published. A read-modify-write
// continues what it read (observation order). Any other write starts a new version.
class Location {
 public:
  static constexpr std::size_t kept =
      4;  // versions; a read of an older one acquires all older ones
  static constexpr std::uint64_t latest = ~std::uint64_t{0};

  struct Version {
    std::uint64_t first = 0, last = 0;  // numbers of writes, from write() and relaxed_write()
    Place writer;
    Scope scope = Scope::cta;  // of the write itself
    std::shared_ptr<Release> release;
  };
  // Returns the write's number. `chained`: it is a read-modify-write and morally strong with the
  // last write.
  std::uint64_t write(const Place& writer, Scope scope, Release release, bool chained);
  // A relaxed write by this lane, whose Snapshot is only_together() and has no Patterns.
  std::uint64_t relaxed_write(const Place& writer, Scope scope, const Snapshot& by, Row row,
                              Mask lane, Epoch epoch);
  // What a read that saw that write acquires. Null if the two are not morally strong. What a noted
  // write had published is made again in `room`, of what this reader may acquire.
  const Release* seen(const Place& reader, Scope scope) const;
  const Release* seen(const Place& reader, Scope scope, std::uint64_t saw, Release& room) const;
  std::uint64_t writes() const { return next_; }
  // One write. What it and the writes before it published is `release` without what later writes
  // of the version have replaced. A copy of it would hold what every block has published.
  struct Step {
    std::uint64_t number = 0;
    std::optional<std::uint64_t> before, after;  // the values, where they are known
    std::uint32_t bytes = 0;
    Row row = 0;
    Mask lane = 0;
    Epoch epoch = 0;
    Place writer;
    Scope scope = Scope::cta;
    std::shared_ptr<const Release> release;
    Release::Replaced later;  // by the writes up to the next step
  };
  // Notes the values of the last write, by the lane that published it in this epoch.
  void note(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after,
            std::uint32_t bytes, Row row, Mask lane, Epoch epoch);
  // The number of the oldest write that a reader may have seen in place of the last one, whose
  // value it read. It must not know a later one (`knows`), and all values from that write's on must
  // be `alike`. Values between which memory was changed otherwise are not looked at.
  template <class Knows, class Alike>
  std::uint64_t oldest(std::uint64_t read, std::uint32_t bytes, Knows&& knows,
                       Alike&& alike) const {
    const auto holds = [&](const Step& s, std::uint64_t value) {
      return s.after == value && s.bytes == bytes;
    };
    if (steps_.size() < 2 || steps_.back().number + 1 != next_ || !holds(steps_.back(), read))
      return latest;
    auto at = steps_.end() - 1;
    for (; at != steps_.begin(); --at) {
      const Step& earlier = *(at - 1);
      if (earlier.number + 1 != at->number || !at->before || !holds(earlier, *at->before) ||
          knows(*at) || !alike(*at->before))
        break;
    }
    return at + 1 == steps_.end() ? latest : at->number;
  }
  // Whether the actor's write in this epoch is noted and comes later than that write.
  bool is_later(std::uint64_t number, Row row, unsigned lane, Epoch epoch) const;
  bool is_noted(std::uint64_t number) const { return step(number) != nullptr; }
  // Some of its kept writes may be by a thread of another block.
  bool is_written_outside(const Place& block) const;
  const Release* last() const {
    return versions_.empty() ? nullptr : versions_.back().release.get();
  }

 private:
  // That write, if it is noted, else null.
  const Step* step(std::uint64_t number) const;
  // What the step had published, for this reader.
  Release published(const Step& step, const Place& reader) const;
  // A change of the last version by `more` comes. What it replaces is kept for the last step.
  void keep_replaced(const Release& more);
  static constexpr std::size_t most_steps = 8;
  std::vector<Version> versions_;
  std::vector<Step> steps_;         // the last ones
  std::unique_ptr<Release> older_;  // null: there are none
  std::uint64_t next_ = 1;
};

}  // namespace inflight::order
