// The threads of one block in time: what each knows of all others, as barriers, fences, mbarriers,
// strong accesses and waits for copies make it.
//
// One caller at a time for the blocks of a cluster; locations are locked by whoever keeps them.
#pragma once
#include <memory>
#include <vector>

#include "gpu/check/order/copy_groups.hpp"
#include "gpu/check/order/view.hpp"

namespace inflight::order {

// Threads meet: a barrier of a block, a cluster or a grid.
class Meeting;
class Block;

// An mbarrier: what its arrivals published, and copies that complete on it. Completed phases add
// up: who observes one knows what all before it published.
class Mbarrier {
 public:
  Row row() const { return row_; }
  unsigned lane() const { return lane_; }

 private:
  friend class Block;
  Row row_ = 0;
  unsigned lane_ = 0;
  Release arrived_, completed_;
  // The last to observe the completed phase, and what came of it.
  struct Observed {
    const Block* by = nullptr;
    Order order = Order::relaxed;
    Scope scope = Scope::cta;
    Views::Change change;
  };
  Observed observed_;
};

// What threads publish later, when their copies so far are complete: as it was when they asked for
// it.
class LaterArrival {
 public:
  Knowledge of(Mask lanes) const;

 private:
  friend class Block;
  Row block_ = 0;
  std::uint32_t warp_ = 0;
  Epoch epoch_ = 0;
  std::vector<Views::Group> groups_;
};

class Block {
 public:
  struct Shape {
    std::uint32_t launch = 0;
    std::uint64_t block = 0;
    std::uint32_t threads = 1;
    std::uint32_t cluster_blocks = 1;
    std::uint32_t device = 0;
  };
  Block(const Shape& shape, const Knowledge& start);
  Block(const Block&) = delete;  // meetings know where it is

  Row row() const { return row_; }
  const Place& place() const { return place_; }
  std::uint32_t warps() const { return static_cast<std::uint32_t>(warps_.size()); }
  Epoch epoch() const { return epoch_; }
  // What its threads did up to there, all of them know: a barrier of all of them.
  Epoch joined() const { return joined_; }
  bool in_cluster() const { return place_.cluster_end - place_.cluster != Row{1} << row_bits; }
  // None of its threads has done anything yet that could order it and another block of its launch.
  bool isolated() const { return isolated_; }
  Epoch tick() { return epoch_++; }  // an epoch of its own, for a copy that may outlive a phase
  const std::vector<Views::Group>& groups(std::uint32_t warp) const {
    return warps_[warp].views.groups();
  }
  const View& view(std::uint32_t warp, unsigned lane) const { return warps_[warp].views.of(lane); }
  Mask live(std::uint32_t warp) const { return warps_[warp].live; }
  void exited(std::uint32_t warp, Mask mask) { warps_[warp].live &= ~mask; }

  // --- barriers. bar.warp.sync is warp_sync: its members must all be there.
  void warp_sync(std::uint32_t warp, Mask members);
  void arrive(Meeting& at, std::uint32_t warp, Mask mask, Order order = Order::acq_rel);
  // Arrive and wait, as bar.sync: the completion sets them free.
  void arrive_and_wait(Meeting& at, std::uint32_t warp, Mask mask);
  // After the completion of a split barrier (barrier.cluster.wait).
  void wait(Meeting& at, std::uint32_t warp, Mask mask, Order order = Order::acq_rel);

  // --- griddepcontrol.wait: the grids in front are complete
  void learn(std::uint32_t warp, Mask mask, const Knowledge& more);

  // --- fences
  void fence(std::uint32_t warp, Mask mask, Order order, Scope scope);
  // These lanes have stored to global memory by weak stores.
  void stored(std::uint32_t warp, Mask mask) { warps_[warp].unfenced |= mask; }
  void proxy_fence(std::uint32_t warp, Mask mask, bool shared, bool global);

  // --- strong accesses to a location. Each gives the number of its write; `saw`: of the write that
  // was read, where that is not the last.
  std::uint64_t strong_write(std::uint32_t warp, unsigned lane, std::uint64_t address, Location& at,
                             Order order, Scope scope);
  void strong_read(std::uint32_t warp, unsigned lane, std::uint64_t address, const Location& at,
                   Order order, Scope scope, std::uint64_t saw = Location::latest) {
    strong_reads(warp, Mask{1} << lane, address, at, order, scope, saw);
  }
  // Of lanes that read the same location.
  void strong_reads(std::uint32_t warp, Mask mask, std::uint64_t address, const Location& at,
                    Order order, Scope scope, std::uint64_t saw = Location::latest);
  // Reads the last write and writes.
  std::uint64_t update(std::uint32_t warp, unsigned lane, std::uint64_t address, Location& at,
                       Order order, Scope scope);
  // The same, relaxed and behind a fence, as programs draw tickets: it acquires, and publishes,
  // beside what the fence does, that itself comes before what its reader does. Not so where its
  // thread has stored since its fence: these stores are not published.
  std::uint64_t ticket(std::uint32_t warp, unsigned lane, std::uint64_t address, Location& at,
                       Scope scope);

