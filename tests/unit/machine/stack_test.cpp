// alloca, stacksave and stackrestore: a stack for each lane, across calls, loops and recursion.
#include "ptx_runner.hpp"

namespace inflight::machine {
namespace {

std::vector<std::uint32_t> results(const std::string& declarations, const std::string& body) {
  PtxRunner m({kernel_k(body, declarations)});
  auto* out = m.make<std::uint32_t>(32);
  const Outcome o = m.run("k", {1}, {32}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_TRUE(o.ok()) << o.report;
  return {out, out + 32};
}

std::string fault(const std::string& body) {
  PtxRunner m({kernel_k(body)});
  const Outcome o =
      m.run("k", {1}, {32}, {reinterpret_cast<std::uint64_t>(m.make<std::uint32_t>(32))});
  EXPECT_EQ(o.kind, FaultKind::stack_overflow) << o.report;
  return o.report;
}

// Overwrites 64 bytes of its own frame with its argument and returns it.
const char* const scribble = R"(
.func (.param .b32 r) scribble(.param .b32 p) {
  .local .align 4 .b32 own[16]; .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %q;
  ld.param.u32 %r1, [p];
  mov.u64 %rd1, own;
  mov.u32 %r2, 0;
L:
  st.local.u32 [%rd1], %r1;
  add.u64 %rd1, %rd1, 4;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %q, %r2, 16;
  @%q bra L;
  st.param.b32 [r], %r1;
  ret;
}
)";

TEST(Stack, LanesAllocateAsMuchAsTheyLikeAndCalleesLeaveItAlone) {
  // Lane i allocates 4 * (i + 1) bytes, fills them with 1000 + i, calls, and adds them up.
  const auto sums = results(scribble, R"(
  add.u32 %r2, %r1, 1;
  mul.wide.u32 %rd3, %r2, 4;
  alloca.u64 %rd4, %rd3, 16;
  add.u32 %r3, %r1, 1000;
  mov.u32 %r4, 0;
  mov.u64 %rd5, %rd4;
F:
  st.local.u32 [%rd5], %r3;
  add.u64 %rd5, %rd5, 4;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, %r2;
  @%p1 bra F;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r1;
    call (y), scribble, (x);
    ld.param.b32 %r5, [y]; }
  mov.u32 %r4, 0; mov.u32 %r6, 0;
  mov.u64 %rd5, %rd4;
S:
  ld.local.u32 %r7, [%rd5];
  add.u32 %r6, %r6, %r7;
  add.u64 %rd5, %rd5, 4;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, %r2;
  @%p1 bra S;
  add.u32 %r6, %r6, %r5;
  st.global.u32 [%rd2], %r6;)");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(sums[i], (i + 1) * (1000 + i) + i) << i;
}

TEST(Stack, PointersAreAlignedAndFollowEachOther) {
  const auto bits = results({}, R"(
  alloca.u64 %rd3, 1;
  alloca.u64 %rd4, 1, 4;
  alloca.u64 %rd5, 3, 256;
  alloca.u32 %r3, 5;
  and.b64 %rd6, %rd3, 7;
  sub.u64 %rd7, %rd4, %rd3;
  add.u64 %rd6, %rd6, %rd7;
  and.b64 %rd7, %rd5, 255;
  add.u64 %rd6, %rd6, %rd7;
  cvt.u32.u64 %r4, %rd5;
  sub.u32 %r3, %r3, %r4;
  cvt.u32.u64 %r2, %rd6;
  mad.lo.u32 %r2, %r3, 1000, %r2;
  st.global.u32 [%rd2], %r2;)");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(bits[i], 8008u) << i;
}

// Without stackrestore the loop would use 16 MB.
TEST(Stack, RestoredMemoryServesAgainInALoop) {
  const auto same = results({}, R"(
  mov.u32 %r2, 0; mov.u32 %r3, 1;
  alloca.u64 %rd6, 64;
L:
  stacksave.u64 %rd3;
  alloca.u64 %rd4, 16384;
  st.local.u32 [%rd4+16380], %r2;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 mov.u64 %rd5, %rd4;
  setp.ne.u64 %p1, %rd5, %rd4;
  @%p1 mov.u32 %r3, 0;
  stackrestore.u64 %rd3;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 1000;
  @%p1 bra L;
  st.global.u32 [%rd2], %r3;)");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(same[i], 1u) << i;
}

// Odd lanes allocate before the call, so both halves are in one function with frames at different
// heights. The callee also allocates and calls itself.
TEST(Stack, RecursionAndDivergenceKeepLanesApart) {
  const auto sums = results(R"(
.func (.param .b32 r) sum(.param .b32 n) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %q;
  ld.param.u32 %r1, [n];
  setp.eq.u32 %q, %r1, 0;
  mov.u32 %r2, 0;
  @%q bra D;
  mul.wide.u32 %rd1, %r1, 8;
  alloca.u64 %rd2, %rd1;
  st.local.u32 [%rd2], %r1;
  sub.u32 %r3, %r1, 1;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r3;
    call (y), sum, (x);
    ld.param.b32 %r2, [y]; }
  ld.local.u32 %r4, [%rd2];
  add.u32 %r2, %r2, %r4;
D:
  st.param.b32 [r], %r2;
  ret;
}
)",
                            R"(
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 1;
  mov.u32 %r5, 5;
  @%p1 alloca.u64 %rd4, 1000;
  @%p1 st.local.u32 [%rd4+996], %r1;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r1;
    call (y), sum, (x);
    ld.param.b32 %r3, [y]; }
  @%p1 ld.local.u32 %r5, [%rd4+996];
  mad.lo.u32 %r3, %r5, 10000, %r3;
  st.global.u32 [%rd2], %r3;)");
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(sums[i], (i & 1 ? i : 5) * 10000 + i * (i + 1) / 2) << i;
}

