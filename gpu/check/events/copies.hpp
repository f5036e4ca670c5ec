// Asynchronous copies: issued, committed to a group, completed, and waited for.
#pragma once
#include <bit>
#include <cstdint>
#include <span>

#include "gpu/async/completion.hpp"
#include "gpu/async/reduction.hpp"
#include "gpu/async/violation.hpp"
#include "gpu/check/events/memory.hpp"

namespace inflight::check {

using async::Completion;
using async::completion_count;

// A contiguous run of bytes that a copy writes. The first `source_bytes` of them are read from
// `source`, the others are zeros or the copy's own values. A global source or destination is an
// address, a shared one an offset in the block that CopyIssued names.
struct CopyRun {
  std::uint32_t lane = 0;  // the lane that issued it
  std::uint64_t destination = 0, source = 0;
  std::uint32_t bytes = 0, source_bytes = 0;
};

// One run of each lane that issues a copy, by lane. Those of other lanes are not set.
struct LaneRuns {
  const std::uint32_t* destination = nullptr;
  const std::uint64_t* source = nullptr;
  const std::uint8_t* source_bytes = nullptr;
};

// A copy to one destination. A multicast copy is several of these, each with its own id.
struct CopyIssued {
  Who who;
  std::uint64_t id = 0;  // unique within its launch, block and warp
  Completion completion = Completion::thread_group;
  Proxy proxy = Proxy::generic;  // cp.async is generic; bulk and tensor copies are async
  bool strong = false;           // its accesses are relaxed, in elements of 16 bytes
  bool of_values = false;        // st.async, red.async: the source is registers, not memory
  Space from = Space::global, to = Space::shared;  // `from`: unless of_values
  bool reduces = false;                            // it combines its data with the destination, by:
  async::ReduceOp reduction = async::ReduceOp::add;
  async::TensorType element = async::TensorType::u8;  // the type of the reduction
  std::uint32_t bytes = 0;     // written by each lane; for a tensor copy, the whole box
  std::uint32_t left_out = 0;  // bytes past the last multiple of 16 of a bulk copy, not copied
  std::uint16_t source_rank = 0, destination_rank = 0;  // cluster ranks, for shared memory
  // For `transaction`: the mbarrier's shared offset, its block's rank, and the bytes it counts.
  std::uint64_t mbarrier = nothing;
  std::uint16_t mbarrier_rank = 0;
  std::uint16_t named_rank = 0;  // of the mbarrier that the instruction names
  std::uint32_t tx_bytes = 0;
  // For a tensor copy: the generic address of its map, the coordinates of its box and its offset in
  // shared memory, and after how many bytes the pattern of its swizzle begins again (1: none).
  std::uint64_t tensor_map = 0;
  std::uint32_t box = 0, swizzle_period = 1;
  std::span<const std::int32_t> coordinates;
  std::span<const std::uint16_t> offsets;  // im2col: of the spatial dimensions, the first one first
  // The rule that lanes break at the issue (source_size: they copy `bytes` all the same).
  async::Violation violation = async::Violation::none;
  Mask breaking = 0;              // these lanes
  std::uint32_t source_size = 0;  // the src-size of the first of them

  // Calls f(const CopyRun&) for every run of bytes. Valid only during the call of the hook.
  template <class F>
  void for_each_run(F f) const {
    if (!by_lane)
      return walk(*this, &f, [](void* to, const CopyRun& run) { (*static_cast<F*>(to))(run); });
    for (Mask m = who.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<std::uint32_t>(std::countr_zero(m));
      f(CopyRun{l, by_lane->destination[l], by_lane->source[l], bytes, by_lane->source_bytes[l]});
    }
  }
  // The emitter sets `by_lane`, for cp.async, or the other two.
  const LaneRuns* by_lane = nullptr;
  using RunHook = void (*)(void* to, const CopyRun&);
  void (*walk)(const CopyIssued&, void* to, RunHook) = nullptr;
  const void* context = nullptr;
};

// A bulk or tensor prefetch, which moves nothing that a program can see.
struct Prefetch {
  Who who;
  std::uint32_t bytes = 0;     // of a tensor: the whole box
  std::uint32_t left_out = 0;  // bytes past the last multiple of 16
  std::uint64_t address = 0;   // global; of a tensor: 0, and the fields of CopyIssued
  std::uint64_t tensor_map = 0;
  std::span<const std::int32_t> coordinates;
  std::span<const std::uint16_t> offsets;
};

struct CopyCommitted {
  Who who;
  Completion completion = Completion::thread_group;
};

// The bytes of `who.mask` have been read and written. The program need not have observed it yet.
struct CopyCompleted {
  Who who;  // the lanes that issued it, and where
  std::uint64_t id = 0;
};

// All but the `allowed` newest groups of these threads are complete, and the threads know it.
struct CopyWaited {
  static constexpr std::uint32_t all_copies = 0xffffffff;  // wait_all: includes uncommitted copies
  Who who;
  Completion completion = Completion::thread_group;
  std::uint32_t allowed = 0;
  bool read_only = false;  // .read: only the sources have been read
};

}  // namespace inflight::check
