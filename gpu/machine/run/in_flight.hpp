// Connects the machine to the ledger of what a cluster has in flight (gpu/async/ledger.hpp).
#pragma once
#include <cstdint>

#include "gpu/async/ledger.hpp"
#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/spurious_failures.hpp"

namespace inflight::machine {

class Observation;

// A cluster's ledger. Wakes the threads that wait for what completes, reports broken rules, and
// emits the events (in_flight_events.cpp).
class InFlight final : public async::Observer {
 public:
  explicit InFlight(Cluster& cluster);
  async::Ledger ledger;
  async::TensorMaps maps;              // as the cluster's threads see them
  SpuriousFailures spurious_failures;  // for listeners

 private:
  using Threads = async::Threads;
  void phase_completed(std::uint32_t rank, std::uint32_t mbarrier) override;
  void broken(async::Violation, const Threads&, std::uint64_t instruction) override;
  bool stopped() const override;

  void issued(const Threads&, const async::Copy&) override;
  void completed(const Threads&, const async::Copy&) override;
  void arrival_issued(const Threads&, const async::Arrival&, async::Violation) override;
  void arrived(const Threads&, const async::Arrival&, const async::mbarrier::Step&) override;
  void issued(const async::BulkCopy&) override;
  void completed(const async::BulkCopy&, const async::mbarrier::Step&) override;
  void commit_issued(const async::TensorCommit&) override;
  void commit_arrived(const async::TensorCommit&, const async::mbarrier::Step&) override;
  void committed(const Threads&, async::Completion, std::uint64_t instruction) override;
  void waited(const Threads&, const async::GroupWait&, std::uint64_t instruction) override;

  void report_commit(const async::TensorCommit&, check::MbarrierOp::Op,
                     const async::mbarrier::Step&);
  void report_completed(const Threads&, std::uint64_t instruction, std::uint64_t id);
  void report_arrival(const Threads&, const async::Arrival&, check::MbarrierOp::Op,
                      const async::mbarrier::Step&);
  const Block& block(std::uint32_t rank) const { return *cluster_.blocks[rank]; }
  const Observation& observation() const { return *cluster_.grid->observation; }
  check::Who who(const Threads&, std::uint64_t instruction) const;

  Cluster& cluster_;
};

// The cluster's ledger, created on first use.
InFlight& in_flight(Cluster& cluster);
// The copies in flight of the warp's threads, or of all threads of its cluster.
async::ThreadCopies& thread_copies(Warp& warp);
async::BulkCopies& bulk_copies(Warp& warp);

// Precede a wait for the warp's copies, and a test of an mbarrier, where bulk copies may complete.
// On a chip, copies take long enough for the block's other warps to reach their own waits. So the
// other warps take their turns first.
const Op* run_copy_wait(Warp& warp, const Op* op);
const Op* run_mbarrier_wait(Warp& warp, const Op* op);

// Completes every copy and asynchronous arrival: of these threads, when they exit; of a block's
// threads, when nothing else in it can run; of a whole block, when it ends. False: there was none.
void flush_threads(Warp& warp, std::uint32_t mask);
bool flush_thread_copies(Block& block);
void flush_block(Block& block);
// A moment passes: copies in flight may complete, in a shuffled order. Costs nothing if there are
// none.
void advance_block(Block& block);

// A thread's number in its cluster, as async::BulkCopy uses it.
constexpr std::uint32_t cluster_thread(std::uint32_t rank, std::uint32_t thread) {
  return rank << 10 | thread;
}

}  // namespace inflight::machine
