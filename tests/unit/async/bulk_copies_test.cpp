// Bulk copies in flight: scripted cases, and random histories of a cluster's threads.
#include "gpu/async/bulk_copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/async/block_memory.hpp"

namespace inflight::async {
namespace {

// Records the model's events in order: "issued 1", "completed 1", "phase" ...
class Log : public Observer {
 public:
  void issued(const BulkCopy& c) override { add("issued", c.id); }
  void completed(const BulkCopy& c, const mbarrier::Step& step) override {
    add("completed", c.id);
    if (step.completed) lines.emplace_back("phase");
    completed_ids.push_back(c.id);
  }
  void broken(Violation violation, const Threads&, std::uint64_t tag) override {
    lines.emplace_back(std::string(name(violation)) + (tag ? " " + std::to_string(tag) : ""));
  }
  void committed(const Threads& by, Completion, std::uint64_t) override {
    add("committed", thread(by));
  }
  void waited(const Threads& by, const GroupWait& wait, std::uint64_t) override {
    add(wait.read_only ? "read by" : "waited by", thread(by));
    lines.back() += " but " + std::to_string(wait.allowed);
  }
  static std::uint32_t thread(const Threads& by) {
    return std::uint32_t{by.rank} << 10 | (by.warp * 32u + std::countr_zero(by.mask));
  }
  void add(const char* what, std::uint64_t number) {
    lines.push_back(what + (" " + std::to_string(number)));
  }
  using Lines = std::vector<std::string>;
  Lines lines;
  std::vector<std::uint64_t> completed_ids;
};

// A cluster's memory and its copies. A place is the offset of a copy's source and destination.
struct Cluster {
  explicit Cluster(Timing timing, std::uint64_t number = 0) : copies(Order(timing, number), log) {}

  // Copies `bytes` of global memory to the same offset in shared memory, completed by a bulk group.
  BulkCopy copy(std::uint32_t place, std::uint32_t bytes, std::uint32_t thread = 0) {
    BulkCopy c;
    c.bytes = bytes;
    c.to = m.shared + place;
    c.from = m.global + place;
    c.thread = thread;
    return c;
  }
  // The same, completed by an mbarrier.
  BulkCopy load(std::uint32_t place, std::uint32_t bytes, std::uint32_t mbarrier) {
    BulkCopy c = copy(place, bytes);
    c.mbarrier = &m.word(mbarrier);
    c.tx_bytes = bytes;
    return c;
  }
  void expect(std::uint32_t mbarrier, std::uint32_t bytes) {
    ASSERT_EQ(mbarrier::arrive_expect_tx(m.word(mbarrier), bytes).violation, Violation::none);
  }
  std::uint32_t parity(std::uint32_t mbarrier) { return mbarrier::decode(m.word(mbarrier)).parity; }

