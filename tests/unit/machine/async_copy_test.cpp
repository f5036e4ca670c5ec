// cp.async and its groups on the machine: when bytes move, what is zero-filled, what faults.
#include <fmt/format.h>

#include <numeric>

#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

class AsyncCopy : public KernelRunner {
 protected:
  // Each of 32 threads has 16 bytes of `room` at %dst, `in` at %src and `out` at %out. `act` may
  // use them and %rs<4>, %r<8>, %v<4>.
  Outcome run_threads(const std::string& act, async::Timing timing = async::late,
                      const std::vector<std::uint64_t>& more = {}) {
    options.timing = timing;
    const Program* program = link(entry(static_cast<unsigned>(2 + more.size()), R"(
  .shared .align 16 .b8 room[1024];
  .reg .b64 %src, %out, %rd<8>; .reg .b32 %dst, %r<8>, %v<4>; .reg .pred %p;
  mov.u32 %r0, %tid.x;
  shl.b32 %r1, %r0, 4;
  mov.u32 %dst, room;
  add.u32 %dst, %dst, %r1;
  cvt.u64.u32 %rd0, %r1;
  ld.param.u64 %src, [p0];
  add.u64 %src, %src, %rd0;
  ld.param.u64 %out, [p1];
  add.u64 %out, %out, %rd0;
  mov.u32 %r2, 0xeeeeeeee;
  st.shared.v4.u32 [%dst], {%r2, %r2, %r2, %r2};
  st.shared.v4.u32 [%dst+512], {%r2, %r2, %r2, %r2};
)" + act + R"(
  ret;)"));
    std::vector<std::uint32_t> words(256);
    std::iota(words.begin(), words.end(), 1);
    in = upload(words);
    out = upload(std::vector<std::uint32_t>(256));
    std::vector<std::uint64_t> arguments{in, out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(program, {}, arguments);
  }
  static constexpr const char* save = R"(
  ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%dst];
  st.global.v4.u32 [%out], {%v0, %v1, %v2, %v3};
)";
  std::vector<std::uint32_t> result(std::size_t count = 128) {
    return download<std::uint32_t>(out, count);
  }
  static std::vector<std::uint32_t> counting() {
    std::vector<std::uint32_t> words(128);
    std::iota(words.begin(), words.end(), 1);
    return words;
  }
  std::uint64_t in = 0, out = 0;
};

constexpr std::uint32_t untouched = 0xeeeeeeee;

TEST_F(AsyncCopy, MovesEverySize) {
  for (const async::Timing timing : {async::late, async::early, async::shuffled(0)}) {
    Outcome o = run_threads(std::string("cp.async.cg.shared.global [%dst], [%src], 16;\n"
                                        "cp.async.wait_all;") +
                                save,
                            timing);
    ASSERT_TRUE(o.ok()) << o.report;
    EXPECT_EQ(result(), counting());
    o = run_threads(std::string("cp.async.ca.shared.global.L2::128B [%dst+8], [%src], 8;\n"
                                "cp.async.ca.shared.global [%dst+4], [%src+12], 4;\n"
                                "cp.async.commit_group; cp.async.wait_group 0;") +
                        save,
                    timing);
    ASSERT_TRUE(o.ok()) << o.report;
    for (std::uint32_t t = 0; t < 32; ++t) {
      EXPECT_EQ(result()[4 * t], untouched);
      EXPECT_EQ(result()[4 * t + 1], 4 * t + 4);
      EXPECT_EQ(result()[4 * t + 2], 4 * t + 1);
      EXPECT_EQ(result()[4 * t + 3], 4 * t + 2);
    }
  }
}

TEST_F(AsyncCopy, MovesLateByDefaultAndEarlyOnDemand) {
  const std::string no_wait = std::string(
                                  "cp.async.cg.shared.global [%dst], [%src], 16;\n"
                                  "cp.async.commit_group;") +
                              save + "cp.async.wait_all;";
  ASSERT_TRUE(run_threads(no_wait).ok());
  EXPECT_EQ(result(), std::vector<std::uint32_t>(128, untouched));
  ASSERT_TRUE(run_threads(no_wait, async::early).ok());
  EXPECT_EQ(result(), counting());
}

