// The moment of a finding, computed from earlier events.
#include "gpu/check/detect/history.hpp"

#include <gmock/gmock.h>

#include <string>

namespace inflight::check {
namespace {

using testing::ElementsAre;

const char* const opcodes[] = {"cp.async.ca.shared.global",
                               "cp.async.commit_group",
                               "cp.async.wait_group",
                               "ld.shared.f32",
                               "bar.sync",
                               "mbarrier.try_wait.parity.shared.b64"};

Instruction describe(const Kernel&, std::uint32_t number) {
  Instruction in;
  in.text = opcodes[number];
  if (number == 3) in.act.kind = Act::Kind::reads;
  in.ptx_line = number + 1, in.file = "a.cu", in.line = number + 10, in.function = "k";
  return in;
}

class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    kernel.launch = 1, kernel.name = "k", kernel.describe = describe;
    kernel.variable = [](const Kernel&, Space, std::uint64_t, std::uint32_t) { return Variable{}; };
    kernel.grid = {8, 1, 1}, kernel.block = {64, 1, 1};
    places.begin(kernel);
  }
  static Who who(std::uint32_t warp, std::uint32_t instruction, std::uint64_t block = 0) {
    return {1, block, warp, 1, instruction};
  }
  void issue(std::uint32_t warp, std::uint64_t id, std::uint64_t at, std::uint64_t block = 0) {
    CopyIssued copy;
    copy.who = who(warp, 0, block), copy.id = id, copy.bytes = 16;
    copy.context = &at;
    copy.walk = [](const CopyIssued& c, void* to, CopyIssued::RunHook hook) {
      hook(to, {0, *static_cast<const std::uint64_t*>(c.context), 0, 16, 16});
    };
    history.copy_issued(copy);
  }
  void wait(std::uint32_t warp, std::uint32_t allowed) {
    CopyWaited wait;
    wait.who = who(warp, 2), wait.allowed = allowed;
    history.copy_waited(wait);
  }
  Finding read(std::uint32_t warp, std::uint64_t at, std::uint64_t block = 0) {
    Finding f;
    f.kind = FindingKind::read_before_wait;
    f.here = places.party(who(warp, 3, block), "reads 4 bytes");
    f.there = {places.party(who(warp, 0, block), "copies 16 bytes")};
    f.bytes = Bytes{Space::shared, at, 4, {}, 0};
    return f;
  }
  static std::vector<std::string> lines(const Finding& f) {
    std::vector<std::string> result;
    for (const Step& s : f.moment)
      result.push_back(std::to_string(s.threads.warp) + " " + s.label +
                       (s.copy ? " #" + std::to_string(s.copy) : "") + (s.here ? " <" : ""));
    return result;
  }
  Kernel kernel;
  Places places;
  History history{places};
};

TEST_F(HistoryTest, TellsWhatTheWarpsConcernedDid) {
  issue(0, 70, 2048);
  issue(0, 71, 1024);
  history.copy_committed({who(0, 1)});
  issue(1, 5, 4096);
  wait(0, 1);
  Finding f = read(0, 1024);
  history.fill(f);
  EXPECT_THAT(lines(f),
              ElementsAre("0 cp.async.ca.shared.global: 16 bytes #1",
                          "0 cp.async.ca.shared.global: 16 bytes #2 <", "0 cp.async.commit_group",
                          "0 cp.async.wait_group: all but 1 groups", "0 reads 4 bytes <"));
  EXPECT_EQ(f.moment[1].bytes->address, 1024u);
  EXPECT_EQ(f.moment.back().what, Step::What::read);
  EXPECT_EQ(f.moment.back().time, 5u);
}

TEST_F(HistoryTest, TellsOfOtherWarpsWhoseCopiesTouchTheBytes) {
  issue(1, 5, 1024);
  issue(1, 6, 4096);
  CopyCompleted done;
  done.who = who(1, 0), done.id = 5;
  history.copy_completed(done);
  Finding f = read(0, 1028);
  f.there = {places.party(who(1, 0), "copies 16 bytes")};
  history.fill(f);
  EXPECT_THAT(lines(f), ElementsAre("1 cp.async.ca.shared.global: 16 bytes #1 <",
                                    "1 cp.async.ca.shared.global: 16 bytes #2",
                                    "1 cp.async.ca.shared.global: its bytes have moved #1",
                                    "0 reads 4 bytes <"));
}

TEST_F(HistoryTest, KeepsTheNewestAndLeavesFailedTestsOut) {
  for (std::uint64_t i = 0; i < 500; ++i) issue(0, i, 1024);
  MbarrierOp test;
  test.who = who(0, 5), test.op = MbarrierOp::Op::try_wait, test.by_parity = true, test.parity = 1;
  for (int i = 0; i < 500; ++i) history.mbarrier(test);
  test.done = true;
  history.mbarrier(test);
  Finding f = read(0, 1024);
  history.fill(f);
  ASSERT_GE(f.moment.size(), 3u);
  EXPECT_LE(f.moment.size(), 26u);
  EXPECT_EQ(f.moment[f.moment.size() - 2].label, "mbarrier.try_wait.parity.shared.b64: parity 1");
  EXPECT_EQ(f.moment[0].copy, 1u);
}

TEST_F(HistoryTest, IsOfItsOwnClusterAndEndsWithIt) {
  kernel.cluster = {2, 1, 1};
  issue(0, 1, 1024, 2);
  issue(0, 1, 1024, 3);
  issue(0, 1, 1024, 4);
  Finding f = read(0, 1024, 2);
  history.fill(f);
  EXPECT_EQ(f.moment.size(), 3u);  // of blocks 2 and 3, and the read
  EXPECT_NE(f.moment[0].copy, f.moment[1].copy);
  history.forget(BlockEnd{&kernel, 2});
  f = read(0, 1024, 2), history.fill(f);
  EXPECT_EQ(f.moment.size(), 3u);
  history.forget(BlockEnd{&kernel, 3});
  f = read(0, 1024, 2), history.fill(f);
  EXPECT_TRUE(f.moment.empty());
  f = read(0, 1024, 4), history.fill(f);
  EXPECT_EQ(f.moment.size(), 2u);
}

TEST_F(HistoryTest, HasNothingOfTheHost) {
  Finding f;
  history.fill(f);
  EXPECT_TRUE(f.moment.empty());
}

}  // namespace
}  // namespace inflight::check
