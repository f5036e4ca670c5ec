// mbarriers: scripted cases, and random sequences compared with a simple reference.
#include "gpu/async/mbarrier.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <optional>
#include <vector>

#include "gpu/async/timing.hpp"

namespace inflight::async::mbarrier {
namespace {

Word make(std::uint32_t count) {
  Word word = 0;
  EXPECT_EQ(init(word, count), Violation::none);
  return word;
}

// Expects a violation that leaves the word unchanged.
template <class Operation>
void expect_refused(Word word, Violation violation, Operation operation) {
  const Word before = word;
  EXPECT_EQ(operation(word), violation) << name(violation);
  EXPECT_EQ(word, before) << name(violation);
}

TEST(Mbarrier, StartsInPhaseZeroWithAllArrivalsPending) {
  EXPECT_EQ(decode(make(7)), (State{.live = true, .expected = 7, .pending = 7}));
  EXPECT_EQ(decode(make(max_count)).pending, max_count);
}

TEST(Mbarrier, InitRefusesCountsOutOfRange) {
  for (std::uint32_t count : {0u, max_count + 1, 0xffffffffu})
    expect_refused(0x1234, Violation::init_count_range, [=](Word& w) { return init(w, count); });
}

TEST(Mbarrier, LastArrivalEndsThePhase) {
  Word word = make(3);
  EXPECT_FALSE(arrive(word).completed);
  EXPECT_FALSE(test_parity(word, 0).done);
  EXPECT_TRUE(test_parity(word, 1).done);  // the phase before the first counts as complete
  const Step last = arrive(word, 2);
  EXPECT_TRUE(last.completed);
  EXPECT_EQ(decode(word), (State{.live = true, .parity = 1, .expected = 3, .pending = 3}));
  EXPECT_TRUE(test_parity(word, 0).done);
  EXPECT_FALSE(test_parity(word, 1).done);
  EXPECT_TRUE(test(word, last.token).done);
}

TEST(Mbarrier, TokenTellsPhaseAndPendingCountBeforeTheArrival) {
  Word word = make(5);
  const Step first = arrive(word, 2), second = arrive(word);
  EXPECT_EQ(pending_count(first.token).pending, 5u);
  EXPECT_EQ(pending_count(second.token).pending, 3u);
  EXPECT_FALSE(test(word, first.token).done);
  const Word copied = word;
  EXPECT_TRUE(arrive(word, 2).completed);
  EXPECT_TRUE(test(word, first.token).done);
  EXPECT_FALSE(test(copied, first.token).done) << "a copy of the word keeps its own phase";
}

TEST(Mbarrier, TransactionsHoldThePhase) {
  Word word = make(1);
  EXPECT_FALSE(arrive_expect_tx(word, 4096).completed);
  EXPECT_FALSE(complete_tx(word, 4000).completed);
  EXPECT_TRUE(complete_tx(word, 96).completed);
  EXPECT_EQ(decode(word).tx_count, 0);
}

TEST(Mbarrier, TransactionsMayCompleteBeforeTheyAreExpected) {
  Word word = make(1);
  EXPECT_FALSE(complete_tx(word, 64).completed);
  EXPECT_EQ(decode(word).tx_count, -64);
  EXPECT_TRUE(arrive_expect_tx(word, 64).completed);
}

TEST(Mbarrier, ExpectingWhatAlreadyCameEndsThePhase) {
  Word word = make(1);
  EXPECT_FALSE(complete_tx(word, 64).completed);
  EXPECT_FALSE(arrive(word).completed);
  EXPECT_TRUE(expect_tx(word, 64).completed);
}

TEST(Mbarrier, TransactionCountHasTheDocumentedLimits) {
  Word word = make(1);
  EXPECT_EQ(expect_tx(word, max_count).violation, Violation::none);
  expect_refused(word, Violation::tx_overflow, [](Word& w) { return expect_tx(w, 1).violation; });
  EXPECT_EQ(complete_tx(word, max_count).violation, Violation::none);
  EXPECT_EQ(complete_tx(word, max_count).violation, Violation::none);
  EXPECT_EQ(decode(word).tx_count, -static_cast<std::int32_t>(max_count));
  expect_refused(word, Violation::tx_underflow,
                 [](Word& w) { return complete_tx(w, 1).violation; });
  expect_refused(word, Violation::tx_operand_range,
                 [](Word& w) { return expect_tx(w, max_count + 1).violation; });
}

TEST(Mbarrier, DropsCountFromTheNextPhaseOn) {
  Word word = make(4);
  EXPECT_FALSE(arrive_drop(word, 1).completed);
  EXPECT_EQ(decode(word), (State{.live = true, .expected = 3, .pending = 3}));
  EXPECT_TRUE(arrive(word, 3).completed);
  EXPECT_EQ(decode(word).pending, 3u);
}

TEST(Mbarrier, EveryThreadMayDrop) {
  Word word = make(2);
  EXPECT_FALSE(arrive_drop(word).completed);
  const Step last = arrive_drop(word);
  EXPECT_TRUE(last.completed);
  EXPECT_TRUE(test(word, last.token).done);
  expect_refused(word, Violation::too_many_arrivals, [](Word& w) { return arrive(w).violation; });
  expect_refused(word, Violation::drop_below_zero,
                 [](Word& w) { return arrive_drop(w).violation; });
}

TEST(Mbarrier, NoCompleteMustNotComplete) {
  Word word = make(3);
  EXPECT_EQ(arrive_no_complete(word, 2).violation, Violation::none);
  expect_refused(word, Violation::no_complete_completes,
                 [](Word& w) { return arrive_no_complete(w, 1).violation; });
  expect_refused(word, Violation::no_complete_completes,
                 [](Word& w) { return arrive_drop_no_complete(w, 1).violation; });
  EXPECT_EQ(expect_tx(word, 16).violation, Violation::none);
  EXPECT_EQ(arrive_no_complete(word, 1).violation, Violation::none) << "transactions are pending";
}

TEST(Mbarrier, ArrivalCountsHaveTheDocumentedLimits) {
  const Word word = make(3);
  for (std::uint32_t count : {0u, max_count + 1})
    expect_refused(word, Violation::arrive_count_range,
                   [=](Word& w) { return arrive(w, count).violation; });
  expect_refused(word, Violation::too_many_arrivals,
                 [](Word& w) { return arrive(w, 4).violation; });
}

TEST(Mbarrier, AddedPendingArrivalIsTakenBack) {
  Word word = make(2);
  EXPECT_EQ(add_pending(word), Violation::none);
  EXPECT_FALSE(arrive(word, 2).completed);
  EXPECT_TRUE(arrive(word).completed);
  EXPECT_EQ(decode(word).pending, 2u);
  Word full = make(max_count);
  expect_refused(full, Violation::pending_overflow, [](Word& w) { return add_pending(w); });
}

// Only where none of them completes the phase or is refused.
TEST(Mbarrier, SeveralArrivalsAreOneAfterTheOther) {
  for (const std::uint32_t pending : {1u, 2u, 31u, 32u, 33u, 64u, 1000u, max_count})
    for (const std::uint32_t count : {0u, 1u, 2u, 31u, max_count, max_count + 1, 0xffffffffu})
      for (const std::uint32_t times : {1u, 2u, 31u}) {
        Word word = make(pending), single = word;
        bool plain = true;
        std::vector<Token> tokens;
        for (std::uint32_t i = 0; i < times && plain; ++i) {
          const Step step = arrive(single, count);
          plain = step.violation == Violation::none && !step.completed;
          tokens.push_back(step.token);
        }
        const Token first = token_of(word);
        ASSERT_EQ(arrive_each(word, count, times), plain) << pending << " " << count;
        EXPECT_EQ(word, plain ? single : make(pending));
        for (std::uint32_t i = 0; plain && i < times; ++i)
          EXPECT_EQ(tokens[i], later_token(first, i * count));
      }
  Word none = 0;
  EXPECT_FALSE(arrive_each(none, 1, 2));
}

// The last thread's arrival, which may complete the phase, is left out only then.
TEST(Mbarrier, ThreadsArriveTogetherUpToTheOneThatCompletesThePhase) {
  constexpr std::uint32_t threads = 0x80010003, count = 4;
  for (const std::uint32_t pending : {1u, count - 1, count, count + 1, 2 * count}) {
    Word word = make(pending);
    const std::uint32_t arrived = arrive_alike(word, 1, threads);
    EXPECT_EQ(arrived, pending > count    ? threads
                       : pending == count ? threads & 0x7fffffff
                                          : 0u)
        << pending;
    EXPECT_EQ(decode(word).pending, pending - static_cast<std::uint32_t>(std::popcount(arrived)));
  }
  Word one = make(1);
  EXPECT_EQ(arrive_alike(one, 1, 1), 0u);
  EXPECT_EQ(arrive_alike(one, 0, 1), 0u);
  one = make(2);
  EXPECT_EQ(arrive_alike(one, 1, 1), 1u);
}

TEST(Mbarrier, WhatIsNoMbarrierIsRefused) {
  const std::uint64_t pointer = 0x00007fff12345678, zero = 0, ones = ~std::uint64_t{0};
  for (Word word : {Word{zero}, Word{pointer}, Word{ones}}) {
    expect_refused(word, Violation::not_initialised, [](Word& w) { return arrive(w).violation; });
    expect_refused(word, Violation::not_initialised,
                   [](Word& w) { return arrive_drop(w).violation; });
    expect_refused(word, Violation::not_initialised,
                   [](Word& w) { return expect_tx(w, 1).violation; });
    expect_refused(word, Violation::not_initialised, [](Word& w) { return add_pending(w); });
    expect_refused(word, Violation::not_initialised, [](Word& w) { return invalidate(w); });
    EXPECT_EQ(test_parity(word, 0).violation, Violation::not_initialised);
  }
}

TEST(Mbarrier, AnInvalidatedOneCountsOnAsOnAGpu) {
  Word word = make(2);
  EXPECT_EQ(arrive(word).violation, Violation::none);
  EXPECT_EQ(invalidate(word), Violation::none);
  EXPECT_FALSE(test_parity(word, 0).done);
  EXPECT_TRUE(arrive(word).completed);
  EXPECT_TRUE(test_parity(word, 0).done);
}

TEST(Mbarrier, WhatIsNoTokenIsRefused) {
  const Word word = make(2);
  EXPECT_EQ(test(word, 0).violation, Violation::not_a_token);
  EXPECT_EQ(test(word, word).violation, Violation::not_a_token);
  EXPECT_EQ(pending_count(word).violation, Violation::not_a_token);
  EXPECT_EQ(test_parity(word, 2).violation, Violation::parity_range);
}

TEST(Mbarrier, EveryViolationHasItsSentence) {
  EXPECT_EQ(name(Violation::source_size), "source_size");
  for (unsigned v = 0; v <= unsigned(Violation::source_size); ++v)
    EXPECT_GT(sentence(Violation(v)).size(), 10u);
}

// The mbarrier as PTX defines it, with unbounded integers and a counted phase.
struct Naive {
  std::int64_t expected, pending, tx = 0;
  std::uint64_t phase = 0;
  static constexpr std::int64_t limit = (1 << 20) - 1;

