// What kernels did, in numbers: the listener behind `inflight run --stats`.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/check/listener.hpp"
#include "gpu/trace/fidelity.hpp"

namespace inflight::trace {

// Sums over the launches of one kernel. Bytes are those of active lanes.
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
  std::uint64_t divergent_branches = 0;  // a warp's

  Instructions instructions() const;  // of all families
  double active_lanes() const;        // a warp instruction's, on average; 0 without any
};

// The machine counts, a launch's sums come when it ends. A kernel is known by its name: its
// launches are added up.
class Stats : public check::Listener {
 public:
  struct Kernel {
    std::string name;                   // as in PTX
    std::vector<std::string> families;  // names, as Tally::families
    Tally tally;
    FidelityTally fidelity;
  };
  // `fidelity`: is that counted too?
  explicit Stats(bool fidelity = false) : counts_fidelity_(fidelity) {}

  // Of the launches that have ended: the kernel with most thread instructions first.
  std::vector<Kernel> kernels() const;
  // The same as a table to read, empty if no kernel ran, and as JSON:
  // {"kernels": [{"name", "mangled", "launches", "blocks", "instructions": {...}, ...}]}.
  std::string text() const;
  nlohmann::json json() const;
  // What was exact and what was not, by kernel; empty if no kernel ran.
  std::string fidelity_text() const;

  check::Topic topics() const override;
  void kernel_begin(const check::KernelBegin&) override;
  void kernel_end(const check::KernelEnd&) override;
  void run_counted(const check::RunCount&) override;
  void access_counted(const check::AccessCount&) override;
  void blocks_counted(const check::BlockCount&) override;

 private:
  struct Running {
    Kernel* kernel = nullptr;
    FidelityTally::Numbers numbers;
  };
  Tally& tally(const check::Kernel&);
  void count_fidelity(Running& running, const check::RunCount& event) const;

  const bool counts_fidelity_;
  mutable std::mutex mutex_;
  std::map<std::string, Kernel, std::less<>> kernels_;
  std::unordered_map<std::uint64_t, Running> running_;  // by launch
};

}  // namespace inflight::trace
