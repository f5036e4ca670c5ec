// Everything that a detector or a report can observe of an execution: one plain struct an event.
//
// Events say what the program did, in its own terms (threads, addresses, phases), never how the
// machine does it. Spans and pointers are valid during the call only; Kernel during its launch.
// Arrays "[32]" have an element a lane; only those of lanes in the event's mask mean anything.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gpu/async/completion.hpp"
#include "gpu/async/violation.hpp"

namespace inflight::check {

using Mask = std::uint32_t;  // bit l: lane l of the warp
inline constexpr std::uint32_t lanes = 32;
inline constexpr std::uint32_t nothing = 0xffffffff;  // an absent index

// --- where and who --------------------------------------------------------------------------

enum class Space : std::uint8_t { global, shared, local, constant, param };
inline constexpr std::uint32_t space_count = 5;

// A line of the source.
struct SourceLine {
  std::string_view file;
  std::uint32_t line = 0, column = 0;
};

// One instruction of a kernel, or of a function it calls.
struct Instruction {
  std::string_view text;       // the opcode as written: "ld.global.f32"
  std::uint32_t family = 0;    // index in Kernel::families
  std::uint32_t ptx_line = 0;  // from 1
  std::string_view file;       // of -lineinfo; empty without
  std::uint32_t line = 0, column = 0;
  std::string_view function;  // where it stands, after inlining
  std::vector<SourceLine> inlined_at;  // the calls that inlining replaced, the innermost first
};

// A variable that an address lies in. Without a name: nothing is known of it.
struct Variable {
  std::string_view name;  // as in PTX (mangled)
  std::uint64_t address = 0, bytes = 0;
};

// What becomes of a value that an instruction loads, as far as its function shows: what is computed
// from it may go through any number of registers.
struct ValueSink {
  std::uint32_t instruction = 0;  // that stores it, or what is computed from it; or uses it as an
                                  // address. The load's own: a branch behind it depends on it
  std::uint8_t element = 0;       // of the vector that is loaded
  bool as_is = false;             // it is stored as it is: in `target` of the vector
  std::uint8_t target = 0;
};

struct Extents {
  std::uint32_t x = 1, y = 1, z = 1;
};

// How near what an instruction gives is to what the chip of this profile gives.
struct Fidelity {
  enum class Kind : std::uint8_t {
    exact,        // equal to the bit
    bounded,      // within an error that is stated
    modelled,     // by a published model that was compared with no chip
    own,          // the value is this device's own: clocks, places, names of hardware
    unsupported,  // refused where it is reached
  };
  Kind kind = Kind::exact;
  std::string_view reason;  // why it is not exact
};
inline constexpr std::size_t fidelity_kind_count = 5;

// Of what a thread of a kernel has launched (ChildLaunched): what it comes after, besides that.
struct Descent {
  std::uint64_t parent = 0;  // the launch that the thread is of; 0: the host launched it
  std::span<const std::uint64_t> after;  // launches of the same parent, which have ended
  bool tail = false;                     // the parent, and all else that it has launched
};

// A launch. Events name it by `launch` and its instructions by index.
struct Kernel {
  std::uint64_t launch = 0;  // counts the process's launches
  std::string_view name;     // as in PTX (mangled)
  int device = 0;
  std::uint64_t stream = 0;
  Extents grid, block, cluster;
  std::uint32_t static_shared = 0, dynamic_shared = 0;  // bytes
  bool cooperative = false;
  Descent descent;
  std::span<const std::string_view> families;  // of instructions: "integer", "load", "branch"...
  // Resolves Who::instruction. Cheap enough for a finding, not for every event.
  Instruction (*describe)(const Kernel&, std::uint32_t instruction) = nullptr;
  // Which shared, global or constant variable of the program, which parameter, or which local
  // variable of the function of `instruction` it is; in local memory, addresses count from where
  // that function's frame begins (Access::frame). For findings, too.
  Variable (*variable)(const Kernel&, Space, std::uint64_t address,
                       std::uint32_t instruction) = nullptr;
  // Calls hook(to, sink) for what becomes of the values that `instruction` loads, except where
  // other lanes, other functions or a tensor core take them, or a choice may drop them. Gives the
  // number of elements of the vector that it loads. Takes its time.
  using SinkHook = void (*)(void* to, const ValueSink&);
  std::uint32_t (*value_sinks)(const Kernel&, std::uint32_t instruction, void* to,
                               SinkHook hook) = nullptr;
  // Does every thread that ends pass a point behind `instruction`, of the kernel's own function,
  // from which none comes back to it? Who has ended has then gone past it, and not returned before
  // it.
  bool (*all_pass_behind)(const Kernel&, std::uint32_t instruction) = nullptr;
  // Calls hook(to, instruction, fidelity) for every instruction of the kernel and of what it calls.
  using FidelityHook = void (*)(void* to, std::uint32_t instruction, const Fidelity&);
  void (*fidelities)(const Kernel&, void* to, FidelityHook hook) = nullptr;
  const void* context = nullptr;  // the machine's, for all
};

// The threads that did something: lanes of one warp of one block, at one instruction.
struct Who {
  std::uint64_t launch = 0;
  std::uint64_t block = 0;  // linear index in the grid; Kernel has the shape
  std::uint32_t warp = 0;   // in the block: threads warp*32 ... warp*32+31, linear
  Mask mask = 0;
  std::uint32_t instruction = nothing;
};

// --- memory ---------------------------------------------------------------------------------

// Who performs an access: the thread (generic proxy) or an asynchronous engine (async proxy).
enum class Proxy : std::uint8_t { generic, async, tensormap, constant, texture, alias };
enum class Order : std::uint8_t {
  weak,
  relaxed,
  acquire,
  release,
  acq_rel,
  seq_cst,
  volatile_,
  mmio
};
enum class Scope : std::uint8_t { thread, warp, cta, cluster, gpu, sys };

struct Access {
  enum class Kind : std::uint8_t { load, store, atomic, reduction };
  Who who;
  Space space = Space::global;  // after generic addresses are resolved
  Kind kind = Kind::load;
  Order order = Order::weak;
  Scope scope = Scope::thread;
  Proxy proxy = Proxy::generic;
  std::uint32_t bytes = 0;  // each lane, all elements of a vector together
  // [32] global: addresses; the others: offsets in the space of the block or thread. Variables in
  // shared memory begin at 1024; CUDA keeps what is before, which is zero when the block begins.
  const std::uint64_t* addresses = nullptr;
  const std::uint16_t* ranks = nullptr;  // [32] shared memory of a cluster peer: whose; null: own
  std::uint32_t frame = 0;  // of local memory: where the frame of the function that accesses begins
  Mask written = 0;         // lanes that wrote: a failed compare-and-swap only reads
  Mask silent = 0;          // of a weak `st`: lanes that write what memory holds already
  // A weak access, and any to local memory, is reported before it happens; others once they have,
  // with [32] what it read, of a load or an `atom` of at most 8 bytes; else null
  const std::uint64_t* read = nullptr;
  // [32] what it wrote, of a store, exchange or compare-and-swap of at most 8 bytes; else null
  const std::uint64_t* wrote = nullptr;
};

struct Fence {
  enum class Kind : std::uint8_t {
    memory,         // fence, membar
    mbarrier_init,  // fence.mbarrier_init: orders prior mbarrier.init only
    proxy,          // fence.proxy: between `from` and `to`
  };
  Who who;
  Kind kind = Kind::memory;
  Order order = Order::seq_cst;
  Scope scope = Scope::cta;
  // Of `proxy`. It orders earlier accesses by `from` before later ones by `to`; and the other way
  // round too where neither an acquire nor a release is asked for.
  Proxy from = Proxy::generic, to = Proxy::generic;
  bool limited = false;  // the fence covers one space or address range only:
  Space space = Space::shared;
  bool own_only = false;                 // of shared memory: the block's own, not its peers'
  std::uint64_t address = 0, bytes = 0;  // bytes 0: the whole space
};

// Memory that kernels may touch comes and goes: cudaMalloc and its relatives, host memory pinned or
// registered, variables as their program is loaded, malloc() in a kernel.
struct Allocation {
  enum class Kind : std::uint8_t {
    device,
    managed,
    host,
    variable,
    constant,
    heap,
    pool,  // an ordered allocation or release of device memory, in the order of its stream: told
           // besides when that memory comes and goes
  };
  enum class Step : std::uint8_t { made, released };
  Step step = Step::made;
  Kind kind = Kind::device;
  int device = 0;
  std::uint64_t address = 0, bytes = 0;
  std::string_view name;     // a variable's, or empty
  bool fresh = false;        // made of memory that nothing has written, as far as a program may know
  std::uint64_t stream = 0;  // of an ordered allocation or release
  bool ordered = false;      // cudaMallocAsync, cudaFreeAsync
  Who who;                   // of `heap`: the thread that called malloc or free
};

// --- asynchronous copies --------------------------------------------------------------------

using async::Completion;
using async::completion_count;

// Bytes that a copy writes together, and from where: the first `source_bytes` of them are read from
// `source` on, the others are zeros or the copy's own values. Global ends are addresses, shared
// ones offsets in the block that CopyIssued names.
struct CopyRun {
  std::uint32_t lane = 0;  // who asked for it
  std::uint64_t destination = 0, source = 0;
  std::uint32_t bytes = 0, source_bytes = 0;
};

// A copy to one destination: one of a multicast is several, each with its own id.
struct CopyIssued {
  Who who;
  std::uint64_t id = 0;  // unique in its warp's launch, block and warp
  Completion completion = Completion::thread_group;
  Proxy proxy = Proxy::generic;  // cp.async is generic; bulk and tensor copies are async
  Space from = Space::global, to = Space::shared;
  bool of_values = false;   // st.async, red.async: it reads registers and no memory
  bool reduces = false;     // it combines with what is at the destination
  std::uint32_t bytes = 0;  // that each lane writes; of a tensor: of the whole box
  std::uint16_t source_rank = 0, destination_rank = 0;  // cluster peers; of shared memory
  // Of `transaction`: the mbarrier's shared offset, whose block's, and what it counts.
  std::uint64_t mbarrier = nothing;
  std::uint16_t mbarrier_rank = 0;
  std::uint32_t tx_bytes = 0;
  // Of a tensor copy: the generic address of its map, and where in the tensor its box begins.
  std::uint64_t tensor_map = 0;
  std::span<const std::int32_t> coordinates;

