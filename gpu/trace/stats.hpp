// What kernels did, in numbers: the listener behind `inflight run --stats`.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/check/listener.hpp"

namespace inflight::trace {

// Sums over some launches of one kernel. Bytes are those of active lanes.
struct Tally {
  struct Instructions {
    std::uint64_t warps = 0, threads = 0;  // executed once a warp, by so many of its lanes
  };
  struct Memory {
    std::uint64_t accesses = 0;            // a warp's
    std::uint64_t loaded = 0, stored = 0;  // bytes
    std::uint64_t atomic = 0;              // bytes that atomics and reductions worked on
  };
  struct Copies {
    std::uint64_t copies = 0, bytes = 0;  // a thread's; bytes written, zero-fill included
  };
  std::uint64_t launches = 0, blocks = 0;
  std::vector<Instructions> families;                               // by index in Kernel::families
  std::array<Memory, check::space_count> memory{};                  // by check::Space
  std::array<Copies, check::completion_count> copies{};             // by check::Completion
  std::array<std::uint64_t, check::barrier_kind_count> barriers{};  // completed, by BarrierKind
  std::uint64_t mbarrier_arrivals = 0, mbarrier_phases = 0, mbarrier_waits = 0;
  std::uint64_t collectives = 0, divergent_branches = 0;  // a warp's

  // `other` of the same kernel, so that families mean the same.
  void add(const Tally& other);
  Instructions instructions() const;  // of all families
  double active_lanes() const;        // a warp instruction's, on average; 0 without any
};

// Hooks cost a few additions into memory of the calling thread's own; threads meet only when a
// launch begins or ends. A kernel is known by its name: its launches are added up.
class Stats : public check::Listener {
 public:
  struct Kernel {
    std::string name;                   // as in PTX
    std::vector<std::string> families;  // names, as Tally::families
    Tally tally;
  };

  Stats();
  ~Stats() override;
  Stats(const Stats&) = delete;
  Stats& operator=(const Stats&) = delete;

  // Of the launches that have ended: the kernel with most thread instructions first.
  std::vector<Kernel> kernels() const;
  // The same as a table to read, empty if no kernel ran, and as JSON:
  // {"kernels": [{"name", "mangled", "launches", "blocks", "instructions": {...}, ...}]}.
  std::string text() const;
  nlohmann::json json() const;

  check::Topic topics() const override;
  void kernel_begin(const check::KernelBegin&) override;
  void kernel_end(const check::KernelEnd&) override;
  void block_begin(const check::BlockBegin&) override;
  void executed(const check::Executed&) override;
  void executed_run(const check::Who&, std::span<const std::uint32_t> families) override;
  void diverged(const check::Divergence&) override;
  void accessed(const check::Access&) override;
  void copy_issued(const check::CopyIssued&) override;
  void barrier(const check::Barrier&) override;
  void mbarrier(const check::MbarrierOp&) override;
  void collective(const check::Collective&) override;

 private:
  struct Shard;  // one host thread's tallies of the launches that run
  Tally& tally(std::uint64_t launch);
  Tally& find(std::uint64_t launch);
  Shard& own_shard();

  const std::uint64_t id_;  // tells apart the instances that a host thread has met
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::map<std::string, Kernel, std::less<>> ended_;
};

}  // namespace inflight::trace
