// st.async and red.async: one row for each size, and for each operation and type that exists (PTX
// ISA, "st.async", "red.async"). dst and the mbarrier are shared::cluster addresses. sm_90.
#pragma once
#include <inflight/bytes.cuh>
#include <inflight/ptx/bulk.cuh>

namespace inflight::impl {

// Stores 4, 8 or 16 bytes.
template <std::size_t Bytes>
struct store_words {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16,
                "An asynchronous store moves a value of 4, 8 or 16 bytes.");
};
template <>
struct store_words<4> {
  static INFLIGHT_DEVICE void run(std::uint32_t dst, const void* value, std::uint32_t mbarrier) {
    std::uint32_t word;
    memcpy(&word, value, sizeof word);
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(dst),
        "r"(word), "r"(mbarrier)
        : "memory");
  }
};
template <>
struct store_words<8> {
  static INFLIGHT_DEVICE void run(std::uint32_t dst, const void* value, std::uint32_t mbarrier) {
    std::uint64_t word;
    memcpy(&word, value, sizeof word);
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(dst),
        "l"(word), "r"(mbarrier)
        : "memory");
  }
};
template <>
struct store_words<16> {
  static INFLIGHT_DEVICE void run(std::uint32_t dst, const void* value, std::uint32_t mbarrier) {
    std::uint32_t word[4];
    memcpy(word, value, sizeof word);
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4},"
        " [%5];" ::"r"(dst),
        "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(mbarrier)
        : "memory");
  }
};

template <reduction_op Operation, class T>
struct reduce_value {
  static_assert(never<T>,
                "No asynchronous reduction of this operation and type. There are: add of int, "
                "unsigned, long long and unsigned long long; min and max of int and unsigned; inc "
                "and dec of unsigned; bit_and, bit_or and bit_xor of int and unsigned.");
};
#define INFLIGHT_ROW(operation, type, form, letter)                                               \
  template <>                                                                                     \
  struct reduce_value<reduction_op::operation, type> {                                            \
    static INFLIGHT_DEVICE void run(std::uint32_t dst, type value, std::uint32_t mbarrier) {      \
      asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." form \
                   " [%0], %1, [%2];" ::"r"(dst),                                                 \
                   letter(value), "r"(mbarrier)                                                   \
                   : "memory");                                                                   \
    }                                                                                             \
  };
INFLIGHT_ROW(add, unsigned, "add.u32", "r")
INFLIGHT_ROW(add, int, "add.s32", "r")
INFLIGHT_ROW(add, unsigned long long, "add.u64", "l")
INFLIGHT_ROW(add, long long, "add.u64", "l")
INFLIGHT_ROW(min, unsigned, "min.u32", "r")
INFLIGHT_ROW(min, int, "min.s32", "r")
INFLIGHT_ROW(max, unsigned, "max.u32", "r")
INFLIGHT_ROW(max, int, "max.s32", "r")
INFLIGHT_ROW(inc, unsigned, "inc.u32", "r")
INFLIGHT_ROW(dec, unsigned, "dec.u32", "r")
INFLIGHT_ROW(bit_and, unsigned, "and.b32", "r")
INFLIGHT_ROW(bit_and, int, "and.b32", "r")
INFLIGHT_ROW(bit_or, unsigned, "or.b32", "r")
INFLIGHT_ROW(bit_or, int, "or.b32", "r")
INFLIGHT_ROW(bit_xor, unsigned, "xor.b32", "r")
INFLIGHT_ROW(bit_xor, int, "xor.b32", "r")
#undef INFLIGHT_ROW

}  // namespace inflight::impl
