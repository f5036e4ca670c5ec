// ld and st: every type, space, address pattern and set of lanes, compared with plain copies.
#include <fmt/format.h>

#include <numeric>
#include <random>

#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

struct Form {
  const char* type;  // in PTX, vector first
  unsigned bytes, count;
  const char* declare;  // its registers' type
  unsigned size() const { return bytes * count; }
  const char* target() const { return size() > 16 ? "sm_100" : "sm_90"; }
};
const Form forms[] = {
    {"u8", 1, 1, "b16"},     {"b8", 1, 1, "b32"},     {"u8", 1, 1, "b64"},
    {"s8", 1, 1, "b16"},     {"u16", 2, 1, "b16"},    {"b16", 2, 1, "b32"},
    {"s16", 2, 1, "b64"},    {"u32", 4, 1, "b32"},    {"f32", 4, 1, "f32"},
    {"s32", 4, 1, "b64"},    {"b64", 8, 1, "b64"},    {"f64", 8, 1, "f64"},
    {"b128", 16, 1, "b128"}, {"v2.u8", 1, 2, "b16"},  {"v4.s8", 1, 4, "b16"},
    {"v2.u16", 2, 2, "b16"}, {"v4.b16", 2, 4, "b16"}, {"v2.f32", 4, 2, "f32"},
    {"v4.u32", 4, 4, "b32"}, {"v2.b64", 8, 2, "b64"}, {"v2.f64", 8, 2, "f64"},
    {"v4.u8", 1, 4, "b32"},  {"v2.s16", 2, 2, "b32"}, {"v4.b64", 8, 4, "b64"},
    {"v8.b32", 4, 8, "b32"},
};

std::string registers(const Form& f) {
  if (f.count == 1) return "v0";
  std::string list = "{v0";
  for (unsigned i = 1; i < f.count; ++i) list += fmt::format(", v{}", i);
  return list + "}";
}

using Indices = std::array<std::uint32_t, 32>;
struct Pattern {
  const char* name;
  Indices index;
  bool distinct;
};
template <class F>
Indices indices(F f) {
  Indices out{};
  for (std::uint32_t l = 0; l < 32; ++l) out[l] = f(l);
  return out;
}
std::vector<Pattern> patterns() {
  Indices shuffled = indices([](auto l) { return l * 2; });
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(7));
  return {{"contiguous", indices([](auto l) { return l + 3; }), true},
          {"reversed", indices([](auto l) { return 31 - l; }), true},
          {"uniform", indices([](auto) { return 5u; }), false},
          {"halves uniform", indices([](auto l) { return l < 16 ? 9u : 2u; }), false},
          {"halves contiguous", indices([](auto l) { return l % 16 + (l < 16 ? 40 : 4); }), true},
          {"same halves", indices([](auto l) { return l % 16 + 1; }), false},
          {"strided", indices([](auto l) { return l * 2; }), true},
          {"shuffled", shuffled, true}};
}
const std::uint32_t masks[] = {0xffffffff, 1,          0x80000000, 0xffff,
                               0xffff0000, 0x00ffff00, 0x12345678, 0x7fffffff};
constexpr std::uint32_t elements = 64;

std::vector<std::uint8_t> noise(std::size_t bytes) {
  std::mt19937 random(42);
  std::vector<std::uint8_t> out(bytes);
  for (auto& b : out) b = static_cast<std::uint8_t>(random());
  return out;
}

// The space of a table of elements, and how a kernel creates the table there.
struct Place {
  const char* name;
  const char* space;    // of the access
  const char* declare;  // in the kernel
  const char* address;  // sets %table
};
const Place places[] = {
    {"global", ".global", "", "ld.param.u64 %table, [p0];"},
    {"generic global", "", "", "ld.param.u64 %table, [p0];"},
    {"shared", ".shared", ".shared .align 32 .b8 room[2048];", "mov.u64 %table, room;"},
    {"generic shared", "", ".shared .align 32 .b8 room[2048];",
     "mov.u64 %table, room; cvta.shared.u64 %table, %table;"},
    {"local", ".local", ".local .align 32 .b8 room[2048];", "mov.u64 %table, room;"},
    {"generic local", "", ".local .align 32 .b8 room[2048];",
     "mov.u64 %table, room; cvta.local.u64 %table, %table;"},
};
bool needs_copy(const Place& p) { return p.declare[0] != 0; }

