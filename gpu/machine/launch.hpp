// Kernel + launch → results: the machine's front door.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/machine/link/program.hpp"

namespace inflight::check {
class Listener;
}

namespace inflight::machine {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// What of a device profile the machine needs.
struct Limits {
  std::uint32_t multiprocessors = 132;
  std::uint32_t max_threads_per_block = 1024;
  std::uint32_t max_threads_per_multiprocessor = 2048;
  std::uint32_t max_blocks_per_multiprocessor = 32;
  std::uint32_t shared_per_block = 48 << 10;  // without opt-in
  std::uint32_t shared_per_block_optin = 227 << 10;
  std::uint32_t shared_per_multiprocessor = 228 << 10;
  std::uint32_t registers_per_multiprocessor = 65536;
  std::uint32_t clock_khz = 1980000;  // of %clock
  std::uint32_t max_cluster = 16;     // blocks
  std::vector<std::uint32_t> gpcs;  // multiprocessors of each GPC that holds clusters of 3 and more
};

enum class Timing : std::uint8_t { late, early, shuffled };

// In what turns a block's warps run: --turns.
struct Turns {
  enum class Kind : std::uint8_t {
    chip,    // long ones, but in step behind a barrier: an order that a chip is likely to take
    fixed,   // so many instructions each
    random,  // of random lengths, warps and blocks in a random order
  };
  Kind kind = Kind::chip;
  std::uint32_t instructions = 0;
  std::uint64_t seed = 0;
};

struct Options {
  Turns turns;
  Timing timing = Timing::late;          // --async
  std::uint64_t seed = 0;                // --async shuffled:SEED
  std::chrono::milliseconds timeout{0};  // --timeout a launch; 0: none
  unsigned workers = 0;                  // host threads; 0: all cores
  check::Listener* listener = nullptr;   // null: nothing listens
  bool progress = false;                 // show progress on standard error when it is a terminal
  std::uint64_t stack_bytes =
      1024;  // cudaLimitStackSize; a frame known at compile time may be larger
  std::uint64_t call_bytes = 1 << 30;  // of the host's memory, for a launch's calls
  std::uint64_t heap_bytes = 8 << 20;  // cudaLimitMallocHeapSize
  // Hears of what is no fault but makes results doubtful: a sentence, and a key that is the same
  // wherever the sentence would be. From any thread; null: nobody hears.
  std::function<void(const std::string& key, const std::string& sentence)> advise;
};

// What ended a kernel. Each has one CUDA error code (gpu/cuda maps them).
enum class FaultKind : std::uint8_t {
  none,
  refused,                // an instruction, function or feature that is not supported
  invalid_launch,         // a configuration the kernel or the device does not allow
  too_many_resources,     // threads or shared memory past the limits
  cooperative_too_large,  // a cooperative grid that cannot be wholly resident
  illegal_address,        // out of bounds, freed, null
  misaligned_address,
  invalid_address_space,
  invalid_pc,           // a call to what is no function
  illegal_instruction,  // `brkpt`, a malformed operation
  stack_overflow,
  assertion,       // __assertfail
  trap,            // `trap`
  launch_failure,  // shared memory of a block that is not there
  deadlock,        // nothing can ever move
  timeout,         // --timeout passed
  interrupted,     // Ctrl-C
};

struct Outcome {
  FaultKind kind = FaultKind::none;
  // One readable paragraph for standard error; empty when all is well. A launch that was cancelled
  // says where it was.
  std::string report;
  bool ok() const { return kind == FaultKind::none; }
};

struct Launch {
  const Kernel* kernel = nullptr;
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;       // bytes
  std::uint32_t shared_granule = 1;       // a block's shared memory ends at a multiple of it
  std::uint32_t shared_optin = 48 << 10;  // what cudaFuncSetAttribute allowed this function
  bool cooperative = false;
  std::vector<std::byte> parameters;          // laid out as Kernel::parameters says
  std::uint64_t id = 0;                       // counts launches, for messages and %gridid
  std::uint64_t stream = 0;                   // for events only
  const std::atomic<bool>* cancel = nullptr;  // set by another thread to end the launch early
  // The device's clock (machine/clock.hpp): the launch begins then and sets it to its end. Null:
  // nobody launches another.
  std::atomic<std::uint64_t>* clock = nullptr;
};

// 32-bit registers a thread: how many live at once, rounded as the hardware gives them out. What
// ptxas would use on a GPU is not known here.
[[gnu::visibility("default")]] std::uint32_t registers(const Kernel&);

// Its name as the program's source has it.
[[gnu::visibility("default")]] std::string source_name(const Kernel&);

// What a kernel whose registers nothing bounds needs of the register file.
struct RegisterNeed {
  std::uint32_t live = 0;  // that live at once in PTX, a thread; 0: ptxas was told the block's size
  std::uint32_t room = 0;  // that a thread can have in blocks of this size
};
[[gnu::visibility("default")]] RegisterNeed register_need(const Kernel&, std::uint32_t threads,
                                                          const Limits&);

// How many blocks of this shape fit one multiprocessor; 0 if none does.
[[gnu::visibility("default")]] std::uint32_t resident_blocks(const Kernel&, std::uint32_t threads,
                                                             std::uint64_t dynamic_shared,
                                                             const Limits&);

// How many clusters of blocks of this shape the device holds at once.
[[gnu::visibility("default")]] std::uint64_t resident_clusters(const Kernel&, const Dim3& cluster,
                                                               std::uint32_t threads,
                                                               std::uint64_t dynamic_shared,
                                                               const Limits&);

// Runs a launch to its end on the calling thread and the machine's workers. Thread-safe: several
// launches may run at once. What kernels print goes to `print` in whole messages.
Outcome run(const Launch&, const Limits&, const Options&,
            const std::function<void(std::string_view)>& print);

// What of `kernel` this machine cannot run: empty if nothing. (`inflight ptx`, and every launch.)
[[gnu::visibility("default")]] std::vector<std::string> unsupported(const Kernel&);

// "avx512", "avx2" or "baseline": the instruction set that run() uses on this host.
std::string_view instruction_set();

}  // namespace inflight::machine
