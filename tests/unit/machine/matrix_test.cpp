// ldmatrix, stmatrix and movmatrix, compared with PTX's figures of fragments.
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using Words = std::vector<std::uint32_t>;

// 32 rows of 8 elements: element c of row r is 100 r + c. Rows of matrix m are 8m to 8m+7.
std::uint32_t element(unsigned matrix, unsigned row, unsigned column) {
  return 100 * (8 * matrix + row) + column;
}
std::uint32_t fragment(unsigned matrix, unsigned lane, bool transposed) {
  const unsigned row = lane / 4, column = lane % 4 * 2;
  const auto at = [&](unsigned j) {
    return transposed ? element(matrix, column + j, row) : element(matrix, row, column + j);
  };
  return at(0) | at(1) << 16;
}

// The warp fills `s` with the rows in reverse order, so that addresses matter. It runs `body` with
// %r4 = this lane's row and stores %r10 to %r13.
constexpr const char* fill_rows = R"(
  mov.u32 %r3, s; sub.u32 %r5, 31, %r1; shl.b32 %r5, %r5, 4; add.u32 %r4, %r3, %r5;
  mul.lo.u32 %r6, %r1, 100; mul.lo.u32 %r6, %r6, 65537; add.u32 %r6, %r6, 65536;
  add.u32 %r7, %r6, 131074; add.u32 %r8, %r7, 131074; add.u32 %r9, %r8, 131074;
  st.shared.v4.u32 [%r4], {%r6, %r7, %r8, %r9};
  bar.warp.sync -1;
  mov.u32 %r10, -1; mov.u32 %r11, -1; mov.u32 %r12, -1; mov.u32 %r13, -1;
)";
constexpr const char* give_four = R"(
  shl.b32 %r2, %r1, 4; cvt.u64.u32 %rd3, %r2; add.u64 %rd3, %rd3, %rd1;
  st.global.v4.u32 [%rd3], {%r10, %r11, %r12, %r13};)";

Outcome run(const std::string& body, Words& out, unsigned threads = 32) {
  PtxRunner r({kernel_k(body, ".shared .align 16 .b8 s[512];")});
  auto* words = r.make<std::uint32_t>(out.size());
  const Outcome o = r.run("k", {}, {threads, 1, 1}, {reinterpret_cast<std::uint64_t>(words)});
  std::copy(words, words + out.size(), out.begin());
  return o;
}
Words loaded(const std::string& instructions) {
  Words out(128);
  const Outcome o = run(fill_rows + instructions + give_four, out);
  EXPECT_TRUE(o.ok()) << o.report;
  return out;
}
void expect_matrices(const Words& got, unsigned count, bool transposed) {
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned m = 0; m < 4; ++m)
      ASSERT_EQ(got[l * 4 + m], m < count ? fragment(m, l, transposed) : ~0u)
          << "lane " << l << " matrix " << m;
}

TEST(Matrix, LoadsOneTwoAndFour) {
  expect_matrices(loaded("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r4];"), 1, false);
  expect_matrices(loaded("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r10, %r11}, [%r4];"), 2,
                  false);
  expect_matrices(
      loaded("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];"), 4,
      false);
}

TEST(Matrix, LoadsTransposed) {
  expect_matrices(loaded("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r10}, [%r4];"), 1, true);
  expect_matrices(
      loaded("ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];"), 4,
      true);
}

TEST(Matrix, TakesGenericAddressesAndAddressesInDestinations) {
  expect_matrices(loaded(R"(cvt.u64.u32 %rd5, %r4; cvta.shared.u64 %rd5, %rd5;
  ldmatrix.sync.aligned.m8n8.x2.b16 {%r10, %r11}, [%rd5];)"),
                  2, false);
  expect_matrices(loaded(R"(mov.u32 %r10, %r4;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r10];)"),
                  4, false);
}

// For x1 and x2 only the first lanes' addresses are used.
TEST(Matrix, OtherLanesAddressesAreNotLookedAt) {
  expect_matrices(loaded(R"(setp.ge.u32 %p1, %r1, 16; selp.u32 %r4, 0x7ffffff1, %r4, %p1;
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r4];)"),
                  2, false);
}

