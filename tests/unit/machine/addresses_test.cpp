// The address that a listener gets is that of the bytes that move: in every space, with a base
// register of either width or none, whatever the offset.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/check/listener.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using Lanes = std::array<std::uint64_t, 32>;

// Keeps the addresses of accesses of type .s32, which are those under test.
class Addresses : public check::Listener {
 public:
  check::Topic topics() const override {
    return check::Topic::accesses | check::Topic::addresses | check::Topic::parameters;
  }
  void kernel_begin(const check::KernelBegin& event) override { kernel_ = event.kernel; }
  void accessed(const check::Access& e) override {
    if (!kernel_->describe(*kernel_, e.who.instruction).text.ends_with(".s32")) return;
    Lanes& lanes = found.emplace_back();
    for (check::Mask m = e.who.mask; m; m &= m - 1)
      lanes[unsigned(std::countr_zero(m))] = e.addresses[std::countr_zero(m)];
    // Further reads of shared memory may be noted instead.
    if (e.log && notes) e.log->next = noted.data(), e.log->end = noted.data() + noted.size();
  }
  bool notes = false;
  std::vector<Lanes> found;
  std::array<shadow::NotedRead, 4> noted{};

 private:
  const check::Kernel* kernel_ = nullptr;
};

// A variable `v` of 64 words in a space, and how an instruction names the space.
struct Where {
  std::string_view space, written;
  bool narrow() const { return !written.empty() && space != "global" && space != "const"; }
  bool writable() const { return space != "const" && space != "param"; }
};
constexpr Where everywhere[] = {
    {"global", ".global"},
    {"const", ".const"},
    {"local", ".local"},
    {"shared", ".shared"},
    {"shared", ".shared::cta"},
    {"shared", ".shared::cluster"},
    {"param", ".param"},
    {"global", ""},
    {"local", ""},
    {"shared", ""},
};

class AddressesTest : public KernelRunner {
 protected:
  static constexpr unsigned words = 64;
  void SetUp() override { options.workers = 1, options.listener = &listener; }

  // Word i of `v` holds i. Lane l runs `access` (with {0} for the address in brackets) on word
  // word_of(l), which is the sum of `base` (a register of 32 or 64 bits) and `offset`. Then %r2 is
  // what the access read and %r3 what it may write, 1000 + l.
  Outcome run_access(const Where& at, unsigned base, std::int64_t offset, std::string access) {
    const bool parameter = at.space == "param",
               linked = at.space == "global" || at.space == "const";
    std::vector<unsigned> values(words);
    std::iota(values.begin(), values.end(), 0);
    std::string text;
    if (linked)
      text = fmt::format(".{} .align 16 .u32 v[64] = {{{}}};\n", at.space, fmt::join(values, ","));
    text += fmt::format(".visible .entry k(.param .b64 out{})\n{{\n",
                        parameter ? ", .param .align 8 .b8 v[256]" : "");
    if (!linked && !parameter) text += fmt::format(".{} .align 16 .b8 v[256];\n", at.space);
    text += R"(
  .reg .b32 %r<9>; .reg .b64 %d<9>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %tid.x; mad.wide.u32 %d0, %r0, 16, %d0;
  mad.lo.u32 %r1, %r0, 5, 3; and.b32 %r1, %r1, 63; shl.b32 %r1, %r1, 2; cvt.u64.u32 %d1, %r1;
  add.u32 %r3, %r0, 1000; mov.u32 %r2, 0;
)";
    for (unsigned i = 0; !linked && !parameter && i < words; ++i)
      text += fmt::format("  st.{}.u32 [v+{}], {};\n", at.space, 4 * i, i);
    // %d2 and %r4: the word's address in the space. %d3 and %r5: as the access takes it.
    text += linked ? "  mov.u64 %d2, v; add.u64 %d2, %d2, %d1; cvt.u32.u64 %r4, %d2;\n"
                   : "  mov.u32 %r4, v; add.u32 %r4, %r4, %r1; cvt.u64.u32 %d2, %r4;\n";
    text += at.written.empty() && !linked ? fmt::format("  cvta.{}.u64 %d3, %d2;\n", at.space)
                                          : "  mov.u64 %d3, %d2;\n";
    text += fmt::format("  cvt.u32.u64 %r5, %d3; sub.s32 %r5, %r5, {0}; sub.s64 %d3, %d3, {0};\n",
                        offset);
    // Bits that do not count.
    if (at.narrow()) text += "  xor.b64 %d3, %d3, 0x5a5a00000000;\n";
    text += "  bar.warp.sync -1;\n";
    const std::string address = fmt::format("{}+{}", base == 64 ? "%d3" : "%r5", offset);
    access.replace(access.find("{0}"), 3, address);
    text += access + access;
    text += "  bar.warp.sync -1;\n  st.global.v2.u32 [%d0], {%r4, %r2};\n";
    text += fmt::format("  ld.{}.u32 %r6, [{}];\n  st.global.u32 [%d0+8], %r6;\n  ret;\n}}\n",
                        at.space, linked ? "%d2" : "%r4");
    const std::uint64_t out = upload(std::vector<std::uint32_t>(32 * 4));
    std::vector<std::uint64_t> arguments{out};
    for (std::uint64_t i = 0; parameter && i < words; i += 2)
      arguments.push_back(i | (i + 1) << 32);
    listener.found.clear();
    const Outcome o = run(link(text), {}, arguments);
    results = download<std::uint32_t>(out, 32 * 4);
    return o;
  }
  static std::uint32_t word_of(std::size_t lane) { return std::uint32_t(5 * lane + 3) % words; }
  // By lane: the word's address in its space (its low half), what was read, what is there now.
  std::uint32_t place(std::size_t lane) const { return results[4 * lane]; }
  std::uint32_t read(std::size_t lane) const { return results[4 * lane + 1]; }
  std::uint32_t now(std::size_t lane) const { return results[4 * lane + 2]; }

  // Runs the access with every base and offset that can reach `v`.
  template <class Check>
  void each_address(const Where& at, const std::string& access, Check check) {
    for (const unsigned base : {32u, 64u})
      for (const std::int64_t offset :
           {0l, 4l, -4l, 64l, -64l, -4096l, 0x7ffffffcl, -0x80000000l}) {
        if (base == 32 && !at.narrow()) continue;
        SCOPED_TRACE(
            fmt::format("{}, {}, base of {} bits, offset {}", at.space, access, base, offset));
        const Outcome o = run_access(at, base, offset, access);
        ASSERT_TRUE(o.ok()) << o.report;
        ASSERT_EQ(listener.found.size(), 2u);
        for (std::size_t l = 0; l < 32; ++l) {
          for (const Lanes& found : listener.found)
            ASSERT_EQ(found[l], at.space == "global" || at.space == "const"
                                    ? (found[l] & ~0xffffffffull) | place(l)
                                    : place(l))
                << "lane " << l;
          check(l);
        }
      }
  }
  Addresses listener;
  std::vector<std::uint32_t> results;
};

