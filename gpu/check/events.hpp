// Everything that a detector or a report can hear of an execution: one plain struct an event.
//
// Events say what the program did, in its own terms (threads, addresses, phases), never how the
// machine does it. Spans and pointers are valid during the call only; Kernel during its launch.
// Arrays "[32]" have an element a lane; only those of lanes in the event's mask mean anything.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace inflight::check {

using Mask = std::uint32_t;  // bit l: lane l of the warp
inline constexpr std::uint32_t lanes = 32;
inline constexpr std::uint32_t nothing = 0xffffffff;  // an absent index

// --- where and who --------------------------------------------------------------------------

// One instruction of a kernel, or of a function it calls.
struct Instruction {
  std::string_view text;       // the opcode as written: "ld.global.f32"
  std::uint32_t family = 0;    // index in Kernel::families
  std::uint32_t ptx_line = 0;  // from 1
  std::string_view file;       // of -lineinfo; empty without
  std::uint32_t line = 0, column = 0;
  std::string_view function;  // where it stands, after inlining
};

struct Extents {
  std::uint32_t x = 1, y = 1, z = 1;
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
  std::span<const std::string_view> families;  // of instructions: "integer", "load", "branch"...
  // Resolves Who::instruction. Cheap enough for a finding, not for every event.
  Instruction (*describe)(const Kernel&, std::uint32_t instruction) = nullptr;
  const void* context = nullptr;  // the machine's, for describe
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

enum class Space : std::uint8_t { global, shared, local, constant, param };
inline constexpr std::uint32_t space_count = 5;
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
  Mask written = 0;                      // lanes that wrote: a failed compare-and-swap only reads
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
  Proxy from = Proxy::generic, to = Proxy::generic;
  bool limited = false;  // the fence covers one space or address range only:
  Space space = Space::shared;
  std::uint64_t address = 0, bytes = 0;  // bytes 0: the whole space
};

struct Allocation {
  enum class Kind : std::uint8_t { device, managed, host, variable, constant, heap, pool };
  enum class Step : std::uint8_t { made, released };
  Step step = Step::made;
  Kind kind = Kind::device;
  int device = 0;
  std::uint64_t address = 0, bytes = 0;
  std::string_view name;     // a variable's, or empty
  std::uint64_t stream = 0;  // of an ordered allocation or release
  bool ordered = false;      // cudaMallocAsync, cudaFreeAsync
  Who who;                   // of `heap`: the thread that called malloc or free
};

// --- asynchronous copies --------------------------------------------------------------------

// How a copy's completion is observed.
enum class Completion : std::uint8_t {
  thread_group,  // cp.async: groups of the issuing thread, and arrivals that follow it
  bulk_group,    // bulk groups of the issuing thread
  transaction,   // bytes of an mbarrier's tx-count
};
inline constexpr std::uint32_t completion_count = 3;

