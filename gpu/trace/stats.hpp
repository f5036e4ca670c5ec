// Statistics of kernels: the listener behind `inflight run --stats`.
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
    std::uint64_t warps = 0, threads = 0;  // executed, per warp and per active lane
  };
  struct Memory {
    std::uint64_t accesses = 0;            // per warp
    std::uint64_t loaded = 0, stored = 0;  // bytes
    std::uint64_t atomic = 0;              // bytes accessed by atomics and reductions
  };
  struct Copies {
    std::uint64_t copies = 0, bytes = 0;  // copies per thread; bytes written, with zero-fill
  };
  std::uint64_t launches = 0, blocks = 0;
  std::vector<Instructions> families;                               // by index in Kernel::families
  std::array<Memory, check::space_count> memory{};                  // by check::Space
  std::array<Copies, check::completion_count> copies{};             // by check::Completion
  std::array<std::uint64_t, check::barrier_kind_count> barriers{};  // completed, by BarrierKind
  std::uint64_t mbarrier_arrivals = 0, mbarrier_phases = 0, mbarrier_waits = 0;
  std::uint64_t divergent_branches = 0;  // per warp
  // Instructions that warps executed in host code, and how often they entered it.
  std::uint64_t in_host_code = 0, host_code_entries = 0;

  Instructions instructions() const;  // sum of all families
  double active_lanes() const;        // average per warp instruction; 0 if there are none
};

// The machine counts and reports a launch's sums when it ends. Launches of kernels with the same
// name are added up. Thread-safe.
class Stats : public check::Listener {
 public:
  struct Kernel {
    std::string name;                   // as in PTX
    std::vector<std::string> families;  // names, as Tally::families
    Tally tally;
    FidelityTally fidelity;
    // Launches by why they were interpreted (empty: host code ran them), and the last host code.
    // None with --compile never.
    std::map<std::string, std::uint64_t> engines;
    check::HostCode host_code;
  };
  // `fidelity`: also count fidelity.
  explicit Stats(bool fidelity = false) : counts_fidelity_(fidelity) {}

  // Returns the counts of ended launches. The kernel with the most thread instructions is first.
  std::vector<Kernel> kernels() const;
  // Return the same as a text table, empty if no kernel ran, and as JSON:
  // {"kernels": [{"name", "mangled", "launches", "blocks", "instructions": {...}, ...}]}.
  std::string text() const;
  nlohmann::json json() const;
  // Returns the fidelity of each kernel as text. Empty if no kernel ran.
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
