// Long functions are described and decoded in a time that grows with their length, and no longer
// than the launch may take.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <time.h>

#include <functional>
#include <numeric>
#include <string>

#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/launch/in_time.hpp"
#include "gpu/machine/shapes/shapes.hpp"
#include "tests/unit/machine/described_kernel.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using Text = std::string (*)(unsigned);

std::string repeated(unsigned count, const std::function<std::string(unsigned)>& each) {
  std::string all;
  for (unsigned i = 0; i < count; ++i) all += each(i);
  return all;
}

// Every jump may go to every other one.
std::string jumps_to_all(unsigned n) {
  return "T: .branchtargets L0" +
         repeated(n - 1, [](unsigned i) { return fmt::format(",L{}", i + 1); }) + ";\n" +
         repeated(n,
                  [](unsigned i) {
                    return fmt::format(
                        "L{}: add.u32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 1000; @%p1 bra E;\n"
                        "brx.idx %r1, T;\n",
                        i);
                  }) +
         "E: st.global.u32 [%rd1], %r2; ret;";
}
// Every block uses the same few registers, which loads write.
std::string loads(unsigned n) {
  return repeated(n, [](unsigned i) {
    return fmt::format(
        "ld.global.u32 %r3, [%rd1]; setp.ne.u32 %p1, %r3, 0; and.pred %p2, %p1, %p3;\n"
        "@%p2 bra L{0}; add.u32 %r4, %r4, 1; L{0}:\n",
        i);
  });
}
std::string values_of_loads(unsigned n) {
  return repeated(n, [](unsigned) {
    return "ld.global.u32 %r3, [%rd1]; selp.b32 %r4, %r3, %r5, %p1; add.u32 %r5, %r4, %r3;\n";
  });
}
// Each block has a product that is used in the next ones.
std::string products(unsigned n) {
  return repeated(n,
                  [](unsigned i) {
                    return fmt::format(
                        "mul.f32 %g{0}, %f2, %f3; @%p1 bra L{0}; add.f32 %f4, %g{0}, %f5; L{0}:\n",
                        i);
                  }) +
         repeated(n, [](unsigned i) { return fmt::format("add.f32 %f4, %g{0}, %f4;\n", i); });
}
std::string updates(unsigned n) {
  return repeated(n,
                  [](unsigned i) {
                    return fmt::format(
                        "ld.global.u32 %r3, [%rd1]; add.u32 %r4, %r3, 1;\n"
                        "setp.eq.u32 %p1, %r4, {0}; @%p1 bra L{0}; L{0}:\n",
                        i);
                  }) +
         "atom.global.add.u32 %r5, [%rd1], %r6;\n";
}
std::string locks(unsigned n) {
  return repeated(n, [](unsigned i) {
    return fmt::format(
        "L{0}: atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p1, %r3, 0;\n"
        "@%p1 bra L{0};\n",
        i);
  });
}
std::string polls(unsigned n) {
  return repeated(n, [](unsigned i) {
    return fmt::format(
        "L{0}: ld.acquire.gpu.global.u32 %r3, [%rd1]; add.u32 %r4, %r3, %r4;\n"
        "setp.ne.u32 %p1, %r4, 0; @%p1 bra L{0};\n",
        i);
  });
}
// All registers live through all blocks.
std::string long_lives(unsigned n) {
  return repeated(n,
                  [](unsigned i) {
                    return fmt::format("mov.f32 %g{0}, %f1; @%p1 bra L{0}; L{0}:\n", i);
                  }) +
         repeated(n, [](unsigned i) { return fmt::format("add.f32 %f4, %g{0}, %f4;\n", i); });
}
std::string backwards(unsigned n) {
  return "bra S;\n" +
         repeated(n,
                  [&](unsigned i) {
                    return fmt::format(
                        "L{}: st.global.u32 [%rd1], %r1; ld.global.u32 %r1, [%rd1]; bra {};\n", i,
                        i == 0 ? std::string("E") : fmt::format("L{}", i - 1));
                  }) +
         fmt::format("S: @%p1 bra S; bra L{}; E: ret;", n - 1);
}
std::string unknown(unsigned n) {
  return repeated(n, [](unsigned i) { return fmt::format("nonsense{}.u32 %r1, %r2;\n", i % 100); });
}

std::string kernel(const std::string& body, unsigned n) {
  return fmt::format(
      ".visible .entry k(.param .u64 p) {{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n"
      ".reg .f32 %f<9>; .reg .f32 %g<{}>; ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n"
      "mov.u32 %r2, 0;\n{}\nret; }}\n",
      n + 1, body);
}

