// Compiled kernels compared with the interpreter, which says what is right: memory, outcomes, what
// threads read from the clock, and turns.
#include "gpu/machine/compile/compile.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/launch/launch.hpp"
#include "gpu/ptx/parse.hpp"
#include "tests/unit/machine/random_kernel.hpp"
#include "tests/unit/machine/test_runtime.hpp"

namespace inflight::machine {
namespace {

// A kernel `k` with one parameter, `bytes` bytes of device memory, run by both engines. Nothing
// watches the ops, as in other tests.
class TwoEngines {
 public:
  explicit TwoEngines(const std::string& text, std::size_t bytes = 4096) : bytes_(bytes) {
    options.timeout = std::chrono::milliseconds(20000);
    options.workers = 1;
    auto module = ptx::parse(std::make_shared<const std::string>(
                                 ".version 8.7\n.target sm_90\n.address_size 64\n" + text),
                             "m");
    if (!module) {
      ADD_FAILURE() << module.error().line << ": " << module.error().message << "\n" << text;
      return;
    }
    std::vector<std::shared_ptr<const ptx::Module>> modules{
        std::make_shared<const ptx::Module>(std::move(*module))};
    auto linked = Program::link(std::move(modules), memory_, 0);
    if (!linked) {
      ADD_FAILURE() << linked.error().message;
      return;
    }
    program = std::move(*linked);
    table_ = memory_.allocate(0, bytes, AllocationKind::device).value();
  }

  struct Result {
    Outcome outcome;
    std::vector<std::uint32_t> words;
  };
  Result run(Compile compile, Dim3 grid, Dim3 block) {
    for (std::size_t i = 0; i < bytes_ / 4; ++i)
      reinterpret_cast<std::uint32_t*>(table_)[i] =
          first_words_ ? static_cast<std::uint32_t>(i * 0x9e3779b9u) : 0;
    Launch launch;
    launch.kernel = program->kernel("k");
    launch.grid = grid, launch.block = block;
    launch.parameters.resize(launch.kernel->parameter_bytes);
    std::memcpy(launch.parameters.data(), &table_, 8);
    launch.runtime = &runtime_;
    options.compile = compile;
    if (compile == Compile::always)
      compile::compiled(*code(), block_rows(block.x, block.y, block.z), true);
    Result result;
    result.outcome = machine::run(launch, limits, options, [](std::string_view) {});
    const auto* const words = reinterpret_cast<const std::uint32_t*>(table_);
    result.words.assign(words, words + bytes_ / 4);
    return result;
  }
  // Compares the two. Empty if they agree.
  std::string difference(Dim3 grid, Dim3 block) {
    const Result a = run(Compile::never, grid, block), b = run(Compile::always, grid, block);
    if (a.outcome.kind != b.outcome.kind || a.outcome.report != b.outcome.report)
      return "interpreted: " + a.outcome.report + "\ncompiled: " + b.outcome.report;
    for (std::size_t i = 0; i < a.words.size(); ++i)
      if (a.words[i] != b.words[i])
        return "word " + std::to_string(i) + ": " + std::to_string(a.words[i]) + " interpreted, " +
               std::to_string(b.words[i]) + " compiled";
    return {};
  }
  const Compiled* made(BlockRows rows) const {
    return code()->compiled[static_cast<std::size_t>(rows)].load();
  }

  std::unique_ptr<Program> program;
  Options options;
  Limits limits;
  bool first_words_ = true;

 private:
  const Code* code() const {
    const Kernel& kernel = *program->kernel("k");
    return prepared(*program).code({kernel.module, kernel.function}, CodeForm{}).value();
  }
  Memory memory_{1, 64 << 20};
  TestRuntime runtime_;
  std::size_t bytes_;
  std::uint64_t table_ = 0;
};

constexpr Dim3 blocks[] = {{8, 1, 1},  {32, 1, 1},  {33, 1, 1}, {40, 1, 1}, {64, 1, 1},  {96, 1, 1},
                           {16, 4, 1}, {16, 16, 1}, {8, 8, 1},  {32, 4, 1}, {48, 3, 1},  {24, 2, 1},
                           {16, 2, 4}, {4, 4, 4},   {32, 2, 2}, {7, 5, 3},  {1024, 1, 1}};

std::uint32_t from_environment(const char* name, std::uint32_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? static_cast<std::uint32_t>(std::atoi(text)) : otherwise;
}

// Kernels that compute with real numbers in rows of memory: what host code does itself.
class RowsWriter {
 public:
  explicit RowsWriter(std::uint32_t seed) : random_(seed) {}

