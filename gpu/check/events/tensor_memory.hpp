// Tensor memory (tcgen05): its allocation, accesses by warps, and the work that threads give to the
// tensor cores.
#pragma once
#include <cstdint>
#include <span>

#include "gpu/check/events/kernel.hpp"

namespace inflight::check {

// Columns of some lanes, at most 16 neighbours: `lanes` has a bit for each, from lane 16 * segment.
struct TensorRun {
  enum class Of : std::uint8_t { data, d, a, scale_a, scale_b, metadata };
  static constexpr std::uint32_t segments = 8, segment_lanes = 16;
  std::uint16_t rank = 0;  // of the block in the cluster
  std::uint8_t segment = 0;
  Of of = Of::data;
  std::uint16_t lanes = 0xffff;
  bool reads = false, writes = false;
  std::uint32_t first = 0, columns = 0;
};

// A run of bytes in the shared memory of a block of the cluster.
struct TensorSource {
  std::uint16_t rank = 0;
  std::uint32_t address = 0, bytes = 0;
};

// A warp allocates or frees columns of its block, or gives up the right to allocate more. Or it is
// about to end the kernel, because it uses columns of which some are not allocated.
struct TensorAllocation {
  enum class Step : std::uint8_t { allocated, freed, relinquished, missed };
  Who who;
  Step step = Step::allocated;
  std::uint8_t group = 1;  // .cta_group
  std::uint16_t rank = 0;  // of the block that has the columns
  std::uint32_t first = 0, columns = 0;
};

// A warp's tcgen05.ld or st.
struct TensorAccess {
  Who who;
  bool writes = false;
  std::span<const TensorRun> runs;
};

// One thread's tcgen05.mma or cp. A pair's other block takes part with .cta_group::2.
struct TensorWork {
  Who who;
  bool multiplies = false;  // else it copies
  std::uint8_t group = 1;
  std::span<const TensorRun> runs;
  std::span<const TensorSource> sources;  // which it reads through the async proxy
};

struct TensorStep {
  enum class What : std::uint8_t {
    waited_loads,   // tcgen05.wait::ld
    waited_stores,  // tcgen05.wait::st
    fenced_before,  // tcgen05.fence::before_thread_sync
    fenced_after,   // tcgen05.fence::after_thread_sync
    used_load,      // an instruction reads what the tcgen05.ld `load` has loaded
  };
  Who who;
  What what = What::waited_loads;
  std::uint32_t load = nothing;  // the instruction
};

}  // namespace inflight::check
