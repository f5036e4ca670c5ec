// Which registers are uniform or affine, and where lanes may be apart: compared with execution on
// random kernels, and by name on kernels that each have one trap.
#include "gpu/machine/shapes/shapes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "tests/unit/machine/described_kernel.hpp"
#include "tests/unit/machine/ptx_runner.hpp"
#include "tests/unit/machine/random_kernel.hpp"
#include "tests/unit/machine/shape_oracle.hpp"

namespace inflight::machine {
namespace {

constexpr Dim3 blocks[] = {{8, 1, 1},  {32, 1, 1},  {33, 1, 1}, {40, 1, 1}, {64, 1, 1},  {96, 1, 1},
                           {16, 4, 1}, {16, 16, 1}, {8, 8, 1},  {32, 4, 1}, {48, 3, 1},  {24, 2, 1},
                           {16, 2, 4}, {4, 4, 4},   {32, 2, 2}, {7, 5, 3},  {1024, 1, 1}};

// One more program for each seed.
TEST(ShapesOfRandomKernels, HoldForTheValuesOfEveryInstruction) {
  const char* const asked = std::getenv("INFLIGHT_SHAPE_PROGRAMS");
  const std::uint32_t programs = asked ? static_cast<std::uint32_t>(std::atoi(asked)) : 150;
  const char* const begin = std::getenv("INFLIGHT_SHAPE_SEED");
  const std::uint32_t first = begin ? static_cast<std::uint32_t>(std::atoi(begin)) : 1;
  std::uint64_t compared = 0, claims = 0, released = 0, runs = 0;
  for (std::uint32_t seed = first; seed < first + programs; ++seed) {
    const std::string text = random_kernel(seed);
    PtxRunner runner({text});
    ASSERT_TRUE(runner.program) << runner.error << "\n" << text;
    auto* const table = runner.make<std::uint32_t>(1024);
    const Dim3& block = blocks[seed % std::size(blocks)];
    ShapeOracle oracle(*runner.program, "k", block_rows(block.x, block.y, block.z));
    const Outcome outcome = runner.run("k", {2}, block, {reinterpret_cast<std::uint64_t>(table)});
    ASSERT_TRUE(outcome.ok()) << outcome.report << "\nseed " << seed << "\n" << text;
    ASSERT_EQ(oracle.wrong(), "") << "seed " << seed << ", block " << block.x << ", " << block.y
                                  << ", " << block.z << "\n"
                                  << text;
    compared += oracle.compared, claims += oracle.claims, released += oracle.released, ++runs;
  }
  RecordProperty("compared", std::to_string(compared));
  RecordProperty("claims", std::to_string(claims));
  RecordProperty("released", std::to_string(released));
  EXPECT_GT(claims, compared / 5);
}

// --- by name, each with a trap ---

class ShapesOf : public testing::Test {
 protected:
  // A kernel with two parameters around `body`, and registers of all kinds.
  void describe_kernel(const std::string& body, BlockRows rows = BlockRows::line,
                       const std::string& before = {}) {
    kernel = std::make_unique<DescribedKernel>(before + R"(
.visible .entry k(.param .u64 out, .param .u32 n) {
  .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<10>; .reg .f32 %f<10>; .reg .b16 %h<4>;
  .shared .align 16 .b8 buffer[256]; .local .align 16 .b8 own[64];
)" + body + "\n}\n");
    ASSERT_TRUE(kernel->function);
    shapes = find_shapes(*kernel->function, rows);
  }
  std::uint32_t named(std::string_view name) const {
    const auto& registers = kernel->function->text->registers;
    for (std::uint32_t r = 0; r < registers.size(); ++r)
      if (registers[r].name == name) return r;
    ADD_FAILURE() << "no register " << name;
    return 0;
  }
  std::string of(std::string_view name) const { return to_text(shapes.registers[named(name)]); }
  // The instructions at which lanes may be apart, by their opcodes.
  std::string apart() const { return marked(shapes.apart); }
  std::string checked() const { return marked(shapes.checked); }
  std::string marked(const std::vector<bool>& which) const {
    std::string text;
    for (std::uint32_t i = 0; i < which.size(); ++i)
      if (which[i])
        text += (text.empty() ? "" : " ") + std::string(kernel->function->body[i].text->name);
    return text;
  }