TEST(Matrix, StoresWhatItLoaded) {
  for (const std::string trans : {"", ".trans"}) {
    const Words got = loaded("ldmatrix.sync.aligned.m8n8.x4" + trans +
                             R"(.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];
  mov.u32 %r20, 0; st.shared.v4.u32 [%r4], {%r20, %r20, %r20, %r20};
  bar.warp.sync -1;
  stmatrix.sync.aligned.m8n8.x4)" +
                             trans + R"(.shared.b16 [%r4], {%r10, %r11, %r12, %r13};
  bar.warp.sync -1;
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];)");
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned word = 0; word < 4; ++word)
        ASSERT_EQ(got[l * 4 + word], (100 * l + 2 * word) | (100 * l + 2 * word + 1) << 16);
  }
}

TEST(Matrix, StoresTwoAndLeavesTheRest) {
  const Words got = loaded(R"(
  mov.u32 %r20, %r1; or.b32 %r21, %r1, 256;
  stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r4], {%r20, %r21};
  bar.warp.sync -1;
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];)");
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned word = 0; word < 4; ++word) {
      const unsigned kept = (100 * l + 2 * word) | (100 * l + 2 * word + 1) << 16;
      const unsigned stored = (l % 8 * 4 + word) | (l < 8 ? 0 : 256);
      ASSERT_EQ(got[l * 4 + word], l < 16 ? stored : kept) << l;
    }
}

TEST(Matrix, MovesTheTranspose) {
  const Words got = loaded(R"(
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r11}, [%r4];
  movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r11; mov.u32 %r11, -1;)");
  expect_matrices(got, 1, true);
}

// Diverged lanes wait for each other at it, in any order.
TEST(Matrix, WaitsForTheWholeWarp) {
  const Words got = loaded(R"(
  setp.lt.u32 %p1, %r1, 7; mov.u32 %r20, 0;
  @%p1 bra LOAD;
SPIN:
  add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 30000; @%p2 bra SPIN;
LOAD:
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r4];)");
  expect_matrices(got, 1, false);
}

TEST(Matrix, BadRowsAreNamed) {
  struct Case {
    const char* body;
    FaultKind kind;
    const char* words;
  };
  for (const Case& c :
       {Case{"add.u32 %r4, %r4, 8;", FaultKind::misaligned_address, "multiple of 16"},
        {"add.u32 %r4, %r4, 32;", FaultKind::illegal_address, "past"},
        {"setp.eq.u32 %p1, %r1, 3; @%p1 exit;", FaultKind::illegal_instruction,
         "lanes 0 to 31 give the row addresses"}}) {
    Words out(128);
    const Outcome o =
        run(std::string(fill_rows) + c.body +
                "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];",
            out);
    EXPECT_EQ(o.kind, c.kind) << o.report;
    EXPECT_NE(o.report.find(c.words), o.report.npos) << o.report;
  }
  Words out(128);
  const Outcome o = run("ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%rd1];", out);
  EXPECT_EQ(o.kind, FaultKind::invalid_address_space) << o.report;
}

TEST(Matrix, ABlockSmallerThanAWarpLoadsOneMatrix) {
  Words out(64);
  const Outcome o = run(std::string(fill_rows) +
                            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r4];" + give_four,
                        out, 16);
  ASSERT_TRUE(o.ok()) << o.report;
  for (unsigned l = 0; l < 16; ++l) EXPECT_EQ(out[l * 4], fragment(0, l, false));
}

// Forms that need a target of sm_100, and invalid ones, are refused by name.
TEST(Matrix, OtherFormsAreRefused) {
  for (const std::string instruction :
       {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10, %r11}, [%r4]",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r10}, [%r4]",
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r4], {%r10}",
        "movmatrix.sync.aligned.m8n8.b16 %r10, %r11",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10}, [%r4]"}) {
    Words out(128);
    const Outcome o = run(fill_rows + instruction + ";", out);
    EXPECT_EQ(o.kind, FaultKind::refused) << instruction << o.report;
    EXPECT_NE(o.report.find(instruction.substr(0, 9)), o.report.npos) << o.report;
  }
}

}  // namespace
}  // namespace inflight::machine