  bool settle() {
    if (pending != 0 || tx != 0) return false;
    pending = expected;
    ++phase;
    return true;
  }
  // Returns whether the phase ended, or nothing if a rule is broken.
  std::optional<bool> apply(std::int64_t drop, std::int64_t arrivals, std::int64_t bytes) {
    Naive next = *this;
    next.tx += bytes;
    next.expected -= drop;
    next.pending -= arrivals;
    if (next.tx > limit || next.tx < -limit || next.expected < 0 || next.pending < 0) return {};
    const bool ended = next.settle();
    *this = next;
    return ended;
  }
};

struct Held {
  Token token;
  std::uint64_t phase;
  std::int64_t pending;
};

class Sequence {
 public:
  explicit Sequence(std::uint64_t seed)
      : random_(seed), naive_{1 + random_.below(9), 0}, word_(make(naive_.expected)) {
    naive_.pending = naive_.expected;
  }

  void step() {
    const std::uint32_t count = 1 + random_.below(3);
    const std::uint32_t bytes = random_.below(8) == 0 ? max_count : random_.below(200);
    const std::int64_t n = count, b = bytes;
    const Held before{0, naive_.phase, naive_.pending};
    switch (random_.below(6)) {
      case 0:
      case 1:
        return check(arrive(word_, count), naive_.apply(0, n, 0), before);
      case 2:
        return check(arrive_expect_tx(word_, bytes, count), naive_.apply(0, n, b), before);
      case 3:
        return check(expect_tx(word_, bytes), naive_.apply(0, 0, b), before);
      case 4:
        return check(complete_tx(word_, bytes), naive_.apply(0, 0, -b), before);
      default:
        if (random_.below(4) == 0)
          return check(arrive_drop(word_, count), naive_.apply(n, n, 0), before);
        // Completes the pending transactions, so that phases end often.
        const auto rest = static_cast<std::uint32_t>(std::abs(naive_.tx));
        if (naive_.tx > 0)
          return check(complete_tx(word_, rest), naive_.apply(0, 0, -naive_.tx), before);
        return check(expect_tx(word_, rest), naive_.apply(0, 0, rest), before);
    }
  }

