// The mbarrier object (PTX ISA, "Parallel Synchronization and Communication Instructions:
// mbarrier"): 64 opaque bits in shared memory, all of its state, nothing beside it.
//
// The word (our choice; PTX leaves it opaque):
//   bits  0..19  pending arrivals of the current phase       0 .. 2^20-1
//   bits 20..39  expected arrivals of the next phase         0 .. 2^20-1 (0 once all have dropped)
//   bits 40..60  tx-count, two's complement                  -(2^20-1) .. 2^20-1
//   bit  61      parity of the current phase: the first is 0
//   bits 62..63  2 in a live mbarrier, 3 in a token; 0 and 1 are no mbarrier, so zeroed memory
//                and pointers are distinguished from it
// A token (the `state` operand) is the word as it was before the arrival, marked as a token: it
// carries the phase and the pending count that mbarrier.pending_count asks for.
//
// Operations are not atomic here: whoever shares a word between host threads takes turns.
// Every operation leaves the word untouched when it returns a violation.
#pragma once
#include <cstdint>

#include "gpu/async/violation.hpp"

namespace inflight::async::mbarrier {

using Word = std::uint64_t;
using Token = std::uint64_t;

inline constexpr std::uint32_t max_count = (1u << 20) - 1;  // of arrivals, and of |tx-count|
inline constexpr std::uint32_t size = 8, alignment = 8;     // bytes

// What a word or a token says.
struct State {
  bool live = false;  // an initialised mbarrier, or a token of one
  bool token = false;
  std::uint32_t parity = 0;    // of the current phase
  std::uint32_t expected = 0;  // arrivals, from the next phase on
  std::uint32_t pending = 0;   // arrivals, of the current phase
  std::int32_t tx_count = 0;   // bytes
  bool operator==(const State&) const = default;
};
State decode(std::uint64_t word_or_token);

// The outcome of an operation that may complete the current phase.
struct Step {
  Violation violation = Violation::none;
  bool completed = false;  // this operation completed the phase
  Token token = 0;         // the state before the operation
};

// mbarrier.init: count from 1 to 2^20-1. Whatever the memory held before is overwritten; PTX
// forbids initialising over a live mbarrier, which only a detector that saw its birth can know.
Violation init(Word&, std::uint32_t count);
// mbarrier.inval. PTX leaves open what becomes of the word; an H200 keeps it, and an mbarrier that
// is used all the same counts on. Programs live by that: libcu++'s pipeline_divergent_threads test
// invalidates while others still wait. So nothing is written; a detector that saw it can tell.
Violation invalidate(Word&);

// mbarrier.arrive: `count` arrivals, at once.
Step arrive(Word&, std::uint32_t count = 1);
// mbarrier.arrive.noComplete: a violation where the phase would complete.
Step arrive_no_complete(Word&, std::uint32_t count);
// mbarrier.arrive.expect_tx: expect_tx, then one operation of `count` arrivals.
Step arrive_expect_tx(Word&, std::uint32_t tx_bytes, std::uint32_t count = 1);
// mbarrier.arrive_drop: fewer are expected from the next phase on, then an arrival.
Step arrive_drop(Word&, std::uint32_t count = 1);
Step arrive_drop_no_complete(Word&, std::uint32_t count);
Step arrive_drop_expect_tx(Word&, std::uint32_t tx_bytes, std::uint32_t count = 1);

// mbarrier.expect_tx and mbarrier.complete_tx, and the completion of bulk copies: bytes from 0 to
// 2^20-1. Completions may come before they are expected: tx-count is signed. The phase completes
// whenever pending arrivals and tx-count are both zero after an operation (expect_tx too, as an
// H200 does: tests/gpu/mbarrier_truth.cu).
Step expect_tx(Word&, std::uint32_t bytes);
Step complete_tx(Word&, std::uint32_t bytes);

// cp.async.mbarrier.arrive without .noinc: one more pending arrival in the current phase, which
// the asynchronous arrival takes back.
Violation add_pending(Word&, std::uint32_t count = 1);

// mbarrier.test_wait and try_wait. `done`: the phase of the token (the one that has this parity)
// is complete. PTX allows the current phase and the one before it; with a violation `done` still
// tells what the parities say.
struct Test {
  Violation violation = Violation::none;
  bool done = false;
};
Test test(Word, Token);
Test test_parity(Word, std::uint32_t parity);

// mbarrier.pending_count: the arrivals that were pending before the arrival that gave the token.
// PTX allows tokens of .noComplete arrivals; an H200 answers for all, and so do we.
struct Count {
  Violation violation = Violation::none;
  std::uint32_t pending = 0;
};
Count pending_count(Token);

}  // namespace inflight::async::mbarrier
