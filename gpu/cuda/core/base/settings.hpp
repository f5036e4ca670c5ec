// The settings of the software GPU. Every INFLIGHT_ variable is read here.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/async/timing.hpp"
#include "gpu/machine/config/options.hpp"

namespace inflight::cuda {

// PTX in a file that is used in place of the program's module with this kernel.
struct Replacement {
  std::string kernel;  // its name in the PTX
  std::string file;
};

// The checker's settings. Lists of files are separated by colons.
struct CheckSettings {
  bool on = false;                        // INFLIGHT_CHECK: 0 or 1
  bool leaks = false;                     // INFLIGHT_LEAK_CHECK: 0 or 1
  bool advice = false;                    // INFLIGHT_ADVICE: 0 or 1
  bool api_errors = false;                // INFLIGHT_API_ERRORS: 0 or 1
  std::vector<std::string> reports;       // INFLIGHT_REPORT: files
  int error_exitcode = 86;                // INFLIGHT_ERROR_EXITCODE: 0 to 255; 0: the program's own
  std::vector<std::string> suppressions;  // INFLIGHT_SUPPRESSIONS: files
  bool gen_suppressions = false;          // INFLIGHT_GEN_SUPPRESSIONS: 0 or 1
  std::string baseline;                   // INFLIGHT_BASELINE: a report in JSON
  std::string source_root;                // INFLIGHT_SOURCE_ROOT: folders
  bool verbose = false;                   // INFLIGHT_VERBOSE: 0 or 1
  unsigned seeds = 0;  // INFLIGHT_SEEDS: runs of `inflight check`, each in a different order
  // INFLIGHT_SPOOL: folders, set by `inflight check`, where processes leave their results for it
  // to collect. They are tried in this order.
  std::string spool;
};

struct Settings {
  std::string device = "h200";  // INFLIGHT_DEVICE: a profile's name
  int devices = 1;              // INFLIGHT_DEVICES: 1 to 64
  // INFLIGHT_DRIVER: what cuDriverGetVersion returns, 1000 * major + 10 * minor; given as 13.4.
  int driver_version = 13000;
  // The newest version of PTX that it takes, 94 for 9.4. A driver that was chosen takes its own
  // CUDA's. The default one takes all that Inflight knows, so what newer compilers give runs
  // without being asked for.
  int newest_ptx = 94;
  async::Timing timing;                                // INFLIGHT_ASYNC: early, late, shuffled:SEED
  machine::Turns turns;                                // INFLIGHT_TURNS: instructions, random:SEED
  machine::Compile compile = machine::Compile::never;  // INFLIGHT_COMPILE: always, auto...
  std::chrono::milliseconds timeout{0};  // INFLIGHT_TIMEOUT: seconds a launch may take; 0: no limit
  bool stats = false;                    // INFLIGHT_STATS: 1, or a path that ends in .json
  std::string stats_file;
  bool fidelity = false;  // INFLIGHT_FIDELITY: 0 or 1; reports how close results are to a chip's
  std::string blas;       // INFLIGHT_BLAS: a shared library; empty: the host's
  std::string fft;        // INFLIGHT_FFT: one or two shared libraries; empty: the host's
  // INFLIGHT_SLACK: allocations are accessible up to the next multiple of this many bytes, a power
  // of two.
  std::uint64_t slack = 1;
  // INFLIGHT_MEMORY: bytes of host memory that all devices together may take; none:
  // default_host_share().
  std::optional<std::uint64_t> memory;
  // INFLIGHT_HOST_ACCESS: 0 or 1; 1 lets host code access device memory.
  bool host_access = false;
  // INFLIGHT_WORKERS: host threads; 0: all cores. Default: the slots that CTest gave the test
  // (ctest.hpp).
  unsigned workers = 0;
  bool progress = false;  // INFLIGHT_PROGRESS: 0 or 1
  // INFLIGHT_STRICT: 0 or 1; 1 rejects the launch of a kernel that has an unsupported instruction.
  // `inflight check` then counts warnings too.
  bool strict = false;
  // INFLIGHT_LOG: a file that lists the calls that failed; empty: none.
  std::string log;
  // INFLIGHT_PTX: KERNEL=FILE, several separated by colons.
  std::vector<Replacement> replacements;
  CheckSettings check;
};

// Reads the variables through `variable` (null: unset). An error is one sentence that names the
// variable, its value and the accepted values.
tl::expected<Settings, std::string> read_settings(
    const std::function<const char*(const char*)>& variable);

// The process's settings, read once. A bad value is reported and ends the process with status 2,
// because the program would not run as requested.
const Settings& settings();

}  // namespace inflight::cuda
