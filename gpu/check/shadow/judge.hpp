// Whether an access comes after another, and why not.
#pragma once
#include "gpu/check/order/block.hpp"
#include "gpu/check/shadow/conflict.hpp"

namespace inflight::shadow {

// Who accesses now: lanes of a warp that know the same, or copies that they issue.
struct Actor {
  const order::Snapshot* knows = nullptr;
  order::Place place;
  std::uint32_t warp = 0;
  const order::Block* block = nullptr;  // for reports; null: the host's
  bool copy = false;                    // the access's row is of copies, not of the threads
  int issuer = -1;    // of a copy: the lane that issued it; -1: the lane that it has in its row
  bool late = false;  // a read that is looked at when its threads know more than they did
  bool by_texture = false;  // a read that need not see what its own launch has written
};

class Judge {
 public:
  // `own`: no block but those of the actor's cluster has the shared memory.
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

  // Threads access global memory whose block has not synchronised with others of its launch: they
  // know the same of other launches as those of any such block, and nothing of other blocks.
  bool isolated() const { return isolated_; }

  // Of two reads, the later may take the place of the earlier.
  bool may_replace(const Record& then, const Record& now) const {
    return !a_.late || (then.epoch <= now.epoch && then.same_actors(now));
  }
  // A thread's access to its block's own shared memory, before a barrier of all its threads: no
  // other thread's can conflict with it.
  bool past(const Record& then) const {
    return then.epoch <= past_ && is_thread_of_block(then.row);
  }
  // All actors of `then` in `part` are ordered before all of `now` there, byte by byte.
  bool ordered(const Record& then, const Record& now, ByteMask part) const {
    if (is_unseen(then)) return false;
    if (!a_.copy && then.same_actors(now)) return true;
    // The usual case: threads of the block, before a barrier of all of them.
    if (then.epoch <= met_ && is_thread_of_block(then.row) && !needs_fence(then, now)) return true;
    // And threads of a launch that has ended.
    if (order::launch_of(then.row ^ a_.place.block) != 0 && !needs_fence(then, now) &&
        a_.knows->knows_launch_of(then.row))
      return true;
    return known(then, now, part);
  }
  // A pair of strong accesses that may meet without order.
  bool morally_strong(const Record& then, const Record& now) const;
  // Of a pair that is not ordered; gives the first byte of it.
  Conflict explain(const Record& then, const Record& now, ByteMask part) const;

 private:
  bool needs_fence(const Record& then, const Record& now) const {
    return then.write && !then.async && now.async;
  }
  // Whatever orders the two.
  bool is_unseen(const Record& then) const {
    return a_.by_texture && then.write && order::launch_of(then.row ^ a_.place.block) == 0;
  }
  bool is_thread_of_block(order::Row row) const {
    return (row ^ a_.place.block) >> order::warp_bits == 0;
  }
  bool known(const Record& then, const Record& now, ByteMask part) const;
  bool one(const Record& then, unsigned lane, unsigned mine, bool fence) const;
  unsigned thread_of(unsigned lane) const {
    return a_.issuer < 0 ? lane : static_cast<unsigned>(a_.issuer);
  }
  const Actor& a_;
  std::size_t space_;
  order::Epoch met_;   // up to here, what all threads of the block did is known
  order::Epoch past_;  // up to here, all of them know it, and nobody else has the memory
  bool isolated_;
};

}  // namespace inflight::shadow