  std::unique_ptr<DescribedKernel> kernel;
  Shapes shapes;
};

TEST_F(ShapesOf, ThreadIndicesDependOnTheRowsOfTheBlock) {
  const std::string body = R"(
  mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %laneid; mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %lanemask_lt; mov.u32 %r5, %warpid;
  ret;)";
  const struct {
    Dim3 block;
    std::string x, y;
  } cases[] = {{{8, 1, 1}, "affine, 1 a lane", "uniform"},
               {{40, 1, 1}, "affine, 1 a lane", "uniform"},
               {{64, 3, 2}, "affine, 1 a lane", "uniform"},
               {{16, 16, 1}, "half-affine, 1 a lane", "half-uniform"},
               {{48, 3, 1}, "half-affine, 1 a lane", "half-uniform"},
               {{8, 8, 1}, "lanes", "lanes"},
               {{24, 2, 1}, "lanes", "lanes"},
               {{1, 1, 64}, "lanes", "lanes"}};
  for (const auto& [block, x, y] : cases) {
    describe_kernel(body, block_rows(block.x, block.y, block.z));
    EXPECT_EQ(of("%r0"), x) << block.x;
    EXPECT_EQ(of("%r1"), y) << block.x;
    EXPECT_EQ(of("%r2"), "affine, 1 a lane");
    EXPECT_EQ(of("%r3"), "uniform");
    EXPECT_EQ(of("%r4"), "lanes");
    EXPECT_EQ(of("%r5"), "uniform");
  }
}

TEST_F(ShapesOf, WidenedValuesAreAffineIfNoLaneWraps) {
  describe_kernel(R"(
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
  add.u32 %r2, %r0, 0xfffffff0;
  cvt.u64.u32 %d0, %r2;
  mul.wide.s32 %d1, %r0, -4;
  cvt.u64.u32 %d2, %r1;
  cvt.u32.u64 %r3, %d1;
  cvt.u16.u32 %h0, %r0;
  shl.b16 %h1, %h0, 12;
  ret;)");
  EXPECT_EQ(of("%r2"), "affine, 1 a lane");
  EXPECT_EQ(of("%d0"), "affine, 1 a lane");
  EXPECT_EQ(of("%d1"), "affine, -4 a lane");
  EXPECT_EQ(of("%d2"), "uniform");
  EXPECT_EQ(of("%r3"), "affine, -4 a lane");
  EXPECT_EQ(of("%h1"), "affine, 4096 a lane");
  EXPECT_EQ(checked(), "cvt.u64.u32 mul.wide.s32");
}

// As an unsigned factor it is positive.
TEST_F(ShapesOf, AWideProductExtendsItsConstantAsItsTypeSays) {
  describe_kernel(R"(
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d0, %r0, 0x80000001;
  mul.wide.s32 %d1, %r0, 0x80000001;
  mul.lo.u32 %r1, %r0, 0x80000001;
  mad.wide.u32 %d2, %r0, 0xfffffff0, %d0;
  ret;)");
  EXPECT_EQ(of("%d0"), "affine, 2147483649 a lane");
  EXPECT_EQ(of("%d1"), "affine, -2147483647 a lane");
  EXPECT_EQ(of("%r1"), "affine, -2147483647 a lane");
  EXPECT_EQ(of("%d2"), "affine, 6442450929 a lane");
}

// The index of a warp in its block, and of a lane in its warp.
TEST_F(ShapesOf, BitsOfAThreadIndexAreTakenApart) {
  const std::string body = R"(
  mov.u32 %r0, %tid.x;
  shr.u32 %r1, %r0, 5;
  and.b32 %r2, %r0, 31;
  shl.b32 %r3, %r1, 7;
  or.b32 %r4, %r3, %r2;
  shr.u32 %r5, %r0, 4;
  and.b32 %r6, %r0, 15;
  setp.lt.u32 %p0, %r0, 64;
  setp.gt.u32 %p1, 96, %r0;
  setp.le.u32 %p2, %r0, 31;
  setp.lt.u32 %p3, %r0, 48;
  setp.eq.u32 %p4, %r0, 32;
  setp.gt.s32 %p5, %r0, 2147483647;
  ret;)";
  describe_kernel(body);
  EXPECT_EQ(of("%r1"), "uniform");
  EXPECT_EQ(of("%r2"), "affine, 1 a lane");
  EXPECT_EQ(of("%r4"), "affine, 1 a lane");
  EXPECT_EQ(of("%r5"), "lanes");
  EXPECT_EQ(of("%r6"), "lanes");
  EXPECT_EQ(of("%p0"), "uniform");
  EXPECT_EQ(of("%p1"), "uniform");
  EXPECT_EQ(of("%p2"), "uniform");
  EXPECT_EQ(of("%p3"), "monotone");
  EXPECT_EQ(of("%p4"), "lanes");
  EXPECT_EQ(of("%p5"), "monotone");
  describe_kernel(body, BlockRows::halves);
  EXPECT_EQ(of("%r1"), "half-uniform");
  EXPECT_EQ(of("%r5"), "half-uniform");
  EXPECT_EQ(of("%r6"), "half-affine, 1 a lane");
  EXPECT_EQ(of("%p3"), "half-uniform");
}

