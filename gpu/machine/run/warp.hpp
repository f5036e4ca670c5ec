// A warp: 32 lanes that run together while they stand at the same instruction.
//
// Lanes that part at a branch become splits. One split runs at a time; the others are parked. The
// split that runs is the one in the deepest call and, there, at the lowest op: blocks are laid out
// so that this reaches every meeting point with all lanes that go there ("thread frontiers").
// Splits that meet at the same op in the same call merge. When a slice of the warp's time ends, the
// split that waited longest gets the next slice, so every lane makes progress in the end.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

// What a fault is about, beyond its kind.
struct FaultDetail {
  bool access = false, writes = false;     // of the first lane, at an address
  ptx::Space space = ptx::Space::generic;  // that `address` counts in
  std::uint64_t address = 0, bytes = 0;    // bytes 0: not known
  std::uint32_t alignment = 0;             // that the address needs
  bool tensor_map = false;                 // of a tensor map, or of what one does not allow
};

// Where each lane's stack ends: an offset in its local memory.
using StackPointers = std::array<std::uint32_t, lanes>;

// One call of a function by some lanes. Calls from the same place in the same caller share a frame.
struct Frame {
  Frame* parent = nullptr;
  const Op* call = nullptr;  // in the caller: it goes on behind
  const Code* code = nullptr;
  LineBuffer registers;
  std::uint32_t local_base = 0;  // bytes, in each lane's local memory
  std::uint32_t depth = 0;
  std::uint32_t inside = 0;                       // lanes that called and have not left
  std::unique_ptr<StackPointers> stack;           // of code that moves them
  struct Count* counts = nullptr;                 // of counted code: its slots
  std::shared_ptr<UndefinedRegisters> undefined;  // null: none of its registers ever was
  std::vector<std::unique_ptr<Frame>> children;

  // Lanes of `mask` begin the function: their stacks end behind its frame.
  void begin(std::uint32_t mask);
  // Where the frame of a function that lanes of `mask` call begins at the earliest.
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
  warpgroup,   // wgmma: detail = warps that have to issue what this one has, by rank in the group
  sleep,       // nanosleep: detail = the cycle at which it ends
  grids,       // griddepcontrol.wait
};

struct Split {
  const Op* pc = nullptr;  // where it goes on: behind a barrier or a sleep, once that is over
  Frame* frame = nullptr;
  std::uint32_t mask = 0;
  Wait wait = Wait::nothing;
  std::uint64_t detail = 0;
  std::uint64_t last_run = 0;  // the slice in which it last ran
  std::uint32_t parity = 0;    // of the phase that it waits for at an mbarrier
};

struct alignas(64) Warp {
  // Each launch makes and ends as many.
  static void* operator new(std::size_t bytes) { return take_lines(bytes); }
  static void operator delete(void* warp, std::size_t bytes) { give_back_lines(warp, bytes); }

  Warp() = default;
  ~Warp();
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  // --- what handlers touch ---
  char* base[4] = {};
  std::uint32_t mask = 0;     // lanes that execute
  bool whole = false;         // mask holds every lane that lives: writes need no mask
  std::uint32_t alive = 0;    // lanes that have not exited
  std::int32_t budget = 0;    // ops left in this slice
  std::uint32_t carry = 0;    // the carry flag CC.CF, a bit a lane
  std::uint32_t granted = 0;  // lanes whose phase at an mbarrier was seen complete when they woke
  std::uint32_t cluster_arrived = 0;  // lanes that arrived at barrier.cluster and have not waited
  std::uint32_t cluster_phase = 0;    // the parity of the phase in which they did
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

