// A cluster: blocks that are resident together, see each other's shared memory and meet at
// barrier.cluster (PTX ISA, "Thread hierarchy: Cluster of CTAs"). A block of a grid without
// clusters is a cluster of its own. One host thread runs a cluster's blocks in turn, so nothing in
// it needs a lock.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

// Shared addresses name a block of the cluster by its rank, as on the chip: rank << 24 | offset.
inline constexpr unsigned rank_shift = 24;
inline constexpr std::uint32_t offset_mask = (1u << rank_shift) - 1;

class InFlight;

struct Cluster {
  explicit Cluster(Grid& grid);
  ~Cluster();

  // Belongs to another launch of the same kernel and block shape from now on.
  void move_to(Grid& grid);
  // Becomes cluster `linear` of the grid (counted as blocks are: x, then y, then z).
  void start(std::uint64_t linear);
  enum class State : std::uint8_t {
    done,       // every block has ended, or the grid has stopped
    suspended,  // let other clusters run
  };
  // Runs the blocks in turn. Returns at the latest when the grid stops, or after `rounds` of one.
  State run(Worker& worker, std::uint32_t rounds);

  // barrier.cluster: the active lanes arrive; lanes of `mask` whose phase is not complete.
  void arrive(Warp& warp, const Op* op);
  std::uint32_t waiting(const Warp& warp, std::uint32_t mask) const;
  // Threads that exited count as arrived at every phase.
  void threads_exited(Warp& warp, std::uint32_t mask);
  std::uint64_t arrived() const { return arrived_; }
  std::uint64_t alive() const { return alive_; }
  std::uint64_t phase() const { return phase_; }  // completed ones
  // Does nothing but the grids in front keep it from going on?
  bool held() const;

  Grid* grid = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;  // by rank
  std::unique_ptr<InFlight> in_flight;         // made on first use

 private:
  bool unblock(Worker& worker);
  void let_go();
  void follow_others();
  std::uint64_t meet_clocks();
  void try_complete(const LastToArrive& last);
  std::uint32_t current() const { return phase_ & 1 ? all_lanes : 0; }
  std::uint64_t arrived_ = 0, alive_ = 0;  // threads
  std::uint64_t phase_ = 0;
  std::vector<bool> ended_before_;  // by rank: in the last round of turns
  std::uint32_t idle_rounds_ = 0;   // in a row in which waits gave up and nothing else moved
  std::chrono::steady_clock::time_point idle_since_;
};

// Where a shared address lies in a block's cluster.
struct SharedPlace {
  Block* block = nullptr;    // null: no block of the cluster has that rank
  std::uint32_t offset = 0;  // in its shared memory, perhaps past the end
  bool holds(std::uint64_t size) const {
    if (!block) return false;
    return offset + size <= (offset < reserved_shared ? block->reserved_end : block->shared_end);
  }
  std::byte* at() const { return block->shared + offset; }
};
SharedPlace shared_place(const Block& self, std::uint64_t address);

// Why `size` bytes at a shared address cannot be accessed by a block, or `none`: past the end, of a
// block that the cluster lacks, of one that has ended, or of another block where the instruction
// names its own (.shared::cta).
FaultKind shared_fault(const Block& self, std::uint64_t address, std::uint64_t size, bool own_only);

}  // namespace inflight::machine
