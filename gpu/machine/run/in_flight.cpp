// The ledger of a cluster, as its warps and blocks use it.
#include "gpu/machine/run/in_flight.hpp"

#include "gpu/machine/run/advice.hpp"
#include "gpu/machine/run/mbarriers.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

// Whether a listener wants any event of copies and arrivals.
bool is_observed(const Grid& grid) {
  using check::Topic;
  return grid.observation &&
         grid.observation->wants(Topic::copies | Topic::mbarriers | Topic::counts);
}

}  // namespace

InFlight::InFlight(Cluster& cluster)
    : Observer(is_observed(*cluster.grid)),
      ledger(cluster.grid->options->timing, *this,
             static_cast<std::uint32_t>(cluster.blocks.size())),
      cluster_(cluster) {
  for (const auto& block : cluster.blocks) ledger.start(block->rank, block->linear);
}

void InFlight::phase_completed(std::uint32_t rank, std::uint32_t mbarrier) {
  wake_mbarrier(*cluster_.blocks[rank], mbarrier);
}

void InFlight::broken(async::Violation rule, const Threads&, std::uint64_t instruction) {
  advise(*cluster_.grid, rule, instruction);
}

bool InFlight::stopped() const { return cluster_.grid->stop.load(std::memory_order_relaxed); }

InFlight& in_flight(Cluster& cluster) {
  if (!cluster.in_flight) [[unlikely]]
    cluster.in_flight = std::make_unique<InFlight>(cluster);
  return *cluster.in_flight;
}

async::ThreadCopies& thread_copies(Warp& w) {
  return in_flight(*w.block->cluster).ledger.of_warp(w.block->rank, w.index);
}

async::BulkCopies& bulk_copies(Warp& w) { return in_flight(*w.block->cluster).ledger.bulk(); }

const Op* run_copy_wait(Warp& w, const Op* op) {
  const Block& block = *w.block;
  InFlight* const of = block.cluster->in_flight.get();
  const async::ThreadCopies* const copies =
      of ? of->ledger.find_warp(block.rank, w.index) : nullptr;
  return copies && !copies->idle() && block.turns.phases_in_step() != 0 ? w.yield(op + 1) : op + 1;
}

const Op* run_mbarrier_wait(Warp& w, const Op* op) {
  const Block& block = *w.block;
  InFlight* const of = block.cluster->in_flight.get();
  const bool idle = !of || (of->ledger.bulk().idle() && of->ledger.tensor_work().idle());
  return !idle && block.turns.phases_in_step() != 0 ? w.yield(op + 1) : op + 1;
}

void flush_threads(Warp& w, std::uint32_t mask) {
  if (InFlight* const of = w.block->cluster->in_flight.get())
    of->ledger.flush_threads(
        {static_cast<std::uint16_t>(w.block->rank), static_cast<std::uint16_t>(w.index), mask});
}

bool flush_thread_copies(Block& block) {
  InFlight* const of = block.cluster->in_flight.get();
  return of && of->ledger.flush_thread_copies(block.rank);
}

void flush_block(Block& block) {
  if (InFlight* const of = block.cluster->in_flight.get()) of->ledger.flush_block(block.rank);
}

void advance_block(Block& block) {
  if (InFlight* const of = block.cluster->in_flight.get()) of->ledger.advance(block.rank);
}

}  // namespace inflight::machine
