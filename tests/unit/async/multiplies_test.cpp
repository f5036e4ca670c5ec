// Multiplications in flight: the warps that must take part, what a wait completes, when registers
// are read and written, and later moves of results.
#include "gpu/async/multiplies.hpp"

#include <gtest/gtest.h>

namespace inflight::async {
namespace {

constexpr RegisterPlace place(unsigned reg) { return reg * sizeof(RegisterLanes); }
constexpr std::uint32_t all = 0xffffffff;

// Four warps with eight registers each. A multiplication does: accumulator 0 += fragment 0 *
// memory.
class Group {
 public:
  explicit Group(Timing timing = late) : model(Order(timing)) {}

  void issue(std::uint32_t warp, unsigned accumulator, unsigned fragment, bool accumulates = true) {
    lists_.push_back(std::make_unique<Lists>(Lists{{place(accumulator)}, {place(fragment)}}));
    MultiplyIssue issue;
    issue.context = this;
    issue.multiply = [](const Multiplication& m) { static_cast<Group*>(m.issue.context)->run(m); };
    issue.registers = reinterpret_cast<std::byte*>(registers[warp].data());
    issue.accumulates = accumulates;
    issue.accumulators = lists_.back()->accumulators;
    issue.fragments = lists_.back()->fragments;
    model.issue(warp, issue);
  }
  void issue_all(unsigned accumulator, unsigned fragment, bool accumulates = true) {
    for (std::uint32_t w = 0; w < warps_of_group; ++w) issue(w, accumulator, fragment, accumulates);
  }
  void commit_all() {
    for (std::uint32_t w = 0; w < warps_of_group; ++w) model.commit(w);
  }
  void wait_all(std::uint32_t allowed) {
    for (std::uint32_t w = 0; w < warps_of_group; ++w) {
      ASSERT_TRUE(model.can_wait(w, allowed));
      model.wait_group(w, allowed);
    }
  }
  void set(unsigned reg, std::uint32_t value) {
    for (auto& of_warp : registers) of_warp[reg].fill(value);
  }
  // A move in the program. Returns true if the model will do it.
  bool move(std::uint32_t warp, unsigned to, unsigned from, std::uint32_t mask = all) {
    const RegisterPlace source = place(from);
    const bool later = model.move(warp, {mask, reinterpret_cast<std::byte*>(registers[warp].data()),
                                         place(to), &source, nullptr});
    if (!later) registers[warp][to] = registers[warp][from];
    return later;
  }
  std::uint32_t value(std::uint32_t warp, unsigned reg) const { return registers[warp][reg][5]; }

  Multiplies model;
  std::uint32_t memory = 10;
  std::array<std::array<RegisterLanes, 8>, warps_of_group> registers{};
  unsigned done = 0;