  // Calls f(const CopyRun&) for all that it reads and writes. During the call of the hook only.
  template <class F>
  void for_each_run(F f) const {
    walk(*this, &f, [](void* to, const CopyRun& run) { (*static_cast<F*>(to))(run); });
  }
  using RunHook = void (*)(void* to, const CopyRun&);
  void (*walk)(const CopyIssued&, void* to, RunHook) = nullptr;  // whoever emits it sets both
  const void* context = nullptr;
};

struct CopyCommitted {
  Who who;
  Completion completion = Completion::thread_group;
};

// The bytes of `who.mask` have been read and written. By then the program may not know yet.
struct CopyCompleted {
  Who who;  // who issued it, and where
  std::uint64_t id = 0;
};

// These threads know that all but their `allowed` newest groups are complete.
struct CopyWaited {
  static constexpr std::uint32_t all_copies = 0xffffffff;  // wait_all: uncommitted ones too
  Who who;
  Completion completion = Completion::thread_group;
  std::uint32_t allowed = 0;
  bool read_only = false;  // .read: sources only
};

// --- multiplications of warpgroups: wgmma ----------------------------------------------------

// Bytes of its block's shared memory that a multiplication reads.
struct MultiplyRun {
  std::uint32_t address = 0, bytes = 0;  // a shared offset
};

// A warp's part of a wgmma.mma_async: a quarter of the rows of A, and all of B.
struct MultiplyIssued {
  Who who;
  std::uint64_t id = 0;  // counts the warpgroup's, from 0: the parts of its four warps have the same
  // A register that it reads or writes, which another instruction has written since the warp's last
  // wgmma.fence; and that instruction. Empty: there is none.
  std::string_view unfenced;
  std::uint32_t unfenced_by = nothing;

