// The order of one block's threads: for each thread, the accesses of other threads that come before
// its own, by barriers, fences, mbarriers, strong accesses and waits for copies.
//
// Not thread-safe: one caller at a time for the blocks of a cluster. A Location's owner locks it.
#pragma once
#include <memory>
#include <vector>

#include "gpu/check/order/copy_groups.hpp"
#include "gpu/check/order/observation.hpp"
#include "gpu/check/order/view.hpp"

namespace inflight::order {

// A barrier of a block, a cluster or a grid.
class BarrierState;
class Block;

// An mbarrier: what its arrivals and the copies that complete on it published. Completed phases
// accumulate: a thread that observes one also knows what all earlier phases published.
class Mbarrier {
 public:
  Row row() const { return row_; }
  unsigned lane() const { return lane_; }

 private:
  friend class Block;
  Row row_ = 0;
  unsigned lane_ = 0;
  // The arrivals from one block in one scope that arrived_ does not include yet.
  struct Coming {
    Place place;
    Scope scope;
    Arrivals arrivals;
    void add_to(Release& release);
  };
  Arrivals& coming(const Place& place, Scope scope);
  void join_arrivals(Epoch now);
  std::vector<Coming> coming_;
  Release arrived_, completed_;
  // The last observation of the completed phase, and the change of view that it caused.
  struct Observed {
    const Block* by = nullptr;
    Order order = Order::relaxed;
    Scope scope = Scope::cta;
    Views::Change change;
  };
  Observed observed_;
};

// What threads publish when their earlier copies are complete, as of the instruction's issue.
class LaterArrival {
  friend class Block;
  Row block_ = 0;
  std::uint32_t warp_ = 0;
  Epoch epoch_ = 0;
  Part of_ = Part::group_copy;
  Views::Group group_{};  // mostly the only one
  std::vector<Views::Group> more_;
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
  Block(const Block&) = delete;  // a BarrierState holds its address

  Row row() const { return row_; }
  const Place& place() const { return place_; }
  std::uint32_t warps() const { return static_cast<std::uint32_t>(warps_.size()); }
  Epoch epoch() const { return epoch_; }
  // The epoch of the last barrier of all its threads: all know what was done up to it.
  Epoch joined() const { return joined_; }
  bool in_cluster() const { return place_.in_cluster(); }
  // No thread has yet done anything that could order this block and another one of its launch.
  bool isolated() const { return isolated_; }
  // Its threads may have acquired something from another block or from the host.
  bool has_observed() const { return observed_; }
  // Joins to `into` what its threads know, without their own accesses. Returns false, and joins
  // nothing, if `done` has all of it.
  bool learnt(const Knowledge& done, Knowledge& into) const;
  Epoch tick() { return epoch_++; }  // a separate epoch, for a copy that may outlive a phase
  const std::vector<Views::Group>& groups(std::uint32_t warp) const {
    return warps_[warp].views.groups();
  }
  const View& view(std::uint32_t warp, unsigned lane) const { return warps_[warp].views.of(lane); }
  Mask live(std::uint32_t warp) const { return warps_[warp].live; }
  void exited(std::uint32_t warp, Mask mask) { warps_[warp].live &= ~mask; }

  // --- barriers. bar.warp.sync is warp_sync: call it when all members have arrived.
  void warp_sync(std::uint32_t warp, Mask members);
  void arrive(BarrierState& at, std::uint32_t warp, Mask mask, Order order = Order::acq_rel);
  // Arrives and waits, as bar.sync does, until BarrierState::complete().
  void arrive_and_wait(BarrierState& at, std::uint32_t warp, Mask mask);
  // The wait of a split barrier (barrier.cluster.wait), after its completion.
  void wait(BarrierState& at, std::uint32_t warp, Mask mask, Order order = Order::acq_rel);

  // --- griddepcontrol.wait: the preceding grids are complete
  void learn(std::uint32_t warp, Mask mask, const Knowledge& more);

  // --- fences
  void fence(std::uint32_t warp, Mask mask, Order order, Scope scope);
  // These lanes have executed weak or volatile stores to global memory.
  void stored(std::uint32_t warp, Mask mask) { warps_[warp].unfenced |= mask; }
  void proxy_fence(std::uint32_t warp, Mask mask, bool shared, bool global);

  // --- strong accesses to a location. Each write returns its number. `saw` is the number of the
  // write that was read, unless that is the last one.
  std::uint64_t strong_write(std::uint32_t warp, unsigned lane, std::uint64_t address, Location& at,
                             Order order, Scope scope);
  void strong_read(std::uint32_t warp, unsigned lane, std::uint64_t address, const Location& at,
                   Order order, Scope scope, std::uint64_t saw = Location::latest) {
    strong_reads(warp, Mask{1} << lane, address, at, order, scope, saw);
  }
  // The same for several lanes that read one location.
  void strong_reads(std::uint32_t warp, Mask mask, std::uint64_t address, const Location& at,
                    Order order, Scope scope, std::uint64_t saw = Location::latest);
  // Lanes have read these writes by morally strong loads. What follows comes after them, whatever
  // the load's order (PTX ISA, Causality Order: observation order).
  void observed(std::uint32_t warp, const Observation& write);
  // A read-modify-write of the last value.
  std::uint64_t update(std::uint32_t warp, unsigned lane, std::uint64_t address, Location& at,
                       Order order, Scope scope);
  // A relaxed update after a fence, as programs use to draw tickets. It acquires. Besides what the
  // fence publishes, it publishes the thread's own accesses up to now, unless the thread has stored
  // since its fence: those stores are not published.
  std::uint64_t ticket(std::uint32_t warp, unsigned lane, std::uint64_t address, Location& at,
                       Scope scope);

