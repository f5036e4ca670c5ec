// mma and wmma: the elements of the warp's lanes, the events of their accesses, refused forms.
// tests/gpu/tensor_core_truth compares the arithmetic of every form with a chip's.
#include <bit>

#include "tests/unit/machine/event_log.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using check::Topic;
using Words = std::vector<std::uint32_t>;

// Each lane's %r10 to %r13 after `body`.
Words words_of(const std::string& body, Limits limits = {}) {
  PtxRunner r({kernel_k(body + R"(
  mul.wide.u32 %rd2, %r1, 16; add.s64 %rd2, %rd1, %rd2;
  st.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13};)")});
  r.limits = limits;
  auto* out = r.make<std::uint32_t>(128);
  const Outcome o = r.run("k", {1, 1, 1}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_TRUE(o.ok()) << o.report;
  return {out, out + 128};
}

// In its first register, lane T has row T/4 and columns 2(T%4) and one more of A in m16n8k16. Only
// B[0][0] is 1, and lane 0 has it.
TEST(TensorCore, LanesHoldWhatPtxDraws) {
  const Words got = words_of(R"(
  { .reg .b16 %h; .reg .f32 %f; cvt.rn.f32.u32 %f, %r1; cvt.rn.f16.f32 %h, %f;
  mov.b32 %r20, {%h, %h}; }
  mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0;
  setp.eq.u32 %p1, %r1, 0; selp.b32 %r24, 0x3c00, 0, %p1; mov.u32 %r25, 0;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13},
      {%r20, %r21, %r22, %r23}, {%r24, %r25}, {%r25, %r25, %r25, %r25};)");
  for (unsigned l = 0; l < 32; ++l) {
    const float expected = l % 4 == 0 ? static_cast<float>(l) : 0;  // column 0: of lanes 4 row
    EXPECT_EQ(got[l * 4], std::bit_cast<std::uint32_t>(expected)) << l;
    EXPECT_EQ(got[l * 4 + 1], 0u) << l;
  }
}

TEST(TensorCore, LanesThatStandApartMeetAtIt) {
  const Words got = words_of(R"(
  mov.u32 %r20, 0x01010101; mov.u32 %r21, 0; mov.u32 %r10, 0; mov.u32 %r11, 0;
  mov.u32 %r12, 0; mov.u32 %r13, 0;
  setp.lt.u32 %p1, %r1, 9;
  @%p1 bra meet;
  mov.u32 %r20, 0x02020202;
meet:
  mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r10, %r11}, {%r20}, {%r20}, {%r21, %r21};)");
  // Lanes 4i to 4i+3 have one row of A and one column of B: 1 for i < 2 and lane 8, else 2.
  const unsigned of[] = {1, 1, 2, 2, 2, 2, 2, 2};
  for (unsigned l = 8; l < 32; ++l) {
    const unsigned row = l / 4, column = 2 * (l % 4);
    unsigned expected = 16 * of[row] * of[column];
    if (row == 2 || column == 2) {  // of which lane 8 has four
      const unsigned a = row == 2 ? 1 : 2, b = column == 2 ? 1 : of[column];
      expected = 12 * of[row] * of[column] + 4 * a * b;
    }
    EXPECT_EQ(got[l * 4], expected) << l;
  }
}

// Hopper sums sixteen products at once, Ampere eight: 2^24 - 2^24 + 2^-10.
TEST(TensorCore, ComputesAsTheDeviceDoes) {
  const std::string body = R"(
  mov.u32 %r20, 0; mov.u32 %r22, 0; mov.u32 %r21, 0; mov.u32 %r23, 0;
  and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 0;
  selp.b32 %r20, 0x6c006c00, 0, %p1; selp.b32 %r22, 0x1400, 0, %p1;
  selp.b32 %r24, 0xec006c00, 0, %p1; selp.b32 %r25, 0x3c00, 0, %p1;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13},
      {%r20, %r21, %r22, %r23}, {%r24, %r25}, {%r21, %r21, %r21, %r21};)";
  EXPECT_EQ(words_of(body).front(), 0u);
  EXPECT_EQ(words_of(body, {.architecture = 80}).front(), 0x3a800000u);
}

// --- wmma's accesses ---

// The lanes' addresses in the one access of `body`, relative to its base address.
class Heard : public EventLog {
 public:
  Heard() : EventLog(Topic::accesses | Topic::addresses) {}
  void accessed(const check::Access& e) override {
    if (e.space != check::Space::global) return;
    ++count;
    kind = e.kind, bytes = e.bytes, mask = e.who.mask;
    addresses.assign(e.addresses, e.addresses + 32);
  }
  unsigned count = 0, bytes = 0;
  std::uint32_t mask = 0;
  check::Access::Kind kind{};
  std::vector<std::uint64_t> addresses;
};