  std::string run() {
    statements(6 + pick(8), 0);
    for (int i = 0; i < reals; ++i) line("st.global.f32 [%row+{}], %f{};", 2048 * (i % 4), i);
    line("st.global.f64 [%long], %g0;");
    return fmt::format(R"(
.visible .entry k(.param .u64 table)
{{
  .reg .b64 %base, %row, %quad, %long, %half, %place; .reg .b32 %x, %y, %at, %tile, %side, %any, %word, %r<{}>;
  .reg .f32 %f<{}>; .reg .f64 %g<{}>; .reg .pred %p<{}>;
  .shared .align 16 .b8 buffer[8192]; .local .align 16 .b8 own[64];
  ld.param.u64 %base, [table];
  mov.u32 %x, %tid.x; mov.u32 %y, %tid.y;
  mov.u32 %r0, %ntid.x; mad.lo.s32 %at, %y, %r0, %x;
  mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 8; add.s32 %r2, %r1, %at;
  mad.wide.u32 %row, %r2, 4, %base;
  mul.wide.s32 %quad, %r2, 16; add.s64 %quad, %quad, %base;
  mul.wide.u32 %long, %r2, 8; add.s64 %long, %base, %long;
  mul.wide.u32 %half, %y, 64; add.s64 %half, %half, %base;
  mov.u32 %tile, buffer; mad.lo.s32 %tile, %at, 4, %tile;
  mov.u32 %side, buffer; mad.lo.s32 %side, %y, 64, %side;
  st.local.v4.u32 [own], {{%x, %y, %at, %r1}}; mov.u32 %r4, buffer; mov.u32 %any, %at; mov.u32 %word, %x;
)",
                       words + loops_, reals, doubles, predicates) +
           fmt::format(
               "  mov.u32 %r3, 5; ld.global.f64 %g0, [%long]; mov.f64 %g1, 0d4000000000000000; "
               "ld.global.f64 %g2, [%long+8192];\n") +
           "  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%quad]; mov.f32 %f4, 0f3F000000; mov.f32 "
           "%f5, "
           "%f0;\n  setp.lt.f32 %p0, %f0, %f1; setp.gt.u32 %p1, %x, 9; setp.eq.u32 %p2, %r1, 0;\n" +
           text_ + "  ret;\n}\n";
  }

 private:
  static constexpr int reals = 6, doubles = 3, words = 5, predicates = 3;
  std::uint32_t pick(std::uint32_t count) { return random_() % count; }
  template <class... T>
  void line(fmt::format_string<T...> form, T&&... values) {
    text_ += "  " + fmt::format(form, std::forward<T>(values)...) + "\n";
  }
  template <std::size_t n>
  const char* one_of(const char* const (&all)[n]) {
    return all[pick(n)];
  }
  std::string f() { return fmt::format("%f{}", pick(reals)); }
  std::string g() { return fmt::format("%g{}", pick(doubles)); }
  std::string p() { return fmt::format("%p{}", pick(predicates)); }
  std::string guard() {
    const std::uint32_t kind = pick(6);
    return kind == 0 ? "@" + p() + " " : kind == 1 ? "@!" + p() + " " : "";
  }

  void arithmetic() {
    static const char* const two[] = {"add", "sub", "mul"};
    static const char* const how[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                      "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    switch (pick(12)) {
      case 0:
      case 1:
        return line("{}{}.f32 {}, {}, {};", guard(), one_of(two), f(), f(), f());
      case 2:
        return line("{}fma.rn.f32 {}, {}, {}, {};", guard(), f(), f(), f(), f());
      case 3: {  // may be contracted
        const std::string product = f();
        line("mul.f32 {}, {}, {};", product, f(), f());
        return line("{}.f32 {}, {}, {};", pick(2) ? "add" : "sub", product, product, f());
      }
      case 4:
        return line("{}{}.f64 {}, {}, {};", guard(), one_of(two), g(), g(), g());
      case 5:
        return line("{}fma.rn.f64 {}, {}, {}, {};", guard(), g(), g(), g(), g());
      case 6:
        return line("{}{}.f32 {}, {};", guard(), pick(2) ? "neg" : "abs", f(), f());
      case 7:
        return line("{}setp.{}.f32 {}, {}, {};", guard(), one_of(how), p(), f(), f());
      case 8:
        return line("{}setp.{}.f64 {}, {}, {};", guard(), one_of(how), p(), g(), g());
      case 9:
        return pick(2) ? line("{}selp.f32 {}, {}, {}, {};", guard(), f(), f(), f(), p())
                       : line("{}selp.f64 {}, {}, {}, {};", guard(), g(), g(), g(), p());
      case 10:
        return pick(2) ? line("{}mov.b32 %r3, {};", guard(), f())
                       : line("{}mov.b32 {}, %r3;", guard(), f());
      default:
        return pick(2) ? line("{}cvt.rn.f32.{} {}, {};", guard(), pick(2) ? "s32" : "u32", f(),
                              pick(2) ? "%at" : "%r3")
                       : line("mul.rn.f32 {}, {}, 0f3FC00000;", f(), f());
    }
  }

  // `alike`: all threads come here.
  void memory(bool alike) {
    switch (pick(24)) {
      case 13:
        return line("{}st.local.f32 [own+{}], {};", guard(), 4 * pick(4), f());
      case 14:
        return line("{}ld.local.v4.f32 {{%f0, %f1, %f2, %f3}}, [own];", guard());
      case 15:
        return line("{}st.local.v2.f32 [own+{}], {{{}, {}}};", guard(), 8 * pick(2), f(), f());
      case 0:
        return line("{}ld.global.f32 {}, [%row+{}];", guard(), f(), 2048 * pick(4));
      case 1:
        return line("{}ld.global.nc.v2.f32 {{%f0, %f{}}}, [%long+{}];", guard(), 1 + pick(5),
                    8192 * pick(2));
      case 2:
        return line("{}ld.global.v4.f32 {{%f0, %f1, %f2, {}}}, [%quad];", guard(),
                    pick(2) ? "%f3" : "%f4");
      case 3:
        return line("{}ld.global.f64 {}, [%long+{}];", guard(), g(), 4096 * pick(3));
      case 4:
        return line("{}ld.global.f32 {}, [%base+{}];", guard(), f(), 4 * pick(2048));
      case 5:
        return line("{}ld.global.f32 {}, [%half+{}];", guard(), f(), 4 * pick(512));
      case 6:
        return line("{}st.global.f32 [%row+{}], {};", guard(), 2048 * pick(4), f());
      case 7:
        return line("{}st.global.v4.f32 [%quad], {{{}, {}, {}, {}}};", guard(), f(), f(), f(), f());
      case 8:
        return line("{}st.global.f64 [%long+{}], {};", guard(), 4096 * pick(3), g());
      case 9:
        return line("{}st.global.f32 [%{}+{}], {};", guard(), pick(2) ? "half" : "base",
                    4 * pick(512), f());
      case 10:
        line("st.shared.f32 [%tile], {};", f());
        if (alike && pick(2)) line("bar.sync 0;");
        return line("ld.shared.f32 {}, [%{}+{}];", f(), pick(2) ? "side" : "tile", 4 * pick(32));
      case 11:
        return line("{}ld.shared.v4.f32 {{%f0, %f1, %f2, %f3}}, [%side+{}];", guard(),
                    16 * pick(64));
      case 12:
        return line("{}st.shared.f32 [%side+{}], {};", guard(), 4 * pick(64), f());
      case 17:
      case 18:
      case 19:
        return any_address();
      case 20:
        return line("and.b32 %any, {}, {};", pick(2) ? "%at" : "%any", 1u << pick(9) | pick(64));
      case 21:
        return pick(2) ? line("xor.b32 %any, %any, {};", pick(256))
                       : line("{}mov.b32 %any, {};", guard(), pick(2) ? "%at" : "%r3");
      case 16:
        return line("{}red.global.add.u32 [%row+{}], %r3;", guard(), 2048 * pick(4));
      default:  // not aligned for some: each lane alone
        return line("{}ld.shared.f32 {}, [buffer+{}];", guard(), f(), 4 * pick(512));
    }
  }

  // Each lane at an address of its own, in one line or in many, perhaps the same as another's.
  void any_address() {
    line("and.b32 %word, %any, 1023;");
    if (pick(3) == 0) {
      line("shl.b32 %word, %word, {}; add.s32 %word, %word, %r4;", 3);
      const int at = 8 * static_cast<int>(pick(3)) - 8;
      switch (pick(6)) {
        case 0:
          return line("{}st.shared.f64 [%word+{}], {};", guard(), at, g());
        case 1:
          return line("{}ld.shared.f64 {}, [%word+{}];", guard(), g(), at);
        case 2:
          return line("{}st.shared.v2.f32 [%word+{}], {{{}, {}}};", guard(), at, f(), f());
        case 3:
          return line("{}st.shared.f32 [%word+{}], {};", guard(),
                      at + 4 * static_cast<int>(pick(2)), f());
        case 4:
          return line("{}ld.shared.u32 %{}, [%word+{}];", guard(), pick(2) ? "any" : "word", at);
        default:
          return line("{}ld.shared.f32 {}, [%word+{}];", guard(), f(), at);
      }
    }
    line("mul.wide.u32 %place, %word, {}; add.s64 %place, %place, %base;", 4 << pick(3));
    const int at = 16 * static_cast<int>(pick(3)) - (pick(8) ? 0 : 16);
    switch (pick(9)) {
      case 0:
        return line("{}st.global.f64 [%place+{}], {};", guard(), at, g());
      case 1:
        return line("{}ld.global.f64 {}, [%place+{}];", guard(), g(), at);
      case 2:
        return line("{}ld.global.u64 %place, [%place+{}]; st.global.u64 [%long], %place;", guard(),
                    at);
      case 3:
        return line("{}ld.global.v2.f32 {{%f0, %f2}}, [%place+{}];", guard(), at);
      case 4:
        return line("{}st.global.v4.f32 [%place+{}], {{{}, {}, %f1, %f0}};", guard(), at, f(), f());
      case 5:
        return line("{}ld.global.u32 %{}, [%place+{}];", guard(), pick(2) ? "any" : "word", at);
      case 6:
        return line("{}st.global.f32 [%place+{}], {};", guard(), at, f());
      default:
        return line("{}ld.global.f32 {}, [%place+{}];", guard(), f(), at);
    }
  }

  void statements(unsigned count, int depth) {
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t what = pick(22);
      if (what == 0 && depth < 2) {
        const int number = loops_++;
        line("mov.u32 %r{}, 0;", words + number);
        text_ += fmt::format("HEAD{}:\n", number);
        statements(2 + pick(5), depth + 1);
        line("add.u32 %r{0}, %r{0}, 1;", words + number);
        line("setp.lt.u32 %p2, %r{}, {};", words + number, 1 + pick(4));
        line("@%p2 bra HEAD{};", number);
      } else if (what <= 3 && depth < 5) {
        branch(depth);
      } else if (what < 14) {
        arithmetic();
      } else {
        memory(depth < 2);
      }
    }
  }