// p0 table, p1 indices, p2 values, p3 mask. Lanes off the mask do nothing between enter and leave.
const char* enter = R"(
  .reg .b64 %table, %at, %out, %rd<8>;
  .reg .b32 %r<8>;
  .reg .b8 %unused;
  .reg .b16 %rs<4>;
  .reg .pred %p, %q;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %rd1, [p1];
  ld.param.u64 %out, [p2];
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r1, [%rd1];
  ld.param.u32 %r2, [p3];
  shr.u32 %r2, %r2, %r0;
  and.b32 %r2, %r2, 1;
  setp.ne.u32 %p, %r2, 0;
)";

// Copies `bytes` between the table in p0 and %table, one byte per thread.
std::string copy(const Place& p, bool in, unsigned bytes) {
  const std::string there =
      fmt::format("ld.global.u8 %rs0, [%rd3]; st{}.u8 [%rd4], %rs0;", p.space);
  const std::string back = fmt::format("ld{}.u8 %rs0, [%rd4]; st.global.u8 [%rd3], %rs0;", p.space);
  return fmt::format(R"(
  ld.param.u64 %rd3, [p0];
  mov.u64 %rd4, %table;
  mov.u32 %r3, 0;
LOOP{0}:
  {1}
  add.u64 %rd3, %rd3, 1;
  add.u64 %rd4, %rd4, 1;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %q, %r3, {2};
  @%q bra LOOP{0};
  bar.sync 0;
)",
                     in ? 0 : 1, in ? there : back, bytes);
}

class LoadStore : public KernelRunner {
 protected:
  std::string kernel(const Place& p, const Form& f, const std::string& act, bool back) {
    const std::string declare = fmt::format("{} .reg .{} v<{}>;", p.declare, f.declare, f.count);
    const unsigned bytes = elements * f.size();
    return entry(4, declare + enter + p.address + (needs_copy(p) ? copy(p, true, bytes) : "") +
                        fmt::format(R"(
  mul.wide.u32 %rd5, %r1, {0};
  add.u64 %at, %table, %rd5;
  mul.wide.u32 %rd6, %r0, {0};
  add.u64 %out, %out, %rd6;
  {1}
)",
                                    f.size(), act) +
                        (back && needs_copy(p) ? copy(p, false, bytes) : "") + "ret;");
  }
};

TEST_F(LoadStore, LoadsWhatLiesThere) {
  for (const Place& place : places)
    for (const Form& f : forms) {
      const std::string v = registers(f);
      const Program* program =
          link(kernel(place, f,
                      fmt::format("@%p ld{}.{} {}, [%at]; @%p st.global.{} [%out], {};",
                                  place.space, f.type, v, f.type, v),
                      false),
               f.target());
      const auto table = noise(elements * f.size());
      const auto before = noise(32 * f.size());
      for (const Pattern& pattern : patterns())
        for (std::uint32_t mask : masks) {
          const auto out = upload(before);
          const Outcome o =
              run(program, {},
                  {upload(table), upload(std::vector(pattern.index.begin(), pattern.index.end())),
                   out, mask});
          ASSERT_TRUE(o.ok()) << o.report;
          auto expected = before;
          for (std::uint32_t l = 0; l < 32; ++l)
            if (mask >> l & 1)
              std::memcpy(&expected[l * f.size()], &table[pattern.index[l] * f.size()], f.size());
          ASSERT_EQ(download<std::uint8_t>(out, expected.size()), expected)
              << place.name << " " << f.type << " in " << f.declare << ", " << pattern.name
              << ", lanes " << mask;
          memory.release(out);
        }
    }
}