TEST(Stack, AFunctionsReturnFreesWhatItAllocated) {
  const auto done = results(R"(
.func f() { .reg .b64 %rd; .reg .b32 %r; alloca.u64 %rd, 100000; st.local.u32 [%rd], %r; ret; }
)",
                            R"(
  mov.u32 %r2, 0;
L:
  call f;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 100;
  @%p1 bra L;
  st.global.u32 [%rd2], %r2;)");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(done[i], 100u) << i;
}

// Calls from one place while the caller's stack grows: their frames move with it.
TEST(Stack, CalleesFollowAGrowingStack) {
  const auto sums = results(scribble, R"(
  mov.u32 %r2, 0; mov.u32 %r6, 0; mov.u64 %rd6, 0;
L:
  alloca.u64 %rd4, 16;
  st.local.u32 [%rd4], %r2;
  st.local.u64 [%rd4+8], %rd6;
  mov.u64 %rd6, %rd4;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], 777;
    call (y), scribble, (x); }
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 100;
  @%p1 bra L;
S:
  ld.local.u32 %r7, [%rd6];
  add.u32 %r6, %r6, %r7;
  ld.local.u64 %rd6, [%rd6+8];
  setp.ne.u64 %p1, %rd6, 0;
  @%p1 bra S;
  st.global.u32 [%rd2], %r6;)");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(sums[i], 4950u) << i;
}

TEST(Stack, MoreThanTheStackHoldsIsAStackOverflow) {
  EXPECT_NE(fault("mov.u64 %rd3, 0xffffffffff0; alloca.u64 %rd4, %rd3;")
                .find("allocates 17592186044400 bytes on a stack of"),
            std::string::npos);
  fault("mov.u64 %rd3, 0xffffffffffffffff; alloca.u64 %rd4, %rd3, 8388608;");
  fault("mov.u32 %r3, 0xffffffff; alloca.u32 %r4, %r3;");
  fault("L: alloca.u64 %rd4, 4096; bra L;");
  fault("setp.eq.u32 %p1, %r1, 5; @%p1 alloca.u64 %rd4, 1000000;");
}

TEST(Stack, APointerThatStacksaveDidNotGiveIsAFault) {
  for (const char* value : {"0xffffffffff0", "0xffffffff", "100000000"})
    EXPECT_NE(fault(std::string("mov.u64 %rd3, ") + value + "; stackrestore.u64 %rd3;")
                  .find("which no stacksave of this call returned"),
              std::string::npos);
  EXPECT_NE(
      fault(".local .b8 own[64]; st.local.u8 [own], 1; mov.u64 %rd3, 8; stackrestore.u64 %rd3;")
          .find("restores the stack pointer 0x8"),
      std::string::npos);
}

}  // namespace
}  // namespace inflight::machine
