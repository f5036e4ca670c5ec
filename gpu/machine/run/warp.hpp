// A warp: 32 lanes that run together while they are at the same op.
//
// Lanes that take different ways at a branch become splits. One split runs at a time and the others
// are parked. The running split is the one in the deepest call and, in that call, at the lowest op.
// Decoding orders a function's blocks so that all lanes which reach a reconvergence point meet
// there ("thread frontiers"). Splits at the same op in the same call merge. When a slice of the
// warp's time ends, the split that waited longest may get the next slice, so every lane makes
// progress.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/async/violation.hpp"
#include "gpu/machine/code/code.hpp"
#include "gpu/machine/code/op.hpp"
#include "gpu/machine/report/outcome.hpp"
#include "gpu/machine/run/clock.hpp"

namespace inflight::machine {

struct Block;
struct Worker;
struct UndefinedRegisters;
struct MatrixVariant;

inline constexpr int lanes = 32;
inline constexpr std::uint32_t all_lanes = 0xffffffff;

// Details of a fault, besides its kind.
struct FaultDetail {
  bool access = false, writes = false;             // by the first faulting lane, at `address`
  ptx::Space space = ptx::Space::generic;          // state space of `address`
  std::uint64_t address = 0, bytes = 0;            // bytes 0: not known
  std::uint32_t alignment = 0;                     // required, in bytes
  bool ends = true;                                // false: the kernel goes on
  bool tensor_map = false;                         // it concerns a tensor map or breaks its rules
  async::Violation rule = async::Violation::none;  // of tensor copies
  std::string_view tensor_check;  // NVIDIA's name for a broken rule of tensor memory, else empty
};

// The end of each lane's stack, as an offset in its local memory.
using StackPointers = std::array<std::uint32_t, lanes>;

// One call of a function by some lanes. Calls from the same place in the same caller share a frame.
struct Frame {
  Frame* parent = nullptr;
  const Op* call = nullptr;  // in the caller, which continues after it
  const Code* code = nullptr;
  LineBuffer registers;
  std::uint32_t local_base = 0;  // bytes, in each lane's local memory
  std::uint32_t depth = 0;
  std::uint32_t inside = 0;                       // lanes that have called and not returned
  std::unique_ptr<StackPointers> stack;           // null: the code never moves them
  struct Count* counts = nullptr;                 // the slots of counted code
  std::shared_ptr<UndefinedRegisters> undefined;  // null: no register was ever undefined
  std::vector<std::unique_ptr<Frame>> children;

  // Lanes of `mask` enter the function: their stacks end after its frame.
  void begin(std::uint32_t mask);
  // The lowest possible local_base for a function that lanes of `mask` call from here.
  std::uint64_t end(std::uint32_t mask) const;
  std::uint64_t bytes() const { return sizeof(Frame) + registers.size(); }
};

// What a split waits for.
enum class Wait : std::uint8_t {
  nothing,
  barrier,     // bar/barrier: detail = barrier id
  collective,  // a .sync instruction: detail = its member mask
  mbarrier,    // try_wait: detail = shared offset of the mbarrier
  cluster,     // barrier.cluster
  warpgroup,   // wgmma: detail = mask of missing warps by rank; setmaxnreg: RegistersAwaited
  columns,     // tcgen05.alloc: detail = how many columns of tensor memory
  sleep,       // nanosleep: detail = the cycle at which it ends
  grids,       // griddepcontrol.wait
  endless,  // nothing: a loop that no thread leaves (endless.hpp). detail: 1 if not just computing
};

struct Split {
  const Op* pc = nullptr;  // next op; the waiting op itself while at a barrier or asleep
  Frame* frame = nullptr;
  std::uint32_t mask = 0;
  Wait wait = Wait::nothing;
  std::uint64_t detail = 0;
  std::uint64_t last_run = 0;  // the slice in which it last ran
  std::uint32_t parity = 0;    // of the mbarrier phase it waits for
};

struct alignas(64) Warp {
  // Each launch creates and destroys many warps.
  static void* operator new(std::size_t bytes) { return take_lines(bytes); }
  static void operator delete(void* warp, std::size_t bytes) { give_back_lines(warp, bytes); }

