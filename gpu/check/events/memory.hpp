// Memory accesses, fences, and allocations and their release.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "gpu/check/events/kernel.hpp"
#include "gpu/check/reads/read_log.hpp"

namespace inflight::check {

// The proxy of an access: the thread (generic), an asynchronous engine (async), or another path.
// Loads through the texture path (ld.global.nc, textures, surfaces) and of constant memory
// (ld.const) need not observe writes of the same launch.
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

// The bytes of an access that the program has never written: one bit per byte of each lane.
struct UndefinedBytes {
  static constexpr std::uint32_t most = 32;  // bytes of a lane
  Mask lanes = 0;                            // lanes with such bytes; `bytes` is invalid for others
  Mask partly = 0;    // of them, lanes with bytes that have defined bits too; `bits` is invalid for
                      // others
  Mask computed = 0;  // store: the value is computed from such bytes, not a copy of them or of bits
  std::uint32_t origin = 0;   // the load that read them, by the number that the listener assigned
  std::uint32_t element = 0;  // store: bytes of a vector's element; 0: of a matrix
  std::array<std::uint32_t, 32> bytes;
  // By byte: its undefined bits, if it is one of `bytes`. In a store they are copies of bits, each
  // in the same place of its byte.
  std::array<std::array<std::uint8_t, most>, 32> bits;

  std::uint8_t bits_of(unsigned lane, std::uint32_t byte) const {
    return partly >> lane & 1 ? bits[lane][byte] : 0xff;
  }
};

// Computes Access::silent again, for a weak `st` that is reported but not performed yet.
struct PendingSilence {
  // Lanes that write the value that memory now holds, or that another thread is about to write.
  virtual Mask silent_now() const = 0;

 protected:
  ~PendingSilence() = default;
};

// A strong load whose value goes to nothing but comparisons and what they decide.
struct Decision {
  // The lanes in which this value, in place of the one that was read, decides the same.
  virtual Mask alike(std::uint64_t value) const = 0;

 protected:
  ~Decision() = default;
};

struct Access {
  enum class Kind : std::uint8_t { load, store, atomic, reduction };
  Who who;
  Space space = Space::global;  // generic addresses are resolved
  Kind kind = Kind::load;
  Order order = Order::weak;
  Scope scope = Scope::thread;
  Proxy proxy = Proxy::generic;
  std::uint32_t bytes = 0;  // per lane, all elements of a vector
  // [32] Addresses for global memory, for other spaces offsets in that of the block or thread.
  // Shared variables begin at 1024. CUDA reserves the bytes before, which are zero when the block
  // begins.
  const std::uint64_t* addresses = nullptr;
  // All 32 lanes take part, and each one's bytes follow those of the lane before it. May be false
  // even so.
  bool in_row = false;
  bool compared = false;                 // weak `st` to global or shared memory: `silent` is known
  const std::uint16_t* ranks = nullptr;  // [32] shared: cluster rank of the owner; null: own block
  std::uint32_t frame = 0;               // local: start of the frame of the accessing function
  Mask written = 0;                      // lanes that wrote; a failed compare-and-swap only reads
  Mask silent = 0;  // weak `st`: lanes that write what memory holds or a lower lane writes
  const PendingSilence* pending = nullptr;  // for such a store to global memory, else null
  // [32] The values that a load or `atom` of at most 8 bytes read. Null otherwise, and for weak
  // accesses and any to local memory: those are reported before they happen, others afterwards.
  const std::uint64_t* read = nullptr;
  // [32] The values that a store, exchange or compare-and-swap of at most 8 bytes wrote, else null.
  const std::uint64_t* wrote = nullptr;
  // [32] Strong write of at most 8 bytes: what memory held before all lanes wrote, and after that.
  // Null otherwise, and while no function with a Decision is known.
  const std::uint64_t *before = nullptr, *after = nullptr;
  const Decision* decision = nullptr;  // strong load, else null
  // Load: a listener to Topic::undefined stores the unwritten bytes here, and their uses are
  // reported to it. Store: gives the listener the unwritten bytes of the stored values. Else null.
  UndefinedBytes* undefined = nullptr;
  std::uint32_t unread = 0;  // load: number of bytes at the end of `bytes` that nothing uses
  bool peeks =
      false;          // weak load: the code may update the same address atomically before a barrier
  bool flag = false;  // strong load: its value may decide where the thread goes
  // Exchange or compare-and-swap: a thread that does not read what it expects repeats it, and does
  // nothing else, until it does.
  bool spins = false;
  // Weak load of the block's own shared memory, if no listener wants Topic::each_read. A listener
  // may open the log, so that such loads are noted there and not reported, until it closes it. A
  // listener that needs an event for each of them refuses that.
  shadow::ReadLog* log = nullptr;
  Mask dropped = 0;  // weak load: lanes whose value affects nothing, because other values decide
};

// Lanes act on bits that nothing has written: with other bits, they would act differently.
struct UndefinedUse {
  enum class How : std::uint8_t { branch, address, operand };
  Who who;
  How how = How::branch;
  std::uint32_t origin = 0;  // UndefinedBytes::origin
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
  // For `proxy`: orders earlier accesses by `from` before later ones by `to`. If it is neither an
  // acquire nor a release, it also orders the reverse.
  Proxy from = Proxy::generic, to = Proxy::generic;
  bool limited = false;  // the fence covers one space or address range only:
  Space space = Space::shared;
  bool own_only = false;                 // shared: only the block's own memory, not its peers'
  std::uint64_t address = 0, bytes = 0;  // bytes 0: the whole space
};

// Memory that kernels may access is allocated or released: by cudaMalloc and its variants, by
// pinning or registering host memory, by loading a program's variables, or by malloc() in a kernel.
struct Allocation {
  enum class Kind : std::uint8_t {
    device,
    managed,
    host,
    variable,
    constant,
    heap,
    pool,  // stream-ordered allocation or release of device memory, reported in stream order, in
           // addition to the events for the memory itself
  };
  enum class Step : std::uint8_t { made, released };
  Step step = Step::made;
  Kind kind = Kind::device;
  int device = 0;
  std::uint64_t address = 0, bytes = 0;
  std::string_view name;     // of a variable, else empty
  bool fresh = false;        // a program must assume that nothing has written it
  std::uint64_t stream = 0;  // of a stream-ordered allocation or release
  bool ordered = false;      // cudaMallocAsync, cudaFreeAsync
  Who who;                   // `heap`: the thread that called malloc or free
};

}  // namespace inflight::check