  // What lanes of a warp do that are apart, perhaps among others that do something else.
  void branch(int depth) {
    const int number = labels_++;
    const bool both = pick(2) != 0;
    line("@{}{} bra OTHER{};", pick(2) ? "!" : "", p(), number);
    statements(1 + pick(3), std::max(depth, 2) + 1);
    if (both) line("bra END{};", number);
    text_ += fmt::format("OTHER{}:\n", number);
    if (!both) return;
    statements(1 + pick(3), std::max(depth, 2) + 1);
    text_ += fmt::format("END{}:\n", number);
  }

  std::mt19937 random_;
  std::string text_;
  int loops_ = 0, labels_ = 0;
};

class CompiledKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = compile::unavailable(); !why.empty()) GTEST_SKIP() << why;
  }
};

// One more program for each seed.
TEST_F(CompiledKernels, GiveWhatTheInterpreterGives) {
  const std::uint32_t programs = from_environment("INFLIGHT_COMPILED_PROGRAMS", 150),
                      first = from_environment("INFLIGHT_COMPILED_SEED", 1);
  std::uint32_t compiled = 0;
  for (std::uint32_t seed = first; seed < first + programs; ++seed) {
    const std::string text = random_kernel(seed, true);
    TwoEngines engines(text);
    ASSERT_TRUE(engines.program);
    const Dim3& block = blocks[seed % std::size(blocks)];
    ASSERT_EQ(engines.difference({2}, block), "")
        << "seed " << seed << ", block " << block.x << ", " << block.y << ", " << block.z << "\n"
        << text;
    const Compiled* const made = engines.made(block_rows(block.x, block.y, block.z));
    compiled += made && made->why_not.empty();
  }
  EXPECT_EQ(compiled, programs);
}

