// Copies of a warp's threads: random histories of diverging threads, compared with a reference that
// keeps each thread's own list of copies.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "gpu/async/thread_copies.hpp"
#include "tests/unit/async/block_memory.hpp"

namespace inflight::async {
namespace {

// Checks PTX's guarantees for each thread as the observer's events arrive.
class History : public Observer {
 public:
  History(Timing timing, std::uint64_t seed)
      : timing_(timing), random_(seed), copies_(Order(timing, seed), *this) {
    for (std::uint32_t b = 0; b < mbarriers; ++b) mbarrier::init(m_.word(bar + 8 * b), 1000000);
  }

  void step() {
    const std::uint32_t mask = random_mask();
    const std::uint32_t kind = random_.below(10);
    if (kind < 4) return issue(mask);
    if (kind < 6) return commit(mask);
    if (kind < 8) return wait(mask);
    if (kind == 8) return arrive(mask);
    random_.below(3) != 0 ? flush_one() : void(copies_.advance());
  }
  void finish() {
    copies_.flush_all();
    ASSERT_TRUE(copies_.idle());
    for (const auto& thread : threads_)
      for (const Operation& op : thread.operations) ASSERT_TRUE(op.done);
  }

  // --- events ---
  void broken(Violation violation, const Threads&, std::uint64_t) override {
    ADD_FAILURE() << name(violation);
  }
  void issued(const Threads&, const Copy& c) override { issued_id_ = c.id; }
  void completed(const Threads& threads, const Copy& c) override {
    for (std::uint32_t mask = threads.mask; mask != 0; mask &= mask - 1)
      moved(c, std::countr_zero(mask));
  }
  void arrived(const Threads& threads, const Arrival& a, const mbarrier::Step& step) override {
    ASSERT_EQ(step.violation, Violation::none);
    for (std::uint32_t mask = threads.mask; mask != 0; mask &= mask - 1)
      arrive(threads_[static_cast<std::size_t>(std::countr_zero(mask))], a);
  }
  void arrival_issued(const Threads& threads, const Arrival& a, Violation) override {
    for (std::uint32_t mask = threads.mask; mask != 0; mask &= mask - 1)
      threads_[static_cast<std::size_t>(std::countr_zero(mask))].operations.push_back(
          {.id = a.id, .arrival = true, .place = a.mbarrier});
  }

 private:
  static constexpr std::uint32_t mbarriers = 3;
  struct Operation {
    std::uint64_t id = 0;
    bool arrival = false, done = false;
    std::uint32_t group = 0;
    std::uint32_t place = 0, bytes = 0, src_bytes = 0;
  };
  struct Thread {
    std::vector<Operation> operations;
    std::uint32_t groups = 0;  // committed
  };

  void arrive(Thread& thread, const Arrival& a) {
    const std::size_t at = find(thread, a.id);
    ASSERT_TRUE(thread.operations[at].arrival);
    ASSERT_FALSE(thread.operations[at].done);
    for (std::size_t i = 0; i < at; ++i)
      ASSERT_TRUE(thread.operations[i].arrival || thread.operations[i].done);
    thread.operations[at].done = true;
  }

  std::uint32_t random_mask() {
    const std::uint32_t kind = random_.below(4);
    if (kind < 2) return all;
    if (kind == 2) return 1u << random_.below(32);
    return static_cast<std::uint32_t>(random_.next());
  }
  static std::size_t find(const Thread& thread, std::uint64_t id) {
    for (std::size_t i = 0; i < thread.operations.size(); ++i)
      if (thread.operations[i].id == id) return i;
    ADD_FAILURE() << "the thread never issued " << id;
    return 0;
  }

  // Every issue writes its own places, so that memory shows which copies have moved.
  void issue(std::uint32_t mask) {
    const std::uint32_t bytes = 4u << random_.below(3);
    if (place_ + 512 > bar) return;
    Issue issue = m_.issue(mask, bytes, place_);
    std::uint32_t src_bytes[warp_size];
    const bool fills = random_.below(3) == 0;
    for (std::uint32_t& n : src_bytes) n = fills ? random_.below(bytes + 1) : bytes;
    if (fills) issue.src_bytes = src_bytes;
    const std::uint32_t place = place_;
    place_ += 512;
    // The record is kept before the call: early timing completes inside it.
    for (std::uint32_t t = 0; t < warp_size; ++t)
      if (mask >> t & 1)
        threads_[t].operations.push_back({.id = next_id_ + 1,
                                          .group = threads_[t].groups,
                                          .place = place + t * bytes,
                                          .bytes = bytes,
                                          .src_bytes = src_bytes[t]});
    copies_.issue(issue);
    if (mask != 0) {
      ASSERT_EQ(issued_id_, ++next_id_);
    }
    check_timing();
  }
  void commit(std::uint32_t mask) {
    for (std::uint32_t t = 0; t < warp_size; ++t) threads_[t].groups += mask >> t & 1;
    copies_.commit(mask);
    check_timing();
  }
  void wait(std::uint32_t mask) {
    const bool everything = random_.below(4) == 0;
    const std::uint32_t allowed = random_.below(5);
    everything ? copies_.wait_all(mask) : copies_.wait_group(mask, allowed);
    for (std::uint32_t t = 0; t < warp_size; ++t)
      if (mask >> t & 1) require(threads_[t], everything ? ~0u : allowed);
    check_timing();
  }
  // After a wait, all copies that it covers have arrived.
  void require(Thread& thread, std::uint32_t allowed) {
    for (Operation& op : thread.operations) {
      const bool covered = allowed == ~0u || op.group + allowed < thread.groups;
      if (op.arrival || !covered) continue;
      ASSERT_TRUE(op.done);
    }
  }
  void arrive(std::uint32_t mask) {
    std::uint32_t addresses[warp_size];
    for (std::uint32_t& a : addresses) a = bar + 8 * random_.below(mbarriers);
    if (mask != 0) ++next_id_;
    copies_.arrive(
        {.mask = mask, .mbarrier = addresses, .base = m_.shared, .noinc = random_.below(2) == 0});
    check_timing();
  }
  void flush_one() {
    const std::uint32_t address = bar + 8 * random_.below(mbarriers);
    copies_.flush_for(&m_.word(address));
    for (const Thread& thread : threads_)
      for (const Operation& op : thread.operations)
        if (op.arrival && op.place == address) {
          ASSERT_TRUE(op.done);
        }
    check_timing();
  }

