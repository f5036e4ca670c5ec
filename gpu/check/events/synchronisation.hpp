// Barriers, mbarriers, collectives and divergence; who waits for what.
#pragma once
#include <cstdint>
#include <span>

#include "gpu/async/violation.hpp"
#include "gpu/check/events/memory.hpp"

namespace inflight::check {

// bar.warp.sync is a Collective.
// A grid's barrier is made of atomics on its workspace: its accesses report it, and no Barrier
// does.
// grid: griddepcontrol. `wait` is reported when the grids in front are complete, `arrive` when a
// block lets those behind begin (launch_dependents).
enum class BarrierKind : std::uint8_t { cta, cluster, grid };
inline constexpr std::uint32_t barrier_kind_count = 3;

struct Barrier {
  enum class Step : std::uint8_t {
    arrive,
    sync,    // arrive, and wait for the phase to complete
    reduce,  // likewise, with a predicate
    wait,    // of a cluster: these threads, which had arrived, know that the phase is complete
    complete,
    wait_alone,  // of a cluster: these threads have not arrived, so they wait for nothing
  };
  // Of `complete`: the last to arrive, or whose exit was the last thing that the phase waited for.
  Who who;
  BarrierKind kind = BarrierKind::cta;
  Step step = Step::sync;
  std::uint32_t id = 0;        // of cta: 0 to 15
  std::uint32_t expected = 0;  // threads; 0: all that live
  std::uint32_t given = 0;     // the count as the instruction has it, if it has one
  // Threads, with these. Where a count is expected, the lanes that a warp lacks arrive with its
  // lowest living lane: counts are in whole warps.
  std::uint32_t arrived = 0;
  std::uint64_t phase = 0;  // that they arrive at or wait for, or that is complete: from 0
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
    pending_count,  // of a token: it works on no mbarrier
    async_arrive,   // by cp.async.mbarrier.arrive, when its copies complete
    async_arrive_issued,
  };
  // The thread, or lanes that did the same to the same mbarrier. The event comes a mbarrier at a
  // time, in the order in which the machine performed them.
  Who who;
  Op op = Op::arrive;
  std::uint32_t address = 0;   // shared offset
  std::uint16_t rank = 0;      // whose shared memory, in the cluster
  std::uint64_t copy = 0;      // complete_tx by a bulk or tensor copy: its id. Else 0
  std::uint32_t count = 0;     // the operand: arrivals each lane
  std::uint32_t tx_bytes = 0;  // the operand
  bool by_parity = false;      // test, try: waits for `parity` rather than a token's phase
  std::uint32_t parity = 0;    // test, try: which phase is asked for
  std::uint64_t token = 0;     // test, try by token: the operand
  bool done = false;  // test, try: that its thread knows. arrive, expect, complete: the phase ended
  bool no_complete = false, no_inc = false;
  Order order = Order::acq_rel;
  Scope scope = Scope::cta;
  // The mbarrier after the operation.
  std::uint32_t phase_parity = 0, expected = 0, pending = 0;
  std::int32_t tx_count = 0;
  // The rule that it broke, so that it changed nothing: async::sentence() has words for it,
  // `count`, `tx_bytes` and the mbarrier's state the values.
  async::Violation violation = async::Violation::none;
};

// Lanes met: a collective (shfl, vote, match, redux, elect) or bar.warp.sync. Its threads are
// ordered as by a barrier for bar.warp.sync, by convergence alone for the others. activemask, and
// forms without .sync, are of those that happen to execute together: no lane waits for another.
struct Collective {
  enum class Kind : std::uint8_t { sync, shuffle, vote, match, reduce, elect, activemask };
  // All that met. They may stand at several instructions; it is the one of those that came last.
  Who who;
  Kind kind = Kind::sync;
  Mask members = 0;  // the operand; of forms without one, who.mask
};

struct Divergence {
  Who who;         // the lanes before the branch
  Mask taken = 0;  // those that jump; the others fall through
};

struct Reconvergence {
  Who who;  // all lanes that go on together
};

// Threads begin or end waiting, at one instruction, for something they cannot bring about
// themselves. Each begin has its end, unless the kernel is ended meanwhile; an instruction that
// need not wait has neither. Who polls memory in a loop waits too, but only its accesses say so.
struct Wait {
  enum class Step : std::uint8_t { begin, end };
  // warpgroup: for the other warps of its warpgroup, to issue what they issue together.
  enum class For : std::uint8_t { barrier, mbarrier, collective, warpgroup, sleep };
  Who who;
  Step step = Step::begin;
  For what = For::barrier;
  BarrierKind kind = BarrierKind::cta;  // of barrier
  std::uint32_t id = 0;                 // barrier id, or the mbarrier's shared offset
  std::uint32_t parity = 0;             // of mbarrier: the phase waited for
  Mask members = 0;                     // of collective; of warpgroup: the warps of the block's
                                        // that are missing, counted from its first
};

// Threads of a cluster that wait, of which none can go on, or of which none did. Told as that ends
// the launch.
struct Stuck {
  enum class Why : std::uint8_t {
    nothing_moves,  // no thread can go on
    only_polling,   // those that can only look at what nobody else can change
    out_of_time,    // --timeout
  };
  struct Threads {
    Wait wait;           // what for; `step` means nothing
    bool polls = false;  // they wait for nothing that the machine knows: they look again and again
  };
  const Kernel* kernel = nullptr;
  std::uint64_t cluster = 0;  // linear index of its first block
  Why why = Why::nothing_moves;
  std::span<const Threads> threads;  // all that live, by block, warp and instruction
  std::uint64_t not_begun = 0;       // blocks of the launch for which there is no room
  std::uint32_t idle_ms = 0;         // for so long, no thread of the launch did more than look
};

}  // namespace inflight::check
