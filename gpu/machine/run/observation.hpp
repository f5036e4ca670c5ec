// What warps, blocks and copies report of a launch. They do not know who makes events of it.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/async/mbarrier.hpp"
#include "gpu/check/listener.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/counts.hpp"

namespace inflight::machine {

// The lanes that arrived last at a barrier, or whose exit completed it.
struct LastToArrive {
  const Warp& warp;
  std::uint32_t mask;
  const Op* at;  // null: they have exited
};

// Of one launch that has a listener. run/observe/events.hpp implements it.
class Observation {
 public:
  Observation(const Observation&) = delete;

  check::Listener& listener() const { return listener_; }
  bool wants(check::Topic topic) const { return check::has(topics_, topic); }
  // The counts for a new Block, valid as long as this object; null: no listener wants sums.
  virtual Counts* new_counts() const = 0;
  virtual void block_begin(const Block& block) const = 0;
  virtual void block_end(const Block& block) const = 0;
  virtual void diverged(const Warp& w, std::uint32_t taken) const = 0;
  virtual void reconverged(const Warp& w) const = 0;
  virtual void exited(const Warp& w, std::uint32_t mask) const = 0;
  // Lanes of `mask` end the kernel at `op`, or only break a rule there.
  virtual void faulted(const Warp& w, const Op* op, FaultKind kind, std::uint32_t mask,
                       std::string_view sentence, const FaultDetail& about) const = 0;
  virtual void fenced(const Warp& w, const Op* op, std::uint32_t mask) const = 0;
  // All lanes of a collective or a bar.warp.sync are here.
  virtual void met(Warp& w, const Op* op, std::uint32_t present, std::uint32_t members) const = 0;
  // The active lanes have arrived at a barrier of their block, and it has counted them.
  // `given`: the count that they name; 0: none.
  virtual void arrived(const Warp& w, const Op* op, std::uint32_t id, std::uint32_t given,
                       std::uint32_t expected, const NamedBarrier& barrier) const = 0;
  virtual void completed(const Block& block, std::uint32_t id, const NamedBarrier& barrier,
                         const LastToArrive& last) const = 0;
  // `alone`: the lanes wait without having arrived.
  virtual void cluster_step(const Warp& w, const Op* op, std::uint32_t mask, std::uint64_t phase,
                            bool alone = false) const = 0;
  // Lanes of the warp execute launch_dependents. `first`: nobody in their block has before.
  virtual void dependents_may_begin(const Warp& w, const Op* op, bool first) const = 0;
  // Lanes of the warp know that the earlier grids are complete.
  virtual void grids_ended(const Warp& w, const Op* op) const = 0;
  virtual void cluster_completed(const Cluster& cluster, const LastToArrive& last) const = 0;
  // Lanes begin or end a wait. `split` gives the place (pc) and the reason (wait and the fields
  // after it). wait_ended leaves out lanes whose wait was not reported.
  virtual void wait_begun(Warp& w, const Split& split) const = 0;
  virtual void wait_ended(Warp& w, const Split& split) const = 0;
  // The launch ends because of what the threads of this cluster wait for.
  virtual void stuck(const Cluster& cluster, check::Stuck::Why why,
                     std::uint64_t not_begun = 0) const = 0;
  // The same, if the listener finds that nobody else can change what these threads poll. Returns
  // whether it does.
  virtual bool is_livelocked(const Cluster& cluster, std::uint64_t not_begun,
                             std::uint32_t idle_ms) const = 0;
  // A builtin reads or writes for one lane, at a generic address.
  virtual void read_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                               std::uint64_t bytes) const = 0;
  virtual void written_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                                  std::uint64_t bytes) const = 0;
  // A thread launches kernel, copy or fill number `child`.
  virtual void child_launched(const Warp& w, const Op* op, int lane, std::uint64_t child) const = 0;
  // Lanes read or write texels, `bytes` each, at addresses in global memory. The caller performs a
  // reduction under strong_order(), and reports it there.
  virtual void accessed_texels(const Warp& w, const Op* op, std::uint32_t mask,
                               std::uint64_t (&addresses)[lanes], std::uint32_t bytes,
                               check::Access::Kind kind) const = 0;
  // malloc and free in a kernel.
  virtual void heap(const Warp& w, const Op* op, int lane, check::Allocation::Step step,
                    std::uint64_t address, std::uint64_t bytes) const = 0;
  // Adds the result of the operation to the event and emits it.
  virtual void report_mbarrier(check::MbarrierOp& event, async::mbarrier::Word after,
                               const async::mbarrier::Step& step) const = 0;
  check::Who who(const Warp& w, std::uint32_t mask,
                 std::uint32_t instruction = check::nothing) const {
    return {launch_, w.block->linear, w.index, mask, instruction};
  }
  check::Who who(const Warp& w, std::uint32_t mask, const Op* op) const {
    return who(w, mask, w.number(op));
  }
  check::Who who(const LastToArrive& last) const {
    return last.at ? who(last.warp, last.mask, last.at) : who(last.warp, last.mask);
  }

 protected:
  Observation(check::Listener& listener, check::Topic topics, std::uint64_t launch)
      : listener_(listener), topics_(topics), launch_(launch) {}
  ~Observation() = default;

 private:
  check::Listener& listener_;
  const check::Topic topics_;
  const std::uint64_t launch_;
};

}  // namespace inflight::machine