TEST_F(ShapesOf, LoadsAreUniformIfTheirAddressIsAndAllLanesReadTheSameMemory) {
  describe_kernel(R"(
  ld.param.u64 %d0, [out]; ld.param.u32 %r0, [n]; mov.u64 %d1, own;
  ld.global.u32 %r1, [%d0];
  ld.volatile.global.u32 %r2, [%d0];
  ld.relaxed.gpu.global.u32 %r3, [%d0];
  ld.u32 %r4, [%d0];
  ld.local.u32 %r5, [%d1];
  ld.local.u32 %r6, [own];
  ld.shared.u32 %r7, [buffer+4];
  atom.global.add.u32 %r8, [%d0], 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call (b), f, (a); ld.param.b32 %r9, [b]; }
  ret;)",
                  BlockRows::line, ".extern .func (.param .b32 b) f(.param .b32 a);");
  EXPECT_EQ(of("%r0"), "uniform");
  EXPECT_EQ(of("%r1"), "uniform");
  EXPECT_EQ(of("%r2"), "lanes");
  EXPECT_EQ(of("%r3"), "lanes");
  EXPECT_EQ(of("%r4"), "lanes") << "it may be local memory";
  EXPECT_EQ(of("%r5"), "lanes");
  EXPECT_EQ(of("%r6"), "lanes");
  EXPECT_EQ(of("%r7"), "uniform");
  EXPECT_EQ(of("%r8"), "lanes");
  EXPECT_EQ(of("%r9"), "lanes");
}

TEST_F(ShapesOf, AGuardThatDiffersLeavesOldValuesInSomeLanes) {
  describe_kernel(R"(
  mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 5; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 3;
  mov.u32 %r2, 1; mov.u32 %r3, 1;
  @%p0 mov.u32 %r2, 2;
  @%p1 mov.u32 %r3, 2;
  selp.b32 %r4, 1, 2, %p0;
  selp.b32 %r5, %r0, %r1, %p1;
  @%p1 mov.u32 %r6, 2;
  add.u32 %r7, %r6, 1;
  ret;)");
  EXPECT_EQ(of("%r2"), "lanes");
  EXPECT_EQ(of("%r3"), "uniform");
  EXPECT_EQ(of("%r4"), "lanes");
  EXPECT_EQ(of("%r5"), "lanes") << "of either";
  EXPECT_EQ(of("%r6"), "lanes") << "it may be read before it is written";
}

