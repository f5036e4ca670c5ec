// The ledger of a cluster: which operations of all kinds each wait, end and moment completes.
#include "gpu/async/ledger.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/async/block_memory.hpp"

namespace inflight::async {
namespace {

// Two blocks. `lines` records completed operations and phases: "warp 0.1", "bulk 0", "phase 0".
class Cluster : public Observer {
 public:
  explicit Cluster(Timing timing) : ledger(timing, *this, 2) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) ledger.start(rank, rank);
  }
  void issue(std::uint32_t rank, std::uint32_t warp, std::uint32_t place) {
    ledger.of_warp(rank, warp).issue(m[rank].issue(all, 4, place));
  }
  void arrive(std::uint32_t rank, std::uint32_t warp) {
    std::uint32_t addresses[warp_size];
    for (std::uint32_t& a : addresses) a = bar;
    ledger.of_warp(rank, warp)
        .arrive({.mask = all, .mbarrier = addresses, .base = m[rank].shared, .noinc = true});
  }
  // The first thread of block `rank` issues it. Its group, or the mbarrier of block `to`, completes
  // it.
  void issue_bulk(std::uint32_t rank, std::uint32_t place, int to = -1) {
    BulkCopy copy;
    copy.thread = rank << 10;
    copy.to = m[rank].shared + place, copy.from = m[rank].global + place;
    copy.bytes = 16;
    if (to >= 0) {
      copy.rank = static_cast<std::uint32_t>(to), copy.mbarrier_offset = bar;
      copy.mbarrier = &m[copy.rank].word(bar), copy.tx_bytes = 16;
    }
    ledger.bulk().issue(copy);
  }
  using Lines = std::vector<std::string>;
  Lines heard() { return std::exchange(lines_, {}); }

  Memory m[2];
  Ledger ledger;

 private:
  void completed(const Threads& by, const Copy&) override {
    lines_.push_back("warp " + std::to_string(by.rank) + "." + std::to_string(by.warp));
  }
  void completed(const BulkCopy& copy, const mbarrier::Step&) override {
    lines_.push_back("bulk " + std::to_string(issuer(copy.thread).rank));
  }
  void phase_completed(std::uint32_t rank, std::uint32_t) override {
    lines_.push_back("phase " + std::to_string(rank));
  }
  Lines lines_;
};
using Lines = Cluster::Lines;

TEST(Ledger, AnMbarrierIsCompletedByWhateverItsPhaseWaitsFor) {
  Cluster c(late);
  mbarrier::init(c.m[0].word(bar), 64);
  mbarrier::expect_tx(c.m[0].word(bar), 16);
  for (const std::uint32_t warp : {1, 3}) {
    c.issue(0, warp, warp * 128);
    c.arrive(0, warp);
  }
  c.issue(0, 2, 0);         // no arrival follows it
  c.issue_bulk(1, 512, 0);  // from the other block to this one's mbarrier
  c.issue_bulk(0, 1024);    // of a group
  c.ledger.flush_for(0, &c.m[0].word(bar));
  EXPECT_EQ(c.heard(), (Lines{"warp 0.1", "warp 0.3", "bulk 1", "phase 0"}));
  c.ledger.flush_for(0, &c.m[0].word(bar));
  EXPECT_EQ(c.heard(), Lines{}) << "nothing counts on the next phase";
}

TEST(Ledger, AThreadsEndCompletesWhatItIssuedAndABlocksAllOfIts) {
  Cluster c(late);
  c.issue(0, 0, 0);
  c.issue(1, 0, 0);
  c.issue_bulk(0, 512);
  c.issue_bulk(1, 512);
  c.ledger.flush_threads({0, 0, 0xffff});
  c.ledger.flush_threads({0, 7, all});  // has never issued
  EXPECT_EQ(c.heard(), (Lines{"warp 0.0"}));
  EXPECT_TRUE(c.m[0].moved(0, 64) && c.m[0].untouched(64, 64));
  EXPECT_TRUE(c.ledger.flush_block(0));
  EXPECT_EQ(c.heard(), (Lines{"warp 0.0", "bulk 0"}));
  EXPECT_FALSE(c.ledger.flush_block(0));
  EXPECT_TRUE(c.ledger.flush_all());
  EXPECT_EQ(c.heard(), (Lines{"bulk 1", "warp 1.0"}));
  EXPECT_FALSE(c.ledger.flush_all());
}

