// The mbarrier's state machine.
#include "gpu/async/mbarrier.hpp"

#include <bit>

namespace inflight::async::mbarrier {
namespace {

using namespace layout;
constexpr std::int64_t max_tx = max_count;

Word encode(const State& s) {
  return s.pending | std::uint64_t{s.expected} << expected_shift |
         (static_cast<std::uint64_t>(s.tx_count) & tx_bits) << tx_shift |
         std::uint64_t{s.parity} << parity_shift | live_mark << mark_shift;
}

bool is_live(Word word) { return word >> mark_shift == live_mark; }
bool is_token(Token token) { return token >> mark_shift == token_mark; }
Token as_token(Word word) { return word | token_mark << mark_shift; }
std::uint32_t parity_of(std::uint64_t bits) { return bits >> parity_shift & 1; }

// Completes the phase if nothing is pending. The next one expects the arrivals left after drops.
bool complete_if_due(State& s) {
  if (s.pending != 0 || s.tx_count != 0) return false;
  s.pending = s.expected;
  s.parity ^= 1;
  return true;
}

Violation expect(State& s, std::uint32_t bytes) {
  if (bytes > max_count) return Violation::tx_operand_range;
  if (s.tx_count + std::int64_t{bytes} > max_tx) return Violation::tx_overflow;
  s.tx_count += static_cast<std::int32_t>(bytes);
  return Violation::none;
}

Violation finish(State& s, std::uint32_t bytes) {
  if (bytes > max_count) return Violation::tx_operand_range;
  if (s.tx_count - std::int64_t{bytes} < -max_tx) return Violation::tx_underflow;
  s.tx_count -= static_cast<std::int32_t>(bytes);
  return Violation::none;
}

Violation drop(State& s, std::uint32_t count) {
  if (count == 0 || count > max_count) return Violation::arrive_count_range;
  if (count > s.expected) return Violation::drop_below_zero;
  s.expected -= count;
  return Violation::none;
}

Violation take_arrivals(State& s, std::uint32_t count) {
  if (count == 0 || count > max_count) return Violation::arrive_count_range;
  if (count > s.pending) return Violation::too_many_arrivals;
  s.pending -= count;
  return Violation::none;
}

// Applies `change` to a live mbarrier. Changes nothing if that breaks a rule.
template <class Change>
Step apply(Word& word, bool may_complete, Change change) {
  if (!is_live(word)) return {Violation::not_initialised, false, 0};
  Step step{Violation::none, false, as_token(word)};
  State state = decode(word);
  step.violation = change(state);
  if (step.violation != Violation::none) return step;
  step.completed = complete_if_due(state);
  if (step.completed && !may_complete) return {Violation::no_complete_completes, false, step.token};
  word = encode(state);
  return step;
}

// Executes the parts of an arrival in PTX's order: transactions, drop, arrivals.
Step arrive_with(Word& word, std::uint32_t tx_bytes, bool dropping, std::uint32_t count,
                 bool may_complete) {
  return apply(word, may_complete, [=](State& s) {
    Violation v = expect(s, tx_bytes);
    if (v == Violation::none && dropping) v = drop(s, count);
    return v == Violation::none ? take_arrivals(s, count) : v;
  });
}

}  // namespace

Violation init(Word& word, std::uint32_t count) {
  if (count == 0 || count > max_count) return Violation::init_count_range;
  word = encode({.live = true, .expected = count, .pending = count});
  return Violation::none;
}

Violation invalidate(Word& word) {
  return is_live(word) ? Violation::none : Violation::not_initialised;
}

Step arrive(Word& word, std::uint32_t count) { return arrive_with(word, 0, false, count, true); }
bool arrive_each(Word& word, std::uint32_t count, std::uint32_t times) {
  const std::uint64_t pending = word & count_bits, arrivals = std::uint64_t{count} * times;
  if (!is_live(word) || count == 0 || arrivals >= pending) return false;
  word -= arrivals;
  return true;
}
std::uint32_t arrive_alike(Word& word, std::uint32_t count, std::uint32_t threads) {
  const auto times = static_cast<std::uint32_t>(std::popcount(threads));
  if (arrive_each(word, count, times)) return threads;
  const std::uint32_t before_last = threads & ~std::bit_floor(threads);
  return before_last != 0 && arrive_each(word, count, times - 1) ? before_last : 0;
}
Token token_of(Word word) { return as_token(word); }
Step arrive_no_complete(Word& word, std::uint32_t count) {
  return arrive_with(word, 0, false, count, false);
}
Step arrive_expect_tx(Word& word, std::uint32_t tx_bytes, std::uint32_t count) {
  return arrive_with(word, tx_bytes, false, count, true);
}
Step arrive_drop(Word& word, std::uint32_t count) {
  return arrive_with(word, 0, true, count, true);
}
Step arrive_drop_no_complete(Word& word, std::uint32_t count) {
  return arrive_with(word, 0, true, count, false);
}
Step arrive_drop_expect_tx(Word& word, std::uint32_t tx_bytes, std::uint32_t count) {
  return arrive_with(word, tx_bytes, true, count, true);
}

Step expect_tx(Word& word, std::uint32_t bytes) {
  return apply(word, true, [=](State& s) { return expect(s, bytes); });
}
Step complete_tx(Word& word, std::uint32_t bytes) {
  return apply(word, true, [=](State& s) { return finish(s, bytes); });
}

Violation add_pending(Word& word, std::uint32_t count) {
  if (!is_live(word)) return Violation::not_initialised;
  State state = decode(word);
  if (count > max_count - state.pending) return Violation::pending_overflow;
  state.pending += count;
  word = encode(state);
  return Violation::none;
}

Test test(Word word, Token token) {
  const bool done = parity_of(word) != parity_of(token);
  if (!is_live(word)) return {Violation::not_initialised, done};
  return {is_token(token) ? Violation::none : Violation::not_a_token, done};
}

Test test_parity(Word word, std::uint32_t parity) {
  const bool done = parity_of(word) != (parity & 1);
  if (!is_live(word)) return {Violation::not_initialised, done};
  return {parity <= 1 ? Violation::none : Violation::parity_range, done};
}

Count pending_count(Token token) {
  const auto pending = static_cast<std::uint32_t>(token & count_bits);
  return {is_token(token) ? Violation::none : Violation::not_a_token, pending};
}

}  // namespace inflight::async::mbarrier