TEST_F(AddressesTest, OfLoadsAreThoseOfTheBytesRead) {
  for (const Where& at : everywhere)
    for (const std::string_view how : {"", ".volatile"}) {
      if (!how.empty() && !at.writable()) continue;
      each_address(at, fmt::format("  ld{}{}.s32 %r2, [{{0}}];\n", how, at.written),
                   [&](std::size_t l) { ASSERT_EQ(read(l), word_of(l)); });
    }
}

TEST_F(AddressesTest, OfStoresAreThoseOfTheBytesWritten) {
  for (const Where& at : everywhere)
    for (const std::string_view how : {"", ".volatile"})
      if (at.writable())
        each_address(at, fmt::format("  st{}{}.s32 [{{0}}], %r3;\n", how, at.written),
                     [&](std::size_t l) { ASSERT_EQ(now(l), 1000 + l); });
}

TEST_F(AddressesTest, OfAtomicsAreThoseOfTheBytesChanged) {
  for (const Where& at : everywhere)
    if (at.writable() && at.space != "local")
      each_address(at, fmt::format("  red{}.add.s32 [{{0}}], %r3;\n", at.written),
                   [&](std::size_t l) { ASSERT_EQ(now(l), word_of(l) + 2 * (1000 + l)); });
}

TEST_F(AddressesTest, OfNotedReadsAreThoseOfTheBytesRead) {
  listener.notes = true;
  for (const std::int64_t offset : {0l, -64l, 0x7ffffffcl}) {
    const Outcome o =
        run_access({"shared", ".shared"}, 32, offset, "  ld.shared.s32 %r2, [{0}];\n");
    ASSERT_TRUE(o.ok()) << o.report;
    ASSERT_EQ(listener.found.size(), 1u);
    EXPECT_EQ(listener.noted[0].lanes, ~0u);
    for (std::size_t l = 0; l < 32; ++l) EXPECT_EQ(listener.noted[0].addresses[l], place(l));
    listener.noted.fill({});
  }
}

// A base of 32 bits is extended with zeros. Nothing can be there, so the report has the address.
TEST_F(AddressesTest, OfBasesTooNarrowForTheSpaceAreThoseThatFail) {
  for (const Where& at :
       {Where{"global", ".global"}, Where{"const", ".const"}, Where{"shared", ""}})
    for (const std::int64_t offset : {0l, 64l, -64l}) {
      const Outcome o =
          run_access(at, 32, offset, fmt::format("  ld{}.s32 %r2, [{{0}}];\n", at.written));
      ASSERT_FALSE(o.ok());
      ASSERT_EQ(listener.found.size(), 1u);
      EXPECT_NE(o.report.find(fmt::format("0x{:x}", listener.found[0][0])), std::string::npos)
          << o.report;
      EXPECT_LT(listener.found[0][0], 1ull << 32) << offset;
    }
}

}  // namespace
}  // namespace inflight::machine