// Lanes leave the loop with what the counter was then.
TEST_F(ShapesOf, WhatALoopThatLanesLeaveAtDifferentTimesCountsDiffersBehindIt) {
  describe_kernel(R"(
  mov.u32 %r0, %tid.x; mov.u32 %r1, 0; mov.u32 %r2, 0; ld.param.u64 %d0, [out];
LOOP:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p0, %r1, %r0;
  @%p0 bra LOOP;
  mov.u32 %r3, 8;
NEXT:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 16;
  @%p1 bra NEXT;
  st.global.u32 [%d0], %r1;
  st.global.u32 [%d0], %r2;
  ret;)");
  EXPECT_EQ(of("%r1"), "lanes");
  EXPECT_EQ(of("%r2"), "uniform");
  EXPECT_EQ(of("%r3"), "uniform") << "a constant, whenever";
  // They fall out of the first loop one by one, and join at the head of the next.
  EXPECT_EQ(apart(), "add.u32 setp.lt.u32 bra mov.u32");
}

// Lanes that only end behind it do not count.
TEST_F(ShapesOf, ALoopFromWhichLanesEndKeepsTheOthersTogether) {
  const std::string loop = R"(
  mov.u32 %r0, %tid.x; mov.u32 %r1, 0; ld.param.u64 %d0, [out];
LOOP:
  add.u32 %r1, %r1, 1;
  st.global.u32 [%d0], %r1;
  setp.lt.u32 %p0, %r1, %r0;
  @%p0 bra LOOP;
)";
  describe_kernel(loop + "ret;");
  EXPECT_EQ(of("%r1"), "uniform");
  EXPECT_EQ(apart(), "ret");
  // What they do before they end is done with values of different times.
  describe_kernel(loop + "st.global.u32 [%d0], %r1; ret;");
  EXPECT_EQ(of("%r1"), "lanes");
  describe_kernel(loop + "@%p0 ret; trap;");
  EXPECT_EQ(of("%r1"), "lanes");
}

// The scheduler runs the lanes that jump back before those that come to the jump later.
TEST_F(ShapesOf, LanesThatJumpBackFromTwoPlacesAreNotTogetherAtTheHead) {
  describe_kernel(R"(
  mov.u32 %r0, %tid.x; mov.u32 %r1, 0; ld.param.u64 %d0, [out];
LOOP:
  add.u32 %r1, %r1, 1;
  st.global.u32 [%d0], %r1;
  setp.gt.u32 %p0, %r1, 50;
  @%p0 bra END;
  and.b32 %r2, %r0, %r1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra LOOP;
  st.global.u32 [%d0], %r2;
  bra LOOP;
END:
  ret;)");
  EXPECT_EQ(of("%r1"), "lanes");
  describe_kernel(R"(
  mov.u32 %r0, %tid.x; mov.u32 %r1, 0; ld.param.u64 %d0, [out];
LOOP:
  add.u32 %r1, %r1, 1;
  st.global.u32 [%d0], %r1;
  setp.gt.u32 %p0, %r1, 50;
  @%p0 bra END;
  and.b32 %r2, %r0, %r1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra NEXT;
  st.global.u32 [%d0], %r2;
NEXT:
  bra LOOP;
END:
  ret;)");
  EXPECT_EQ(of("%r1"), "uniform") << "one place, where they join first";
}

// Lanes that wait do not hold up the others.
TEST_F(ShapesOf, LanesThatWaitOnTheWayAreNotAwaitedBehindIt) {
  const auto with =
      [](const std::string& inside, const std::string& behind) {
        return R"(
  mov.u32 %r0, %tid.x; ld.param.u64 %d0, [out]; setp.lt.u32 %p0, %r0, 5;
  @%p0 bra JOIN;
  )" + inside + R"(
  st.global.u32 [%d0], %r0;
JOIN:
)" + behind + R"(
  ld.global.u32 %r1, [%d0];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra END;
  st.global.u32 [%d0], %r1;
END:
  ret;)";
      };
  describe_kernel(with("", ""));
  EXPECT_EQ(of("%r1"), "uniform");
  for (const std::string wait : {"nanosleep.u32 30;", "bar.warp.sync 0xfffffff0;",
                                 "vote.sync.any.pred %p2, %p0, 0xfffffff0;"}) {
    describe_kernel(with(wait, ""));
    EXPECT_EQ(of("%r1"), "lanes") << wait;
    describe_kernel(with(wait, "bar.sync 0;"));
    EXPECT_EQ(of("%r1"), "uniform") << wait << ", but all meet at the barrier";
  }
  // Lanes at another barrier, or in a function, may release those at this one.
  describe_kernel(with("bar.sync 0;", "bar.sync 0;"));
  EXPECT_EQ(of("%r1"), "lanes");
  describe_kernel(with("nanosleep.u32 30;", "bar.sync 1, 64;"));
  EXPECT_EQ(of("%r1"), "lanes") << "not all threads of the block";
  describe_kernel(with("nanosleep.u32 30;", "bar.sync 0;"), BlockRows::line, "");
  describe_kernel(with("call f;", "bar.sync 0;"), BlockRows::line, ".extern .func f();");
  EXPECT_EQ(of("%r1"), "lanes");
}