  bool over() const { return naive_.expected == 0; }
  std::uint64_t phases() const { return naive_.phase; }

 private:
  void check(const Step& step, std::optional<bool> ended, Held before) {
    ASSERT_EQ(step.violation == Violation::none, ended.has_value()) << name(step.violation);
    ASSERT_EQ(step.completed, ended.value_or(false));
    before.token = step.token;
    if (ended) held_.push_back(before);
    const State expected{.live = true,
                         .parity = static_cast<std::uint32_t>(naive_.phase & 1),
                         .expected = static_cast<std::uint32_t>(naive_.expected),
                         .pending = static_cast<std::uint32_t>(naive_.pending),
                         .tx_count = static_cast<std::int32_t>(naive_.tx)};
    ASSERT_EQ(decode(word_), expected);
    check_tests();
  }
  void check_tests() {
    ASSERT_FALSE(test_parity(word_, naive_.phase & 1).done);
    ASSERT_TRUE(test_parity(word_, ~naive_.phase & 1).done);
    for (const Held& h : held_) {
      ASSERT_EQ(pending_count(h.token).pending, h.pending);
      if (naive_.phase - h.phase > 1) continue;  // PTX: this phase or the one before
      ASSERT_EQ(test(word_, h.token).violation, Violation::none);
      ASSERT_EQ(test(word_, h.token).done, h.phase != naive_.phase);
    }
    if (held_.size() > 8) held_.erase(held_.begin());
  }

  Random random_;
  Naive naive_;
  Word word_;
  std::vector<Held> held_;
};

TEST(Mbarrier, RandomSequencesFollowTheReference) {
  std::uint64_t phases = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Sequence sequence(seed);
    for (int i = 0; i < 100 && !sequence.over() && !testing::Test::HasFailure(); ++i)
      sequence.step();
    phases += sequence.phases();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(phases, 2000u) << "the sequences must end phases to prove anything";
}

}  // namespace
}  // namespace inflight::async::mbarrier
