// Histories of mbarriers only: correct random pipelines give no breach. Each with one mistake gives
// one, or hangs.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "gpu/async/mbarrier.hpp"
#include "gpu/check/detect/waiting/mbarrier_history.hpp"

namespace inflight::check {
namespace {

namespace mb = async::mbarrier;
using Op = MbarrierOp::Op;
using What = MbarrierBreach::What;

// One mbarrier with its model and its history.
struct Watched {
  mb::Word word = 0;
  MbarrierHistory history;
};

// A producer fills stages by bulk copies and consumers free them. Random choice decides which
// continues.
struct Plan {
  unsigned stages = 1, consumers = 1, copies = 1, rounds = 1;
  unsigned full_count = 1, empty_count = 1;
  std::uint32_t bytes = 64, expected = 64;  // of a copy; of a phase
  unsigned producer_first = 1, consumer_first = 0;
  bool consumer_flips = true;
  unsigned bystanders = 0;  // warps that wait for empty stages as the producer does, and fill none
  unsigned listeners = 0;   // of the consumers: these wait for full stages, and free none
};

class Pipeline {
 public:
  Pipeline(const Plan& plan, std::uint32_t seed)
      : plan_(plan),
        random_(seed),
        order_(1 + plan.consumers + plan.bystanders),
        full_(plan.stages),
        empty_(plan.stages) {
    for (unsigned s = 0; s < plan.stages; ++s) {
      init(full_[s], plan.full_count);
      init(empty_[s], plan.empty_count);
    }
    steps_.resize(1 + plan.consumers + plan.bystanders);
  }
  // Runs until all are done or none can continue. Returns true if all are done.
  bool run() {
    unsigned idle = 0;
    while (idle < 200) {
      const unsigned who = random_() % (steps_.size() + 1);
      const bool moved = who == steps_.size()     ? land()
                         : who == 0               ? produce()
                         : who <= plan_.consumers ? consume(who)
                                                  : stand_by(who);
      idle = moved ? 0 : idle + 1;
    }
    for (auto* all : {&full_, &empty_})
      for (Watched& each : *all) each.history.settle(breaches, true);
    return done();
  }
  bool overrun() const {
    const auto noted = [](const Watched& each) { return each.history.overrun().has_value(); };
    return std::any_of(full_.begin(), full_.end(), noted) ||
           std::any_of(empty_.begin(), empty_.end(), noted);
  }
  MbarrierHistory::Breaches breaches;

 private:
  struct Step {
    unsigned round = 0, part = 0;
  };
  struct Copy {
    std::uint64_t id;
    unsigned stage;
  };

  bool done() const {
    for (const Step& each : steps_)
      if (each.round < plan_.rounds) return false;
    return true;
  }
  MbarrierOp event(Watched& at, Op op, unsigned who, const mb::Step& step) {
    const mb::State state = mb::decode(at.word);
    MbarrierOp e;
    e.who = {1, 0, who, 1, static_cast<std::uint32_t>(op)};
    e.op = op;
    e.count = 1;
    e.done = step.completed;
    e.violation = step.violation;
    e.phase_parity = state.parity, e.expected = state.expected, e.pending = state.pending;
    e.tx_count = state.tx_count;
    return e;
  }
  void tell(Watched& at, const MbarrierOp& e) { at.history.note(e, e.who.warp, order_, breaches); }
  void init(Watched& at, unsigned count) {
    mb::init(at.word, count);
    tell(at, event(at, Op::init, 0, {}));
  }
  bool wait(Watched& at, unsigned who, unsigned parity) {
    const mb::Test test = mb::test_parity(at.word, parity);
    if (!test.done) return false;
    MbarrierOp e = event(at, Op::try_wait, who, {});
    e.by_parity = true, e.parity = parity, e.done = true;
    tell(at, e);
    return true;
  }
  void arrive(Watched& at, unsigned who, std::uint32_t bytes = 0) {
    const mb::Step step = bytes ? mb::arrive_expect_tx(at.word, bytes) : mb::arrive(at.word);
    MbarrierOp e = event(at, Op::arrive, who, step);
    e.tx_bytes = bytes;
    tell(at, e);
  }
  unsigned stage(const Step& s) const { return s.round % plan_.stages; }
  unsigned turn(const Step& s) const { return s.round / plan_.stages & 1; }

  bool produce() {
    Step& s = steps_[0];
    if (s.round >= plan_.rounds) return false;
    if (s.part == 0) {
      if (!wait(empty_[stage(s)], 0, turn(s) ^ plan_.producer_first)) return false;
    } else if (s.part == 1) {
      arrive(full_[stage(s)], 0, plan_.expected);
    } else {
      CopyIssued copy;
      copy.who = {1, 0, 0, 1, 100};
      copy.id = ++copies_;
      copy.mbarrier = stage(s), copy.tx_bytes = plan_.bytes;
      full_[stage(s)].history.copy_issued(copy, 0, order_, breaches);
      in_flight_.push_back({copy.id, stage(s)});
    }
    if (++s.part == 2 + plan_.copies) s = {s.round + 1, 0};
    return true;
  }
  bool consume(unsigned who) {
    Step& s = steps_[who];
    if (s.round >= plan_.rounds) return false;
    if (s.part == 0) {
      const unsigned parity = plan_.consumer_flips ? turn(s) : 0;
      if (!wait(full_[stage(s)], who, parity ^ plan_.consumer_first)) return false;
      s.part = 1;
      if (who <= plan_.listeners) s = {s.round + 1, 0};
    } else {
      arrive(empty_[stage(s)], who);
      s = {s.round + 1, 0};
    }
    return true;
  }
  bool stand_by(unsigned who) {
    Step& s = steps_[who];
    if (s.round >= plan_.rounds || !wait(empty_[stage(s)], who, turn(s) ^ 1)) return false;
    ++s.round;
    return true;
  }
  // A copy in flight completes.
  bool land() {
    if (in_flight_.empty()) return false;
    const auto at = in_flight_.begin() + static_cast<std::ptrdiff_t>(random_() % in_flight_.size());
    const Copy copy = *at;
    in_flight_.erase(at);
    Watched& full = full_[copy.stage];
    const mb::Step step = mb::complete_tx(full.word, plan_.bytes);
    MbarrierOp e = event(full, Op::complete_tx, 0, step);
    e.copy = copy.id, e.tx_bytes = plan_.bytes;
    tell(full, e);
    return true;
  }

