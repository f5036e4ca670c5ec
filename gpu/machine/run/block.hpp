// A block (CTA) in execution, and the grid that it belongs to.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/async/timing.hpp"
#include "gpu/check/listener.hpp"
#include "gpu/check/reads/read_log.hpp"
#include "gpu/machine/config/dependency.hpp"
#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/config/limits.hpp"
#include "gpu/machine/config/options.hpp"
#include "gpu/machine/link/reserved_shared.hpp"
#include "gpu/machine/run/turns.hpp"
#include "gpu/machine/run/warp.hpp"
#include "gpu/machine/run/written_allocations.hpp"

namespace inflight::machine {

// The current phase of a hardware barrier of a block (PTX ISA, "bar, barrier").
struct NamedBarrier {
  std::uint32_t arrived = 0;       // threads; whole warps if `expected` is given
  std::uint32_t expected = 0;      // threads, a multiple of 32; 0: all alive
  std::uint32_t phase = 0;         // completions so far
  std::uint32_t reduced_popc = 0;  // threads whose predicate was true
  bool reduced_and = true, reduced_or = false;
  bool reduces = false;  // some thread gave a predicate
};

class Observation;
class Parent;  // children/parent.hpp
class Counts;
struct LastToArrive;
struct Cluster;
class Warpgroup;
class TensorMemory;

// A launch being executed.
struct Grid {
  const Launch* launch = nullptr;
  // Takes the next cluster, which will not be started. Returns its index; nothing if none is left.
  std::function<std::optional<std::uint64_t>()> cancel;
  const Limits* limits = nullptr;
  const Options* options = nullptr;
  const std::function<void(std::string_view)>* print = nullptr;
  const Code* entry = nullptr;
  // How another engine runs the kernel, and where that will be once it is ready. Null: neither.
  const Compiled* compiled = nullptr;
  const std::atomic<const Compiled*>* awaited = nullptr;
  std::uint64_t compiled_blocks = ~std::uint64_t{0};  // it runs only the first ones
  std::string why_interpreted;  // why the launch has no other engine; empty if it has or wants none
  const Compiled* compiled_now() const {
    if (!awaited) [[likely]]
      return compiled;
    const Compiled* const made = awaited->load(std::memory_order_acquire);
    return made && made->why_not.empty() ? made : nullptr;
  }
  // What the interpreter executes of the kernel, until `hot_at` ops, when hot() is called once.
  Heat* heat = nullptr;  // null: nobody asks
  std::uint64_t hot_at = 0;
  std::function<void()> hot;
  void warm(std::uint64_t ops);
  const Observation* observation = nullptr;  // null: nothing listens
  check::Topic topics = check::Topic::none;  // the events a listener wants
  Memory* memory = nullptr;
  int device = 0;
  std::uint64_t id = 0;
  const std::byte* parameters = nullptr;
  std::uint32_t static_shared = 0;  // bytes; dynamic shared memory starts after it, aligned
  // Offsets in shared memory: a block owns [reserved_shared, shared_end), and [0, reserved_end) if
  // its kernel uses the reserved part.
  std::uint32_t dynamic_offset = 0, shared_end = reserved_shared, reserved_end = 0;
  bool uses_workspace = false;
  std::uint64_t block_values = 0;  // a bit for each row of Base::block that the kernel reads
  bool may_copy_tensors = false;   // a thread may reach a tensor copy
  std::uint64_t workspace = 0;     // what %envreg1:2 points to, if the kernel uses it
  static constexpr std::uint32_t workspace_barrier = 4;  // offset of the barrier's word there
  std::uint64_t stack_limit = 256 << 10;                 // bytes of local memory a thread may use
  std::atomic<std::uint64_t> call_bytes{0};  // host memory used for frames of called functions
  WrittenAllocations written;
  std::atomic<bool> stop{false};                   // ended by a fault, a time-out or a cancellation
  std::uint64_t begin = first_cycle;               // on the device's clock
  std::atomic<std::uint64_t> latest{first_cycle};  // latest cycle that a block has reported
  Parent* parent = nullptr;            // runs what its threads launch; null: they cannot launch
  Dependents* dependents = nullptr;    // null: none, or no block can issue launch_dependents
  std::atomic<bool> requested{false};  // a block has issued launch_dependents
  // Blocks that have neither issued launch_dependents nor ended.
  std::atomic<std::uint64_t> holding_dependents{0};

  // Blocks that have not begun; counted only if a dependent waits for that, else 0.
  std::atomic<std::uint64_t> yet_to_begin{0};

  // `blocks` more blocks have begun.
  void begun(std::uint64_t blocks);
  // A block issues launch_dependents (`by_instruction`) or ends without it.
  void launch_dependents(bool by_instruction);
  // Do grids that this one waits for still run?
  bool waits_for_grids() const {
    return launch->prerequisites && !launch->prerequisites->complete();
  }