  // --- copies. In the shadow a copy is an actor and an epoch(): the actor is the issuing thread's
  // Part, or the mbarrier on which the copy completes (then the epoch is that of its block).
  void commit(std::uint32_t warp, Mask mask, bool bulk);
  // All but the `allowed` newest groups are complete. wait_all also covers uncommitted copies.
  void wait_group(std::uint32_t warp, Mask mask, std::uint32_t allowed);
  void wait_all(std::uint32_t warp, Mask mask);
  void wait_bulk(std::uint32_t warp, Mask mask, std::uint32_t allowed, bool reads_only);
  // Lanes `mask` now know what `actors` of a row of this block did up to an epoch.
  void know(std::uint32_t warp, Mask mask, Row row, Mask actors, Epoch epoch);
  // For reports: the most pending groups that a wait may allow and still cover this copy of the
  // lane, and the number that its last wait allowed.
  std::uint32_t allowance(std::uint32_t warp, unsigned lane, Part part, Epoch copy) const;
  static constexpr std::uint32_t never_waited = 0xfffffffe;
  std::uint32_t last_allowed(std::uint32_t warp, unsigned lane, Part part) const;
  // The allowance as it was at the lane's last wait, which may have committed more groups since.
  std::uint32_t allowance_then(std::uint32_t warp, unsigned lane, Part part, Epoch copy) const;

  // --- mbarriers, of this block or of a peer in the cluster
  void init(Mbarrier& m);  // called on the owner
  void arrive(Mbarrier& m, std::uint32_t warp, Mask mask, Order order, Scope scope);
  // Arrivals that happen after their issue. The knowledge is captured at issue and passed to the
  // static arrive() when the arrival of some of these lanes happens. cp.async.mbarrier.arrive
  // arrives when the earlier copies of these threads are complete, tcgen05.commit when their work
  // for the tensor cores is (Part::tensor_work).
  LaterArrival arrival_with_copies(std::uint32_t warp, Mask mask, Part of = Part::group_copy);
  static void arrive(Mbarrier& m, const LaterArrival& later, Mask lanes, const Place& issuer,
                     Scope scope);
  // A bulk copy that completes on an mbarrier publishes what its issuer knew at issue.
  Knowledge issue(std::uint32_t warp, unsigned lane);
  static void copied(Mbarrier& m, const Knowledge& issued) { m.arrived_.add_everywhere(issued); }
  // The phase is complete, and with it all copies up to the owner's epoch. Called on the owner.
  void complete(Mbarrier& m);
  void observe(Mbarrier& m, std::uint32_t warp, Mask mask, Order order, Scope scope);

  std::size_t bytes() const;  // memory in use, without clocks

 private:
  friend class BarrierState;
  struct Warp {
    Views views;
    Mask live = 0, exists = 0;
    Mask unfenced = 0;                 // have stored since their last fence wider than cta scope
    std::array<CopyGroups, 2> groups;  // of cp.async, of bulk copies
    struct Allowed {
      std::uint32_t groups = never_waited;
      Epoch at = 0;  // of the wait
    };
    std::unique_ptr<std::array<std::array<Allowed, lanes>, copy_parts>> allowed;
  };
  void note_allowed(Warp& warp, Mask mask, Part part, std::uint32_t allowed);
  void acquire_loose(std::uint32_t warp, Mask mask, const Release* from);
  void acquire(View& view, const Release& from, Order order, Scope scope, std::uint64_t location);
  Release release(View& view, std::uint32_t warp, unsigned lane, std::uint64_t location,
                  Order order, Scope scope);

  Place place_;
  Row row_;
  std::uint32_t threads_;
  Epoch epoch_ = 1, joined_ = 0;
  std::uint32_t mbarriers_ = 0;
  bool isolated_;
  bool observed_ = false;
  std::vector<Warp> warps_;
};

class BarrierState {
 public:
  // All expected threads have arrived: those that wait continue and know what all published.
  void complete();

 private:
  friend class Block;
  struct Waiting {
    Block* block;
    std::uint32_t warp;
    Mask mask;
  };
  // The view that all waiting threads share, if nothing else refers to it. It is changed in place.
  View* only_view() const;
  // Completes a barrier of all threads of one block, if they know the same and have nothing else.
  bool complete_alike();
  void join_late();
  Knowledge arrived_, completed_;
  Halves halves_;
  std::shared_ptr<const Patterns> completed_halves_;
  std::vector<Waiting> waiting_;
  std::vector<std::pair<Block*, std::uint32_t>> threads_;  // number that wait, by block
  // The last view, with no own parts, to be joined to arrived_, and whether that is still to be
  // done.
  std::shared_ptr<const View> joined_;
  bool is_late_ = false;
};

}  // namespace inflight::order