  // Calls f(const MultiplyRun&) for all that it reads, through the async proxy.
  template <class F>
  void for_each_run(F f) const {
    walk(*this, &f, [](void* to, const MultiplyRun& run) { (*static_cast<F*>(to))(run); });
  }
  using RunHook = void (*)(void* to, const MultiplyRun&);
  void (*walk)(const MultiplyIssued&, void* to, RunHook) = nullptr;
  const void* context = nullptr;
};

// The warp's multiplications since its last commit are a group.
struct MultiplyCommitted {
  Who who;
};

// The warp knows that those before `complete` are complete, as are its peers' parts of them.
struct MultiplyWaited {
  Who who;
  std::uint32_t allowed = 0;   // groups that need not be
  std::uint64_t complete = 0;  // MultiplyIssued::id of the oldest that may be in flight
};

// An instruction reads or writes a register of a multiplication that may be in flight.
struct RegisterTouched {
  Who who;
  std::string_view name;
  bool written = false;             // or read
  bool accumulator = false;         // or a fragment of A
  std::uint64_t multiply = 0;       // MultiplyIssued::id
  std::uint32_t issued_at = nothing;  // the instruction that issued it
};

// --- synchronisation ------------------------------------------------------------------------

// bar.warp.sync is a Collective.
// A grid's barrier is made of atomics on its workspace: its accesses report it, and no Barrier
// does.
// grid: griddepcontrol.wait, of which only `wait` is reported, when the grids in front are
// complete.
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
  bool done = false;           // test, try: the answer. arrive, expect, complete: the phase ended
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

// --- execution ------------------------------------------------------------------------------

// An instruction is about to execute for `who.mask`. For timelines.
struct Executed {
  Who who;
  std::uint32_t family = 0;  // index in Kernel::families
};

// What a launch did, in sums, for statistics: told once it has ended, in parts that add up, before
// its KernelEnd and on the same thread.

// Instructions that executed equally often.
struct RunCount {
  const Kernel* kernel = nullptr;
  std::span<const std::uint32_t> instructions, families;  // as Who's and Executed's, one each
  std::uint64_t warps = 0, threads = 0;  // each of them: once a warp, by so many lanes
};

// A load, store, atomic or reduction, in one space.
struct AccessCount {
  const Kernel* kernel = nullptr;
  std::uint32_t instruction = nothing;
  Space space = Space::global;
  Access::Kind kind = Access::Kind::load;
  std::uint32_t bytes = 0;  // each thread
  std::uint64_t warps = 0, threads = 0;
};

// What some of its blocks did.
struct BlockCount {
  const Kernel* kernel = nullptr;
  std::uint64_t blocks = 0;
  std::uint64_t divergent_branches = 0;                      // a warp's
  std::array<std::uint64_t, barrier_kind_count> barriers{};  // completed, by BarrierKind
  // Threads' copies, and what they write, by Completion.
  std::array<std::uint64_t, completion_count> copies{}, copied_bytes{};
  // Threads' arrivals; phases that operations completed; threads' tests and waits.
  std::uint64_t mbarrier_arrivals = 0, mbarrier_phases = 0, mbarrier_tests = 0;
};

struct KernelBegin {
  const Kernel* kernel = nullptr;
};
struct KernelEnd {
  const Kernel* kernel = nullptr;
  bool faulted = false;
};

// A thread launches a kernel, a copy or a fill, which begins after what the thread has done.
struct ChildLaunched {
  Who who;
  std::uint64_t child = 0;  // its number, as Kernel::launch or HostAccess::launch
};

struct BlockBegin {
  const Kernel* kernel = nullptr;
  std::uint64_t block = 0;    // linear
  std::uint64_t cluster = 0;  // linear index of its cluster
  std::uint16_t rank = 0;     // in its cluster
  std::uint32_t threads = 0;
  std::uint32_t shared_bytes = 0;  // static and dynamic, from offset 1024
};
struct BlockEnd {
  const Kernel* kernel = nullptr;
  std::uint64_t block = 0;
};

struct ThreadExit {
  Who who;
};

// What ends a kernel: threads did what none may. Told where it happens, while the launch runs.
struct Fault {
  enum class Kind : std::uint8_t {
    outside,        // an access where there is no memory that it may touch
    misaligned,     // an address that the instruction does not allow
    address_space,  // an address in a space that the instruction cannot access
    peer,           // shared memory of a block of the cluster that has ended, or that there is not
    barrier,        // a barrier, an mbarrier or a collective in a way that it does not allow
    tensor_map,     // a tensor map that cannot be used, or a copy that its map does not allow
    other,          // a trap, a failed assertion, a call to what is no function...
  };
  Who who;
  Kind kind = Kind::other;
  std::string_view sentence;  // what is wrong
  // Of one that an address made, else `access` is false: the first lane's.
  bool access = false, writes = false;
  Space space = Space::global;
  std::uint64_t address = 0, bytes = 0, alignment = 0;  // 0: not known; alignment: that it needs
  std::uint16_t rank = 0;                               // of shared memory: whose
  // What lies there or nearest: in global memory an allocation, live or released; of the other
  // spaces, all that the block, thread or kernel has. No bytes: there is none.
  Allocation nearest;
};

// --- the host -------------------------------------------------------------------------------

// What orders kernels, copies and the host. A stream does pieces of work one after the other, which
// are numbered from 1. What the host did before it submitted one comes before it. What is done in
// one (launches, HostAccess, steps of a graph) is reported between its `begun` and `ended`, on the
// same thread of the host.
struct StreamEdge {
  enum class Kind : std::uint8_t {
    created,  // a stream; `blocking` says whether it orders with the null stream
    destroyed,
    submitted,      // `work`, by the host
    begun,          // `work`: all earlier work of the stream is done
    after,          // and so is work `other_work` of stream `other`: told before `begun`
    ended,          // `work`
    launch,         // `other`: the launch; in `work`
    step,           // what `work` does from now on is step `other` of a graph, counted from 1
    step_after,     // which comes after step `other`
    host_function,  // a function of the host's or a callback runs; in `work`
    value_write,    // `other`: the address; in `work`
    value_wait,     // what is there is what `work` has waited for
    event_record,   // `other`: the event, which stands for `work` from now on
    event_wait,     // `work`, which comes after what `other` stands for
    stream_sync,    // the host knows that `work` is done, and all before it
    event_sync,     // likewise, having asked for `other`
    device_sync,    // the host has waited for every stream of the device
  };
  Kind kind = Kind::launch;
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t work = 0;
  std::uint64_t other = 0, other_work = 0;
  bool blocking = true;
  // Of launch: the kernel in front let it begin before its own end, so it comes after that kernel
  // only where it has waited (griddepcontrol). Of step_after: the edge permits that.
  bool dependent = false;
};

// The host, or a copy in a stream, reads and writes memory. Rows of `bytes`, `rows` of them.
struct HostAccess {
  enum class Kind : std::uint8_t { copy, set };
  Kind kind = Kind::copy;
  std::uint64_t stream = 0;
  std::uint64_t work = 0;     // of the stream, as in StreamEdge
  bool asynchronous = false;  // the host goes on before it is done
  std::uint64_t launch = 0;   // where a kernel has asked for it: its number; else 0
  Descent descent;            // likewise
  // Of a library that stands in for one of NVIDIA's: the call whose work it is. A `set` is then
  // what it writes, a `copy` without a destination what it reads.
  std::string_view call;
  // Addresses. No source: a set, or pageable memory of the host's, which the call has read.
  std::uint64_t destination = 0, source = 0;
  std::uint64_t destination_pitch = 0, source_pitch = 0;  // bytes from row to row
  std::uint64_t bytes = 0, rows = 1;
};

// The program ends: nothing more runs. Told once, after every other event.
struct ProcessEnd {};

}  // namespace inflight::check
