// Makes the events of a launch from what its warps, blocks and copies report.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/async/mbarrier.hpp"
#include "gpu/check/listener.hpp"
#include "gpu/machine/link/numbering.hpp"
#include "gpu/machine/run/observation.hpp"

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

// The events of one launch, with the same lifetime.
class LaunchEvents final : public Observation {
 public:
  LaunchEvents(Grid& grid, check::Listener& listener);
  ~LaunchEvents();

  // Observation explains them.
  Counts* new_counts() const override;
  void block_begin(const Block& block) const override;
  void block_end(const Block& block) const override;
  void diverged(const Warp& w, std::uint32_t taken) const override;
  void reconverged(const Warp& w) const override;
  void exited(const Warp& w, std::uint32_t mask) const override;
  // fault_events.cpp:
  void faulted(const Warp& w, const Op* op, FaultKind kind, std::uint32_t mask,
               std::string_view sentence, const FaultDetail& about) const override;
  // synchronisation_events.cpp:
  void fenced(const Warp& w, const Op* op, std::uint32_t mask) const override;
  void met(Warp& w, const Op* op, std::uint32_t present, std::uint32_t members) const override;
  void arrived(const Warp& w, const Op* op, std::uint32_t id, std::uint32_t given,
               std::uint32_t expected, const NamedBarrier& barrier) const override;
  void completed(const Block& block, std::uint32_t id, const NamedBarrier& barrier,
                 const LastToArrive& last) const override;
  void cluster_step(const Warp& w, const Op* op, std::uint32_t mask, std::uint64_t phase,
                    bool alone = false) const override;
  void dependents_may_begin(const Warp& w, const Op* op, bool first) const override;
  void grids_ended(const Warp& w, const Op* op) const override;
  void cluster_completed(const Cluster& cluster, const LastToArrive& last) const override;
  void wait_begun(Warp& w, const Split& split) const override;
  void wait_ended(Warp& w, const Split& split) const override;
  void stuck(const Cluster& cluster, check::Stuck::Why why,
             std::uint64_t not_begun = 0) const override;
  bool is_livelocked(const Cluster& cluster, std::uint64_t not_begun,
                     std::uint32_t idle_ms) const override;
  void read_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                       std::uint64_t bytes) const override;
  void written_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                          std::uint64_t bytes) const override;
  void child_launched(const Warp& w, const Op* op, int lane, std::uint64_t child) const override;
  void accessed_texels(const Warp& w, const Op* op, std::uint32_t mask,
                       std::uint64_t (&addresses)[lanes], std::uint32_t bytes,
                       check::Access::Kind kind) const override;
  void heap(const Warp& w, const Op* op, int lane, check::Allocation::Step step,
            std::uint64_t address, std::uint64_t bytes) const override;
  void report_mbarrier(check::MbarrierOp& event, async::mbarrier::Word after,
                       const async::mbarrier::Step& step) const override;

 private:
  std::vector<check::Stuck::Threads> threads_of(const Cluster& cluster) const;
  check::Wait wait_event(const Warp& w, const Split& split, std::uint32_t mask) const;
  void report_wait(const Warp& w, const Split& split, std::uint32_t mask,
                   check::Wait::Step step) const;

  Grid& grid_;
  check::Kernel kernel_;
  mutable std::atomic<std::uint32_t> let_dependents_begin_{0};  // blocks
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Counts>> counts_;
};

}  // namespace inflight::machine