  Warp() = default;
  ~Warp();
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  // --- what handlers touch ---
  char* base[4] = {};
  std::uint32_t mask = 0;             // lanes that execute
  bool whole = false;                 // mask == alive: writes need no mask
  std::uint32_t alive = 0;            // lanes that have not exited
  std::int32_t budget = 0;            // ops left in this slice
  std::uint32_t carry = 0;            // the carry flag CC.CF, one bit per lane
  std::uint32_t granted = 0;          // lanes woken because their mbarrier phase is complete
  std::uint32_t cluster_arrived = 0;  // lanes that arrived at barrier.cluster but have not waited
  std::uint32_t cluster_phase = 0;    // parity of the phase they arrived in
  Frame* frame = nullptr;
  Block* block = nullptr;
  Worker* worker = nullptr;
  std::uint32_t* local = nullptr;  // [word][lane]: byte b of lane l is in word b/4

  template <class T>
  T* at(Ref ref) {
    return reinterpret_cast<T*>(base[ref & 3] + (ref & ~3u));
  }
  template <class T>
  const T* at(Ref ref) const {
    return reinterpret_cast<const T*>(base[ref & 3] + (ref & ~3u));
  }
  std::uint32_t predicate(Ref ref, bool negated) const {
    return *at<std::uint32_t>(ref) ^ (negated ? all_lanes : 0);
  }
  // Writes a predicate's bits for the active lanes.
  void set_predicate(Ref ref, std::uint32_t bits) {
    std::uint32_t& p = *at<std::uint32_t>(ref);
    p = (p & ~mask) | (bits & mask);
  }

  // A value in one lane's local memory. Naturally aligned; no bounds check.
  template <class T>
  T load_local(int lane, std::uint32_t offset) const {
    T value;
    auto* out = reinterpret_cast<char*>(&value);
    for (std::uint32_t i = 0; i < sizeof(T); ++i) out[i] = *local_byte(lane, offset + i);
    return value;
  }
  template <class T>
  void store_local(int lane, std::uint32_t offset, T value) {
    auto* in = reinterpret_cast<const char*>(&value);
    for (std::uint32_t i = 0; i < sizeof(T); ++i) *local_byte(lane, offset + i) = in[i];
  }
  char* local_byte(int lane, std::uint32_t offset) const {
    return reinterpret_cast<char*>(local + (offset / 4) * lanes + lane) + offset % 4;
  }

  // The instruction of an op of the function that runs, as counts, events and reports name it.
  std::uint32_t number(const Op* op) const { return frame->code->first_number + op->instruction; }

  // --- control flow: each returns what a handler returns ---
  // The least cost of a jump. A jump back costs the ops that it goes back over, if they are more.
  static constexpr std::int32_t shortest_jump = 8;
  // Ops from `from` to a later `to`; 0 if `to` is earlier.
  static std::int32_t distance(const Op* from, const Op* to) {
    constexpr std::ptrdiff_t most = 1 << 20;  // more than a slice
    return static_cast<std::int32_t>(std::clamp<std::ptrdiff_t>(to - from, 0, most));
  }
  const Op* jump(const Op* target, std::int32_t cost = shortest_jump) {
    if ((budget -= cost) < 0) [[unlikely]]
      return pause(target);
    return parked.empty() ? target : converge(target);
  }
  const Op* diverge(const Op* taken, std::uint32_t taken_mask, const Op* other);
  void split_off(std::uint32_t rest, const Op* pc);  // parks `rest` at pc
  const Op* converge(const Op* target);  // merges splits at `target`, then runs the first
  const Op* pause(const Op* pc);         // ends the slice; continues at pc
  const Op* yield(const Op* pc);         // ends the turn, not the slice
  const Op* park(const Op* pc, Wait wait, std::uint64_t detail,
                 std::uint32_t parity = 0);   // the active lanes wait at pc
  bool call(const Code* code, const Op* op);  // enters a frame; false: a fault ended the kernel
  const Op* leave(const Op* from);            // ret at `from`, in a called function
  const Op* exit_lanes();                     // exit
  // Ends the kernel. The report adds kernel, block, thread and source line to `what`. `about` is
  // for listeners.
  const Op* fault(const Op* at, FaultKind kind, std::uint32_t lane_mask, std::string what,
                  const FaultDetail& about = {});
  // Continues at `next` after an instruction that took as long as `ops` ops. Ends the slice if the
  // launch has been stopped, because code without jumps would not notice.
  const Op* spend(const Op* next, std::uint64_t ops);
  // A read of the clock, a strong load or an atomic costs this many cycles. It may be part of a
  // spin, so it uses up the slice faster. A poll of memory costs more ops, because only another
  // warp can end such a spin.
  static constexpr std::int32_t poll_cycles = 64, memory_poll_ops = 512;
  void poll(std::uint8_t what = Polls::memory) {
    budget -= poll_cycles;
    polled |= what;
    if (what != Polls::memory) return;
    budget -= memory_poll_ops - poll_cycles;
    allotted -= memory_poll_ops - poll_cycles;
  }
  // Ends the slice: the next try can succeed only after other warps have run.
  void spin() {
    poll();
    allotted -= budget + 1;
    budget = -1;
  }
  // Cycles of the block's clock that this turn has used so far.
  std::uint64_t used() const { return static_cast<std::uint64_t>(std::max(0, allotted - budget)); }

