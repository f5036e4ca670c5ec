// The mbarrier object (PTX ISA, "Parallel Synchronization and Communication Instructions:
// mbarrier"). Its whole state is 64 opaque bits in shared memory.
//
// The word (an implementation choice; PTX leaves it opaque):
//   bits  0..19  pending arrivals of the current phase       0 .. 2^20-1
//   bits 20..39  expected arrivals of the next phase         0 .. 2^20-1 (0 once all have dropped)
//   bits 40..60  tx-count, two's complement                  -(2^20-1) .. 2^20-1
//   bit  61      parity of the current phase: the first is 0
//   bits 62..63  2 in a live mbarrier, 3 in a token; 0 and 1 mark other data, such as zeroed
//                memory and pointers
// A token (the `state` operand) is the word before the arrival, marked as a token. It holds the
// phase and the pending count that mbarrier.pending_count returns.
//
// Operations are not atomic: the caller must serialise host threads that share a word.
// An operation that returns a violation leaves the word unchanged.
#pragma once
#include <cstdint>

#include "gpu/async/violation.hpp"

namespace inflight::async::mbarrier {

using Word = std::uint64_t;
using Token = std::uint64_t;

inline constexpr std::uint32_t max_count = (1u << 20) - 1;  // of arrivals, and of |tx-count|
inline constexpr std::uint32_t size = 8, alignment = 8;     // bytes

// The fields of a word or a token.
struct State {
  bool live = false;  // an initialised mbarrier, or a token of one
  bool token = false;
  std::uint32_t parity = 0;    // of the current phase
  std::uint32_t expected = 0;  // arrivals, from the next phase on
  std::uint32_t pending = 0;   // arrivals, of the current phase
  std::int32_t tx_count = 0;   // bytes
  bool operator==(const State&) const = default;
};
namespace layout {
inline constexpr unsigned expected_shift = 20, tx_shift = 40, parity_shift = 61, mark_shift = 62;
inline constexpr std::uint64_t count_bits = max_count, tx_bits = (1u << 21) - 1;
inline constexpr std::uint64_t live_mark = 2, token_mark = 3;
}  // namespace layout
// Inline, because every event of an mbarrier decodes its word, mostly for the parity alone.
inline State decode(std::uint64_t word_or_token) {
  using namespace layout;
  const std::uint64_t bits = word_or_token;
  State s;
  s.token = bits >> mark_shift == token_mark;
  s.live = s.token || bits >> mark_shift == live_mark;
  if (!s.live) return s;
  s.parity = bits >> parity_shift & 1;
  s.pending = bits & count_bits;
  s.expected = bits >> expected_shift & count_bits;
  // Extends the sign of the 21-bit field.
  s.tx_count = static_cast<std::int32_t>((bits >> tx_shift & tx_bits) << 11) >> 11;
  return s;
}

// The outcome of an operation that may complete the current phase.
struct Step {
  Violation violation = Violation::none;
  bool completed = false;  // this operation completed the phase
  Token token = 0;         // the state before the operation
};

// mbarrier.init: `count` is from 1 to 2^20-1. Overwrites the memory's old contents. PTX forbids
// this for a live mbarrier, but only a detector that saw its initialisation can report it.
Violation init(Word&, std::uint32_t count);
// mbarrier.inval. PTX does not define the word afterwards. An H200 keeps it, and the mbarrier still
// works. Programs rely on that: libcu++'s pipeline_divergent_threads test invalidates while other
// threads still wait. So nothing is written. A detector can report later uses.
Violation invalidate(Word&);

// mbarrier.arrive: `count` arrivals in one operation.
Step arrive(Word&, std::uint32_t count = 1);
// `times` arrivals of `count` each, one after the other, if none of them breaks a rule or completes
// the phase. Otherwise false, and nothing changes.
bool arrive_each(Word&, std::uint32_t count, std::uint32_t times);
// Each thread of the mask arrives with `count`. Returns those whose arrivals were made, as by
// arrive_each(): all, all but the last, or none. The others must arrive one after the other.
std::uint32_t arrive_alike(Word&, std::uint32_t count, std::uint32_t threads);
// The token of an operation on a live mbarrier, and of one that follows it after `count` arrivals.
Token token_of(Word);
inline Token later_token(Token token, std::uint32_t count) { return token - count; }
// mbarrier.arrive.noComplete: a violation if the phase would complete.
Step arrive_no_complete(Word&, std::uint32_t count);
// mbarrier.arrive.expect_tx: expect_tx, then one operation of `count` arrivals.
Step arrive_expect_tx(Word&, std::uint32_t tx_bytes, std::uint32_t count = 1);
// mbarrier.arrive_drop: lowers the expected arrivals from the next phase on, then arrives.
Step arrive_drop(Word&, std::uint32_t count = 1);
Step arrive_drop_no_complete(Word&, std::uint32_t count);
Step arrive_drop_expect_tx(Word&, std::uint32_t tx_bytes, std::uint32_t count = 1);

// mbarrier.expect_tx and mbarrier.complete_tx, and the completion of bulk copies. `bytes` is from 0
// to 2^20-1. A completion may precede its expect_tx, so tx-count is signed. The phase completes
// when pending arrivals and tx-count are both zero after an operation, expect_tx included, as on an
// H200 (tests/gpu/mbarrier_truth.cu).
Step expect_tx(Word&, std::uint32_t bytes);
Step complete_tx(Word&, std::uint32_t bytes);

// cp.async.mbarrier.arrive without .noinc: adds `count` pending arrivals to the current phase. The
// asynchronous arrivals remove them again.
Violation add_pending(Word&, std::uint32_t count = 1);

// mbarrier.test_wait and try_wait. `done` is true if the phase of the token, or the phase with this
// parity, is complete. PTX allows the current phase and the one before it. `done` compares the
// parities even if there is a violation.
struct Test {
  Violation violation = Violation::none;
  bool done = false;
};
Test test(Word, Token);
Test test_parity(Word, std::uint32_t parity);

// mbarrier.pending_count: the pending arrivals before the arrival that returned the token. PTX
// allows only tokens of .noComplete arrivals. An H200 accepts all tokens, and so does this
// function.
struct Count {
  Violation violation = Violation::none;
  std::uint32_t pending = 0;
};
Count pending_count(Token);

}  // namespace inflight::async::mbarrier