void hear(Heard& heard, const std::string& body) {
  PtxRunner r({kernel_k(body)});
  r.options.listener = &heard;
  const auto out = reinterpret_cast<std::uint64_t>(r.make<std::uint32_t>(1024));
  const Outcome o = r.run("k", {1, 1, 1}, {32, 1, 1}, {out});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(heard.count, 1u);
  EXPECT_EQ(heard.mask, ~0u);
  ASSERT_EQ(heard.addresses.size(), 32u);
  for (std::uint64_t& a : heard.addresses) a -= out;
}

TEST(TensorCore, AWmmaLoadIsOneAccessOfAllLanes) {
  Heard heard;
  hear(heard, "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r2, %r3}, [%rd1], 64;");
  EXPECT_EQ(heard.kind, check::Access::Kind::load);
  EXPECT_EQ(heard.bytes, 8u);
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(heard.addresses[l], l / 2 * 64 + l % 2 * 8) << l;
}

TEST(TensorCore, AWmmaStoreGoesByColumnsWhereItSaysSo) {
  Heard heard;
  hear(heard, R"(
  mov.u32 %r2, 0;
  wmma.store.d.sync.aligned.col.m32n8k16.f16 [%rd1+64], {%r2, %r2, %r2, %r2}, 80;)");
  EXPECT_EQ(heard.kind, check::Access::Kind::store);
  EXPECT_EQ(heard.bytes, 16u);
  for (unsigned l = 0; l < 32; ++l)
    EXPECT_EQ(heard.addresses[l], 64 + l / 4 * 160 + l % 4 * 16) << l;
}

Outcome outcome_of(const std::string& body, std::size_t words = 32) {
  PtxRunner r({kernel_k(body)});
  auto* out = r.make<std::uint32_t>(words);
  return r.run("k", {1, 1, 1}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
}

TEST(TensorCore, EveryLineOfAMatrixMustBeThere) {
  const Outcome o = outcome_of(R"(
  wmma.load.c.sync.aligned.row.m16n16k16.global.f32
      {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd1], 16;)");
  EXPECT_EQ(o.kind, FaultKind::illegal_address);
  EXPECT_NE(o.report.find("a 32-byte read from global memory"), o.report.npos) << o.report;
}

TEST(TensorCore, AMatrixIsAlignedToItsElements) {
  const Outcome o = outcome_of(R"(
  add.s64 %rd1, %rd1, 2;
  wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%rd3}, [%rd1], 4;)");
  EXPECT_EQ(o.kind, FaultKind::misaligned_address);
}

// --- refusals ---

TEST(TensorCore, FormsThatNoArchitectureHasAreRefusedByName) {
  const Outcome o = outcome_of(R"(
  mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13}, {%r1, %r1}, {%r1},
      {%r1, %r1, %r1, %r1};)");
  EXPECT_EQ(o.kind, FaultKind::refused);
  EXPECT_NE(o.report.find("m16n8k4.row.col.f32.f16.f16.f32 is no form of PTX that is supported"),
            o.report.npos)
      << o.report;
}

TEST(TensorCore, AFormNeedsItsTarget) {
  PtxRunner r({".version 8.0\n.target sm_75\n.address_size 64\n" + kernel_k(R"(
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13},
      {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r1, %r1, %r1, %r1};)")},
              false);
  auto* out = r.make<std::uint32_t>(4);
  const Outcome o = r.run("k", {1, 1, 1}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_NE(o.report.find("needs .target sm_80 or later"), o.report.npos) << o.report;
}

TEST(TensorCore, ASelectorNamesLanesThatAre) {
  const Outcome o = outcome_of(R"(
  mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13},
      {%r1, %r1, %r1, %r1}, {%r1, %r1, %r1, %r1}, {%r1, %r1, %r1, %r1}, %r1, 2;)");
  EXPECT_NE(o.report.find("the sparsity selector of this form must be below 2"), o.report.npos)
      << o.report;
}

TEST(TensorCore, EightBitMatrixMovesAreOfLaterChips) {
  for (const std::string form : {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10, %r11}",
                                 "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r10}"}) {
    const Outcome o = outcome_of("  mov.u32 %r4, 1024;\n  " + form + ", [%r4];");
    EXPECT_EQ(o.kind, FaultKind::refused) << form;
    EXPECT_NE(o.report.find("needs .target sm_100"), o.report.npos) << o.report;
  }
}

}  // namespace
}  // namespace inflight::machine