TEST_F(LoadStore, StoresWhereItSays) {
  for (const Place& place : places) {
    if (std::string_view(place.name).ends_with("local")) continue;  // each thread has its own
    for (const Form& f : forms) {
      const std::string v = registers(f);
      const Program* program =
          link(kernel(place, f,
                      fmt::format("ld.global.{} {}, [%out]; @%p st{}.{} [%at], {}; bar.sync 0;",
                                  f.type, v, place.space, f.type, v),
                      true),
               f.target());
      const auto values = noise(32 * f.size());
      for (const Pattern& pattern : patterns())
        for (std::uint32_t mask : masks) {
          const auto before = noise(elements * f.size());
          const auto table = upload(before);
          const Outcome o =
              run(program, {},
                  {table, upload(std::vector(pattern.index.begin(), pattern.index.end())),
                   upload(values), mask});
          ASSERT_TRUE(o.ok()) << o.report;
          auto expected = before;  // if lanes share an address, the highest lane's value stays
          for (std::uint32_t l = 0; l < 32; ++l)
            if (mask >> l & 1)
              std::memcpy(&expected[pattern.index[l] * f.size()], &values[l * f.size()], f.size());
          ASSERT_EQ(download<std::uint8_t>(table, expected.size()), expected)
              << place.name << " " << f.type << " in " << f.declare << ", " << pattern.name
              << ", lanes " << mask;
          memory.release(table);
        }
    }
  }
}