  // --- another engine ---
  const Compiled* compiled = nullptr;  // how it runs the kernel; null: not at all
  char* homes = nullptr;               // where it keeps values that the lanes share
  const Op* compiled_until = nullptr;  // the homes hold what is live at this op; null: nowhere
  void make_homes();                   // for `compiled`, which is new

  // --- what the scheduler touches ---
  std::vector<Split> parked;
  std::uint32_t index = 0;  // in the block
  std::uint64_t slice = 0;
  std::int32_t allotted = 0;        // the budget at the start of its turn
  std::int32_t counted = 0;         // instructions of this slice, if turns count instructions
  std::uint32_t phases = 0;         // still to begin in step with its block
  std::uint32_t repeats = 0;        // blocks executed of loops that no thread leaves, if observed
  std::uint32_t counted_lanes = 0;  // the mask at the last counting op
  bool exclusive = false;           // the split keeps this slice even if others are first
  std::uint8_t polled = 0;          // Polls: what this turn executed that may be part of a spin
  bool progressed = false;          // it did something that others may see
  bool exchanged = false;           // it did so by an atomic or a strong store
  std::uint32_t undefined = 0;      // registers with undefined bits (undefined.hpp)
  bool tracks_undefined = false;    // the loop that runs its ops follows undefined bits
  bool in_host_code = false;        // another engine runs it; only if instructions are counted
  const MatrixVariant* variant = nullptr;  // set while a matrix load or store runs on a variant
  std::uint32_t waiting = 0;               // lanes whose wait was reported to a listener
  std::unique_ptr<Frame> root;
  std::vector<std::unique_ptr<Frame>> spare;  // frames without lanes, newest last
  std::uint64_t spare_bytes = 0;
  std::vector<std::uint32_t> local_words;
  LineBuffer values;  // Base::warp
  LineBuffer home_lines;

  bool done() const { return alive == 0; }
  bool runnable() const;
  void run(std::int32_t slice_ops);  // one slice
  // A turn of `count` instructions. `fair`: runs the split that waited longest if a spin or long
  // running may starve it.
  void run_instructions(std::uint32_t count, bool fair);
  static constexpr std::uint64_t any_detail = ~0ull;
  static constexpr std::uint32_t deepest_call = 20000;
  void wake(Wait wait, std::uint64_t detail);
  void keep(const Split& split);    // parks it or merges it with a split at the same op
  void absorb(const Op* pc);        // merges parked splits that are at pc
  const Op* next();                 // resumes the first runnable split; null: none
  const Op* next_fair();            // or a split that others may starve
  void resume(const Split& split);  // makes it the running split
  void set_frame(Frame* f);
  void ensure_local(std::uint32_t bytes);
  Frame& enter_frame(const Code* code, const Op* op, std::uint32_t local_base,
                     std::uint64_t& grown);
  void leave_frame(Frame* f, std::uint32_t gone);
  static constexpr std::uint64_t most_spare = 128 << 10;  // bytes
  std::uint32_t first_thread() const { return index * lanes; }
};

}  // namespace inflight::machine
