// The events of a launch: what warps, blocks and copies report to its listener.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/async/mbarrier.hpp"
#include "gpu/check/listener.hpp"
#include "gpu/machine/link/numbering.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/counts.hpp"

namespace inflight::machine {

// The code of the function that holds `at`, or null.
const Code* code_of(const Grid& grid, const Place& at);
// Implements check::Kernel::variable.
check::Variable variable_at(const check::Kernel& kernel, check::Space space, std::uint64_t address,
                            std::uint32_t instruction);

// Implements check::Kernel::all_pass_behind.
bool all_pass_behind(const check::Kernel& kernel, std::uint32_t instruction);
// Implements check::Kernel::has_left.
bool has_left(const check::Kernel& kernel, std::uint32_t before, std::uint32_t instruction);

// Implements check::Kernel::fidelities.
void fidelities(const check::Kernel& kernel, void* to, check::Kernel::FidelityHook hook);

// The lanes that arrived last at a barrier, or whose exit completed it.
struct LastToArrive {
  const Warp& warp;
  std::uint32_t mask;
  const Op* at;  // null: they have exited
};

// The events of one launch, with the same lifetime.
class Observation {
 public:
  Observation(Grid& grid, check::Listener& listener);
  ~Observation();
  Observation(const Observation&) = delete;

  check::Listener& listener() const { return listener_; }
  bool wants(check::Topic topic) const { return check::has(topics_, topic); }
  // The counts for a new Block, valid as long as this object; null: no listener wants sums.
  Counts* new_counts() const;
  void block_begin(const Block& block) const;
  void block_end(const Block& block) const;
  void diverged(const Warp& w, std::uint32_t taken) const;
  void reconverged(const Warp& w) const;
  void exited(const Warp& w, std::uint32_t mask) const;
  // fault_events.cpp: lanes of `mask` end the kernel at `op`, or only break a rule there.
  void faulted(const Warp& w, const Op* op, FaultKind kind, std::uint32_t mask,
               std::string_view sentence, const FaultDetail& about) const;
  // synchronisation_events.cpp:
  void fenced(const Warp& w, const Op* op, std::uint32_t mask) const;
  // All lanes of a collective or a bar.warp.sync are here.
  void met(Warp& w, const Op* op, std::uint32_t present, std::uint32_t members) const;
  // The active lanes have arrived at a barrier of their block, and it has counted them.
  // `given`: the count that they name; 0: none.
  void arrived(const Warp& w, const Op* op, std::uint32_t id, std::uint32_t given,
               std::uint32_t expected, const NamedBarrier& barrier) const;
  void completed(const Block& block, std::uint32_t id, const NamedBarrier& barrier,
                 const LastToArrive& last) const;
  // `alone`: the lanes wait without having arrived.
  void cluster_step(const Warp& w, const Op* op, std::uint32_t mask, std::uint64_t phase,
                    bool alone = false) const;
  // Lanes of the warp execute launch_dependents. `first`: nobody in their block has before.
  void dependents_may_begin(const Warp& w, const Op* op, bool first) const;
  // Lanes of the warp know that the earlier grids are complete.
  void grids_ended(const Warp& w, const Op* op) const;
  void cluster_completed(const Cluster& cluster, const LastToArrive& last) const;
  // Lanes begin or end a wait. `split` gives the place (pc) and the reason (wait and the fields
  // after it). wait_ended leaves out lanes whose wait was not reported.
  void wait_begun(Warp& w, const Split& split) const;
  void wait_ended(Warp& w, const Split& split) const;
  // The launch ends because of what the threads of this cluster wait for.
  void stuck(const Cluster& cluster, check::Stuck::Why why, std::uint64_t not_begun = 0) const;
  // The same, if the listener finds that nobody else can change what these threads poll. Returns
  // whether it does.
  bool is_livelocked(const Cluster& cluster, std::uint64_t not_begun, std::uint32_t idle_ms) const;
  // A builtin reads or writes for one lane, at a generic address.
  void read_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                       std::uint64_t bytes) const;
  void written_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                          std::uint64_t bytes) const;
  // A thread launches kernel, copy or fill number `child`.
  void child_launched(const Warp& w, const Op* op, int lane, std::uint64_t child) const;
  // Lanes read or write texels, `bytes` each, at addresses in global memory. The caller performs a
  // reduction under strong_order(), and reports it there.
  void accessed_texels(const Warp& w, const Op* op, std::uint32_t mask,
                       std::uint64_t (&addresses)[lanes], std::uint32_t bytes,
                       check::Access::Kind kind) const;
  // malloc and free in a kernel.
  void heap(const Warp& w, const Op* op, int lane, check::Allocation::Step step,
            std::uint64_t address, std::uint64_t bytes) const;
  // Adds the result of the operation to the event and emits it.
  void report_mbarrier(check::MbarrierOp& event, async::mbarrier::Word after,
                       const async::mbarrier::Step& step) const;
  check::Who who(const Warp& w, std::uint32_t mask,
                 std::uint32_t instruction = check::nothing) const;
  check::Who who(const Warp& w, std::uint32_t mask, const Op* op) const {
    return who(w, mask, w.number(op));
  }
  check::Who who(const LastToArrive& last) const {
    return last.at ? who(last.warp, last.mask, last.at) : who(last.warp, last.mask);
  }

 private:
  std::vector<check::Stuck::Threads> threads_of(const Cluster& cluster) const;
  check::Wait wait_event(const Warp& w, const Split& split, std::uint32_t mask) const;
  void report_wait(const Warp& w, const Split& split, std::uint32_t mask,
                   check::Wait::Step step) const;

  Grid& grid_;
  check::Listener& listener_;
  const check::Topic topics_;
  check::Kernel kernel_;
  mutable std::atomic<std::uint32_t> let_dependents_begin_{0};  // blocks
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Counts>> counts_;
};

}  // namespace inflight::machine
