// What a listener hears of instructions: each once, with the lanes that executed it.
#include <bit>
#include <map>
#include <set>

#include "gpu/check/listener.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

// Threads of each instruction, by its number among the function's.
class Counter : public check::Listener {
 public:
  void executed(const check::Executed& event) override {
    threads[event.who.instruction] += static_cast<unsigned>(std::popcount(event.who.mask));
  }
  void accessed(const check::Access& event) override {
    accesses[event.who.instruction] += static_cast<unsigned>(std::popcount(event.who.mask));
    bytes += event.bytes * static_cast<unsigned>(std::popcount(event.who.mask));
  }
  std::map<std::uint32_t, unsigned> threads, accesses;
  unsigned bytes = 0;
};

// The same for a listener that takes whole runs.
class RunCounter : public Counter {
 public:
  void executed_run(const check::Who& who, std::span<const std::uint32_t> families) override {
    for (std::uint32_t i = 0; i < families.size(); ++i)
      threads[who.instruction + i] += static_cast<unsigned>(std::popcount(who.mask));
    ++runs;
  }
  unsigned runs = 0;
};

class Observed : public KernelRunner {
 protected:
  void run_observed(check::Listener& listener, const std::string& text) {
    options.listener = &listener;
    const std::uint64_t out = upload(std::vector<std::uint32_t>(32));
    const Outcome o = run(link(text), {}, {out});
    EXPECT_TRUE(o.ok()) << o.report;
  }
};

TEST_F(Observed, EveryInstructionCountsTheLanesThatExecuteIt) {
  const std::string text = entry(1, R"(
  .reg .b32 %r<5>; .reg .pred %p, %q; .reg .b64 %d<4>;
  mov.u32 %r0, %tid.x;
  setp.lt.u32 %p, %r0, 8;
  @%p add.u32 %r1, %r0, 1;
  mov.u32 %r2, 0;
LOOP:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %q, %r2, 3;
  @%q bra LOOP;
  @%p bra SMALL;
  xor.b32 %r1, %r1, 5;
SMALL:
  ld.param.u64 %d1, [p0];
  mul.wide.u32 %d2, %r0, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r2;
  @%p exit;
  @!%p ld.global.u32 %r3, [%d3];
  ret;)");
  const std::map<std::uint32_t, unsigned> expected{
      {0, 32}, {1, 32}, {2, 8},   {3, 32},  {4, 96},  {5, 96}, {6, 96},  {7, 32},
      {8, 24}, {9, 32}, {10, 32}, {11, 32}, {12, 32}, {13, 8}, {14, 24}, {15, 24}};
  Counter counter;
  run_observed(counter, text);
  EXPECT_EQ(counter.threads, expected);
  EXPECT_EQ(counter.accesses, (std::map<std::uint32_t, unsigned>{{9, 32}, {12, 32}, {14, 24}}));
  EXPECT_EQ(counter.bytes, 32u * 8 + 32 * 4 + 24 * 4);
  RunCounter runs;
  run_observed(runs, text);
  EXPECT_EQ(runs.threads, expected);
  EXPECT_LT(runs.runs, 16u);
}

// Lanes that a called function ends do not count as executing what follows the call.
TEST_F(Observed, ACallMayTakeLanesAway) {
  const std::string text = R"(
.func ends(.param .b32 n)
{
  .reg .b32 %r<2>; .reg .pred %p;
  ld.param.u32 %r0, [n];
  setp.lt.u32 %p, %r0, 20;
  @%p exit;
  ret;
}
)" + entry(1, R"(
  .reg .b32 %r<5>;
  mov.u32 %r0, %tid.x;
  { .param .b32 a; st.param.b32 [a], %r0; call ends, (a); }
  mov.u32 %r1, 1;
  mov.u32 %r2, 1;
  ret;)");
  Counter counter;
  run_observed(counter, text);
  // ends has 0 to 3, the entry 4 to 9.
  EXPECT_EQ(counter.threads[2], 20u);
  EXPECT_EQ(counter.threads[3], 12u);
  EXPECT_EQ(counter.threads[6], 32u);
  EXPECT_EQ(counter.threads[7], 12u);
  EXPECT_EQ(counter.threads[9], 12u);
}

}  // namespace
}  // namespace inflight::machine