  // Begins at the device's time, or when `front`, a launch of the same stream, has just ended.
  void begin_at_clock();
  void begin_behind(const Grid& front);
  // Sets the device's clock to the time at which the launch has ended.
  void set_clock() const;

  // Records that a block's clock has reached `cycle`.
  void reached(std::uint64_t cycle) {
    std::uint64_t seen = latest.load(std::memory_order_relaxed);
    while (seen < cycle && !latest.compare_exchange_weak(seen, cycle, std::memory_order_relaxed)) {
    }
  }

  // Returns a function's code as this launch runs it (observed or not), or a sentence that says why
  // it cannot run. The launcher sets it: this folder decodes nothing.
  std::function<tl::expected<const Code*, std::string>(Program::FunctionRef)> code;
  // True on the first call with these arguments. Thread-safe.
  bool first_time(std::uint64_t instruction, unsigned what);
  // Ends the launch. The first call decides its outcome.
  void fail(FaultKind kind, std::string report) { fail({kind, std::move(report)}); }
  void fail(Outcome outcome);
  Outcome outcome() const;

 private:
  std::uint64_t end() const;
  mutable std::mutex mutex_;
  Outcome outcome_;
  std::set<std::pair<std::uint64_t, unsigned>> advised_;
};

struct Block {
  Block();
  ~Block();
  Block(const Block&) = delete;

  Grid* grid = nullptr;
  Cluster* cluster = nullptr;
  Counts* counts = nullptr;  // null: no listener wants sums
  std::uint32_t rank = 0;    // in the cluster
  std::uint32_t window = 0;  // its first shared address: rank << 24
  bool new_in_grid = true;   // not started in this grid yet
  bool ended = true;         // every thread has exited
  bool left = true;          // ended, and other blocks may no longer access its shared memory
  // Rounds left in which each warp executes one instruction. A kernel that makes mbarriers begins
  // with them: its warps start together, as on a GPU, where programs get away with clearing an
  // mbarrier's bytes from every thread while one thread initialises it.
  std::uint32_t in_step = 0;
  bool launched_dependents = false;  // it has issued launch_dependents
  bool held = false;                 // some threads wait at griddepcontrol.wait
  // Rounds in which its warps did nothing that others may see but exchange values, by atomics and
  // strong stores, or poll.
  std::uint32_t exchanges = 0;
  bool progressed = false;   // the last run() did something other than polling
  bool only_polled = false;  // the last run() only polled, or could run nothing
  bool polled_time = false;  // it also read the time: the wait may end by itself
  TurnOrder turns;
  Clock clock;
  std::uint64_t linear = 0;
  Dim3 index{0, 0, 0};
  std::uint32_t threads = 0, alive_threads = 0;
  std::byte* shared = nullptr;  // at offset 0, aligned to 1024 bytes
  std::uint32_t shared_end = reserved_shared, reserved_end = 0;  // as in Grid
  std::array<NamedBarrier, 16> barriers;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<std::unique_ptr<Warpgroup>> warpgroups;  // made on first use
  std::unique_ptr<TensorMemory> tensor_memory;         // made on first use
  // By warp: it has seen that no cluster is left to take (clusterlaunchcontrol.query_cancel).
  std::uint32_t saw_no_cluster = 0;
  shadow::ReadLog reads;  // of its shared memory, which a listener may let it note
  LineBuffer shared_storage;
  LineBuffer values;  // Base::block
  // Until which cycle its ops have been counted for Grid::heat, and how many are not yet told.
  std::uint64_t warm_until = 0, warmth = 0;

  // Becomes the block at `index` of its grid, with every thread at the kernel's entry.
  void start(const Dim3& index);
  enum class State : std::uint8_t {
    done,      // every thread has exited, or the grid has stopped
    spinning,  // runnable warps only poll, or `rounds` are over: let other blocks run
    stuck,     // no warp can run and nothing of its own is in flight
  };
  // Runs warps in turn. Returns when the grid stops or after `rounds` rounds, or earlier.
  State run(Worker& worker, std::uint32_t rounds);
  bool can_run() const;
  // The active lanes of `warp` sleep for this time and then continue after `op`.
  const Op* sleep(Warp& warp, const Op* op, std::uint64_t nanoseconds);
  void lanes_exited(Warp& warp, std::uint32_t mask);

  // Have all threads that barrier `id` expects arrived?
  bool complete(std::uint32_t id) const;
  // If so, gives the waiting threads their reductions, wakes them and starts the next phase.
  void try_complete(std::uint32_t id, const LastToArrive& last);
  void threads_exited(const Warp& warp, std::uint32_t mask);

 private:
  struct Round;  // the result of a round of turns
  void take_turns(Worker& worker, Round& round);
  template <class Run>
  bool take_turn(Warp& warp, Worker& worker, Round& round, Run run);
  void pass_time(const Round& round, Worker& worker);
  void break_pattern(const Round& round);
  void try_release();
  void wake_sleepers();
  void warm();
};

}  // namespace inflight::machine
