// Shadow memory compared with single bytes, for accesses of every shape.
#include "gpu/check/shadow/shadow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace inflight {
namespace {

using namespace order;
using shadow::ByteMask;
using shadow::Conflict;
using shadow::Series;
using shadow::SeriesOf;
using shadow::Shadow;

using Addresses = std::array<std::uint64_t, lanes>;

// Rows, steps up and down, one address, adjacent halves of a warp, and arbitrary lanes.
struct Shape {
  Addresses at{};
  Mask mask = 0;
  std::uint32_t bytes = 4;
};

class Shapes {
 public:
  explicit Shapes(std::uint64_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  Shape next() {
    Shape s;
    s.bytes = 1u << below(5);
    s.mask = below(3) == 0   ? ~Mask{0}
             : below(4) == 0 ? 1u << below(32)
                             : static_cast<Mask>(random_());
    if (s.mask == 0) s.mask = 1;
    const int step = static_cast<int>(below(9)) - 4;
    const unsigned part = 32u >> below(3);
    const bool anywhere = below(5) == 0;
    const unsigned gap = below(4) == 0 ? below(4) : 0;  // lanes 2^gap apart go on
    if (gap != 0 && below(2) == 0) s.mask &= 0x01010101u << below(8);
    if (s.mask == 0) s.mask = 2;
    const std::uint64_t base = 16 * 1024 / s.bytes, other = base + below(64);
    for (unsigned l = 0; l < lanes; ++l) {
      const auto in_part = static_cast<int>(l % part >> gap);
      const std::uint64_t element =
          anywhere ? base + below(96)
                   : (l / part % 2 ? other : base) + static_cast<std::uint64_t>(step * in_part);
      s.at[l] = element * s.bytes;
    }
    return s;
  }

 private:
  std::mt19937_64 random_;
};

std::set<std::uint64_t> bytes_of(const Shape& s, Mask mask) {
  std::set<std::uint64_t> all;
  for (unsigned l = 0; l < lanes; ++l)
    for (std::uint32_t b = 0; mask >> l & 1 && b < s.bytes; ++b) all.insert(s.at[l] + b);
  return all;
}

bool touches(const Shape& s, unsigned lane, std::uint64_t byte) {
  return s.mask >> lane & 1 && byte - s.at[lane] < s.bytes;
}

TEST(ShadowSeries, TakeEveryLaneOnceAndAreWhereTheLanesAre) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const Shape s = Shapes(seed).next();
    Mask seen = 0;
    for (SeriesOf left(s.at.data(), s.mask); left.any();) {
      const Series each = left.next(128, s.bytes);
      ASSERT_NE(each.lanes, 0u);
      ASSERT_EQ(each.lanes & seen, 0u) << "seed " << seed;
      seen |= each.lanes;
      for (unsigned l = 0; l < lanes; ++l)
        ASSERT_TRUE((each.lanes >> l & 1) == 0 || each.at(l) == s.at[l]) << "seed " << seed;
    }
    ASSERT_EQ(seen, s.mask);
  }
}

// Two unordered warps: one writes, then the other reads or writes.
TEST(ShadowMemory, FindsBytesOfBothWhateverTheShape) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Shapes shapes(seed);
    const Shape first = shapes.next(), second = shapes.next();
    const bool write = shapes.below(2) == 0;
    Block block({1, 0, 64}, {});
    Shadow memory(seed % 2 ? Space::shared : Space::global);
    std::vector<Conflict> conflicts;
    memory.access(block, 0, {first.at.data(), first.mask, first.bytes, 1, true}, conflicts);
    // Lanes of one instruction may conflict with each other, which this test ignores.
    conflicts.clear();
    memory.access(block, 1, {second.at.data(), second.mask, second.bytes, 2, write}, conflicts);
    std::erase_if(conflicts, [](const Conflict& c) { return c.earlier.place == c.later.place; });
    const std::set<std::uint64_t> a = bytes_of(first, first.mask),
                                  b = bytes_of(second, second.mask);
    bool meet = false;
    for (const std::uint64_t each : a) meet |= b.contains(each);
    ASSERT_EQ(!conflicts.empty(), meet) << "seed " << seed;
    for (const Conflict& c : conflicts) {
      ASSERT_TRUE(touches(first, c.earlier.lane, c.address)) << "seed " << seed;
      ASSERT_TRUE(touches(second, c.later.lane, c.address)) << "seed " << seed;
      for (std::uint32_t i = 0; i < c.bytes; ++i)
        ASSERT_TRUE(a.contains(c.address + i) && b.contains(c.address + i)) << "seed " << seed;
    }
  }
}

