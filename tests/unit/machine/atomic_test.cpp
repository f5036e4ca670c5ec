// atom, red and fences: every operation, type and space, compared with sequential updates.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "gpu/numbers/small_floats.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using Update = std::function<std::uint64_t(std::uint64_t old, std::uint64_t b)>;
struct Form {
  const char* name;  // in PTX: "add.u32"
  unsigned bytes;
  Update update;
};

std::uint64_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }
std::uint64_t bits(double d) { return std::bit_cast<std::uint64_t>(d); }
float real(std::uint64_t b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b)); }

template <class T>
Update on(std::function<T(T, T)> f) {
  return [f](std::uint64_t old, std::uint64_t b) {
    return static_cast<std::uint64_t>(
        static_cast<std::make_unsigned_t<T>>(f(static_cast<T>(old), static_cast<T>(b))));
  };
}
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

const Form forms[] = {
    {"add.u32", 4, on<u32>([](u32 a, u32 b) { return a + b; })},
    {"add.u64", 8, on<u64>([](u64 a, u64 b) { return a + b; })},
    {"and.b32", 4, on<u32>([](u32 a, u32 b) { return a & b; })},
    {"or.b64", 8, on<u64>([](u64 a, u64 b) { return a | b; })},
    {"xor.b32", 4, on<u32>([](u32 a, u32 b) { return a ^ b; })},
    {"min.u32", 4, on<u32>([](u32 a, u32 b) { return std::min(a, b); })},
    {"min.s32", 4, on<s32>([](s32 a, s32 b) { return std::min(a, b); })},
    {"max.u64", 8, on<u64>([](u64 a, u64 b) { return std::max(a, b); })},
    {"max.s64", 8, on<s64>([](s64 a, s64 b) { return std::max(a, b); })},
    {"inc.u32", 4, on<u32>([](u32 a, u32 b) { return a >= b ? 0 : a + 1; })},
    {"dec.u32", 4, on<u32>([](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; })},
    {"add.f32", 4, [](u64 a, u64 b) { return bits(real(a) + real(b)); }},
    {"add.f64", 8,
     [](u64 a, u64 b) { return bits(std::bit_cast<double>(a) + std::bit_cast<double>(b)); }},
};
const Form exchange = {"exch.b64", 8, [](u64, u64 b) { return b; }};

// The value that lane l adds. All lanes share an address, pairs share one, or each has its own.
u64 operand(const Form& f, u32 l) {
  const std::string_view name = f.name;
  if (name == "add.f32") return bits(static_cast<float>(l) * 0.25f);
  if (name == "add.f64") return bits(l * 0.125);
  return (u64{l} * 0x9e3779b97f4a7c15) >> (64 - 8 * f.bytes);
}