// Lanes with other indices stay at the jump until the first have gone on.
TEST_F(ShapesOf, LanesThatJumpByATableAreApartAtTheJumpAndOnTheWay) {
  const auto with = [](const std::string& jumps) {
    return R"(
  mov.u32 %r0, %tid.x; ld.param.u64 %d0, [out]; ld.param.u32 %r9, [n]; setp.eq.u32 %p0, %r9, 1;
  and.b32 %r1, %r0, 1;
  T: .branchtargets FIRST, SECOND;
)" + jumps +
           R"(
FIRST:
  ld.global.u32 %r2, [%d0];
  bra JOIN;
SECOND:
  mov.u32 %r2, 7;
JOIN:
  ld.global.u32 %r3, [%d0];
  st.global.u32 [%d0], %r2;
  st.global.u32 [%d0], %r3;
  ret;)";
  };
  for (const std::string jumps :
       {"brx.idx %r1, T;", "@%p0 bra OTHER; brx.idx %r1, T; OTHER: brx.idx %r1, T;"}) {
    describe_kernel(with(jumps));
    EXPECT_EQ(of("%r2"), "lanes");
    EXPECT_EQ(of("%r3"), "uniform");
    EXPECT_THAT(apart(), testing::HasSubstr("brx.idx ld.global.u32 bra mov.u32"));
  }
  describe_kernel(with("brx.idx %r9, T;"));
  EXPECT_EQ(of("%r2"), "uniform");
  EXPECT_EQ(apart(), "");
  // Each of two tables leads back to its jump.
  describe_kernel(R"(
  mov.u32 %r0, %tid.x; mov.u32 %r1, 0; ld.param.u64 %d0, [out]; and.b32 %r2, %r0, 1;
  T: .branchtargets FIRST, SECOND;
FIRST:
  add.u32 %r1, %r1, 1; st.global.u32 [%d0], %r1; setp.gt.u32 %p0, %r1, 9; @%p0 bra END;
  brx.idx %r2, T;
SECOND:
  add.u32 %r1, %r1, 1; st.global.u32 [%d0], %r1; setp.gt.u32 %p1, %r1, 9; @%p1 bra END;
  brx.idx %r2, T;
END:
  ret;)");
  EXPECT_EQ(of("%r1"), "lanes");
}

// What is written and read in one stretch has one shape, wherever other lanes are.
TEST_F(ShapesOf, WhatLanesWriteAndReadInOneStretchKeepsItsShapeWhereOthersAreApart) {
  describe_kernel(R"(
  mov.u32 %r0, %tid.x; ld.param.u64 %d0, [out]; mov.u32 %r1, 0; setp.lt.u32 %p0, %r0, 5;
OUTER:
  add.u32 %r1, %r1, 1;
  @%p0 bra OTHER;
  ld.global.u32 %r2, [%d0];
  add.u32 %r3, %r2, %r1;
  add.u32 %r4, %r1, 4;
  st.global.u32 [%d0], %r3;
  ld.global.u32 %r5, [%d0];
  bra JOIN;
OTHER:
  mov.u32 %r5, 7;
JOIN:
  st.global.u32 [%d0], %r5;
  setp.lt.u32 %p1, %r1, 9;
  @%p1 bra OUTER;
  st.global.u32 [%d0], %r4;
  ret;)");
  EXPECT_EQ(of("%r1"), "uniform");
  EXPECT_EQ(of("%r2"), "uniform");
  EXPECT_EQ(of("%r3"), "uniform");
  EXPECT_EQ(of("%r4"), "lanes") << "read behind the loop, before some lanes wrote it";
  EXPECT_EQ(of("%r5"), "lanes") << "of two ways";
}