// A lane that writes what memory holds conflicts with reads and copies. Its conflicts with threads'
// writes are excused.
TEST(ShadowMemory, ComparesSilentLanesWithEverythingButWritesOfThreads) {
  enum { reads, writes, copies };
  int partly = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    Shapes shapes(seed);
    const Shape first = shapes.next(), second = shapes.next();
    if (bytes_of(second, second.mask).size() !=
        static_cast<std::size_t>(std::popcount(second.mask)) * second.bytes)
      continue;
    const std::uint32_t kind = shapes.below(3);
    const Mask silent = shapes.below(4) == 0 ? second.mask : 1u << shapes.below(32) | 3;
    Block block({1, 0, 64}, {});
    Shadow memory(seed % 2 ? Space::shared : Space::global);
    std::vector<Conflict> conflicts;
    const shadow::Access earlier{first.at.data(), first.mask, first.bytes, 1, kind != reads};
    kind == copies ? memory.copy(block, 0, earlier, conflicts)
                   : memory.access(block, 0, earlier, conflicts);
    conflicts.clear();
    shadow::Access later{second.at.data(), second.mask, second.bytes, 2, true};
    later.silent = silent;
    memory.access(block, 1, later, conflicts);
    const Mask loud = second.mask & (kind == writes ? ~silent : ~Mask{0});
    const std::set<std::uint64_t> a = bytes_of(first, first.mask), b = bytes_of(second, loud),
                                  quiet = bytes_of(second, second.mask & ~loud);
    bool meet = false, meet_quietly = false;
    for (const std::uint64_t each : a) {
      meet |= b.contains(each);
      meet_quietly |= quiet.contains(each);
    }
    std::vector<Conflict> excused;
    std::copy_if(conflicts.begin(), conflicts.end(), std::back_inserter(excused),
                 [](const Conflict& c) { return c.excuse != shadow::Excuse::none; });
    std::erase_if(conflicts, [](const Conflict& c) { return c.excuse != shadow::Excuse::none; });
    if (!meet) {
      ASSERT_EQ(!excused.empty(), meet_quietly) << "seed " << seed;
    }
    for (const Conflict& c : excused) {
      ASSERT_EQ(c.excuse, shadow::Excuse::same_value) << "seed " << seed;
      ASSERT_TRUE(silent >> c.later.lane & 1) << "seed " << seed;
      ASSERT_TRUE(a.contains(c.address) && quiet.contains(c.address)) << "seed " << seed;
    }
    ASSERT_EQ(!conflicts.empty(), meet) << "seed " << seed;
    for (const Conflict& c : conflicts) {
      ASSERT_TRUE(loud >> c.later.lane & 1) << "seed " << seed;
      for (std::uint32_t i = 0; i < c.bytes; ++i)
        ASSERT_TRUE(a.contains(c.address + i) && b.contains(c.address + i)) << "seed " << seed;
    }
    partly += meet && loud != second.mask;
    // The write is recorded, for silent lanes too.
    Addresses at{};
    at[0] = second.at[static_cast<unsigned>(std::countr_zero(second.mask))];
    conflicts.clear();
    memory.access(block, 0, {at.data(), 1, 1, 3, false}, conflicts);
    ASSERT_FALSE(conflicts.empty()) << "seed " << seed;
  }
  EXPECT_GT(partly, 100);
}

// Notes a read of 4 bytes by each lane, from `first` on, by instruction `place`.
void note(shadow::ReadLog& log, std::uint32_t warp, std::uint16_t first, std::uint32_t place) {
  ASSERT_TRUE(log.is_open());
  shadow::NotedRead& read = *log.next++;
  for (unsigned l = 0; l < lanes; ++l)
    read.addresses[l] = static_cast<std::uint16_t>(first + 4 * l);
  read.lanes = ~Mask{0}, read.bytes = 4, read.place = place, read.warp = warp;
}

