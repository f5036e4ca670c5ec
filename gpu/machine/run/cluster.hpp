// A cluster: blocks that are resident together, see each other's shared memory and meet at
// barrier.cluster (PTX ISA, "Thread hierarchy: Cluster of CTAs"). A block of a grid without
// clusters is a cluster of its own. One host thread runs a cluster's blocks in turn, so nothing in
// it needs a lock.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/standstill.hpp"

namespace inflight::machine {

// Shared addresses are as on the chip: rank of the block in its cluster << 24 | offset.
inline constexpr unsigned rank_shift = 24;
inline constexpr std::uint32_t offset_mask = (1u << rank_shift) - 1;

class InFlight;

struct Cluster {
  explicit Cluster(Grid& grid);
  ~Cluster();

  // Moves it to another launch of the same kernel and block shape.
  void move_to(Grid& grid);
  // Starts as cluster `linear` of the grid (counted as blocks are: x, then y, then z).
  void start(std::uint64_t linear);
  enum class State : std::uint8_t {
    done,       // every block has ended, or the grid has stopped
    suspended,  // let other clusters run
  };
  // Runs the blocks in turn. Returns when the grid stops or after `rounds` rounds of a block, if
  // not before.
  State run(Worker& worker, std::uint32_t rounds);

  // barrier.cluster: arrive() is for the active lanes. waiting() returns the lanes of `mask` that
  // arrived in the phase that is not complete.
  void arrive(Warp& warp, const Op* op);
  std::uint32_t waiting(const Warp& warp, std::uint32_t mask) const;
  // Threads that exited count as arrived at every phase.
  void threads_exited(Warp& warp, std::uint32_t mask);
  std::uint64_t arrived() const { return arrived_; }
  std::uint64_t alive() const { return alive_; }
  std::uint64_t phase() const { return phase_; }  // completed phases
  // Do all its blocks that have not ended wait only for earlier grids?
  bool held() const;

  Grid* grid = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;  // by rank
  std::unique_ptr<InFlight> in_flight;         // made on first use
  IdleTurns idle;                              // for a listener to hangs

 private:
  bool unblock(Worker& worker);
  void release_ended_blocks();
  void follow_others();
  std::uint64_t sync_clocks();
  void try_complete(const LastToArrive& last);
  std::uint32_t current() const { return phase_ & 1 ? all_lanes : 0; }
  std::uint64_t arrived_ = 0, alive_ = 0;  // threads
  std::uint64_t phase_ = 0;
  std::vector<bool> ended_before_;  // by rank: in the last round of turns
  std::uint32_t idle_rounds_ = 0;   // consecutive rounds in which only waits gave up
  std::uint64_t idle_waits_ = 0;    // the waits that gave up in them
};

// The index in its grid of the first block of cluster `linear` (counted as blocks are).
Dim3 first_block(const Launch& launch, std::uint64_t linear);

// Where a shared address lies in a block's cluster.
struct SharedPlace {
  Block* block = nullptr;    // null: no block of the cluster has that rank
  std::uint32_t offset = 0;  // in its shared memory, possibly past the end
  bool holds(std::uint64_t size) const {
    if (!block) return false;
    const std::uint32_t reserved_end = block->reserved_end;
    const bool stops_early = offset < reserved_shared && reserved_end < reserved_shared;
    return offset + size <= (stops_early ? reserved_end : block->shared_end);
  }
  std::byte* at() const { return block->shared + offset; }
};
SharedPlace shared_place(const Block& self, std::uint64_t address);

// The reason that a block cannot access `size` bytes at a shared address, or `none`. The address
// may be past the end, in a block that the cluster lacks or that has ended, or in another block
// although the instruction accesses only its own (.shared::cta).
FaultKind shared_fault(const Block& self, std::uint64_t address, std::uint64_t size, bool own_only);

}  // namespace inflight::machine
