// What the machine knows of an access besides its bytes: how its value is used, and what memory
// held before and after it.
#include <bit>

#include "tests/unit/machine/event_log.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using check::Topic;
using Lines = std::vector<std::string>;

class Fields : public EventLog {
 public:
  Fields() : EventLog(Topic::accesses | Topic::addresses) {}
  void accessed(const check::Access& e) override {
    std::string what{name(e.kind)};
    if (e.in_row) what += " in_row";
    if (e.unread) what += fmt::format(" unread {}", e.unread);
    if (e.peeks) what += " peeks";
    if (e.spins) what += " spins";
    if (e.dropped) what += fmt::format(" dropped {:x}", e.dropped);
    add(e.who, what);
  }
};

// The values of strong accesses, and whether other values that are read decide the same.
class Decisions : public EventLog {
 public:
  Decisions() : EventLog(Topic::accesses | Topic::addresses) {}
  void accessed(const check::Access& e) override {
    if (e.order == check::Order::weak || e.space != check::Space::global) return;
    std::string what{name(e.kind)};
    const int lane = std::countr_zero(e.who.mask);
    if (e.read) what += fmt::format(" read {}", e.read[lane]);
    if (e.before) what += fmt::format(" before {}", e.before[lane]);
    if (e.after) what += fmt::format(" after {}", e.after[lane]);
    if (e.decision)
      for (const std::uint64_t value : {0, 1, 5, 9})
        what += fmt::format(" {}:{:x}", value, e.decision->alike(value) & e.who.mask);
    add(e.who, what);
  }
};

class AccessFields : public KernelRunner {
 protected:
  // %d0: 4096 bytes of global memory, all 0. %d1: the word of the thread. %r0: the thread.
  template <class Log>
  Lines events(const std::string& body, unsigned threads = 32) {
    Log log;
    options.listener = &log;
    options.workers = 1;
    const Outcome o = run(link(entry(1, R"(
  .shared .align 4 .b8 tile[4];
  .reg .b32 %r<12>; .reg .pred %p<4>; .reg .b64 %d<6>;
  ld.param.u64 %d0, [p0];
  mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d1, %d0;
)" + body + "\n  ret;")),
                          {.block = {threads, 1, 1}}, {upload(std::vector<std::uint32_t>(1024))});
    EXPECT_TRUE(o.ok()) << o.report;
    return log.lines;
  }
};

TEST_F(AccessFields, SayWhetherTheLanesAreInARow) {
  EXPECT_EQ(
      events<Fields>(R"(
  ld.global.u32 %r1, [%d1];
  st.global.u32 [%d1], %r1;
  ld.global.u16 %r1, [%d1];
  mul.wide.u32 %d2, %r0, 8; add.u64 %d2, %d2, %d0;
  ld.global.v2.u32 {%r1, %r2}, [%d2];
  add.u32 %r3, %r1, %r2;
  st.shared.u32 [tile], %r3;
  setp.lt.u32 %p0, %r0, 31;
  @%p0 st.global.u32 [%d1], %r0;)"),
      (Lines{"ld.global.u32 @0.0/ffffffff load in_row", "st.global.u32 @0.0/ffffffff store in_row",
             "ld.global.u16 @0.0/ffffffff load", "ld.global.v2.u32 @0.0/ffffffff load in_row",
             "st.shared.u32 @0.0/ffffffff store", "st.global.u32 @0.0/7fffffff store"}));
}

TEST_F(AccessFields, SayHowManyBytesGoNowhere) {
  EXPECT_EQ(events<Fields>(R"(
  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d0];
  st.global.u32 [%d0], %r2;
  ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d0];
  st.global.u32 [%d0], %r8;)",
                           1),
            (Lines{"ld.global.v4.u32 @0.0/1 load unread 8", "st.global.u32 @0.0/1 store",
                   "ld.global.v4.u32 @0.0/1 load", "st.global.u32 @0.0/1 store"}));
}

TEST_F(AccessFields, SayThatALoadPeeksAndThatASwapSpins) {
  EXPECT_EQ(events<Fields>(R"(
  ld.global.u32 %r1, [%d0];
  atom.global.cas.b32 %r2, [%d0], %r1, 0;
  ld.global.u32 %r3, [%d0+8];
  st.global.u32 [%d0+8], %r3;
AGAIN:
  atom.global.cas.b32 %r2, [%d0], 0, 1;
  setp.ne.u32 %p0, %r2, 0;
  @%p0 bra AGAIN;)",
                           1),
            (Lines{"ld.global.u32 @0.0/1 load peeks", "atom.global.cas.b32 @0.0/1 atomic",
                   "ld.global.u32 @0.0/1 load", "st.global.u32 @0.0/1 store",
                   "atom.global.cas.b32 @0.0/1 atomic spins"}));
}

// `first && second`, of which the first is true in 8 lanes only.
TEST_F(AccessFields, SayInWhichLanesTheValueHasNoEffect) {
  EXPECT_EQ(events<Fields>(R"(
  setp.lt.u32 %p0, %r0, 8;
  ld.global.u32 %r1, [%d0];
  setp.ne.u32 %p1, %r1, 0;
  and.pred %p2, %p0, %p1;
  @%p2 st.global.u32 [%d0], 1;)"),
            (Lines{"ld.global.u32 @0.0/ffffffff load dropped ffffff00"}));
}

// The values 0, 1, 5 and 9 decide like the one that was read in the lanes behind the colon.
TEST_F(AccessFields, SayWhatMemoryHeldAndWhatAValueDecides) {
  EXPECT_EQ(events<Decisions>(R"(
  st.release.gpu.global.u32 [%d0], 5;
  atom.add.global.u32 %r1, [%d0], 2;
  st.global.u32 [%d0+8], %r1;
  red.global.add.u32 [%d0], 1;
  ld.acquire.gpu.global.u32 %r1, [%d0];
  setp.lt.u32 %p0, %r1, 6;
  @%p0 bra SMALL;
  st.relaxed.gpu.global.u32 [%d0], 3;
SMALL:)",
                              2),
            (Lines{"st.release.gpu.global.u32 @0.0/3 store before 0 after 5",
                   "atom.add.global.u32 @0.0/3 atomic read 5 before 5 after 9",
                   "red.global.add.u32 @0.0/3 reduction before 9 after 11",
                   "ld.acquire.gpu.global.u32 @0.0/3 load read 11 0:0 1:0 5:0 9:3",
                   "st.relaxed.gpu.global.u32 @0.0/3 store before 11 after 3"}));
}

}  // namespace
}  // namespace inflight::machine