class Atomics : public KernelRunner {
 protected:
  // p0 memory, p1 operands (64 bits per lane), p2 results, p3 log2 of lanes that share an address.
  std::string kernel(const Form& f, bool shared, bool generic, bool red) {
    const char* bits_type = f.bytes == 4 ? "b32" : "b64";
    const std::string space = generic ? "" : shared ? ".shared" : ".global";
    const std::string act = red ? fmt::format("red{}.{} [%at], %v;", space, f.name)
                                : fmt::format("atom{}.{} %o, [%at], %v;", space, f.name);
    return entry(
        4,
        fmt::format(R"(
  .shared .align 8 .b8 room[256];
  .reg .b64 %at, %rd<8>; .reg .b32 %r<8>; .reg .{0} %v, %o, %t;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %rd0, [p0];
  ld.param.u64 %rd1, [p1];
  ld.param.u64 %rd2, [p2];
  ld.param.u32 %r1, [p3];
  mul.wide.u32 %rd3, %r0, 8;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.{0} %v, [%rd1];
  add.u64 %rd5, %rd0, %rd3;
  mov.u64 %rd6, room;
  add.u64 %rd7, %rd6, %rd3;
  ld.global.u64 %rd4, [%rd5];
  st.shared.u64 [%rd7], %rd4;
  bar.sync 0;
  shr.u32 %r2, %r0, %r1;
  mul.wide.u32 %rd4, %r2, 8;
  {1}
  add.u64 %at, %at, %rd4;
  mov.{0} %o, 0;
  {2}
  st.global.{0} [%rd2], %o;
  bar.sync 0;
  {3}
  ret;)",
                    bits_type,
                    !shared   ? "mov.u64 %at, %rd0;"
                    : generic ? "cvta.shared.u64 %at, %rd6;"
                              : "mov.u64 %at, %rd6;",
                    act, shared ? "ld.shared.u64 %rd4, [%rd7]; st.global.u64 [%rd5], %rd4;" : ""));
  }
  void check(const Form& f) {
    for (int variant = 0; variant < 8; ++variant) {
      const bool shared = variant & 1, generic = variant & 2, red = variant & 4;
      if (red && std::string_view(f.name).starts_with("exch")) continue;
      const Program* program = link(kernel(f, shared, generic, red));
      for (u32 share : {0u, 1u, 5u}) {
        std::vector<u64> memory_words(32, f.bytes == 4 ? 0x3f800000 : bits(1.0)), values(32);
        for (u32 l = 0; l < 32; ++l) values[l] = operand(f, l);
        const auto at = upload(memory_words), out = upload(std::vector<u64>(32));
        const Outcome o = run(program, {}, {at, upload(values), out, share});
        ASSERT_TRUE(o.ok()) << o.report;
        std::vector<u64> seen(32);
        for (u32 l = 0; l < 32; ++l) {
          u64& word = memory_words[l >> share];
          if (!red) seen[l] = word;
          word = f.update(word, values[l]);
        }
        EXPECT_EQ(download<u64>(at, 32), memory_words) << f.name << " variant " << variant;
        EXPECT_EQ(download<u64>(out, 32), seen) << f.name << " variant " << variant;
      }
    }
  }
};

TEST_F(Atomics, UpdateInLaneOrder) {
  for (const Form& f : forms) check(f);
  check(exchange);
}