  Memory m;
  Log log;
  BulkCopies copies;
};

constexpr bool fully = false, read = true;  // wait_group, wait_group.read
constexpr Timing timings[] = {early, late, shuffled(1), shuffled(2)};

// --- when bytes move ---

TEST(BulkCopies, EarlyMovesAtIssue) {
  Cluster c(early);
  c.copies.issue(c.copy(0, 256));
  EXPECT_TRUE(c.m.moved(0, 256));
  EXPECT_TRUE(c.m.untouched(256, 256));
  EXPECT_TRUE(c.copies.idle());
  EXPECT_EQ(c.log.lines, (Log::Lines{"issued 1", "completed 1"}));
}

TEST(BulkCopies, OneOfNoBytesIsDoneAtOnceAndCompletesNothing) {
  Cluster c(late);
  c.copies.issue(c.copy(0, 256));
  const std::uint32_t before = c.parity(0);
  BulkCopy nothing = c.load(0, 0, 0);
  nothing.to = nullptr, nothing.from = nullptr;
  c.copies.issue_empty(nothing);
  EXPECT_EQ(c.log.lines, (Log::Lines{"issued 1", "issued 2", "completed 2"}));
  EXPECT_EQ(c.parity(0), before);
  c.copies.flush_all();
  EXPECT_EQ(c.log.lines.back(), "completed 1");
}

TEST(BulkCopies, LateMovesAtTheWaitThatNeedsIt) {
  Cluster c(late);
  for (std::uint32_t stage = 0; stage < 3; ++stage) {
    c.copies.issue(c.copy(stage * 512, 512));
    c.copies.commit(0);
  }
  c.copies.advance();
  EXPECT_TRUE(c.m.untouched(0, 3 * 512));
  EXPECT_EQ(c.copies.groups_in_flight(0), 3u);
  c.copies.wait_group(0, 3, fully);
  EXPECT_TRUE(c.m.untouched(0, 3 * 512));
  c.copies.wait_group(0, 1, fully);
  EXPECT_TRUE(c.m.moved(0, 2 * 512));
  EXPECT_TRUE(c.m.untouched(2 * 512, 512));
  EXPECT_EQ(c.copies.groups_in_flight(0), 1u);
  c.copies.wait_group(0, 0, fully);
  EXPECT_TRUE(c.m.moved(2 * 512, 512));
  EXPECT_TRUE(c.copies.idle());
}

TEST(BulkCopies, AWatchedSourceThatChangesIsNoticedWhenItsBytesMove) {
  Cluster c(late);
  BulkCopy watched = c.copy(0, 256);
  watched.watch = true, watched.tag = 42;
  c.copies.issue(watched);
  c.copies.issue(c.copy(256, 256));
  c.m.global[255] ^= std::byte{1};
  c.m.global[256] ^= std::byte{1};
  c.copies.flush_all();
  EXPECT_EQ(c.log.lines, (Log::Lines{"issued 1", "issued 2", "source_modified 42", "completed 1",
                                     "completed 2"}));
  c.copies.issue(watched);
  c.copies.flush_all();
  EXPECT_EQ(c.log.lines.back(), "completed 3");
}

TEST(BulkCopies, WatchingCanBeginAfterTheIssue) {
  Cluster c(late);
  for (const std::uint32_t i : {1u, 2u}) {
    BulkCopy copy = c.copy((i - 1) * 256, 256);
    copy.tag = i;
    c.copies.issue(copy);
  }
  const auto base = reinterpret_cast<std::uintptr_t>(c.m.global);
  c.copies.watch(base + 500, base + 600);
  c.m.global[0] ^= std::byte{1};
  c.m.global[400] ^= std::byte{1};
  c.copies.flush_all();
  EXPECT_EQ(std::count(c.log.lines.begin(), c.log.lines.end(), "source_modified 1"), 0);
  EXPECT_EQ(std::count(c.log.lines.begin(), c.log.lines.end(), "source_modified 2"), 1);
}

TEST(BulkCopies, OfATensorsSourceWhatTheBoxHoldsIsWatched) {
  for (const bool load : {true, false}) {
    Cluster c(late);
    BulkCopy copy;
    copy.kind = load ? BulkCopy::Kind::tensor_load : BulkCopy::Kind::tensor_store;
    copy.map.type = TensorType::f32;
    copy.map.rank = 2;
    copy.map.global_address = reinterpret_cast<std::uintptr_t>(c.m.global);
    copy.map.dim = {64, 64};
    copy.map.stride = {4, 256};
    copy.map.box = {32, 8};
    copy.map.element_stride = {1, 1};
    copy.map.swizzle = Swizzle::b128;
    copy.shared = c.m.shared;
    copy.place.at = {48, 60};  // 16 columns and 4 rows are in range
    copy.watch = true;
    std::byte* const source = load ? c.m.global : c.m.shared;
    const auto modified = [&](std::size_t offset) {
      c.log.lines.clear();
      c.copies.issue(copy);
      source[offset] ^= std::byte{1};
      c.copies.flush_all();
      return std::count_if(c.log.lines.begin(), c.log.lines.end(), [](const std::string& line) {
        return line.starts_with("source_modified");
      });
    };
    if (load) {
      EXPECT_EQ(modified(60 * 256 + 48 * 4), 1);
      EXPECT_EQ(modified(63 * 256 + 63 * 4 + 3), 1);
      EXPECT_EQ(modified(60 * 256 + 47 * 4), 0);
      EXPECT_EQ(modified(59 * 256 + 63 * 4), 0);
    } else {
      EXPECT_EQ(modified(0), 1);
      EXPECT_EQ(modified(3 * 128 + (3 * 16 ^ 3 * 16)), 1);
      EXPECT_EQ(modified(64), 0);       // columns past the tensor's end
      EXPECT_EQ(modified(4 * 128), 0);  // rows
    }
  }
}

TEST(BulkCopies, ShuffledMovesAsMomentsPassInAnyOrder) {
  std::map<std::vector<std::uint64_t>, int> orders;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Cluster c(shuffled(seed));
    for (std::uint32_t i = 0; i < 3; ++i) c.copies.issue(c.copy(i * 64, 64));
    EXPECT_EQ(c.copies.in_flight(), 3u);
    int moments = 0;
    for (; !c.copies.idle() && moments < 1000; ++moments) c.copies.advance();
    ASSERT_TRUE(c.copies.idle());
    EXPECT_GT(moments, 2);
    EXPECT_TRUE(c.m.moved(0, 3 * 64));
    ++orders[c.log.completed_ids];
  }
  EXPECT_EQ(orders.size(), 6u) << "of the orders of three copies";
}

TEST(BulkCopies, OneSeedAndNumberAreOneHistory) {
  const auto go_on = [](Cluster& c) {
    c.log.lines.clear();
    for (std::uint32_t i = 0; i < 40; ++i) {
      c.copies.issue(c.copy(i * 64, 64));
      c.copies.advance();
    }
    c.copies.flush_all();
    return c.log.lines;
  };
  const auto play = [&](std::uint64_t seed, std::uint64_t number) {
    Cluster c(shuffled(seed), number);
    return go_on(c);
  };
  EXPECT_EQ(play(1, 7), play(1, 7));
  EXPECT_NE(play(1, 7), play(2, 7));
  EXPECT_NE(play(1, 7), play(1, 8));
  Cluster again(shuffled(1), 8);
  go_on(again);
  again.copies.reset(Order(shuffled(1), 7));
  EXPECT_EQ(go_on(again), play(1, 7));
}

TEST(BulkCopies, OfAProgramThatNeverWaitsTheOldestMove) {
  Cluster c(late);
  for (std::uint32_t i = 0; i < 3 * most_in_flight; ++i) c.copies.issue(c.copy(i % 64 * 16, 16));
  EXPECT_LE(c.copies.in_flight(), most_in_flight);
  EXPECT_GE(c.copies.in_flight(), most_in_flight / 2);
  EXPECT_EQ(c.log.completed_ids.front(), 1u);
}

// --- groups ---

TEST(BulkCopies, ACopyBelongsToTheGroupThatIsCommittedNext) {
  Cluster c(late);
  c.copies.issue(c.copy(0, 64));
  c.copies.wait_group(0, 0, fully);
  EXPECT_TRUE(c.m.untouched(0, 64)) << "it is in no group yet";
  EXPECT_EQ(c.copies.groups_in_flight(0), 0u);
  c.copies.issue(c.copy(64, 64));
  c.copies.commit(0);
  c.copies.issue(c.copy(128, 64));
  c.copies.wait_group(0, 0, fully);
  EXPECT_TRUE(c.m.moved(0, 128));
  EXPECT_TRUE(c.m.untouched(128, 64));
}

TEST(BulkCopies, EmptyGroupsCount) {
  Cluster c(late);
  c.copies.issue(c.copy(0, 64));
  for (int i = 0; i < 3; ++i) c.copies.commit(0);
  EXPECT_EQ(c.copies.groups_in_flight(0), 3u);
  c.copies.wait_group(0, 3, fully);
  EXPECT_TRUE(c.m.untouched(0, 64));
  c.copies.wait_group(0, 2, fully);
  EXPECT_TRUE(c.m.moved(0, 64));
  EXPECT_EQ(c.copies.groups_in_flight(0), 0u) << "groups without copies are done";
}

TEST(BulkCopies, AThreadCommitsAndWaitsForItsOwnGroups) {
  constexpr std::uint32_t mine = 3, neighbour = 4, other_block = 1 << 10 | 3;
  Cluster c(late);
  c.copies.issue(c.copy(0, 64, mine));
  c.copies.issue(c.copy(64, 64, neighbour));
  c.copies.issue(c.copy(128, 64, other_block));
  c.copies.commit(mine);
  c.copies.commit(other_block);
  c.copies.wait_group(neighbour, 0, fully);  // has committed nothing
  EXPECT_TRUE(c.m.untouched(0, 192));
  c.copies.wait_group(mine, 0, fully);
  EXPECT_TRUE(c.m.moved(0, 64));
  EXPECT_TRUE(c.m.untouched(64, 128));
  EXPECT_EQ(c.copies.groups_in_flight(mine), 0u);
  EXPECT_EQ(c.copies.groups_in_flight(neighbour), 0u);
  EXPECT_EQ(c.copies.groups_in_flight(other_block), 1u);
  c.copies.wait_group(other_block, 0, fully);
  EXPECT_TRUE(c.m.moved(128, 64));
  EXPECT_TRUE(c.m.untouched(64, 64));
}

TEST(BulkCopies, WaitingCompletesGroupsInTheOrderOfTheirCommits) {
  for (Timing timing : {late, shuffled(1)}) {
    Cluster c(timing);
    for (std::uint32_t i = 0; i < 6; ++i) {
      c.copies.issue(c.copy(i * 64, 64, i % 2));
      c.copies.commit(i % 2);
    }
    c.copies.wait_group(1, 1, fully);
    c.copies.wait_group(0, 0, fully);
    EXPECT_EQ(c.log.completed_ids, (std::vector<std::uint64_t>{2, 4, 1, 3, 5}));
  }
}

// Here a store completes once its source has been read. Observers get the requested kind of wait.
TEST(BulkCopies, WaitingForReadsCompletesTheGroupAndSaysSo) {
  for (const bool kind : {fully, read}) {
    Cluster c(late);
    c.copies.issue(c.copy(0, 64, 9));
    c.copies.commit(9);
    c.copies.issue(c.copy(64, 64, 9));
    c.copies.commit(9);
    c.copies.wait_group(9, 1, kind);
    std::memset(c.m.global, 0, 64);  // the source may be used again
    EXPECT_FALSE(c.m.untouched(0, 64));
    EXPECT_EQ(c.m.shared[0], std::byte{1});
    EXPECT_TRUE(c.m.untouched(64, 64));
    EXPECT_EQ(c.log.lines.back(), kind == read ? "read by 9 but 1" : "waited by 9 but 1");
  }
}

TEST(BulkCopies, GroupsOfCopiesThatMovedEarlyAreDone) {
  Cluster c(early);
  c.copies.issue(c.copy(0, 64));
  c.copies.commit(0);
  EXPECT_EQ(c.copies.groups_in_flight(0), 0u);
  c.copies.wait_group(0, 0, fully);
  EXPECT_EQ(c.log.lines,
            (Log::Lines{"issued 1", "completed 1", "committed 0", "waited by 0 but 0"}));
}

// --- mbarriers ---

TEST(BulkCopies, TheirBytesCompleteThePhaseThatExpectsThem) {
  for (Timing timing : timings) {
    Cluster c(timing);
    mbarrier::init(c.m.word(bar), 1);
    c.expect(bar, 96 + 32);
    c.copies.issue(c.load(0, 96, bar));
    c.copies.issue(c.load(96, 32, bar));
    c.copies.flush_for(&c.m.word(bar));
    EXPECT_EQ(c.parity(bar), 1u);
    EXPECT_TRUE(c.m.moved(0, 128));
    EXPECT_EQ(std::count(c.log.lines.begin(), c.log.lines.end(), "phase"), 1);
  }
}

TEST(BulkCopies, BytesMayComeBeforeTheyAreExpected) {
  Cluster c(early);
  mbarrier::init(c.m.word(bar), 1);
  c.copies.issue(c.load(0, 64, bar));
  EXPECT_EQ(mbarrier::decode(c.m.word(bar)).tx_count, -64);
  EXPECT_EQ(c.parity(bar), 0u);
  c.expect(bar, 64);
  EXPECT_EQ(c.parity(bar), 1u);
}

TEST(BulkCopies, ThePhaseHoldsUntilEveryByteIsThere) {
  Cluster c(late);
  mbarrier::init(c.m.word(bar), 1);
  c.expect(bar, 128);
  c.copies.issue(c.load(0, 64, bar));
  c.copies.flush_for(&c.m.word(bar));
  EXPECT_TRUE(c.m.moved(0, 64));
  EXPECT_EQ(c.parity(bar), 0u);
  EXPECT_EQ(mbarrier::decode(c.m.word(bar)).tx_count, 64);
}

// A wait moves only the copies of its own phase, not those of another mbarrier, of the next phase,
// or of groups.
TEST(BulkCopies, AWaitMovesWhatItsPhaseNeeds) {
  Cluster c(late);
  const std::uint32_t other = bar + 8;
  mbarrier::init(c.m.word(bar), 1);
  mbarrier::init(c.m.word(other), 1);
  c.expect(bar, 64);
  c.copies.issue(c.load(0, 64, other));
  c.copies.issue(c.copy(64, 64));
  c.copies.commit(0);
  c.copies.issue(c.load(128, 64, bar));
  c.copies.issue(c.load(192, 64, bar));
  c.copies.flush_for(&c.m.word(bar));
  EXPECT_EQ(c.log.completed_ids, std::vector<std::uint64_t>{3});
  c.expect(bar, 64);
  c.copies.flush_for(&c.m.word(bar));
  EXPECT_EQ(c.log.completed_ids, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(c.parity(bar), 0u);
  c.copies.wait_group(0, 0, fully);
  EXPECT_TRUE(c.m.untouched(0, 64)) << "no group has what an mbarrier completes";
  EXPECT_TRUE(c.m.moved(64, 3 * 64));
  EXPECT_EQ(c.copies.in_flight(), 1u);
}

// The mbarrier counts tx_bytes, which may differ from the bytes that move (a tensor's box).
TEST(BulkCopies, TheCountIsTheCallers) {
  Cluster c(early);
  mbarrier::init(c.m.word(bar), 1);
  c.expect(bar, 4096);
  BulkCopy copy = c.load(0, 16, bar);
  copy.tx_bytes = 4096;
  c.copies.issue(copy);
  EXPECT_EQ(c.parity(bar), 1u);
}

TEST(BulkCopies, WhatBreaksTheMbarriersRulesIsReported) {
  Cluster c(early);
  c.copies.issue(c.load(0, 64, bar));
  EXPECT_TRUE(c.m.moved(0, 64));
  EXPECT_EQ(c.log.lines, (Log::Lines{"issued 1", "completed 1", "not_initialised"}));
}

// --- what is written ---

TEST(BulkCopies, AByteMaskChoosesOfEverySixteen) {
  Cluster c(late);
  BulkCopy copy = c.copy(0, 48);
  copy.byte_mask = 0x8005;
  c.copies.issue(copy);
  c.copies.flush_all();
  for (std::uint32_t i = 0; i < 48; ++i) {
    const bool written = i % 16 == 0 || i % 16 == 2 || i % 16 == 15;
    EXPECT_EQ(c.m.shared[i], written ? c.m.global[i] : std::byte{0xee}) << i;
  }
  EXPECT_TRUE(c.m.untouched(48, 16));
}

TEST(BulkCopies, ReductionsCombineWhenTheyMove) {
  for (Timing timing : timings) {
    Cluster c(timing);
    auto* sums = reinterpret_cast<std::uint32_t*>(c.m.shared);
    auto* terms = reinterpret_cast<std::uint32_t*>(c.m.global);
    for (std::uint32_t i = 0; i < 8; ++i) sums[i] = 1000 + i, terms[i] = i * i;
    BulkCopy copy = c.copy(0, 32);
    copy.reduce = reduction(ReduceOp::add, TensorType::u32);
    c.copies.issue(copy);
    c.copies.issue(copy);
    c.copies.commit(0);
    if (timing == late) {
      EXPECT_EQ(sums[7], 1007u);
    }
    c.copies.wait_group(0, 0, fully);
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(sums[i], 1000 + i + 2 * i * i);
    EXPECT_TRUE(c.m.untouched(32, 16));
  }
}

TEST(BulkCopies, ValuesTravelWithTheCopy) {
  Cluster c(late);
  mbarrier::init(c.m.word(bar), 1);
  c.expect(bar, 16 + 8);
  BulkCopy copy = c.load(0, 16, bar);
  copy.kind = BulkCopy::Kind::value;
  copy.from = nullptr;
  for (std::size_t i = 0; i < 16; ++i) copy.value[i] = std::byte(i);
  c.copies.issue(copy);
  BulkCopy sum = c.load(16, 8, bar);
  sum.kind = BulkCopy::Kind::value;
  sum.reduce = reduction(ReduceOp::bit_xor, TensorType::u64);
  sum.value.fill(std::byte{0xff});
  c.copies.issue(sum);
  copy.value.fill(std::byte{0});  // the copy in flight has its own
  c.copies.flush_for(&c.m.word(bar));
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(c.m.shared[i], std::byte(i));
  for (std::size_t i = 16; i < 24; ++i) EXPECT_EQ(c.m.shared[i], std::byte{0x11});
  EXPECT_EQ(c.parity(bar), 1u);
}

TEST(BulkCopies, SourcesAreReadWhenBytesMove) {
  Cluster c(late);
  c.copies.issue(c.copy(0, 16));
  std::memset(c.m.global, 0x77, 16);
  c.copies.flush_all();
  EXPECT_EQ(c.m.shared[0], std::byte{0x77}) << "a program that overwrites its source is caught";
}

TensorMap row_of_bytes(const std::byte* address, std::uint32_t bytes) {
  TensorMap map;
  map.global_address = reinterpret_cast<std::uintptr_t>(address);
  map.dim[0] = bytes;
  map.stride[0] = 1;
  map.box[0] = 32;
  return map;
}

TEST(BulkCopies, TensorCopiesMoveTheirBox) {
  Cluster c(late);
  mbarrier::init(c.m.word(bar), 1);
  c.expect(bar, 32);
  BulkCopy load = c.load(0, 0, bar);
  load.kind = BulkCopy::Kind::tensor_load;
  load.map = row_of_bytes(c.m.global + 256, 48);
  load.place.at[0] = 32;
  load.place.shared = 128;
  load.shared = c.m.shared;
  load.tx_bytes = 32;
  c.copies.issue(load);
  EXPECT_TRUE(c.m.untouched(128, 32));
  c.copies.flush_for(&c.m.word(bar));
  EXPECT_EQ(c.parity(bar), 1u);
  EXPECT_EQ(std::memcmp(c.m.shared + 128, c.m.global + 288, 16), 0);
  EXPECT_TRUE(c.m.zero(128 + 16, 16)) << "out of range";
  EXPECT_TRUE(c.m.untouched(160, 96));

  BulkCopy store = c.copy(0, 0);
  store.kind = BulkCopy::Kind::tensor_store;
  store.map = row_of_bytes(c.m.global + 512, 48);
  store.place.shared = 128;
  store.shared = c.m.shared;
  c.copies.issue(store);
  c.copies.commit(0);
  c.copies.wait_group(0, 0, fully);
  EXPECT_EQ(std::memcmp(c.m.global + 512, c.m.shared + 128, 32), 0);

  store.map.type = TensorType::u32;
  store.map.dim[0] = 8, store.map.box[0] = 8, store.map.stride[0] = 4;
  store.reduce = reduction(ReduceOp::bit_xor, TensorType::u32);
  c.copies.issue(store);
  c.copies.flush_all();
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(c.m.global[512 + i], std::byte{0}) << i;
}

// --- ends ---

TEST(BulkCopies, AnEndingBlockCompletesWhatItIssued) {
  Cluster c(late);
  mbarrier::init(c.m.word(bar), 1);
  c.copies.issue(c.copy(0, 64, 0 << 10 | 5));
  c.copies.issue(c.copy(64, 64, 1 << 10 | 5));
  BulkCopy load = c.load(128, 64, bar);
  load.thread = 1 << 10 | 6;
  c.copies.issue(load);
  c.copies.issue(c.copy(192, 64, 2 << 10));
  EXPECT_FALSE(c.copies.flush_block(3));
  EXPECT_TRUE(c.copies.flush_block(1));
  EXPECT_EQ(c.log.completed_ids, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_FALSE(c.copies.flush_block(1));
  EXPECT_TRUE(c.copies.flush_all());
  EXPECT_FALSE(c.copies.flush_all());
  EXPECT_TRUE(c.m.moved(0, 256));
}

TEST(BulkCopies, ResetForgetsCopiesAndGroupsAndCountsFromOne) {
  Cluster c(late);
  c.copies.issue(c.copy(0, 64));
  c.copies.commit(0);
  c.copies.commit(0);
  c.copies.reset(Order());
  EXPECT_TRUE(c.copies.idle());
  EXPECT_EQ(c.copies.groups_in_flight(0), 0u);
  c.log.lines.clear();
  c.copies.issue(c.copy(64, 64));
  c.copies.commit(0);
  EXPECT_EQ(c.copies.groups_in_flight(0), 1u);
  c.copies.wait_group(0, 0, fully);
  EXPECT_TRUE(c.m.untouched(0, 64));
  EXPECT_TRUE(c.m.moved(64, 64));
  EXPECT_EQ(c.log.lines,
            (Log::Lines{"issued 1", "committed 0", "completed 1", "waited by 0 but 0"}));
}

// --- random histories: the guarantees of each thread and each mbarrier ---

class History {
 public:
  History(Timing timing, std::uint64_t seed) : timing_(timing), random_(seed), c_(timing, seed) {
    for (std::uint32_t b = 0; b < mbarriers; ++b) mbarrier::init(c_.m.word(address(b)), 1);
  }

  void step() {
    const std::uint32_t kind = random_.below(10), thread = random_.below(threads);
    if (kind < 3) issue(thread, ~0u);
    if (kind == 3 || kind == 4) issue(thread, random_.below(mbarriers));
    if (kind == 5) commit(thread);
    if (kind == 6) wait(thread);
    if (kind == 7) flush(random_.below(mbarriers));
    if (kind == 8) c_.copies.flush_block(random_.below(2));
    if (kind == 9) c_.copies.advance();
    check();
  }
  void finish() {
    c_.copies.flush_all();
    check();
    for (const Operation& op : operations_) ASSERT_TRUE(done(op));
    for (std::uint32_t b = 0; b < mbarriers; ++b)
      ASSERT_EQ(mbarrier::decode(c_.m.word(address(b))).tx_count, 0);
  }

 private:
  static constexpr std::uint32_t mbarriers = 3, threads = 4;  // two threads of each of two blocks
  struct Operation {
    std::uint64_t id;
    std::uint32_t thread, place, bytes;
    std::uint32_t group;     // of the thread's groups
    std::uint32_t mbarrier;  // or ~0u
  };
  static std::uint32_t address(std::uint32_t mbarrier) { return bar + 8 * mbarrier; }
  static std::uint32_t number(std::uint32_t thread) { return (thread / 2) << 10 | thread % 2; }
  bool done(const Operation& op) const {
    const auto& ids = c_.log.completed_ids;
    return std::find(ids.begin(), ids.end(), op.id) != ids.end();
  }

  // Every copy writes its own place, so that memory shows which copies have moved.
  void issue(std::uint32_t thread, std::uint32_t mbarrier) {
    const std::uint32_t bytes = 16 * (1 + random_.below(8));
    if (place_ + bytes > bar) return;
    BulkCopy copy = c_.copy(place_, bytes, number(thread));
    if (mbarrier != ~0u) {
      copy.mbarrier = &c_.m.word(address(mbarrier));
      copy.tx_bytes = bytes;
      const auto step = mbarrier::expect_tx(*copy.mbarrier, bytes);
      ASSERT_EQ(step.violation, Violation::none);
    }
    operations_.push_back({++next_id_, thread, place_, bytes, groups_[thread], mbarrier});
    place_ += bytes;
    c_.copies.issue(copy);
  }
  void commit(std::uint32_t thread) {
    ++groups_[thread];
    c_.copies.commit(number(thread));
  }
  void wait(std::uint32_t thread) {
    const std::uint32_t allowed = random_.below(3);
    const std::size_t before = c_.log.completed_ids.size();
    c_.copies.wait_group(number(thread), allowed, random_.below(2) == 0);
    std::size_t due = 0;
    for (const Operation& op : operations_) {
      const bool covered =
          op.thread == thread && op.mbarrier == ~0u && op.group + allowed < groups_[thread];
      if (!covered) continue;
      ASSERT_TRUE(done(op));
      const auto& ids = c_.log.completed_ids;
      const auto by_wait = ids.begin() + static_cast<std::ptrdiff_t>(before);
      due += std::find(by_wait, ids.end(), op.id) != ids.end();
    }
    ASSERT_EQ(c_.log.completed_ids.size() - before, due) << "more than the wait needs has moved";
  }
  // The phase has no arrival yet, so it cannot complete and needs all of its copies.
  void flush(std::uint32_t mbarrier) {
    c_.copies.flush_for(&c_.m.word(address(mbarrier)));
    for (const Operation& op : operations_) ASSERT_TRUE(op.mbarrier != mbarrier || done(op));
    ASSERT_EQ(mbarrier::decode(c_.m.word(address(mbarrier))).tx_count, 0);
    ASSERT_TRUE(mbarrier::arrive(c_.m.word(address(mbarrier))).completed);
  }

  void check() {
    std::uint32_t oldest[threads], in_flight = 0;
    for (std::uint32_t t = 0; t < threads; ++t) oldest[t] = groups_[t];
    for (const Operation& op : operations_) {
      if (done(op)) {
        ASSERT_TRUE(c_.m.moved(op.place, op.bytes));
        continue;
      }
      ++in_flight;
      ASSERT_NE(timing_.policy, Timing::Policy::early);
      ASSERT_TRUE(c_.m.untouched(op.place, op.bytes));
      if (op.mbarrier == ~0u) oldest[op.thread] = std::min(oldest[op.thread], op.group);
    }
    ASSERT_EQ(c_.copies.in_flight(), in_flight);
    for (std::uint32_t t = 0; t < threads; ++t)
      ASSERT_EQ(c_.copies.groups_in_flight(number(t)), groups_[t] - oldest[t]);
  }

  Timing timing_;
  Random random_;
  Cluster c_;
  std::vector<Operation> operations_;
  std::uint32_t groups_[threads] = {};  // committed
  std::uint64_t next_id_ = 0;
  std::uint32_t place_ = 0;
};

void run_histories(Timing (*timing)(std::uint64_t), std::uint64_t count) {
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    History history(timing(seed), seed);
    for (int i = 0; i < 120 && !testing::Test::HasFailure(); ++i) history.step();
    history.finish();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(BulkHistories, Early) {
  run_histories([](std::uint64_t) { return early; }, 100);
}
TEST(BulkHistories, Late) {
  run_histories([](std::uint64_t) { return late; }, 200);
}
TEST(BulkHistories, Shuffled) {
  run_histories([](std::uint64_t seed) { return shuffled(seed); }, 200);
}

}  // namespace
}  // namespace inflight::async
