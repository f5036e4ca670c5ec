// Decides whether an access is ordered after another and, if not, why.
#pragma once
#include "gpu/check/order/block.hpp"
#include "gpu/check/order/observation.hpp"
#include "gpu/check/shadow/conflict.hpp"

namespace inflight::shadow {

// The actor of the current access: lanes of a warp with the same knowledge, or copies that they
// issue.
struct Actor {
  const order::Snapshot* knows = nullptr;
  order::Place place;
  std::uint32_t warp = 0;
  const order::Block* block = nullptr;  // for reports; null: the host
  bool copy = false;                    // the row of the access is one of copies, not of threads
  int issuer = -1;                      // copy: the lane that issued it; -1: its lane in the row
  bool late = false;        // a deferred read: its threads now know more than at the read
  bool by_texture = false;  // a read that need not observe writes of its own launch
  order::Mask silent = 0;   // lanes whose write races with no other thread's write
  order::Observations* observes = nullptr;  // a strong read: gets the writes that it observes
  bool volatile_data = false;               // see Access::volatile_data
};

class Judge {
 public:
  // `own`: only blocks of the actor's cluster can access the shared memory.
  Judge(const Actor& actor, order::Space space, bool own)
      : a_(actor),
        space_(static_cast<std::size_t>(space)),
        met_(actor.block ? actor.knows->met(actor.place.block) : 0),
        past_(own && space == order::Space::shared && !actor.copy && actor.block &&
                      !actor.block->in_cluster()
                  ? actor.block->joined()
                  : 0),
        isolated_(space == order::Space::global && !actor.copy && actor.block &&
                  actor.block->isolated()) {}

  // True for global accesses of threads whose block has not synchronised with others of its launch.
  // Such threads know nothing of other blocks, and the same of other launches as any such block.
  bool isolated() const { return isolated_; }

  // Whether the record of the later of two reads may replace that of the earlier.
  bool may_replace(const Record& then, const Record& now) const {
    return !a_.late || (then.epoch <= now.epoch && then.same_actors(now));
  }
  // Whether `then` is a thread's access to its block's own shared memory before a barrier of all
  // threads, so that no later access of a thread can conflict with it.
  bool past(const Record& then) const {
    return then.epoch <= past_ && is_thread_of_block(then.row);
  }
  // Whether, for each byte of `part`, all actors of `then` are ordered before all actors of `now`.
  bool ordered(const Record& then, const Record& now, ByteMask part) const {
    if (is_unseen(then)) return false;
    if (!a_.copy && then.same_actors(now)) return true;
    // The usual case: threads of the same block, before a barrier of all its threads.
    if (then.epoch <= met_ && is_thread_of_block(then.row) && !needs_fence(then, now)) return true;
    // Threads of a launch that has ended.
    if (order::launch_of(then.row ^ a_.place.block) != 0 && !needs_fence(then, now) &&
        a_.knows->knows_launch_of(then.row))
      return true;
    return known(then, now, part, needs_fence(then, now));
  }
  // Whether PTX asks for a proxy fence between the two, in shared memory, that programs do without.
  bool may_lack_fence(const Record& then, const Record& now) const {
    return !then.write && !then.async && now.write && now.async &&
           space_ == static_cast<std::size_t>(order::Space::shared);
  }
  // Whether a proxy fence follows all actors of `then` before all of `now`, which come after them.
  bool fenced(const Record& then, const Record& now, ByteMask part) const {
    return known(then, now, part, true);
  }
  // The bytes of `part` at which the two conflict if nothing orders them.
  ByteMask loud(const Record& then, const Record& now, ByteMask part) const {
    return a_.silent != 0 && then.write && is_thread(then.row) ? written_loudly(now, part) : part;
  }
  // From now on, records are of the line with this number, which no other line has.
  void at(std::uint64_t line) { line_ = line; }
  // The bytes of `part` at which the actors of `now` know, from a morally strong read by themselves
  // or by threads before them, that `then` comes before.
  ByteMask observed(const Record& then, const Record& now, ByteMask part) const;
  // Whether each actor of `now` comes after an actor of this read-modify-write. So it comes after
  // those of lower lanes and after what the update has observed.
  bool follows(const Record& update, const Record& now, ByteMask part) const;
  // Whether strong accesses without an order are to be told too.
  bool of_volatile_data() const { return a_.volatile_data; }
  // Whether `now` is to note what it observes, and that it has observed `then` at these bytes.
  bool observes() const { return a_.observes != nullptr; }
  void observe(const Record& then, const Record& now, ByteMask part) const;
  // Whether both are strong and are no race even without order (morally strong in PTX).
  bool morally_strong(const Record& then, const Record& now) const;
  // Describes a pair that is not ordered. Conflict::address is its first byte, relative to the
  // line.
  Conflict explain(const Record& then, const Record& now, ByteMask part) const {
    return explain(then, now, part, needs_fence(then, now));
  }
  // The same where PTX asks for a proxy fence or does not.
  Conflict explain(const Record& then, const Record& now, ByteMask part, bool fence) const;

 private:
  bool needs_fence(const Record& then, const Record& now) const {
    return then.write && !then.async && now.async;
  }
  // Such a write may not be observed, whatever orders it before the read.
  bool is_unseen(const Record& then) const {
    return a_.by_texture && then.write && order::launch_of(then.row ^ a_.place.block) == 0;
  }
  bool is_thread_of_block(order::Row row) const {
    return (row ^ a_.place.block) >> order::warp_bits == 0;
  }
  static bool is_thread(order::Row row) { return order::local_row(row) >> order::warp_bits == 0; }
  ByteMask written_loudly(const Record& now, ByteMask part) const;
  bool known(const Record& then, const Record& now, ByteMask part, bool fence) const;
  bool one(const Record& then, unsigned lane, unsigned mine, bool fence) const;
  unsigned thread_of(unsigned lane) const {
    return a_.issuer < 0 ? lane : static_cast<unsigned>(a_.issuer);
  }
  // The actor that stands for the strong writes to this byte by the last lane that wrote it here.
  order::LocationActor location_of(const Record& write, std::uint32_t byte) const;
  const Actor& a_;
  std::uint64_t line_ = 0;
  std::size_t space_;
  order::Epoch met_;   // the actor knows what all threads of the block did up to here
  order::Epoch past_;  // all threads know it up to here, and no other block accesses the memory
  bool isolated_;
};

}  // namespace inflight::shadow
