// Barriers, mbarriers, collectives, divergence, and waits of threads.
#pragma once
#include <cstdint>
#include <span>

#include "gpu/async/violation.hpp"
#include "gpu/check/events/memory.hpp"

namespace inflight::check {

// bar.warp.sync is a Collective. A barrier of a whole grid consists of atomics on its workspace, so
// it is reported as accesses, not as a Barrier. `grid` is griddepcontrol: `wait` is reported when
// the preceding grids are complete, `arrive` when a block allows the dependent ones to begin
// (launch_dependents). It has one phase, in which the blocks of the grid arrive.
enum class BarrierKind : std::uint8_t { cta, cluster, grid };
inline constexpr std::uint32_t barrier_kind_count = 3;

struct Barrier {
  enum class Step : std::uint8_t {
    arrive,
    sync,    // arrive, and wait for the phase to complete
    reduce,  // like sync, with a predicate
    wait,    // cluster: these threads have arrived, and the phase is complete
    complete,
    wait_alone,  // cluster: these threads have not arrived, so they wait for nothing
  };
  // For `complete`: the threads whose arrival or exit completed the phase.
  Who who;
  BarrierKind kind = BarrierKind::cta;
  Step step = Step::sync;
  std::uint32_t id = 0;        // cta: 0 to 15
  std::uint32_t expected = 0;  // threads, or blocks that arrive; 0: all live threads
  std::uint32_t given = 0;     // the thread count in the instruction, if any
  // Threads that have arrived, including these. If a count is expected, the lanes that a warp lacks
  // arrive with its lowest live lane, because counts are in whole warps. grid: blocks. They arrive
  // with their first launch_dependents.
  std::uint32_t arrived = 0;
  std::uint64_t phase = 0;  // that they arrive at or wait for, or that is complete; counts from 0
  bool aligned = true;
  Order order = Order::acq_rel;  // relaxed: no memory ordering
};

struct MbarrierOp {
  enum class Op : std::uint8_t {
    init,
    inval,
    arrive,
    arrive_drop,
    expect_tx,
    complete_tx,
    test_wait,
    try_wait,
    pending_count,  // of a token; uses no mbarrier
    async_arrive,   // cp.async.mbarrier.arrive, when its copies complete
    async_arrive_issued,
  };
  // The lanes that did the same operation on the same mbarrier. There is one event per mbarrier, in
  // the order in which the machine performed the operations.
  Who who;
  Op op = Op::arrive;
  std::uint32_t address = 0;   // shared offset
  std::uint16_t rank = 0;      // cluster rank of the block that contains it
  std::uint64_t copy = 0;      // complete_tx by a bulk or tensor copy: its id, else 0
  std::uint32_t count = 0;     // the operand: arrivals per lane
  std::uint32_t tx_bytes = 0;  // the operand
  bool by_parity = false;      // test, try: waits for `parity`, not for a token's phase
  std::uint32_t parity = 0;    // test, try: parity of the phase
  std::uint64_t token = 0;     // test, try by token: the operand
  bool done = false;           // test, try: it succeeded. arrive, expect, complete: the phase ended
  bool no_complete = false, no_inc = false;
  bool of_tensor_work = false;  // async_arrive: by tcgen05.commit, else by cp.async.mbarrier.arrive
  Order order = Order::acq_rel;
  Scope scope = Scope::cta;
  bool unscoped = false;  // the instruction names no scope, and `scope` is what chips give it
  // The mbarrier after the operation.
  std::uint32_t phase_parity = 0, expected = 0, pending = 0;
  std::int32_t tx_count = 0;
  // The rule that the operation broke, in which case it changed nothing. async::sentence()
  // describes the rule; `count`, `tx_bytes` and the mbarrier's state have the values.
  async::Violation violation = async::Violation::none;
};

// Lanes execute a collective together: shfl, vote, match, redux, elect or bar.warp.sync. Only
// bar.warp.sync orders memory, like a barrier. The others order their threads by convergence alone.
// activemask and forms without .sync apply to the lanes that happen to execute together: no lane
// waits for another.
struct Collective {
  enum class Kind : std::uint8_t { sync, shuffle, vote, match, reduce, elect, activemask };
  // All lanes that take part. They may be at several instructions: this one is that of the last to
  // arrive.
  Who who;
  Kind kind = Kind::sync;
  Mask members = 0;  // the operand; who.mask for forms without one
};

struct Divergence {
  Who who;         // the lanes before the branch
  Mask taken = 0;  // lanes that jump; the others fall through
};

struct Reconvergence {
  Who who;  // all lanes that continue together
};

// Threads begin or end a wait, at one instruction, for something that they cannot do themselves.
// Each begin has an end, unless the kernel ends first. An instruction that need not wait has
// neither. Threads that poll memory in a loop are reported only by their accesses.
struct Wait {
  enum class Step : std::uint8_t { begin, end };
  // warpgroup: for the other warps of the warpgroup, to issue an instruction together. nothing: the
  // threads repeat a loop that has no way out.
  enum class For : std::uint8_t {
    barrier,
    mbarrier,
    collective,
    warpgroup,
    columns,  // of tensor memory
    sleep,
    nothing
  };
  Who who;
  Step step = Step::begin;
  For what = For::barrier;
  BarrierKind kind = BarrierKind::cta;  // barrier
  std::uint32_t id = 0;                 // barrier id or the mbarrier's shared offset
                                        // columns: how many
                                        // nothing: 1 if the loop accesses memory or waits
  std::uint32_t parity = 0;             // mbarrier: the phase waited for
  Mask members = 0;  // collective: lanes. warpgroup: bit w: warp w of the block is missing
};

// The waiting threads of a cluster in which no thread can continue, or none did for a time.
// Reported as this ends the launch.
struct Stuck {
  enum class Why : std::uint8_t {
    nothing_moves,  // no thread can continue
    only_polling,   // all that can continue only poll what no other thread can change
    out_of_time,    // --timeout
  };
  struct Threads {
    Wait wait;           // what they wait for; `step` is unused
    bool polls = false;  // they poll in a loop: no wait that the machine knows
    bool runs = false;   // they do not wait, and their warp's last turn did not poll
  };
  const Kernel* kernel = nullptr;
  std::uint64_t cluster = 0;  // linear index of its first block
  Why why = Why::nothing_moves;
  std::span<const Threads> threads;  // all live threads, by block, warp and instruction
  std::uint64_t not_begun = 0;       // blocks of the launch that found no room to begin
  // For how long all threads of the launch only polled. Pauses of the host do not count.
  std::uint32_t idle_ms = 0;
};

}  // namespace inflight::check