TEST_F(LoadStore, VectorsOf256BitsAreRefusedBeforeSm100) {
  for (const char* access : {"ld.global.v8.b32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd0];",
                             "st.global.v4.b64 [%rd0], {%rd0,%rd1,%rd2,%rd3};"}) {
    const std::string text = entry(1, std::string(R"(
  .reg .b64 %rd<4>; .reg .b32 %r<8>;
  ld.param.u64 %rd0, [p0];
  )") + access + " ret;");
    const auto room = upload(std::vector<std::uint64_t>(4));
    const Outcome o = run(link(text, "sm_90a"), {}, {room});
    EXPECT_EQ(o.kind, FaultKind::refused) << access;
    EXPECT_NE(o.report.find("needs .target sm_100 or later"), std::string::npos) << o.report;
    EXPECT_TRUE(run(link(text, "sm_100"), {}, {room}).ok()) << access;
  }
}

TEST_F(LoadStore, StoresToLocalMemoryOfTheThread) {
  const Program* program = link(entry(1, R"(
  .local .align 8 .b8 room[64];
  .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .b16 %rs<2>;
  mov.u32 %r0, %tid.x;
  mov.u64 %rd0, room;
  mul.lo.u32 %r1, %r0, 257;
  st.local.u32 [room+4], %r1;
  and.b32 %r2, %r0, 7;
  cvt.u64.u32 %rd1, %r2;
  add.u64 %rd1, %rd0, %rd1;
  cvt.u16.u32 %rs0, %r0;
  st.local.u8 [%rd1+16], %rs0;
  ld.local.u8 %r3, [%rd1+16];
  ld.local.u32 %r4, [room+4];
  add.u32 %r4, %r4, %r3;
  ld.param.u64 %rd2, [p0];
  mul.wide.u32 %rd3, %r0, 4;
  add.u64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r4;
  ret;)"));
  const auto out = upload(std::vector<std::uint32_t>(64));
  const Outcome o = run(program, {{1, 1, 1}, {64, 1, 1}}, {out});
  ASSERT_TRUE(o.ok()) << o.report;
  const auto values = download<std::uint32_t>(out, 64);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(values[t], t * 257 + t);
}

TEST_F(LoadStore, ExtendsToWiderRegisters) {
  const Program* program = link(entry(2, R"(
  .reg .b64 %rd<12>; .reg .b32 %r<8>; .reg .b16 %rs<2>;
  ld.param.u64 %rd0, [p0];
  ld.param.u64 %rd1, [p1];
  ld.global.s8 %rd2, [%rd0];  st.global.u64 [%rd1], %rd2;
  ld.global.u8 %rd2, [%rd0];  st.global.u64 [%rd1+8], %rd2;
  ld.global.s16 %rd2, [%rd0]; st.global.u64 [%rd1+16], %rd2;
  ld.global.u16 %rd2, [%rd0]; st.global.u64 [%rd1+24], %rd2;
  ld.global.s32 %rd2, [%rd0]; st.global.u64 [%rd1+32], %rd2;
  ld.global.u32 %rd2, [%rd0]; st.global.u64 [%rd1+40], %rd2;
  ld.global.s8 %rs0, [%rd0];  cvt.s64.s16 %rd2, %rs0; st.global.u64 [%rd1+48], %rd2;
  ld.global.s16 %r0, [%rd0];  cvt.s64.s32 %rd2, %r0;  st.global.u64 [%rd1+56], %rd2;
  ret;)"));
  const auto out = upload(std::vector<std::uint64_t>(8));
  const Outcome o = run(program, {{1, 1, 1}, {1, 1, 1}},
                        {upload(std::vector<std::uint64_t>{0x89abcdefdeadbef0}), out});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(download<std::uint64_t>(out, 8),
            (std::vector<std::uint64_t>{0xfffffffffffffff0, 0xf0, 0xffffffffffffbef0, 0xbef0,
                                        0xffffffffdeadbef0, 0xdeadbef0, 0xfffffffffffffff0,
                                        0xffffffffffffbef0}));
}

TEST_F(LoadStore, MixesSpacesInOneWarp) {
  const Program* program = link(entry(2, R"(
  .shared .align 4 .b32 s[32];
  .local .align 4 .b32 l[1];
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p<4>;
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd0, %r0, 4;
  ld.param.u64 %rd1, [p0];
  add.u64 %rd1, %rd1, %rd0;
  mov.u64 %rd2, s;
  cvta.shared.u64 %rd2, %rd2;
  add.u64 %rd2, %rd2, %rd0;
  add.u32 %r1, %r0, 1000;
  st.u32 [%rd2], %r1;
  mov.u64 %rd3, l;
  cvta.local.u64 %rd3, %rd3;
  add.u32 %r2, %r0, 2000;
  st.u32 [%rd3], %r2;
  rem.u32 %r3, %r0, 3;
  setp.eq.u32 %p0, %r3, 1;
  setp.eq.u32 %p1, %r3, 2;
  selp.b64 %rd4, %rd2, %rd1, %p0;
  selp.b64 %rd4, %rd3, %rd4, %p1;
  ld.u32 %r4, [%rd4];
  add.u32 %r4, %r4, 1;
  st.u32 [%rd4], %r4;
  ld.u32 %r5, [%rd4];
  ld.param.u64 %rd5, [p1];
  add.u64 %rd5, %rd5, %rd0;
  st.global.u32 [%rd5], %r5;
  ret;)"));
  std::vector<std::uint32_t> in(32), expected(32);
  std::iota(in.begin(), in.end(), 0);
  for (std::uint32_t t = 0; t < 32; ++t) expected[t] = t + 1 + t % 3 * 1000;
  const auto out = upload(std::vector<std::uint32_t>(32));
  const Outcome o = run(program, {}, {upload(in), out});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(download<std::uint32_t>(out, 32), expected);
}

TEST_F(LoadStore, ReadsConstantsAndParameters) {
  const Program* program = link(R"(.const .align 4 .b32 table[4] = {10, 20, 30, 40};
)" + entry(2, R"(
  .reg .b64 %rd<8>; .reg .b32 %r<8>;
  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 3;
  mul.wide.u32 %rd0, %r1, 4;
  mov.u64 %rd1, table;
  add.u64 %rd1, %rd1, %rd0;
  ld.const.u32 %r2, [%rd1];
  ld.const.u32 %r3, [table+4];
  add.u32 %r2, %r2, %r3;
  mov.b64 %rd2, p1;
  add.u64 %rd2, %rd2, %rd0;
  ld.param.u8 %r4, [%rd2];
  add.u32 %r2, %r2, %r4;
  ld.param.u64 %rd3, [p0];
  mul.wide.u32 %rd4, %r0, 4;
  add.u64 %rd3, %rd3, %rd4;
  st.global.u32 [%rd3], %r2;
  ret;)"));
  const auto out = upload(std::vector<std::uint32_t>(32));
  // Only multiples of four bytes of p1 are read: 0x04 and 0x08. No memory lies past its end.
  const Outcome o = run(program, {{1, 1, 1}, {2, 1, 1}}, {out, 0x0000000800000004});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(download<std::uint32_t>(out, 2), (std::vector<std::uint32_t>{34, 48}));
}

TEST_F(LoadStore, CountsSharedOffsetsModulo32Bits) {
  const Program* program = link(entry(1, R"(
  .shared .align 4 .b32 s[32];
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r3, s;
  sub.u32 %r1, %r0, 8;
  shl.b32 %r1, %r1, 2;
  add.u32 %r1, %r1, %r3;
  st.shared.u32 [%r1+32], %r0;
  bar.sync 0;
  ld.shared.u32 %r2, [%r1+32];
  ld.param.u64 %rd0, [p0];
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd0, %rd0, %rd1;
  st.global.u32 [%rd0], %r2;
  ret;)"));
  const auto out = upload(std::vector<std::uint32_t>(32));
  const Outcome o = run(program, {}, {out});
  ASSERT_TRUE(o.ok()) << o.report;
  std::vector<std::uint32_t> expected(32);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(download<std::uint32_t>(out, 32), expected);
}

// A vector's registers may include the address register, which is dead after the load.
TEST_F(LoadStore, OverwritesTheAddressLast) {
  const Program* program = link(entry(3, R"(
  .reg .b64 %at, %out, %a, %b, %rd<4>; .reg .b32 %r<4>;
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd0, %r0, 4;
  ld.param.u64 %rd1, [p1];
  add.u64 %rd1, %rd1, %rd0;
  ld.global.u32 %r1, [%rd1];
  mul.wide.u32 %rd2, %r1, 16;
  ld.param.u64 %out, [p2];
  mul.wide.u32 %rd3, %r0, 16;
  add.u64 %out, %out, %rd3;
  ld.param.u64 %at, [p0];
  add.u64 %at, %at, %rd2;
  ld.global.v2.b64 {%a, %b}, [%at];
  st.global.v2.b64 [%out], {%a, %b};
  ret;)"));
  std::vector<std::uint64_t> table(128), expected;
  std::iota(table.begin(), table.end(), 1000);
  for (const Pattern& pattern : patterns()) {
    const auto out = upload(std::vector<std::uint64_t>(64));
    const Outcome o =
        run(program, {},
            {upload(table), upload(std::vector(pattern.index.begin(), pattern.index.end())), out});
    ASSERT_TRUE(o.ok()) << o.report;
    expected.clear();
    for (std::uint32_t index : pattern.index)
      expected.insert(expected.end(), {table[2 * index], table[2 * index + 1]});
    EXPECT_EQ(download<std::uint64_t>(out, 64), expected) << pattern.name;
  }
}

TEST_F(LoadStore, FollowsLanesIntoSeveralAllocations) {
  std::vector<std::uint64_t> pointers;
  for (std::uint32_t i = 0; i < 32; ++i)
    pointers.push_back(upload(std::vector<std::uint32_t>{i * 7}));
  const Program* program = link(entry(2, R"(
  .reg .b64 %rd<6>; .reg .b32 %r<4>;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %rd0, [p0];
  mul.wide.u32 %rd1, %r0, 8;
  add.u64 %rd0, %rd0, %rd1;
  ld.global.u64 %rd2, [%rd0];
  ld.global.u32 %r1, [%rd2];
  ld.param.u64 %rd3, [p1];
  mul.wide.u32 %rd4, %r0, 4;
  add.u64 %rd3, %rd3, %rd4;
  st.global.u32 [%rd3], %r1;
  ret;)"));
  const auto out = upload(std::vector<std::uint32_t>(32));
  const Outcome o = run(program, {}, {upload(pointers), out});
  ASSERT_TRUE(o.ok()) << o.report;
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(download<std::uint32_t>(out, 32)[i], i * 7);
}

TEST_F(LoadStore, AcceptsAdviceToTheCaches) {
  const Program* program = link(entry(1, R"(
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .f32 %f<2>;
  ld.param.u64 %rd0, [p0];
  createpolicy.fractional.L2::evict_last.b64 %rd1, 0f3F000000;
  createpolicy.fractional.L2::evict_first.L2::evict_first.b64 %rd2;
  prefetch.global.L2 [%rd0];
  prefetch.L1 [%rd0];
  prefetchu.L1 [%rd0];
  discard.global.L2 [%rd0+128], 128;
  applypriority.global.L2::evict_normal [%rd0+128], 128;
  ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.u32 %r0, [%rd0], %rd1;
  ld.global.cg.u32 %r1, [%rd0+4];
  ldu.global.u32 %r2, [%rd0+8];
  ld.volatile.global.u32 %r3, [%rd0];
  ld.relaxed.gpu.global.L1::evict_last.u32 %r4, [%rd0];
  ld.acquire.sys.u32 %r5, [%rd0];
  add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; add.u32 %r0, %r0, %r3;
  add.u32 %r0, %r0, %r4; add.u32 %r0, %r0, %r5;
  st.global.wt.u32 [%rd0], %r0;
  st.release.gpu.global.L2::cache_hint.u32 [%rd0+4], %r0, %rd2;
  st.volatile.global.v2.u32 [%rd0+8], {%r0, 7};
  ret;)"));
  const auto at = upload(std::vector<std::uint32_t>{1, 10, 100, 0});
  const Outcome o = run(program, {{1, 1, 1}, {1, 1, 1}}, {at});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(download<std::uint32_t>(at, 4), (std::vector<std::uint32_t>{114, 114, 114, 7}));
}

// --- refusals and faults ---

struct Fault {
  const char* access;
  FaultKind kind;
  const char* says;
};

TEST_F(LoadStore, EndsTheKernelForBadAccesses) {
  const Fault faults[] = {
      {"st.global.u32 [%rd0+128], %r0;", FaultKind::illegal_address,
       "write to global memory at 0x"},
      {"ld.global.u32 %r0, [%rd0+-4];", FaultKind::illegal_address, "4 bytes before the start of"},
      {"ld.global.u32 %r0, [%rd0+2];", FaultKind::misaligned_address, "multiple of 4"},
      {"ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd0+8];", FaultKind::misaligned_address,
       "multiple of 16"},
      {"ld.global.u32 %r0, [0];", FaultKind::illegal_address, "null pointer"},
      {"ld.u32 %r0, [0];", FaultKind::illegal_address, "null pointer"},
      {"st.shared.u32 [%rd1+128], %r0;", FaultKind::illegal_address,
       "past the end of the 128 bytes"},
      {"ld.shared.u32 %r0, [%rd1+-4];", FaultKind::illegal_address,
       "offset 0x3fc is in the 1024 bytes before the shared memory of this block, which CUDA "
       "reserves"},
      {"st.shared.u32 [%r9], %r0;", FaultKind::illegal_address, "offset 0x0 is in the 1024 bytes"},
      {"red.shared.add.u32 [%r9], %r0;", FaultKind::illegal_address, "which CUDA reserves"},
      {"st.u32 [%rd3+-1024], %r0;", FaultKind::illegal_address, "which CUDA reserves"},
      {"ld.shared.u64 %rd2, [%rd1+4];", FaultKind::misaligned_address, "multiple of 8"},
      {"st.u32 [%rd3+128], %r0;", FaultKind::illegal_address, "past the end of the 128 bytes"},
      {"ld.local.u32 %r0, [%rd4+1048576];", FaultKind::illegal_address, "local memory"},
      {"st.global.u32 [%rd5], %r0;", FaultKind::illegal_address, "was freed"},
  };
  for (const Fault& f : faults) {
    const Program* program = link(".const .align 4 .b32 c[4];\n" + entry(2, std::string(R"(
  .shared .align 16 .b8 s[128];
  .local .align 16 .b8 l[16];
  .reg .b64 %rd<8>; .reg .b32 %r<10>;
  ld.param.u64 %rd0, [p0];
  ld.param.u64 %rd5, [p1];
  mov.u32 %r9, 0;
  mov.u64 %rd1, s;
  cvta.shared.u64 %rd3, %rd1;
  mov.u64 %rd4, l;
  mov.u32 %r0, %tid.x;
)") + f.access + "\n ret;"));
    const auto gone = upload(std::vector<std::uint32_t>(32));
    memory.release(gone);
    const Outcome o = run(program, {}, {upload(std::vector<std::uint32_t>(32)), gone});
    EXPECT_EQ(o.kind, f.kind) << f.access << ": " << o.report;
    EXPECT_NE(o.report.find(f.says), std::string::npos) << f.access << ": " << o.report;
  }
}

TEST_F(LoadStore, NamesWhatItDoesNotSupport) {
  const auto kernel = [](const std::string& access) {
    return entry(1, ".reg .b64 %rd<2>; .reg .b32 %r<2>;\n" + access + "\n ret;");
  };
  EXPECT_NE(why_not_loaded(kernel("ld.const::7.u32 %r0, [%rd0];")).find("ld.const::7.u32"),
            std::string::npos);
  EXPECT_NE(why_not_loaded(kernel("ld.global.relu.u32 %r0, [%rd0];")).find("ld."),
            std::string::npos);
  const Outcome o = run(link(kernel("ld.global.u32.u32 %r0, [%rd0];")), {}, {0});
  EXPECT_EQ(o.kind, FaultKind::refused);
  EXPECT_NE(o.report.find("ld."), std::string::npos) << o.report;
}

}  // namespace
}  // namespace inflight::machine