class ReadLogs : public testing::Test {
 protected:
  // The next number of reads is noted and given places 100 higher, then the log is closed.
  void take() {
    memory.take(block, log, [](shadow::NotedRead& read) { read.place += 100; });
    log.close();
  }
  std::vector<Conflict> access(std::uint32_t warp, std::uint64_t first, bool write) {
    Shape s;
    for (unsigned l = 0; l < lanes; ++l) s.at[l] = first + 4 * l;
    std::vector<Conflict> conflicts;
    memory.access(block, warp, {s.at.data(), ~Mask{0}, 4, 1, write}, conflicts);
    return conflicts;
  }
  void meet() {
    for (std::uint32_t w = 0; w < 2; ++w) block.arrive_and_wait(barrier, w, ~Mask{0});
    barrier.complete();
  }
  Block block{{.threads = 64}, {}};
  BarrierState barrier;
  Shadow memory{Space::shared};
  shadow::ReadLog log;
};

TEST_F(ReadLogs, NotedReadsConflictWithALaterWrite) {
  access(0, 1024, false);
  memory.offer(block, log);
  note(log, 1, 2048, 7);
  note(log, 0, 4096, 8);
  take();
  EXPECT_TRUE(access(0, 4096, true).empty());  // its own
  const auto conflicts = access(0, 2048, true);
  ASSERT_FALSE(conflicts.empty());
  EXPECT_EQ(conflicts.front().earlier.place, 107u);
  EXPECT_EQ(conflicts.front().address, 2048u);
  EXPECT_FALSE(conflicts.front().earlier.write);
}

TEST_F(ReadLogs, ABarrierEndsThem) {
  access(0, 1024, false);
  memory.offer(block, log);
  note(log, 1, 2048, 7);
  take();
  meet();
  memory.offer(block, log);
  EXPECT_FALSE(log.is_open()) << "no read since the barrier";
  EXPECT_TRUE(access(0, 2048, true).empty());
}

TEST_F(ReadLogs, AreNotOfferedAfterAWrite) {
  access(0, 1024, true);
  access(1, 4096, false);
  memory.offer(block, log);
  EXPECT_FALSE(log.is_open());
  meet();
  access(1, 4096, false);
  memory.offer(block, log);
  EXPECT_TRUE(log.is_open());
  log.close();
}

TEST_F(ReadLogs, GrowUpToALimit) {
  std::size_t noted = 0;
  for (access(0, 1024, false); memory.offer(block, log), log.is_open(); take())
    for (; log.is_open(); ++noted) note(log, 1, 2048, 7);
  EXPECT_EQ(noted + 1, 4096u);
  EXPECT_FALSE(access(0, 2048, true).empty());
}

// More reads than are deferred one by one, of a table.
class ManyReads : public ReadLogs {
 protected:
  static constexpr std::uint32_t elements = 96, reads = 30000;
  // Which lanes of each warp have read each element: the place, or 0.
  using Readers = std::vector<std::array<std::array<std::uint32_t, lanes>, 2>>;
  Readers look_up(std::uint32_t bytes) {
    Readers readers(elements);
    std::mt19937 random(bytes);
    std::vector<Conflict> none;
    for (std::uint32_t i = 0; i < reads; ++i) {
      const std::uint32_t warp = random() % 2, place = 1 + random() % 3;
      const Mask mask = static_cast<Mask>(random()) | 1;
      Addresses at{};
      for (unsigned l = 0; l < lanes; ++l) {
        const std::uint32_t element = random() % (elements / 2) + warp * (elements / 4);
        at[l] = 1024 + element * bytes;
        if (mask >> l & 1) readers[element][warp][l] = place;
      }
      memory.access(block, warp, {at.data(), mask, bytes, place, false}, none);
    }
    EXPECT_TRUE(none.empty());
    return readers;
  }
  std::vector<Conflict> write_byte(std::uint64_t address) {
    Addresses at{address};
    std::vector<Conflict> conflicts;
    memory.access(block, 0, {at.data(), 1, 1, 9, true}, conflicts);
    return conflicts;
  }
};