TEST(Ledger, ABlockThatBeginsHasNothingInFlight) {
  Cluster c(late);
  c.issue(0, 0, 0);
  c.issue(1, 0, 0);
  c.issue_bulk(0, 512);
  c.ledger.start(0, 9);
  c.ledger.flush_all();
  EXPECT_EQ(c.heard(), (Lines{"warp 1.0"}));
}

TEST(Ledger, WatchesSourcesOfAllKinds) {
  class Broken : public Cluster {
   public:
    using Cluster::Cluster;
    void broken(Violation violation, const Threads& by, std::uint64_t) override {
      EXPECT_EQ(violation, Violation::source_modified);
      who.push_back(by.mask);
    }
    std::vector<std::uint32_t> who;
  };
  Broken c(late);
  c.issue(0, 0, 0);
  c.issue_bulk(0, 512);
  const auto base = reinterpret_cast<std::uintptr_t>(c.m[0].global);
  c.ledger.watch(base, base + 1024);
  c.m[0].global[5] ^= std::byte{1}, c.m[0].global[515] ^= std::byte{1};
  c.ledger.flush_block(0);
  EXPECT_EQ(c.who, (std::vector<std::uint32_t>{1u << 1, 1}));
}

// All kinds share one order of moments. Warps have their own streams.
TEST(Ledger, InAShuffledOrderMomentsCompleteAllKinds) {
  Cluster c(shuffled(3));
  for (std::uint32_t warp = 0; warp < 4; ++warp) c.issue(0, warp, warp * 128);
  c.issue_bulk(0, 1024);
  Lines order;
  for (int moment = 0; moment < 1000; ++moment) {
    c.ledger.advance(0);
    for (std::string& line : c.heard())
      if (order.empty() || order.back() != line) order.push_back(line);
  }
  EXPECT_TRUE(c.m[0].moved(0, 4 * 128) && c.m[0].moved(1024, 16));
  EXPECT_NE(order, (Lines{"warp 0.0", "warp 0.1", "warp 0.2", "warp 0.3", "bulk 0"}));
  Cluster l(late);
  l.issue(0, 0, 0);
  l.ledger.advance(0);
  EXPECT_EQ(l.heard(), Lines{});
}

TEST(Ledger, WithoutEveryEventOnlyWhatChangesHowThreadsGoOnIsHeard) {
  class Quiet : public Observer {
   public:
    Quiet() : Observer(false) {}
    void issued(const Threads&, const Copy&) override { ADD_FAILURE(); }
    void completed(const Threads&, const Copy&) override { ADD_FAILURE(); }
    void completed(const BulkCopy&, const mbarrier::Step&) override { ADD_FAILURE(); }
    void phase_completed(std::uint32_t rank, std::uint32_t mbarrier) override {
      EXPECT_EQ(rank, 0u);
      EXPECT_EQ(mbarrier, bar);
      ++phases;
    }
    unsigned phases = 0;
  } quiet;
  Memory m;
  Ledger ledger(late, quiet, 1);
  ledger.start(0, 0);
  mbarrier::init(m.word(bar), 32);
  std::uint32_t addresses[warp_size];
  for (std::uint32_t& a : addresses) a = bar;
  ledger.of_warp(0, 0).issue(m.issue(all, 4, 0));
  ledger.of_warp(0, 0).arrive(
      {.mask = all, .mbarrier = addresses, .base = m.shared, .noinc = true});
  ledger.flush_for(0, &m.word(bar));
  EXPECT_EQ(quiet.phases, 1u);
}

}  // namespace
}  // namespace inflight::async