  void moved(const Copy& c, std::uint32_t t) {
    Thread& thread = threads_[t];
    const std::size_t at = find(thread, c.id);
    Operation& op = thread.operations[at];
    ASSERT_FALSE(op.done) << "moved twice";
    for (const Operation& other : thread.operations)
      if (!other.arrival && other.group < op.group) {
        ASSERT_TRUE(other.done) << "groups out of order";
      }
    ASSERT_TRUE(m_.moved(op.place, op.src_bytes));
    ASSERT_TRUE(m_.zero(op.place + op.src_bytes, op.bytes - op.src_bytes));
    op.done = true;
  }

  void check_timing() {
    for (std::uint32_t t = 0; t < warp_size; ++t) {
      bool pending = false;
      std::uint32_t first = ~0u;
      for (const Operation& op : threads_[t].operations) {
        if (op.arrival) {
          ASSERT_EQ(op.done, !pending) << "an arrival comes with the copies before it";
        }
        if (op.arrival || op.done) continue;
        pending = true;
        first = std::min(first, op.group);
        ASSERT_NE(timing_.policy, Timing::Policy::early);
        ASSERT_TRUE(m_.untouched(op.place, op.bytes));
      }
      const std::uint32_t in_flight = pending ? threads_[t].groups - first : 0;
      ASSERT_EQ(copies_.groups_in_flight(t), in_flight);
      ASSERT_EQ(copies_.threads_in_flight() >> t & 1, pending);
    }
  }

  Timing timing_;
  Random random_;
  Memory m_;
  ThreadCopies copies_;
  std::array<Thread, warp_size> threads_;
  std::uint64_t issued_id_ = 0, next_id_ = 0;
  std::uint32_t place_ = 0;
};

void run_histories(Timing (*timing)(std::uint64_t), std::uint64_t count) {
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    History history(timing(seed), seed);
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) history.step();
    history.finish();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(ThreadCopyHistories, Early) {
  run_histories([](std::uint64_t) { return early; }, 200);
}
TEST(ThreadCopyHistories, Late) {
  run_histories([](std::uint64_t) { return late; }, 400);
}
TEST(ThreadCopyHistories, Shuffled) {
  run_histories([](std::uint64_t seed) { return shuffled(seed); }, 400);
}

// Late timing is exact: only copies that a call requires move.
class Counter : public Observer {
 public:
  void completed(const Threads& by, const Copy&) override { threads += std::popcount(by.mask); }
  std::uint32_t threads = 0;
};

TEST(ThreadCopyHistories, LateMovesNothingThatNobodyNeeds) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Memory m;
    Counter counter;
    ThreadCopies copies(Order(late, seed), counter);
    Random random(seed);
    // Per thread, the sizes of its groups, newest last; the last is not committed.
    std::vector<std::vector<std::uint32_t>> groups(warp_size, {0});
    for (int i = 0; i < 40; ++i) {
      const auto mask = static_cast<std::uint32_t>(random.next());
      const std::uint32_t kind = random.below(3), allowed = random.below(3);
      std::uint32_t due = 0;
      for (std::uint32_t t = 0; t < warp_size; ++t) {
        if ((mask >> t & 1) == 0) continue;
        auto& g = groups[t];
        if (kind == 0) ++g.back();
        if (kind == 1) g.push_back(0);
        if (kind != 2) continue;
        for (; g.size() > allowed + 1; g.erase(g.begin())) due += g.front();
      }
      const std::uint32_t before = counter.threads;
      if (kind == 0) copies.issue(m.issue(mask, 4, 0));
      if (kind == 1) copies.commit(mask);
      if (kind == 2) copies.wait_group(mask, allowed);
      ASSERT_EQ(counter.threads - before, due) << "seed " << seed << " step " << i;
    }
  }
}

// One seed gives one history, and shuffled timing uses its freedom.
TEST(ThreadCopyHistories, ShuffledIsRepeatableAndVaried) {
  class Log : public Observer {
   public:
    void completed(const Threads& by, const Copy& c) override { text.emplace_back(c.id, by.mask); }
    void waited(const Threads&, const GroupWait&, std::uint64_t) override {
      text.emplace_back(0, 0);
    }
    std::vector<std::pair<std::uint64_t, std::uint32_t>> text;
  };
  auto play = [](std::uint64_t seed) {
    Memory m;
    Log log;
    ThreadCopies copies(Order(shuffled(seed), 5), log);
    for (std::uint32_t i = 0; i < 30; ++i) {
      copies.issue(m.issue(all, 4, i * 128));
      if (i % 3 == 2) copies.commit(all);
      if (i % 6 == 5) copies.wait_group(all, 1);
    }
    copies.wait_all(all);
    return log.text;
  };
  EXPECT_EQ(play(1), play(1));
  EXPECT_NE(play(1), play(2));
}

}  // namespace
}  // namespace inflight::async