// Their first values are any bits: NaNs with all payloads, infinities and subnormal numbers too.
TEST_F(CompiledKernels, ComputeWithRowsAsTheInterpreterDoes) {
  const std::uint32_t programs = from_environment("INFLIGHT_COMPILED_PROGRAMS", 150),
                      first = from_environment("INFLIGHT_COMPILED_SEED", 1);
  constexpr Dim3 shapes[] = {{64, 1, 1}, {256, 1, 1}, {16, 16, 1}, {32, 4, 1}, {48, 1, 1},
                             {16, 6, 1}, {8, 8, 1},   {8, 1, 1},   {5, 7, 1},  {512, 1, 1}};
  std::uint64_t inside = 0, handled = 0;
  for (std::uint32_t seed = first; seed < first + programs; ++seed) {
    const std::string text = RowsWriter(seed).run();
    TwoEngines engines(text, 64 << 10);
    ASSERT_TRUE(engines.program);
    const Dim3& block = shapes[seed % std::size(shapes)];
    ASSERT_EQ(engines.difference({2}, block), "")
        << "seed " << seed << ", block " << block.x << ", " << block.y << "\n"
        << text;
    const Compiled* const made = engines.made(block_rows(block.x, block.y, block.z));
    ASSERT_TRUE(made);
    ASSERT_EQ(made->why_not, "");
    inside += made->instructions, handled += made->handled;
  }
  // Most have forms of their own.
  EXPECT_GT(inside, 4 * handled);
}

}  // namespace
}  // namespace inflight::machine