 private:
  struct Lists {
    std::vector<RegisterPlace> accumulators, fragments;
  };
  void run(const Multiplication& m) {
    ++done;
    for (std::uint32_t w = 0; w < warps_of_group; ++w)
      for (unsigned l = 0; l < 32; ++l) {
        std::uint32_t& to = m.accumulator(w, 0)[l];
        to = (m.parts[w].accumulates ? to : 0) + m.fragment(w, 0)[l] * memory;
      }
  }
  std::vector<std::unique_ptr<Lists>> lists_;
};

TEST(Multiplies, HappenAtTheWaitWithWhatIsThereThen) {
  Group g;
  g.set(0, 100), g.set(1, 3);
  g.issue_all(0, 1);
  g.commit_all();
  EXPECT_EQ(g.value(2, 0), 100u);
  g.memory = 20;
  g.set(0, 7), g.set(1, 4);  // too late, or too early: it reads them now
  g.wait_all(0);
  EXPECT_EQ(g.value(2, 0), 7u + 4 * 20);
}

TEST(Multiplies, HappenAtOnceWhereTimingIsEarly) {
  Group g(early);
  g.set(1, 3);
  for (std::uint32_t w = 0; w < 3; ++w) g.issue(w, 0, 1);
  EXPECT_EQ(g.done, 0u);  // the fourth warp is missing
  g.issue(3, 0, 1);
  EXPECT_EQ(g.done, 1u);
  EXPECT_EQ(g.value(0, 0), 30u);
}

TEST(Multiplies, HappenSomeTimeWhereTimingIsShuffled) {
  bool some_early = false, some_late = false;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Group g(shuffled(seed));
    g.issue_all(0, 1);
    for (int i = 0; i < 4; ++i) g.model.advance();
    (g.done ? some_early : some_late) = true;
  }
  EXPECT_TRUE(some_early && some_late);
}

TEST(Multiplies, AreOneOperationOfFourWarps) {
  Group g;
  g.set(1, 1);
  for (std::uint32_t w = 0; w < 3; ++w) g.issue(w, 0, 1), g.model.commit(w);
  EXPECT_FALSE(g.model.can_wait(0, 0));
  EXPECT_EQ(g.model.missing(0), 0b1000u);
  g.issue(3, 0, 1);
  ASSERT_TRUE(g.model.can_wait(0, 0));
  g.model.wait_group(0, 0);
  // The others have not waited, and the last has not committed. It is complete anyway.
  for (std::uint32_t w = 0; w < warps_of_group; ++w) EXPECT_EQ(g.value(w, 0), 10u);
}

TEST(Multiplies, CompleteInGroupsTheOldestFirst) {
  Group g;
  g.set(6, 1);
  for (unsigned acc = 0; acc < 4; ++acc) {
    g.issue_all(acc, 6);
    g.commit_all();
  }
  g.wait_all(2);
  EXPECT_EQ(g.done, 2u);
  EXPECT_EQ(g.value(0, 1), 10u);
  EXPECT_EQ(g.value(0, 2), 0u);
  g.wait_all(0);
  EXPECT_EQ(g.done, 4u);
}

TEST(Multiplies, WithoutACommitAreCoveredByNoWait) {
  Group g;
  g.issue_all(0, 1);
  g.wait_all(0);
  EXPECT_EQ(g.done, 0u);
  EXPECT_TRUE(g.model.can_finish(1));
  g.model.finish(1);
  EXPECT_EQ(g.done, 1u);
}

TEST(Multiplies, AccumulateInTheOrderOfTheirIssue) {
  Group g;
  g.set(0, 5), g.set(1, 1), g.set(2, 2);
  g.issue_all(0, 1, false);
  g.issue_all(0, 2);
  g.commit_all();
  g.wait_all(0);
  EXPECT_EQ(g.value(3, 0), 30u);
}

// --- moves ---

TEST(Multiplies, MovesOfNoRegisterInFlightAreTheProgramsOwn) {
  Group g;
  EXPECT_FALSE(g.move(0, 4, 5));
  g.issue_all(0, 1);
  EXPECT_FALSE(g.move(0, 4, 5));
}

TEST(Multiplies, MovesTakeTheValueThatAnAccumulatorWillHave) {
  Group g;
  g.set(1, 3);
  g.issue_all(0, 1);
  g.commit_all();
  EXPECT_TRUE(g.move(1, 4, 0));
  EXPECT_TRUE(g.move(1, 5, 4));  // and what was moved is as uncertain
  EXPECT_EQ(g.value(1, 5), 0u);
  g.wait_all(0);
  EXPECT_EQ(g.value(1, 4), 30u);
  EXPECT_EQ(g.value(1, 5), 30u);
  EXPECT_FALSE(g.move(1, 4, 0));
}

TEST(Multiplies, MovesAreDoneAsSoonAsTheirSourceIsKnown) {
  Group g;
  g.set(6, 1), g.set(7, 2);
  g.issue_all(0, 6);
  g.commit_all();
  g.issue_all(1, 7);
  g.commit_all();
  EXPECT_TRUE(g.move(0, 2, 0));
  g.wait_all(1);
  EXPECT_EQ(g.value(0, 2), 10u);  // although a younger one is in flight
}

TEST(Multiplies, MovesStandBetweenTheMultiplicationsAroundThem) {
  Group g;
  g.set(6, 1);
  g.issue_all(0, 6);
  for (std::uint32_t w = 0; w < warps_of_group; ++w) EXPECT_TRUE(g.move(w, 1, 0));
  g.issue_all(0, 6);  // the moved value has only the first
  g.issue_all(1, 6);  // and goes on from there
  g.commit_all();
  g.wait_all(0);
  EXPECT_EQ(g.value(2, 0), 20u);
  EXPECT_EQ(g.value(2, 1), 20u);
}

TEST(Multiplies, MovesIntoAnAccumulatorWaitForItsMultiplication) {
  Group g;
  g.set(6, 1), g.set(5, 77);
  g.issue_all(0, 6);
  g.commit_all();
  EXPECT_TRUE(g.move(0, 1, 0));  // the result goes elsewhere
  EXPECT_TRUE(g.move(0, 0, 5));  // and its register begins anew
  g.registers[0][5].fill(78);    // with the value of then
  g.wait_all(0);
  EXPECT_EQ(g.value(0, 1), 10u);
  EXPECT_EQ(g.value(0, 0), 77u);
}

TEST(Multiplies, MovesIntoAFragmentLeaveItToThoseIssuedBefore) {
  Group g;
  g.set(6, 1), g.set(7, 2);
  g.issue_all(0, 6);
  for (std::uint32_t w = 0; w < warps_of_group; ++w) EXPECT_FALSE(g.move(w, 6, 7));
  g.issue_all(1, 6);
  g.commit_all();
  g.wait_all(0);
  EXPECT_EQ(g.value(0, 0), 10u);
  EXPECT_EQ(g.value(0, 1), 20u);
}

TEST(Multiplies, MovesOfAnAccumulatorIntoAFragmentDoSoToo) {
  Group g;
  g.set(6, 1), g.set(5, 3);
  g.issue_all(0, 6);
  g.issue_all(1, 5);
  g.commit_all();
  for (std::uint32_t w = 0; w < warps_of_group; ++w) EXPECT_TRUE(g.move(w, 5, 0));
  g.issue_all(2, 5);
  g.commit_all();
  g.wait_all(0);
  EXPECT_EQ(g.value(0, 1), 30u);   // of 3
  EXPECT_EQ(g.value(0, 2), 100u);  // of 10
}

TEST(Multiplies, MovesConcernTheirLanesAlone) {
  Group g;
  g.set(1, 1), g.set(4, 9);
  g.issue_all(0, 1);
  g.commit_all();
  EXPECT_TRUE(g.move(0, 4, 0, 1u << 5));
  g.wait_all(0);
  EXPECT_EQ(g.registers[0][4][5], 10u);
  EXPECT_EQ(g.registers[0][4][6], 9u);
}

// --- queries ---

TEST(Multiplies, TellWhoHoldsARegister) {
  Group g;
  g.issue_all(0, 6);
  g.issue_all(1, 7);
  g.commit_all();
  ASSERT_NE(g.model.writer(2, place(1)), nullptr);
  EXPECT_EQ(g.model.writer(2, place(1))->id, 1u);
  EXPECT_EQ(g.model.writer(2, place(6)), nullptr);
  ASSERT_NE(g.model.reader(2, place(6)), nullptr);
  EXPECT_EQ(g.model.reader(2, place(6))->id, 0u);
  g.wait_all(0);
  EXPECT_EQ(g.model.writer(2, place(1)), nullptr);
  EXPECT_EQ(g.model.reader(2, place(6)), nullptr);
}

TEST(Multiplies, OfAProgramThatNeverWaitsTheOldestHappen) {
  Group g;
  for (int i = 0; i < 5000; ++i) g.issue_all(0, 1);
  EXPECT_GT(g.done, 0u);
}

TEST(Multiplies, BeginAnewWithNothingInFlight) {
  Group g;
  g.issue_all(0, 1);
  g.model.reset(Order(late, 1));
  EXPECT_TRUE(g.model.idle());
  EXPECT_FALSE(g.move(0, 2, 0));
  EXPECT_EQ(g.done, 0u);
}

}  // namespace
}  // namespace inflight::async