TEST_F(AsyncCopy, CompletesGroupsInOrder) {
  const std::string two = R"(
  cp.async.cg.shared.global [%dst], [%src], 16;
  cp.async.commit_group;
  cp.async.cg.shared.global [%dst+512], [%src+512], 16;
  cp.async.commit_group;
  cp.async.wait_group {};
  ld.shared.u32 %v0, [%dst];
  ld.shared.u32 %v1, [%dst+512];
  st.global.v2.u32 [%out], {%v0, %v1};
  cp.async.wait_all;
)";
  for (const int allowed : {2, 1, 0}) {
    std::string text = two;
    text.replace(text.find("{};"), 3, std::to_string(allowed) + ";");
    const Outcome o = run_threads(text);
    ASSERT_TRUE(o.ok()) << o.report;
    for (std::uint32_t t = 0; t < 32; ++t) {
      EXPECT_EQ(result()[4 * t], allowed < 2 ? 4 * t + 1 : untouched) << allowed;
      EXPECT_EQ(result()[4 * t + 1], allowed < 1 ? 4 * t + 129 : untouched) << allowed;
    }
  }
}

TEST_F(AsyncCopy, FillsWithZerosWhatIsNotRead) {
  const Outcome o = run_threads(std::string(R"(
  and.b32 %r3, %r0, 15;
  cp.async.cg.shared.global [%dst], [%src], 16, %r3;
  cp.async.wait_all;)") + save);
  ASSERT_TRUE(o.ok()) << o.report;
  const auto bytes = download<std::uint8_t>(out, 512), source = download<std::uint8_t>(in, 512);
  for (std::uint32_t t = 0; t < 32; ++t)
    for (std::uint32_t b = 0; b < 16; ++b)
      EXPECT_EQ(bytes[16 * t + b], b < t % 16 ? source[16 * t + b] : 0) << t << " " << b;
}

TEST_F(AsyncCopy, IgnoresTheSourceWhereToldTo) {
  const Outcome o = run_threads(std::string(R"(
  and.b32 %r3, %r0, 1;
  setp.eq.u32 %p, %r3, 1;
  selp.b64 %src, 0, %src, %p;
  cp.async.cg.shared.global [%dst], [%src], 16, %p;
  cp.async.wait_all;)") + save);
  ASSERT_TRUE(o.ok()) << o.report;
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(result()[4 * t + 2], t % 2 ? 0 : 4 * t + 3);
}

TEST_F(AsyncCopy, BelongsToTheLanesThatIssueIt) {
  const Outcome o = run_threads(std::string(R"(
  setp.lt.u32 %p, %r0, 5;
  @%p cp.async.cg.shared.global [%dst], [%src], 16;
  cp.async.commit_group;
  @%p cp.async.wait_group 0;)") +
                                save);
  ASSERT_TRUE(o.ok()) << o.report;
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(result()[4 * t], t < 5 ? 4 * t + 1 : untouched);
}

TEST_F(AsyncCopy, TakesGenericPointersTurnedShared) {
  const Outcome o = run_threads(std::string(R"(
  cvt.u64.u32 %rd1, %dst;
  cvta.shared.u64 %rd1, %rd1;
  cvta.to.shared.u64 %rd1, %rd1;
  mov.u64 %rd2, 7;
  cp.async.cg.shared.global.L2::cache_hint [%rd1], [%src], 16, %rd2;
  cp.async.wait_all;)") + save);
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(result(), counting());
}

TEST_F(AsyncCopy, EndsTheKernelForBadAddresses) {
  struct {
    const char* text;
    FaultKind kind;
    const char* says;
  } const cases[] = {
      {"cp.async.cg.shared.global [%dst+1024], [%src], 16;", FaultKind::illegal_address,
       "shared memory"},
      {"cp.async.cg.shared.global [%dst], [%src+1024], 16;", FaultKind::illegal_address,
       "past the end"},
      {"cp.async.cg.shared.global [%dst+8], [%src], 16;", FaultKind::misaligned_address,
       "multiple of 16"},
      {"cp.async.ca.shared.global [%dst], [%src+4], 8;", FaultKind::misaligned_address,
       "multiple of 8"},
  };
  for (const auto& c : cases) {
    const Outcome o = run_threads(std::string(c.text) + " cp.async.wait_all;");
    EXPECT_EQ(o.kind, c.kind) << c.text << o.report;
    EXPECT_NE(o.report.find(c.says), std::string::npos) << o.report;
  }
}

TEST_F(AsyncCopy, IsRefusedWithSizesItLacks) {
  for (const char* text : {"cp.async.cg.shared.global [%dst], [%src], 8;",
                           "cp.async.ca.shared.global [%dst], [%src], 12;"})
    EXPECT_NE(why_not_loaded(entry(0, ".reg .b64 %src; .reg .b32 %dst; " + std::string(text))), "")
        << text;
}

TEST_F(AsyncCopy, IsCompleteWhenItsThreadsHaveEnded) {
  // Without a wait the bytes never become visible, and the next block has its own shared memory.
  const Outcome o = run_threads("cp.async.cg.shared.global [%dst], [%src], 16;");
  EXPECT_TRUE(o.ok()) << o.report;
}

}  // namespace
}  // namespace inflight::machine