  // --- copies. An actor and epoch() stand for a copy in the shadow: of the issuing thread's Part,
  // or of the mbarrier on which it completes (and then the epoch of the mbarrier's block).
  void commit(std::uint32_t warp, Mask mask, bool bulk);
  // All but the `allowed` newest groups are complete; wait_all: uncommitted copies too.
  void wait_group(std::uint32_t warp, Mask mask, std::uint32_t allowed);
  void wait_all(std::uint32_t warp, Mask mask);
  void wait_bulk(std::uint32_t warp, Mask mask, std::uint32_t allowed, bool reads_only);
  // These lanes know what actors of a row of this block did up to an epoch.
  void know(std::uint32_t warp, Mask mask, Row row, Mask actors, Epoch epoch);
  // For reports: the most that a wait may allow to cover this copy of the lane, and what its last
  // wait allowed.
  std::uint32_t allowance(std::uint32_t warp, unsigned lane, Part part, Epoch copy) const;
  static constexpr std::uint32_t never_waited = 0xfffffffe;
  std::uint32_t last_allowed(std::uint32_t warp, unsigned lane, Part part) const;

  // --- mbarriers, of this block or of a peer in the cluster
  void init(Mbarrier& m);  // the owner's
  void arrive(Mbarrier& m, std::uint32_t warp, Mask mask, Order order, Scope scope);
  // What arrives later by itself: taken when it is issued, given when it happens.
  // cp.async.mbarrier.arrive: when the copies so far of these threads are complete.
  LaterArrival arrival_with_copies(std::uint32_t warp, Mask mask);
  static void arrive(Mbarrier& m, const Knowledge& later, const Place& issuer, Scope scope);
  // A bulk copy that completes on an mbarrier publishes what its issuer knew.
  Knowledge issue(std::uint32_t warp, unsigned lane);
  static void copied(Mbarrier& m, const Knowledge& issued) { m.arrived_.add_everywhere(issued); }
  // The phase is complete (the owner's), and with it all copies whose epoch is the owner's or
  // before.
  void complete(Mbarrier& m);
  void observe(Mbarrier& m, std::uint32_t warp, Mask mask, Order order, Scope scope);

  std::size_t bytes() const;  // of memory, clocks not counted

 private:
  friend class Meeting;
  struct Warp {
    Views views;
    Mask live = 0, exists = 0;
    Mask unfenced = 0;                 // have stored since they fenced for more than their block
    std::array<CopyGroups, 2> groups;  // of cp.async, of bulk copies
    std::unique_ptr<std::array<std::array<std::uint32_t, lanes>, copy_parts>> allowed;
  };
  void note_allowed(Warp& warp, Mask mask, Part part, std::uint32_t allowed);
  void hear(std::uint32_t warp, Mask mask, const Release* from);
  void acquire(View& view, const Release& from, Order order, Scope scope, std::uint64_t location);
  Release release(View& view, std::uint32_t warp, unsigned lane, std::uint64_t location,
                  Order order, Scope scope);

  Place place_;
  Row row_;
  std::uint32_t threads_;
  Epoch epoch_ = 1, joined_ = 0;
  std::uint32_t mbarriers_ = 0;
  bool isolated_;
  std::vector<Warp> warps_;
};

class Meeting {
 public:
  // Everyone expected is there: those that wait go on, knowing what all have published.
  void complete();

 private:
  friend class Block;
  struct Waiting {
    Block* block;
    std::uint32_t warp;
    Mask mask;
  };
  // The view that all who wait have, if nobody else has it: it changes in its place.
  View* only_view() const;
  Knowledge arrived_, completed_;
  Halves halves_;
  std::shared_ptr<const Patterns> completed_halves_;
  std::vector<Waiting> waiting_;
  std::vector<std::pair<Block*, std::uint32_t>> threads_;  // of each block, that wait
  std::shared_ptr<const View> joined_;  // the last that is in arrived_, if nothing of it is its own
};

}  // namespace inflight::order
