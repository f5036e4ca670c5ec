// The events of a launch: what warps, blocks and copies report to its listener.
#pragma once
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

// The code of the function that holds `at`; null: none.
const Code* code_of(const Grid& grid, const Place& at);
// Answers check::Kernel::variable.
check::Variable variable_at(const check::Kernel& kernel, check::Space space, std::uint64_t address,
                            std::uint32_t instruction);

// Answers check::Kernel::all_pass_behind.
bool all_pass_behind(const check::Kernel& kernel, std::uint32_t instruction);

// Answers check::Kernel::fidelities.
void fidelities(const check::Kernel& kernel, void* to, check::Kernel::FidelityHook hook);

// Who came last to a barrier, or whose exit was the last thing that it waited for.
struct LastToArrive {
  const Warp& warp;
  std::uint32_t mask;
  const Op* at;  // null: they have exited
};

// The events of one launch. Made and ended with it.
class Observation {
 public:
  Observation(Grid& grid, check::Listener& listener);
  ~Observation();
  Observation(const Observation&) = delete;

  check::Listener& listener() const { return listener_; }
  bool wants(check::Topic topic) const { return check::has(topics_, topic); }
  // For a Block that is made, as long as this lives; null: nobody wants sums.
  Counts* new_counts() const;
  void block_begin(const Block& block) const;
  void block_end(const Block& block) const;
  void diverged(const Warp& w, std::uint32_t taken) const;
  void reconverged(const Warp& w) const;
  void exited(const Warp& w, std::uint32_t mask) const;
  // fault_events.cpp: lanes of `mask` end the kernel at `op`.
  void faulted(const Warp& w, const Op* op, FaultKind kind, std::uint32_t mask,
               std::string_view sentence, const FaultDetail& about) const;
  // synchronisation_events.cpp:
  void fenced(const Warp& w, const Op* op, std::uint32_t mask) const;
  // A collective's or bar.warp.sync's lanes are all here.
  void met(Warp& w, const Op* op, std::uint32_t present, std::uint32_t members) const;
  // The active lanes have arrived at a barrier of their block, which counts them.
  void arrived(const Warp& w, const Op* op, std::uint32_t id, std::uint32_t expected,
               const NamedBarrier& barrier) const;
  void completed(const Block& block, std::uint32_t id, const NamedBarrier& barrier,
                 const LastToArrive& last) const;
  // `alone`: they wait without having arrived.
  void cluster_step(const Warp& w, const Op* op, std::uint32_t mask, std::uint64_t phase,
                    bool alone = false) const;
  // Lanes of the warp let the grids behind begin, as far as their block goes.
  void dependents_may_begin(const Warp& w, const Op* op) const;
  // Lanes of the warp know that the grids in front are complete.
  void grids_ended(const Warp& w, const Op* op) const;
  void cluster_completed(const Cluster& cluster, const LastToArrive& last) const;
  // Lanes begin to wait, or go on: pc is where, wait and what follows it what for. Those that end
  // no wait that began are left out.
  void wait_begun(Warp& w, const Split& split) const;
  void wait_ended(Warp& w, const Split& split) const;
  // The launch ends because of what the threads of this cluster wait for.
  void stuck(const Cluster& cluster, check::Stuck::Why why) const;
  // The same, if who listens finds that nobody else can change what its threads poll.
  bool hopeless(const Cluster& cluster, std::uint64_t not_begun, std::uint32_t idle_ms) const;
  // A builtin reads for one lane, at a generic address.
  void read_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                       std::uint64_t bytes) const;
  // Or writes.
  void written_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                          std::uint64_t bytes) const;
  // A thread launches a kernel, a copy or a fill of this number.
  void child_launched(const Warp& w, const Op* op, int lane, std::uint64_t child) const;
  // Lanes read or write texels, `bytes` each, at addresses in global memory.
  void accessed_texels(const Warp& w, const Op* op, std::uint32_t mask,
                       std::uint64_t (&addresses)[lanes], std::uint32_t bytes,
                       check::Access::Kind kind) const;
  // malloc and free in a kernel.
  void heap(const Warp& w, const Op* op, int lane, check::Allocation::Step step,
            std::uint64_t address, std::uint64_t bytes) const;
  // Completes the event by what the operation came to, and emits it.
  void report_mbarrier(check::MbarrierOp& event, async::mbarrier::Word after,
                       const async::mbarrier::Step& step) const;
  check::Who who(const Warp& w, std::uint32_t mask,
                 std::uint32_t instruction = check::nothing) const;
  check::Who who(const Warp& w, std::uint32_t mask, const Op* op) const {
    return who(w, mask, w.frame->code->first_number + op->instruction);
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
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Counts>> counts_;
};

}  // namespace inflight::machine