  const Plan plan_;
  std::mt19937 random_;
  WarpOrder order_;
  std::vector<Watched> full_, empty_;
  std::vector<Step> steps_;
  std::deque<Copy> in_flight_;
  std::uint64_t copies_ = 0;
};

Plan right(std::mt19937& random) {
  Plan plan;
  plan.stages = 1 + random() % 3;
  plan.consumers = 1 + random() % 3;
  plan.copies = 1 + random() % 3;
  plan.rounds = 2 * plan.stages + 1 + random() % 6;
  plan.empty_count = plan.consumers;
  plan.expected = plan.copies * plan.bytes;
  return plan;
}

TEST(MbarrierHistories, RightPipelinesGiveNothing) {
  std::mt19937 random(1);
  for (std::uint32_t seed = 0; seed < 5000; ++seed) {
    Pipeline pipeline(right(random), seed);
    ASSERT_TRUE(pipeline.run()) << seed;
    ASSERT_TRUE(pipeline.breaches.empty())
        << seed << ": " << static_cast<int>(pipeline.breaches.front().what);
    ASSERT_FALSE(pipeline.overrun()) << seed;
  }
}

// Found in each order in which all end, or a listener is so late that it waits for ever.
TEST(MbarrierHistories, TellThatAListenerMayBeOverrun) {
  std::mt19937 random(4);
  unsigned ended = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Plan plan = right(random);
    plan.listeners = 1;
    plan.consumers += 1;
    Pipeline pipeline(plan, seed);
    if (!pipeline.run()) continue;
    ++ended;
    ASSERT_TRUE(pipeline.overrun()) << "seed " << seed;
    ASSERT_TRUE(pipeline.breaches.empty()) << "seed " << seed;
  }
  EXPECT_GT(ended, 100u);
}

struct Mistake {
  const char* name;
  void (*plant)(Plan&);
  std::vector<What> may_be;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreFoundOrStandStill) {
  std::mt19937 random(2);
  unsigned found = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Plan plan = right(random);
    GetParam().plant(plan);
    Pipeline pipeline(plan, seed);
    const bool done = pipeline.run();
    ASSERT_TRUE(!done || !pipeline.breaches.empty()) << "seed " << seed;
    if (pipeline.breaches.empty()) continue;
    ++found;
    const What what = pipeline.breaches.front().what;
    const auto& allowed = GetParam().may_be;
    ASSERT_TRUE(std::find(allowed.begin(), allowed.end(), what) != allowed.end())
        << "seed " << seed << ": " << static_cast<int>(what);
  }
  EXPECT_EQ(found != 0, !GetParam().may_be.empty());
}

INSTANTIATE_TEST_SUITE_P(
    MbarrierHistories, Mistakes,
    testing::Values(
        Mistake{"expects_too_little", [](Plan& p) { p.expected -= 16; }, {What::stray_bytes}},
        Mistake{"expects_a_copy_less", [](Plan& p) { p.copies += 1; }, {What::stray_bytes}},
        Mistake{"expects_too_much", [](Plan& p) { p.expected += 16; }, {}},
        Mistake{"counts_an_arrival_too_many", [](Plan& p) { p.empty_count += 1; }, {}},
        Mistake{
            "counts_an_arrival_too_few", [](Plan& p) { p.consumers += 1; }, {What::stray_arrival}},
        Mistake{"never_flips",
                [](Plan& p) { p.consumer_flips = false; },
                {What::repeated_wait, What::stray_arrival, What::broken_rule}},
        Mistake{"begins_with_the_wrong_parity",
                [](Plan& p) { p.consumer_first = 1; },
                {What::repeated_wait}},
        Mistake{"a_warp_waits_that_fills_nothing",
                [](Plan& p) { p.bystanders = 1; },
                {What::repeated_wait}},
        Mistake{"the_producer_waits_first", [](Plan& p) { p.producer_first = 0; }, {}}),
    [](const auto& info) { return info.param.name; });

TEST(MbarrierHistories, TellABystanderFromAWrongParity) {
  std::mt19937 random(3);
  unsigned found = 0;
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    Plan plan = right(random);
    const bool bystander = seed % 2 != 0;
    if (bystander)
      plan.bystanders = 2;
    else
      plan.consumers = plan.empty_count = plan.consumer_first = 1;
    Pipeline pipeline(plan, seed);
    pipeline.run();
    if (pipeline.breaches.empty()) continue;
    ++found;
    ASSERT_EQ(pipeline.breaches.front().uncounted, bystander) << "seed " << seed;
  }
  EXPECT_GT(found, 500u);
}

}  // namespace
}  // namespace inflight::check
