// Copies in flight: issued, committed to a group, completed, and waited for.
#pragma once
#include <cstdint>
#include <span>

#include "gpu/async/completion.hpp"
#include "gpu/check/events/memory.hpp"

namespace inflight::check {

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
  bool of_values = false;      // st.async, red.async: it reads registers and no memory
  bool reduces = false;        // it combines with what is at the destination
  std::uint32_t bytes = 0;     // that each lane writes; of a tensor: of the whole box
  std::uint32_t left_out = 0;  // bytes that a bulk copy was asked for past its last whole 16
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

}  // namespace inflight::check
