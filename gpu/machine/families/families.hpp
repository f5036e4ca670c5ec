// The families of instructions. Each has a function that appends its rows; see lowering/row.hpp.
#pragma once
#include "gpu/machine/lowering/moves.hpp"
#include "gpu/machine/lowering/row.hpp"

// Families of loops over lanes, compiled once for each instruction set. FAMILY(name) is a file
// families/name.cpp with `void name_rows(Rows&)` in namespace INFLIGHT_ISA.
#define INFLIGHT_LANE_FAMILIES(FAMILY) \
  FAMILY(integer)                      \
  FAMILY(integer_wide)                 \
  FAMILY(logic)                        \
  FAMILY(bits)                         \
  FAMILY(video)                        \
  FAMILY(video_simd)                   \
  FAMILY(floating)                     \
  FAMILY(floating_pairs)               \
  FAMILY(rounded)                      \
  FAMILY(approximate)                  \
  FAMILY(half)                         \
  FAMILY(compare)                      \
  FAMILY(convert)                      \
  FAMILY(convert_integer)              \
  FAMILY(convert_half)                 \
  FAMILY(convert_packed)               \
  FAMILY(convert_narrow)               \
  FAMILY(move)                         \
  FAMILY(memory)                       \
  FAMILY(shuffle)

// Families that need no SIMD: compiled once.
#define INFLIGHT_FAMILIES(FAMILY) \
  FAMILY(barrier)                 \
  FAMILY(cluster)                 \
  FAMILY(atomic)                  \
  FAMILY(fence)                   \
  FAMILY(async_copy)              \
  FAMILY(bulk)                    \
  FAMILY(mbarrier)                \
  FAMILY(matrix)                  \
  FAMILY(multimem)                \
  FAMILY(cancel)                  \
  FAMILY(zero)                    \
  FAMILY(tensor_warp)             \
  FAMILY(wmma)                    \
  FAMILY(tensor_map)              \
  FAMILY(wgmma)                   \
  FAMILY(tcgen05_memory)          \
  FAMILY(tcgen05_multiply)        \
  FAMILY(texture)                 \
  FAMILY(surface)                 \
  FAMILY(stack)                   \
  FAMILY(system)

namespace inflight::machine {
#define FAMILY(name) void name##_rows(Rows&);
namespace isa_baseline {
INFLIGHT_LANE_FAMILIES(FAMILY)
MoveHandlers move_handlers();
}  // namespace isa_baseline
namespace isa_avx2 {
INFLIGHT_LANE_FAMILIES(FAMILY)
MoveHandlers move_handlers();
}  // namespace isa_avx2
namespace isa_avx512 {
INFLIGHT_LANE_FAMILIES(FAMILY)
MoveHandlers move_handlers();
}  // namespace isa_avx512
INFLIGHT_FAMILIES(FAMILY)
#undef FAMILY
}  // namespace inflight::machine