TEST_F(ShapesOf, CollectivesOfAllLanesAreUniform) {
  describe_kernel(R"(
  mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 5; ld.param.u32 %r9, [n];
  vote.sync.ballot.b32 %r1, %p0, 0xffffffff;
  vote.sync.any.pred %p1, %p0, %r9;
  redux.sync.add.u32 %r2, %r0, 0xffffffff;
  shfl.sync.idx.b32 %r3, %r0, 0, 31, 0xffffffff;
  match.any.sync.b32 %r4, %r9, 0xffffffff;
  activemask.b32 %r5;
  barrier.red.popc.u32 %r6, 0, %p0;
  vote.sync.ballot.b32 %r7, %p0, %r5;
  ret;)");
  EXPECT_EQ(of("%r1"), "uniform");
  EXPECT_EQ(of("%p1"), "uniform");
  EXPECT_EQ(of("%r2"), "uniform");
  EXPECT_EQ(of("%r3"), "lanes");
  EXPECT_EQ(of("%r4"), "lanes");
  EXPECT_EQ(of("%r5"), "lanes");
  EXPECT_EQ(of("%r6"), "uniform");
  EXPECT_EQ(of("%r7"), "lanes") << "groups of lanes with different masks";
}

TEST_F(ShapesOf, TestsOfOneMbarrierForOnePhaseAreUniform) {
  describe_kernel(R"(
  mov.u32 %r0, %tid.x; mov.u32 %r1, buffer; ld.param.u32 %r2, [n]; shl.b32 %r3, %r0, 3;
  add.u32 %r3, %r3, %r1; and.b32 %r4, %r0, 1;
LOOP:
  mbarrier.try_wait.parity.shared.b64 %p0, [%r1], %r2;
  @%p0 bra DONE;
  bra LOOP;
DONE:
  ld.shared.u32 %r5, [%r1+64];
  st.shared.u32 [%r1+64], %r5;
  mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;
  mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 0;
  mbarrier.test_wait.parity.shared.b64 %p3, [%r1], %r4;
  mbarrier.arrive.shared.b64 %d0, [%r1];
  ret;)");
  EXPECT_EQ(of("%p0"), "uniform");
  EXPECT_EQ(of("%r5"), "uniform");
  EXPECT_EQ(of("%p1"), "uniform");
  EXPECT_EQ(of("%p2"), "lanes") << "several mbarriers";
  EXPECT_EQ(of("%p3"), "lanes") << "several phases";
  EXPECT_EQ(of("%d0"), "lanes");
}

// Accumulators change while the multiplication is in flight.
TEST_F(ShapesOf, RegistersThatAWgmmaHoldsHaveNone) {
  describe_kernel(R"(
  mov.u64 %d0, 0; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; setp.eq.u64 %p0, %d0, 1;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d0, %p0, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  add.f32 %f5, %f0, %f4;
  ret;)");
  EXPECT_EQ(of("%f0"), "lanes");
  EXPECT_EQ(of("%f4"), "uniform");
  EXPECT_EQ(of("%f5"), "lanes");
}

TEST_F(ShapesOf, FunctionsThatAreNoKernelsHaveNone) {
  kernel = std::make_unique<DescribedKernel>(
      ".func f() { .reg .b32 %r; mov.u32 %r, 1; st.shared.u32 [%r], %r; ret; }");
  shapes = find_shapes(*kernel->function, BlockRows::line);
  EXPECT_EQ(of("%r"), "lanes");
  EXPECT_EQ(apart(), "mov.u32 st.shared.u32 ret");
}