TEST_F(ManyReads, ConflictWithALaterWriteOfTheSameBytes) {
  for (const std::uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
    memory.forget(0, 1 << 16);
    meet();
    const Readers readers = look_up(bytes);
    EXPECT_LT(memory.bytes(), std::size_t{4} << 20);
    unsigned found = 0;
    for (std::uint32_t element = 0; element < elements; ++element) {
      auto others = readers[element];
      others[0][0] = 0;  // the writer
      const bool any = others != decltype(others){};
      const std::uint64_t address = 1024 + element * bytes + bytes - 1;
      const auto conflicts = write_byte(address);
      ASSERT_EQ(!conflicts.empty(), any) << bytes << " bytes, element " << element;
      found += any;
      for (const Conflict& c : conflicts) {
        EXPECT_EQ(c.address, address);
        EXPECT_TRUE(others[0][c.earlier.lane] != 0 || others[1][c.earlier.lane] != 0);
      }
    }
    EXPECT_GT(found, elements / 2);
    EXPECT_LT(found, elements);
  }
}

TEST_F(ManyReads, EndAtABarrier) {
  look_up(4);
  meet();
  for (std::uint32_t element = 0; element < elements; ++element)
    EXPECT_TRUE(write_byte(1024 + element * 4).empty());
}

// Strong accesses of threads without an order are excused, and told of volatile data only.
TEST(ShadowMemory, TellsOfVolatileDataWithoutOrder) {
  for (const bool volatile_data : {false, true}) {
    Block block({1, 0, 64}, {});
    Shadow memory(Space::global);
    std::vector<Conflict> conflicts;
    Addresses at{};
    at[0] = 64;
    shadow::Access access{at.data(), 1, 4, 1, true, true, order::Scope::sys};
    access.volatile_data = volatile_data;
    memory.access(block, 0, access, conflicts);
    memory.access(block, 0, access, conflicts);
    EXPECT_TRUE(conflicts.empty());
    access.write = false;
    memory.access(block, 1, access, conflicts);
    ASSERT_EQ(conflicts.size(), volatile_data ? 1u : 0u);
    if (volatile_data) {
      EXPECT_EQ(conflicts[0].excuse, shadow::Excuse::volatile_data);
    }
  }
}

// Each lane of a warp knows only its own accesses.
TEST(ShadowMemory, KnowsWhichLaneHadWhichBytes) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Shapes shapes(seed);
    const Shape first = shapes.next(), second = shapes.next();
    Block block({1, 0, 32}, {});
    Shadow memory(Space::shared);
    std::vector<Conflict> conflicts;
    memory.access(block, 0, {first.at.data(), first.mask, first.bytes, 1, false}, conflicts);
    memory.access(block, 0, {second.at.data(), second.mask, second.bytes, 2, true}, conflicts);
    std::erase_if(conflicts, [](const Conflict& c) { return c.earlier.place == c.later.place; });
    bool parted = false;
    for (unsigned mine = 0; mine < lanes; ++mine)
      for (unsigned theirs = 0; theirs < lanes; ++theirs)
        if (mine != theirs && second.mask >> mine & 1)
          for (std::uint32_t i = 0; i < second.bytes; ++i)
            parted |= touches(first, theirs, second.at[mine] + i);
    // Lanes that write the same bytes in one instruction replace each other.
    bool alone = true;
    for (unsigned l = 0; l < lanes; ++l)
      if (second.mask >> l & 1)
        alone &= bytes_of(second, second.mask & ~(Mask{1} << l)).count(second.at[l]) == 0;
    ASSERT_TRUE(!alone || !conflicts.empty() == parted) << "seed " << seed;
    for (const Conflict& c : conflicts) ASSERT_NE(c.earlier.lane, c.later.lane) << "seed " << seed;
  }
}