struct CopyIssued {
  Who who;
  std::uint64_t id = 0;  // unique in its warp's launch, block and warp
  Completion completion = Completion::thread_group;
  Proxy proxy = Proxy::generic;  // cp.async is generic; bulk and tensor copies are async
  Space from = Space::global, to = Space::shared;
  std::uint32_t bytes = 0;                      // written by each lane
  const std::uint64_t* sources = nullptr;       // [32]
  const std::uint64_t* destinations = nullptr;  // [32]
  const std::uint32_t* source_bytes = nullptr;  // [32] read by each lane; null: `bytes`
  const std::uint16_t* ranks = nullptr;         // [32] destination's cluster peer; null: own block
  std::uint64_t mbarrier = nothing;             // of `transaction`: shared offset
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

// --- synchronisation ------------------------------------------------------------------------

// bar.warp.sync is a Collective.
enum class BarrierKind : std::uint8_t { cta, cluster, grid };
inline constexpr std::uint32_t barrier_kind_count = 3;

struct Barrier {
  enum class Step : std::uint8_t {
    arrive,
    sync,
    reduce,
    complete
  };        // sync, reduce: arrive and wait
  Who who;  // of `complete`: the last to arrive
  BarrierKind kind = BarrierKind::cta;
  Step step = Step::sync;
  std::uint32_t id = 0;        // of cta: 0 to 15
  std::uint32_t expected = 0;  // threads; 0: all that live
  std::uint32_t arrived = 0;   // threads, with these
  std::uint64_t phase = 0;     // counts this barrier's completions
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
    pending_count,
    async_arrive,  // by cp.async.mbarrier.arrive, when its copies complete
    async_arrive_issued,
  };
  // The thread, or lanes that did the same to the same mbarrier. The event comes a mbarrier at a
  // time, in the order in which the machine performed them.
  Who who;
  Op op = Op::arrive;
  std::uint32_t address = 0;   // shared offset
  std::uint16_t rank = 0;      // whose shared memory, in the cluster
  std::uint32_t count = 0;     // the operand: arrivals each lane
  std::uint32_t tx_bytes = 0;  // the operand
  bool by_parity = false;      // test, try: waits for `parity` rather than a token's phase
  std::uint32_t parity = 0;    // test, try: which phase is asked for
  bool done = false;           // test, try: the answer. arrive, expect, complete: the phase ended
  bool no_complete = false, no_inc = false;
  Order order = Order::acq_rel;
  Scope scope = Scope::cta;
  // The mbarrier after the operation.
  std::uint32_t phase_parity = 0, expected = 0, pending = 0;
  std::int32_t tx_count = 0;
  std::string_view violation;  // the rule that was broken, as a sentence; else empty
};

// Lanes met: a collective (shfl, vote, match, redux, elect) or bar.warp.sync. Its threads are
// ordered as by a barrier for bar.warp.sync, by convergence alone for the others.
struct Collective {
  enum class Kind : std::uint8_t { sync, shuffle, vote, match, reduce, elect, activemask };
  Who who;
  Kind kind = Kind::sync;
  Mask members = 0;  // the operand
};

struct Divergence {
  Who who;         // the lanes before the branch
  Mask taken = 0;  // those that jump; the others fall through
};

struct Reconvergence {
  Who who;  // all lanes that go on together
};

// Threads begin or end waiting for something they cannot bring about themselves.
struct Wait {
  enum class Step : std::uint8_t { begin, end };
  enum class For : std::uint8_t { barrier, mbarrier, collective, memory, sleep };
  Who who;
  Step step = Step::begin;
  For what = For::barrier;
  BarrierKind kind = BarrierKind::cta;  // of barrier
  std::uint32_t id = 0;                 // barrier id, or the mbarrier's shared offset
  std::uint32_t parity = 0;             // of mbarrier: the phase waited for
  Mask members = 0;                     // of collective
  std::uint64_t address = 0;            // of memory (a spin): the address polled
  Space space = Space::global;
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

// --- the host -------------------------------------------------------------------------------

// What the host orders in streams: the edges between kernels and copies.
struct StreamEdge {
  enum class Kind : std::uint8_t {
    launch,  // `other`: the launch
    host_function,
    event_record,  // `other`: the event
    event_wait,    // the stream waits for `other`
    stream_sync,   // the host waits for the stream
    event_sync,    // the host waits for `other`
    device_sync,   // the host waits for every stream of the device
    created,       // a stream; `blocking` says whether it orders with the null stream
    destroyed,
  };
  Kind kind = Kind::launch;
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t other = 0;
  bool blocking = true;
};

// The host, or a copy in a stream, reads and writes memory. Rows of `bytes`, `rows` of them.
struct HostAccess {
  enum class Kind : std::uint8_t { copy, set };
  Kind kind = Kind::copy;
  std::uint64_t stream = 0;
  bool asynchronous = false;                              // the host goes on before it is done
  std::uint64_t destination = 0, source = 0;              // addresses; source 0 for a set
  std::uint64_t destination_pitch = 0, source_pitch = 0;  // bytes from row to row
  std::uint64_t bytes = 0, rows = 1;
};

}  // namespace inflight::check
