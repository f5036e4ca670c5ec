// One row for each rank: the text and operands of a tensor copy. These are macros because an asm
// statement needs its text as one literal. ptx/tensor.cuh uses them.
#pragma once

// X(rank, first operands, text of the coordinates, text of im2col's offsets, five operand numbers
// that follow, the caller's extra arguments). The first operands are the coordinates and the
// offsets.
#define INFLIGHT_AT_1 "r"(at[0])
#define INFLIGHT_AT_2 INFLIGHT_AT_1, "r"(at[1])
#define INFLIGHT_AT_3 INFLIGHT_AT_2, "r"(at[2])
#define INFLIGHT_AT_4 INFLIGHT_AT_3, "r"(at[3])
#define INFLIGHT_AT_5 INFLIGHT_AT_4, "r"(at[4])
#define INFLIGHT_OFFSET_AT_3 INFLIGHT_AT_3, "h"(offset[0])
#define INFLIGHT_OFFSET_AT_4 INFLIGHT_AT_4, "h"(offset[0]), "h"(offset[1])
#define INFLIGHT_OFFSET_AT_5 INFLIGHT_AT_5, "h"(offset[0]), "h"(offset[1]), "h"(offset[2])

#define INFLIGHT_TILE_RANKS(X, ...)                                               \
  static_assert(Rank >= 1 && Rank <= 5, "A tensor has at most five dimensions."); \
  X(1, INFLIGHT_AT_1, "{%0}", "", "%1", "%2", "%3", "%4", "%5", __VA_ARGS__)      \
  X(2, INFLIGHT_AT_2, "{%0, %1}", "", "%2", "%3", "%4", "%5", "%6", __VA_ARGS__)  \
  INFLIGHT_HIGHER_RANKS(X, __VA_ARGS__)

#define INFLIGHT_IM2COL_RANKS(X, ...)                          \
  static_assert(Rank >= 3 && Rank <= 5, INFLIGHT_IM2COL_RULE); \
  INFLIGHT_HIGHER_RANKS(X, __VA_ARGS__)

#define INFLIGHT_HIGHER_RANKS(X, ...)                                                    \
  X(3, INFLIGHT_AT_3, "{%0, %1, %2}", "", "%3", "%4", "%5", "%6", "%7", __VA_ARGS__)     \
  X(4, INFLIGHT_AT_4, "{%0, %1, %2, %3}", "", "%4", "%5", "%6", "%7", "%8", __VA_ARGS__) \
  X(5, INFLIGHT_AT_5, "{%0, %1, %2, %3, %4}", "", "%5", "%6", "%7", "%8", "%9", __VA_ARGS__)

#define INFLIGHT_OFFSET_RANKS(X, ...)                                                             \
  static_assert(Rank >= 3 && Rank <= 5, INFLIGHT_IM2COL_RULE);                                    \
  X(3, INFLIGHT_OFFSET_AT_3, "{%0, %1, %2}", ", {%3}", "%4", "%5", "%6", "%7", "%8", __VA_ARGS__) \
  X(4, INFLIGHT_OFFSET_AT_4, "{%0, %1, %2, %3}", ", {%4, %5}", "%6", "%7", "%8", "%9", "%10",     \
    __VA_ARGS__)                                                                                  \
  X(5, INFLIGHT_OFFSET_AT_5, "{%0, %1, %2, %3, %4}", ", {%5, %6, %7}", "%8", "%9", "%10", "%11",  \
    "%12", __VA_ARGS__)

#define INFLIGHT_IM2COL_RULE "An im2col tensor has three to five dimensions."

// Optional operands at an instruction's end: a mask of blocks, an L2 policy.
#define INFLIGHT_NO_MORE(first, second) ""
#define INFLIGHT_ONE_MORE(first, second) ", " first
#define INFLIGHT_TWO_MORE(first, second) ", " first ", " second