  // --- moving on: each returns what a handler returns ---
  // What a jump takes from the slice: the ops that it goes back over, or this if they are fewer.
  static constexpr std::int32_t shortest_jump = 8;
  // Ops from one to the other, which lies behind; none if it lies before.
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
  void split_off(std::uint32_t rest, const Op* pc);  // lanes that go on at pc later
  const Op* converge(const Op* target);  // meets splits at `target`, then runs whoever is first
  const Op* pause(const Op* pc);         // the slice ends; goes on at pc
  const Op* yield(const Op* pc);         // the turn ends, not the slice
  const Op* park(const Op* pc, Wait wait, std::uint64_t detail,
                 std::uint32_t parity = 0);   // these lanes wait at pc
  bool call(const Code* code, const Op* op);  // enters a frame; false: a fault ended the kernel
  const Op* leave(const Op* from);            // ret at `from`, in a called function
  const Op* exit_lanes();                     // exit
  // Ends the kernel. The report is completed with kernel, block, thread and source line; `about` is
  // for listeners.
  const Op* fault(const Op* at, FaultKind kind, std::uint32_t lane_mask, std::string what,
                  const FaultDetail& about = {});
  // Goes on at `next` behind an instruction that took as long as so many ops. The slice ends
  // if the launch has been stopped meanwhile: code without a jump would not notice.
  const Op* spend(const Op* next, std::uint64_t ops);
  // A look at the time, or a strong load or atomic, takes so many cycles. It may be a spin, so it
  // uses up the slice faster; and only another warp can end a spin on memory.
  static constexpr std::int32_t poll_cycles = 64, memory_poll_ops = 512;
  void poll(std::uint8_t what = Polls::memory) {
    budget -= poll_cycles;
    polled |= what;
    if (what != Polls::memory) return;
    budget -= memory_poll_ops - poll_cycles;
    allotted -= memory_poll_ops - poll_cycles;
  }
  // What ends the slice: only what other warps do can make the next try succeed.
  void spin() {
    poll();
    allotted -= budget + 1;
    budget = -1;
  }
  // What it took of its turn so far, in cycles of its block's clock.
  std::uint64_t used() const { return static_cast<std::uint64_t>(std::max(0, allotted - budget)); }

  // --- what the scheduler touches ---
  std::vector<Split> parked;
  std::uint32_t index = 0;  // in the block
  std::uint64_t slice = 0;
  std::int32_t allotted = 0;        // the budget that its turn began with
  std::int32_t counted = 0;         // instructions of this slice, where turns count them
  std::uint32_t phases = 0;         // that it is still to begin in step with its block
  std::uint32_t counted_lanes = 0;  // by the last counting op
  bool exclusive = false;           // this slice belongs to one split whatever its place
  std::uint8_t polled = 0;          // Polls: executed what may be part of a spin, in this turn
  bool progressed = false;          // did anything that others may see since the flag was cleared
  std::uint32_t undefined = 0;      // registers with bits that nothing has written (undefined.hpp)
  bool follows = false;             // who runs its ops looks at that
  const MatrixVariant* variant = nullptr;  // of a load or store of a matrix that is tried out
  std::uint32_t waiting = 0;               // lanes whose wait has been reported to a listener
  std::unique_ptr<Frame> root;
  std::vector<std::unique_ptr<Frame>> spare;  // that no lane is in, newest last
  std::uint64_t spare_bytes = 0;
  std::vector<std::uint32_t> local_words;
  LineBuffer values;  // Base::warp

  bool done() const { return alive == 0; }
  bool runnable() const;
  void run(std::int32_t slice_ops);  // one slice
  // A turn of so many instructions; `fair`: for the split that waited longest where a spin or long
  // running may starve it.
  void run_instructions(std::uint32_t count, bool fair);
  static constexpr std::uint64_t any_detail = ~0ull;
  static constexpr std::uint32_t deepest_call = 20000;
  void wake(Wait wait, std::uint64_t detail);
  void keep(const Split& split);    // parks it, merged with one at the same place
  void absorb(const Op* pc);        // parked splits that are at pc too
  const Op* next();                 // runs the first parked split that can run; null: none can
  const Op* next_fair();            // or one that others may starve
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