// Lanes that are elsewhere have other values in the same slots.
TEST(ShapesOfKernels, HoldForLanesThatExecuteAndNoOthers) {
  PtxRunner runner({R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %p<2>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d1, %d0, %d1;
  setp.lt.u32 %p0, %r0, 5;
  @%p0 bra LOW;
  ld.global.u32 %r1, [%d0+512];
  add.u32 %r2, %r1, 3;
  st.global.u32 [%d1], %r2;
  bra JOIN;
LOW:
  mul.lo.u32 %r3, %r0, %r0;
  st.global.u32 [%d1], %r3;
JOIN:
  st.global.u32 [%d1+256], %r0;
  ret;
}
)"});
  auto* const out = runner.make<std::uint32_t>(256);
  ShapeOracle oracle(*runner.program, "k", BlockRows::line);
  ASSERT_TRUE(runner.run("k", {1}, {48}, {reinterpret_cast<std::uint64_t>(out)}).ok());
  EXPECT_EQ(oracle.wrong(), "");
  EXPECT_GT(oracle.claims, 0u);
  EXPECT_EQ(out[6], 3u);
  EXPECT_EQ(out[4], 16u);
}

// The oracle sees a claim that does not hold.
TEST(ShapesOfKernels, AreFoundWrongForBlocksOfOtherRows) {
  PtxRunner runner({R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<2>; .reg .b64 %d;
  ld.param.u64 %d, [out];
  mov.u32 %r0, %tid.x;
  st.global.u32 [%d], %r0;
  ret;
}
)"});
  auto* const out = runner.make<std::uint32_t>(64);
  ShapeOracle oracle(*runner.program, "k", BlockRows::line);
  ASSERT_TRUE(runner.run("k", {1}, {8, 8}, {reinterpret_cast<std::uint64_t>(out)}).ok());
  EXPECT_THAT(oracle.wrong(), testing::HasSubstr("%r0 is said to be affine, 1 a lane"));
}

// What nvcc makes of the kernels of bench/engine has the shapes that a compiler needs.
class ShapesOfCompiledKernels : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(INFLIGHT_ENGINE_KERNELS);
    std::ostringstream text;
    text << file.rdbuf();
    auto parsed = ptx::parse(std::make_shared<const std::string>(text.str()), "kernels");
    ASSERT_TRUE(parsed) << parsed.error().message;
    module = std::make_unique<const ptx::Module>(std::move(*parsed));
  }
  // How many registers that it writes have which shape, and at how many instructions lanes may be
  // apart.
  std::string counts(std::string_view name, BlockRows rows) const {
    for (const ptx::Function& function : module->functions) {
      if (function.name.find(name) == std::string_view::npos) continue;
      const auto described = describe(*module, function);
      const Shapes shapes = find_shapes(*described, rows);
      std::set<std::uint32_t> written;
      for (const Instruction& in : described->body)
        for (const RegisterUse& use : in.writes) written.insert(use.reg);
      int uniform = 0, affine = 0, monotone = 0, lanes = 0;
      for (const std::uint32_t r : written) {
        const Shape& shape = shapes.registers[r];
        ++(shape.is_uniform()                    ? uniform
           : shape.is_affine()                   ? affine
           : shape.kind == Shape::Kind::monotone ? monotone
                                                 : lanes);
      }
      return fmt::format("{} uniform, {} affine, {} monotone, {} lanes, apart at {} of {}", uniform,
                         affine, monotone, lanes,
                         std::count(shapes.apart.begin(), shapes.apart.end(), true),
                         shapes.apart.size());
    }
    return "no such kernel";
  }
  std::unique_ptr<const ptx::Module> module;
};

TEST_F(ShapesOfCompiledKernels, AreMostlyUniformAndAffine) {
  EXPECT_EQ(counts("saxpy", BlockRows::line),
            "8 uniform, 5 affine, 1 monotone, 3 lanes, apart at 1 of 20");
  EXPECT_EQ(counts("sgemm", BlockRows::halves),
            "17 uniform, 38 affine, 0 monotone, 34 lanes, apart at 0 of 102");
  EXPECT_EQ(counts("sgemm", BlockRows::any),
            "17 uniform, 0 affine, 0 monotone, 72 lanes, apart at 0 of 102");
  EXPECT_EQ(counts("reduce", BlockRows::line),
            "13 uniform, 6 affine, 5 monotone, 26 lanes, apart at 21 of 79");
  EXPECT_EQ(counts("bitonic", BlockRows::line),
            "6 uniform, 4 affine, 0 monotone, 10 lanes, apart at 1 of 25");
}

}  // namespace
}  // namespace inflight::machine