TEST_F(Atomics, CompareAndSwapInAllWidths) {
  const Program* program = link(entry(1, R"(
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .b16 %rs<4>; .reg .b128 %q<4>;
  ld.param.u64 %rd0, [p0];
  mov.b16 %rs0, 7; mov.b16 %rs1, 9;
  atom.global.cas.b16 %rs2, [%rd0], %rs0, %rs1;
  st.global.b16 [%rd0+2], %rs2;
  atom.global.cas.b32 %r0, [%rd0+4], 5, 6;
  st.global.b32 [%rd0+8], %r0;
  atom.global.cas.b32 %r0, [%rd0+12], 1, 6;
  atom.global.acq_rel.gpu.cas.b64 %rd1, [%rd0+16], 100, 200;
  st.global.b64 [%rd0+24], %rd1;
  ld.global.b128 %q0, [%rd0+32];
  ld.global.b128 %q1, [%rd0+48];
  atom.global.cas.b128 %q2, [%rd0+32], %q0, %q1;
  st.global.b128 [%rd0+48], %q2;
  ret;)"));
  std::vector<u64> words{7 | 5ull << 32, 5ull << 32, 100, 0, 11, 12, 13, 14};
  const auto at = upload(words);
  const Outcome o = run(program, {{1, 1, 1}, {1, 1, 1}}, {at});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(download<u64>(at, 8),
            (std::vector<u64>{9 | 7 << 16 | 6ull << 32, 5 | 5ull << 32, 200, 100, 13, 14, 11, 12}));
}

TEST_F(Atomics, AddVectorsOfFloats) {
  const Program* program = link(entry(2, R"(
  .reg .b64 %rd<4>; .reg .f32 %f<12>; .reg .b32 %r<2>; .reg .b16 %rs<8>;
  ld.param.u64 %rd0, [p0];
  ld.param.u64 %rd1, [p1];
  mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f40000000;
  mov.f32 %f2, 0f40400000; mov.f32 %f3, 0f40800000;
  atom.global.add.v4.f32 {%f4, %f5, %f6, %f7}, [%rd0], {%f0, %f1, %f2, %f3};
  st.global.v4.f32 [%rd1], {%f4, %f5, %f6, %f7};
  red.global.add.v2.f32 [%rd0+16], {%f0, %f1};
  mov.b32 %r0, 0x3C003C00;
  red.global.add.noftz.f16x2 [%rd0+24], %r0;
  mov.b16 %rs0, 0x3F80;
  atom.global.add.noftz.bf16 %rs1, [%rd0+28], %rs0;
  red.global.max.noftz.v2.f16 [%rd0+32], {%rs0, %rs0};
  ret;)"));
  std::vector<float> in{10, 20, 30, 40, 50, 60, 0, 0, 0};
  const u32 halves = 0x40003800;  // 2.0, 0.5
  std::memcpy(&in[6], &halves, 4);
  const std::uint16_t bf[2] = {0x4000, 0x1234};
  std::memcpy(&in[7], bf, 4);
  const auto at = upload(in), out = upload(std::vector<float>(4));
  const Outcome o = run(program, {{1, 1, 1}, {1, 1, 1}}, {at, out});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(download<float>(out, 4), (std::vector<float>{10, 20, 30, 40}));
  const auto after = download<float>(at, 6);
  EXPECT_EQ(after, (std::vector<float>{11, 22, 33, 44, 51, 62}));
  EXPECT_EQ(download<u32>(at + 24, 1)[0], 0x42003e00u);  // 3.0, 1.5
  EXPECT_EQ(download<u32>(at + 28, 1)[0], 0x12344040u);  // 3.0 next to unchanged bits
  EXPECT_EQ(download<u32>(at + 32, 1)[0], 0x3f803f80u);
}

TEST_F(Atomics, FlushSubnormalsInGlobalMemoryOnly) {
  const Program* program = link(entry(1, R"(
  .shared .align 4 .f32 s[1];
  .reg .b64 %rd<4>; .reg .f32 %f<4>;
  ld.param.u64 %rd0, [p0];
  mov.f32 %f0, 0f00000001;
  st.shared.f32 [s], %f0;
  red.shared.add.f32 [s], %f0;
  ld.shared.f32 %f1, [s];
  st.global.f32 [%rd0], %f1;
  red.global.add.f32 [%rd0+4], %f0;
  ret;)"));
  const auto at = upload(std::vector<u32>{0, 1});
  const Outcome o = run(program, {{1, 1, 1}, {1, 1, 1}}, {at});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(download<u32>(at, 2), (std::vector<u32>{2, 0}));
}

TEST_F(Atomics, CountAcrossBlocksOfSeveralWorkers) {
  const Program* program = link(entry(1, R"(
  .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %rd0, [p0];
  mov.u32 %r0, 0;
LOOP:
  red.global.add.u32 [%rd0], 1;
  atom.global.add.u64 %rd1, [%rd0+8], 3;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p, %r0, 50;
  @%p bra LOOP;
  ret;)"));
  options.workers = 4;
  const auto at = upload(std::vector<u64>(2));
  const Outcome o = run(program, {{64, 1, 1}, {96, 1, 1}}, {at});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(download<u64>(at, 2), (std::vector<u64>{64 * 96 * 50, 64 * 96 * 150}));
}

TEST_F(Atomics, LetSpinLocksInsideAWarpEnd) {
  const Program* program = link(entry(1, R"(
  .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u64 %rd0, [p0];
LOCK:
  atom.global.acquire.gpu.cas.b32 %r0, [%rd0], 0, 1;
  setp.ne.u32 %p, %r0, 0;
  @%p bra LOCK;
  ld.global.u32 %r1, [%rd0+4];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd0+4], %r1;
  fence.acq_rel.gpu;
  atom.global.release.gpu.exch.b32 %r2, [%rd0], 0;
  membar.gl;
  fence.sc.sys;
  ret;)"));
  options.workers = 2;
  const auto at = upload(std::vector<u32>(2));
  const Outcome o = run(program, {{4, 1, 1}, {64, 1, 1}}, {at});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(download<u32>(at, 2), (std::vector<u32>{0, 256}));
}

// As on an H200. Odd lanes add to global memory, even ones to their own.
TEST_F(Atomics, ReachLocalMemoryByGenericAddresses) {
  const Program* program = link(entry(1, R"(
  .local .align 8 .b64 l[2];
  .reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %rd0, [p0];
  mov.u64 %rd1, l;
  cvta.local.u64 %rd1, %rd1;
  mov.u32 %r0, %tid.x;
  cvt.u64.u32 %rd2, %r0;
  st.u64 [%rd1+8], %rd2;
  and.b32 %r1, %r0, 1;
  setp.eq.u32 %p, %r1, 1;
  add.u64 %rd3, %rd1, 8;
  selp.b64 %rd3, %rd0, %rd3, %p;
  atom.add.u64 %rd4, [%rd3], 0x100000001;
  atom.add.relaxed.cta.u64 %rd4, [%rd3], 1;
  ld.u64 %rd4, [%rd1+8];
  mad.wide.u32 %rd5, %r0, 8, %rd0;
  st.u64 [%rd5+8], %rd4;
  ret;)"));
  const auto at = upload(std::vector<u64>(33));
  const Outcome o = run(program, {{1, 1, 1}, {32, 1, 1}}, {at});
  ASSERT_TRUE(o.ok()) << o.report;
  std::vector<u64> expected{16 * 0x100000002};
  for (u64 lane = 0; lane < 32; ++lane) expected.push_back(lane % 2 ? lane : lane + 0x100000002);
  EXPECT_EQ(download<u64>(at, 33), expected);
}

TEST_F(Atomics, EndTheKernelPastLocalMemory) {
  const Program* program = link(entry(0, R"(
  .local .align 4 .b32 l[1];
  .reg .b64 %rd<2>;
  mov.u64 %rd0, l;
  cvta.local.u64 %rd0, %rd0;
  red.add.u32 [%rd0+65536], 1;
  ret;)"));
  EXPECT_EQ(run(program, {}, {}).kind, FaultKind::invalid_address_space);
}

TEST_F(Atomics, RefuseByName) {
  EXPECT_NE(why_not_loaded(entry(0, ".reg .b64 %rd<2>; red.global.mul.u32 [%rd0], 1; ret;")), "");
  for (const char* text : {"red.global.add.f16 [%rd0], %rs0;",
                           "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 64;"}) {
    const Program* program =
        link(entry(0, std::string(".reg .b64 %rd<2>; .reg .b16 %rs<2>;\n") + text + "\nret;"));
    if (!program || std::string_view(text).find("f16") != std::string_view::npos) continue;
    const Outcome o = run(program, {}, {});
    EXPECT_EQ(o.kind, FaultKind::refused) << text;
  }
}

// The 16-bit formats that atomics use, compared with their definition by bits.
TEST(AtomicOps, HalfSurvivesTheWayThroughFloat) {
  using numbers::Bf16, numbers::F16;
  for (u32 h = 0; h < 0x10000; ++h) {
    if ((h & 0x7c00) != 0x7c00 || (h & 0x3ff) == 0) {
      EXPECT_EQ(F16::round(F16::value(h)), h);
    }
    if ((h & 0x7f80) != 0x7f80 || (h & 0x7f) == 0) {
      EXPECT_EQ(Bf16::round(Bf16::value(h)), h);
    }
  }
}

TEST(AtomicOps, HalfRoundsToTheNearestEven) {
  using numbers::F16;
  for (u32 h = 0; h < 0x7bff; ++h) {
    const float low = F16::value(h), high = F16::value(h + 1), middle = (low + high) / 2;
    EXPECT_EQ(F16::round(middle), h % 2 ? h + 1 : h);
    EXPECT_EQ(F16::round(std::nextafter(middle, 0.f)), h);
    EXPECT_EQ(F16::round(std::nextafter(middle, 1e9f)), h + 1);
  }
  EXPECT_EQ(F16::round(65519.f), 0x7bffu);
  EXPECT_EQ(F16::round(65520.f), 0x7c00u);
}

}  // namespace
}  // namespace inflight::machine
