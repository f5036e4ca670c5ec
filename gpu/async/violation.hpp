// The rules of the asynchronous instructions that a program can break, each with its sentence.
#pragma once
#include <cstdint>
#include <string_view>

namespace inflight::async {

// X(name, sentence). The sentence completes "mbarrier.arrive: ...".
#define INFLIGHT_ASYNC_VIOLATIONS(X)                                                           \
  X(none, "no rule is broken")                                                                 \
  X(not_initialised,                                                                           \
    "the eight bytes are not an mbarrier: never initialised, or overwritten since")            \
  X(init_count_range, "an mbarrier's initial count must be from 1 to 1048575")                 \
  X(arrive_count_range, "an arrival count must be from 1 to 1048575")                          \
  X(too_many_arrivals, "more arrivals than the current phase still expects")                   \
  X(drop_below_zero, "more threads drop out than the mbarrier expects")                        \
  X(tx_operand_range, "a transaction byte count must be from 0 to 1048575")                    \
  X(tx_overflow, "the transaction count would exceed 1048575")                                 \
  X(tx_underflow, "the transaction count would fall below -1048575")                           \
  X(no_complete_completes, "an arrival with .noComplete would complete the phase")             \
  X(pending_overflow, "the pending count would exceed 1048575")                                \
  X(not_a_token, "the state operand did not come from an arrival on an mbarrier")              \
  X(parity_range, "the phase parity must be 0 or 1")                                           \
  X(source_size, "src-size is greater than cp-size")                                           \
  X(source_modified,                                                                           \
    "the source of this copy was written while the copy was in flight, so the result depends " \
    "on which of the two comes first; write there only after a wait has shown that the copy "  \
    "has read it")                                                                             \
  X(tensor_shared_alignment, "the box in shared memory must be aligned to 128 bytes")          \
  X(tensor_start_alignment, "a box must start at a multiple of 16 bytes of dimension 0")       \
  X(tensor_negative_store, "a store or reduction must not start at a negative coordinate")     \
  X(tensor_start_outside, "a column must start in the bounding box of im2col mode")            \
  X(tensor_store_bounds, "the bounding box of a store or reduction must be inside the tensor") \
  X(tensor_no_reduction, "the element type has no such reduction")

// PTX leaves each of these undefined. Here an operation that breaks a rule changes nothing, and the
// caller decides whether the program continues.
enum class Violation : std::uint8_t {
#define X(name, text) name,
  INFLIGHT_ASYNC_VIOLATIONS(X)
#undef X
};

constexpr std::string_view name(Violation v) {
  constexpr std::string_view names[] = {
#define X(name, text) #name,
      INFLIGHT_ASYNC_VIOLATIONS(X)
#undef X
  };
  return names[static_cast<unsigned>(v)];
}

constexpr std::string_view sentence(Violation v) {
  constexpr std::string_view sentences[] = {
#define X(name, text) text,
      INFLIGHT_ASYNC_VIOLATIONS(X)
#undef X
  };
  return sentences[static_cast<unsigned>(v)];
}

}  // namespace inflight::async