double seconds_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Links without PtxRunner, whose audit decodes all functions.
struct Linked {
  explicit Linked(const std::string& text) {
    auto module = ptx::parse(std::make_shared<const std::string>(
                                 ".version 8.7\n.target sm_90a\n.address_size 64\n" + text),
                             "m");
    if (!module) {
      ADD_FAILURE() << module.error().message << " in line " << module.error().line;
      return;
    }
    program = std::move(
        *Program::link({std::make_shared<const ptx::Module>(std::move(*module))}, memory, 0));
  }
  Memory memory{1, 1 << 20};
  std::unique_ptr<Program> program;
};

// The processor time of describing and decoding.
double cost(Text text, unsigned n) {
  const Linked linked(kernel(text(n), n));
  const double begin = seconds_of_thread();
  prepared(*linked.program).decoded({0, 0}, {.accessed = true});
  return seconds_of_thread() - begin;
}
// Of finding shapes.
double cost_of_shapes(Text text, unsigned n) {
  const DescribedKernel k(kernel(text(n), n));
  const double begin = seconds_of_thread();
  find_shapes(*k.function, BlockRows::line);
  return seconds_of_thread() - begin;
}

TEST(LongFunctions, TakeTimeInProportionToTheirLength) {
  constexpr unsigned few = 1000, times = 8;
  const std::pair<const char*, Text> texts[] = {{"jumps_to_all", jumps_to_all},
                                                {"loads", loads},
                                                {"values_of_loads", values_of_loads},
                                                {"products", products},
                                                {"updates", updates},
                                                {"locks", locks},
                                                {"polls", polls},
                                                {"long_lives", long_lives},
                                                {"backwards", backwards},
                                                {"unknown", unknown}};
  for (const auto& [name, text] : texts) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr double searches = 20;
#else
    constexpr double searches = 1;  // seconds that bounded searches may take at most
#endif
    const double base = std::max(cost(text, few), 0.01), more = cost(text, few * times);
    EXPECT_LT(more, base * times * 4 + searches) << name << ": " << base << " s, then " << more;
    EXPECT_LT(cost_of_shapes(text, few * times), searches) << name;
  }
}

TEST(LongFunctions, HaveNoMoreEdgesThanJumpsAndLabels) {
  constexpr unsigned n = 1000;
  const DescribedKernel k(kernel(jumps_to_all(n), n));
  const auto& blocks = k.function->flow.blocks;
  const std::size_t edges = std::accumulate(
      blocks.begin(), blocks.end(), std::size_t{0},
      [](std::size_t sum, const BasicBlock& each) { return sum + each.successors.size(); });
  EXPECT_LT(edges, 5 * n);
}

TEST(LongFunctions, JumpByOneTableFromManyPlaces) {
  PtxRunner r({kernel(jumps_to_all(40), 1)});
  auto* const out = r.make<std::uint32_t>(1);
  const Outcome o = r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(*out, 1000u);
}

TEST(LongFunctions, AreNotPreparedLongerThanTheTimeout) {
  const Linked linked(kernel(loads(100000), 1));
  const auto memory = linked.program->memory().allocate(0, 4, AllocationKind::device).value();
  Launch launch;
  launch.kernel = linked.program->kernel("k");
  launch.grid = launch.block = {1, 1, 1};
  launch.parameters.resize(sizeof memory);
  std::memcpy(launch.parameters.data(), &memory, sizeof memory);
  Options options;
  options.timeout = std::chrono::milliseconds(1);
  const auto print = [](std::string_view) {};
  EXPECT_EQ(prepare_in_time(launch, nullptr, options.timeout).kind, FaultKind::timeout);
  EXPECT_EQ(run(launch, Limits(), options, print).kind, FaultKind::timeout);
  options.timeout = {};
  const Outcome later = run(launch, Limits(), options, print);
  EXPECT_TRUE(later.ok()) << later.report;
  options.timeout = std::chrono::milliseconds(1);
  EXPECT_TRUE(prepare_in_time(launch, nullptr, options.timeout).ok()) << "it is prepared already";
}

TEST(LongFunctions, AreGivenUpWhenNobodyWantsThem) {
  const DescribedKernel k(kernel(loads(10), 10));
  EXPECT_THROW(describe(*k.module, *k.function->text, Patience([] { return true; })), Unwanted);
}

}  // namespace
}  // namespace inflight::machine
