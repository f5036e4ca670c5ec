// Accesses to memory, fences, and allocations as they come and go.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "gpu/check/events/kernel.hpp"

namespace inflight::check {

// Who performs an access: the thread (generic proxy) or an asynchronous engine (async proxy); or by
// which path it goes. Loads through the texture path (ld.global.nc, textures, surfaces) need not
// see what the same launch has written.
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

// Of each lane's bytes in an access, those that the program has never written: a bit a byte.
struct UndefinedBytes {
  Mask lanes = 0;     // that have such; of others, `bytes` says nothing
  Mask computed = 0;  // of a store: the bytes hold what was computed from such, no copy
  std::uint32_t origin =
      0;  // the load that they come from, by the number that the listener gave it
  std::array<std::uint32_t, 32> bytes;
};

// Asked again, of a weak `st` that is reported and not performed yet.
struct PendingSilence {
  // Lanes that write what memory holds by now, or what another thread is about to write there.
  virtual Mask silent_now() const = 0;

 protected:
  ~PendingSilence() = default;
};

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
  Mask silent = 0;          // of a weak `st`: lanes that write what memory holds, or a lower lane
  const PendingSilence* pending = nullptr;  // of such a store to global memory; or null
  // A weak access, and any to local memory, is reported before it happens; others once they have,
  // with [32] what it read, of a load or an `atom` of at most 8 bytes; else null
  const std::uint64_t* read = nullptr;
  // [32] what it wrote, of a store, exchange or compare-and-swap of at most 8 bytes; else null
  const std::uint64_t* wrote = nullptr;
  // A listener to Topic::undefined says here what a load reads that nothing has written, and is
  // notified of what comes of it; of a store, it says so to the listener. Else null.
  UndefinedBytes* undefined = nullptr;
  std::uint32_t unread = 0;  // of a load: of `bytes`, those at the end that nothing uses
};

// Lanes act as bits tell them that nothing has written: with other bits, they would act otherwise.
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
  std::string_view name;  // a variable's, or empty
  bool fresh = false;     // made of memory that nothing has written, as far as a program may know
  std::uint64_t stream = 0;  // of an ordered allocation or release
  bool ordered = false;      // cudaMallocAsync, cudaFreeAsync
  Who who;                   // of `heap`: the thread that called malloc or free
};

}  // namespace inflight::check