// Threads of many blocks read single elements of one line, so that it has many records. Then one
// thread writes some bytes of it.
TEST(ShadowMemory, FindsAReaderOfEachByteOfACrowdedLine) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Shapes random(seed);
    std::vector<std::unique_ptr<Block>> blocks;
    for (std::uint64_t b = 0; b < 6; ++b)
      blocks.push_back(std::make_unique<Block>(Block::Shape{1, b, 224}, Knowledge{}));
    Shadow memory(Space::global);
    std::vector<Conflict> conflicts;
    std::array<std::set<std::uint32_t>, 128> readers;  // of each byte: blocks
    for (int i = 0; i < 400; ++i) {
      const std::uint32_t b = random.below(6), lane = random.below(32),
                          bytes = 1u << random.below(3);
      Addresses at{};
      at[lane] = 4096 + random.below(96 / bytes) * bytes;
      memory.access(*blocks[b], random.below(4), {at.data(), 1u << lane, bytes, 1}, conflicts);
      for (std::uint32_t k = 0; k < bytes; ++k) readers[at[lane] - 4096 + k].insert(b);
    }
    ASSERT_TRUE(conflicts.empty());
    // A block that has synchronised with no other, so all other blocks' reads are unordered.
    const std::uint32_t writer = random.below(6), from = random.below(124);
    Addresses at{};
    at[0] = 4096 + from / 4 * 4;
    memory.access(*blocks[writer], 5, {at.data(), 1, 4, 2, true}, conflicts);
    bool read = false;
    for (std::uint32_t k = 0; k < 4; ++k) read |= !readers[at[0] - 4096 + k].empty();
    ASSERT_EQ(!conflicts.empty(), read) << "seed " << seed;
    for (const Conflict& c : conflicts) ASSERT_FALSE(readers[c.address - 4096].empty());
    // The next reader conflicts with the write, however many have read before.
    for (std::uint32_t b = 0; b < 6; ++b) {
      conflicts.clear();
      memory.access(*blocks[b], 6, {at.data(), 1, 4, 3}, conflicts);
      ASSERT_FALSE(conflicts.empty()) << "seed " << seed << " block " << b;
    }
  }
}

// The host fills ranges that no page exists for yet. The newest fill of each byte is the one that
// counts, whatever the order of the ranges, and none is forgotten because of another inside it.
TEST(ShadowMemory, KeepsTheNewestFillOfEachByte) {
  constexpr std::uint64_t all = 1 << 20;
  const auto fill = [](Shadow& memory, std::uint32_t by, std::uint64_t from, std::uint64_t bytes) {
    std::vector<Conflict> none;
    memory.host_write_all({}, {100 + by, 0, 1}, {from, bytes, by, true}, none);
  };
  const auto last_writer = [](Shadow& memory, std::uint64_t at) {
    std::vector<Conflict> conflicts;
    memory.host_copy({}, {200, 0, 1}, {at, 4, 9}, conflicts);
    return conflicts.size() == 1 ? conflicts[0].earlier.place : 0;
  };
  Shadow memory(Space::global);
  fill(memory, 1, 0, all);
  fill(memory, 2, 8192, 4096);      // inside
  fill(memory, 3, 65536, 65536);    // inside
  fill(memory, 4, 65536, 1024);     // begins with the last one
  fill(memory, 5, all - 64, 4096);  // over the end
  memory.forget(16384, 4096);
  for (const auto [at, by] :
       std::initializer_list<std::pair<std::uint64_t, std::uint32_t>>{{0, 1},
                                                                      {8188, 1},
                                                                      {8192, 2},
                                                                      {12284, 2},
                                                                      {12288, 1},
                                                                      {16384, 0},
                                                                      {20480, 1},
                                                                      {65532, 1},
                                                                      {65536, 4},
                                                                      {66556, 4},
                                                                      {66560, 3},
                                                                      {131068, 3},
                                                                      {131072, 1},
                                                                      {500000, 1},
                                                                      {all - 64, 5},
                                                                      {all, 5},
                                                                      {all + 4096, 0}})
    EXPECT_EQ(last_writer(memory, at), by) << at;
}

TEST(ShadowByteMask, CountsWordsOfWhichThereIsAByte) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    const ByteMask mask{random() & random() & random(), random() & random()};
    std::uint64_t words = 0;
    for (std::uint32_t b = 0; b < shadow::line_bytes; ++b)
      words |= std::uint64_t{mask.has(b)} << b / 4;
    ASSERT_EQ(mask.words(), words);
  }
}

}  // namespace
}  // namespace inflight
