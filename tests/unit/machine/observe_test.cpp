// The instruction events of a listener: one per instruction with its lanes, or sums.
#include <algorithm>
#include <bit>
#include <compare>
#include <map>
#include <random>

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

// The same as sums, for a listener without events.
class Sums : public check::Listener {
 public:
  using Kind = check::Access::Kind;
  struct Where {
    std::uint32_t instruction;
    check::Space space;
    Kind kind;
    auto operator<=>(const Where&) const = default;
  };
  struct Times {
    std::uint64_t warps = 0, threads = 0;
    bool operator==(const Times&) const = default;
  };
  check::Topic topics() const override { return check::Topic::counts; }
  void run_counted(const check::RunCount& event) override {
    ASSERT_EQ(event.instructions.size(), event.families.size());
    for (const std::uint32_t instruction : event.instructions)
      threads[instruction] += static_cast<unsigned>(event.threads);
  }
  void access_counted(const check::AccessCount& event) override {
    Times& times = accesses[{event.instruction, event.space, event.kind}];
    times.warps += event.warps;
    times.threads += event.threads;
    bytes += event.bytes * event.threads;
  }
  void blocks_counted(const check::BlockCount& event) override {
    blocks += event.blocks;
    divergent += event.divergent_branches;
    barriers += event.barriers[0];
  }
  void executed(const check::Executed&) override { FAIL() << "nobody asked for it"; }
  void accessed(const check::Access&) override { FAIL() << "nobody asked for it"; }
  std::map<std::uint32_t, unsigned> threads;
  std::map<Where, Times> accesses;
  std::uint64_t bytes = 0, blocks = 0, divergent = 0, barriers = 0;
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
  Sums sums;
  run_observed(sums, text);
  EXPECT_EQ(sums.threads, expected);
  EXPECT_EQ(sums.bytes, counter.bytes);
  EXPECT_EQ(sums.blocks, 1u);
}

// Lanes that exit in a called function do not execute the code after the call.
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
  Sums sums;
  run_observed(sums, text);
  EXPECT_EQ(sums.threads, counter.threads);
}

// Accesses after a fault in a straight run of code were counted with it but did not happen.
TEST_F(Observed, AccessesAfterAFaultDoNotCount) {
  const std::string text = entry(1, R"(
  .reg .b32 %r<5>; .reg .pred %p; .reg .b64 %d<5>;
  ld.param.u64 %d1, [p0];
  mov.u32 %r0, %tid.x;
  setp.ge.u32 %p, %r0, 16;
  st.global.u32 [%d1], %r0;
  mov.u64 %d2, 64;
  @%p ld.global.u32 %r1, [%d2];
  st.global.u32 [%d1], %r1;
  ret;)");
  Sums sums;
  options.listener = &sums;
  const std::uint64_t out = upload(std::vector<std::uint32_t>(32));
  EXPECT_EQ(run(link(text), {}, {out}).kind, FaultKind::illegal_address);
  using Space = check::Space;
  const std::map<Sums::Where, Sums::Times> expected{
      {{0, Space::param, Sums::Kind::load}, {1, 32}},
      {{3, Space::global, Sums::Kind::store}, {1, 32}},
      {{5, Space::global, Sums::Kind::load}, {1, 16}}};
  EXPECT_EQ(sums.accesses, expected);
}

// A random program for each seed. Each thread runs a loop as often as a table says. In each round,
// a word of the thread selects which guarded accesses it makes, where a generic address points, and
// whether it branches past a store and a call. A model of threads counts.
class RandomAccesses : public Observed {
 protected:
  static constexpr std::uint32_t threads = 96, most_rounds = 5;
};

TEST_F(RandomAccesses, AreCountedAsAThreadByThreadModelDoes) {
  const std::string text = R"(
.func twice(.param .b64 at)
{
  .reg .b64 %d; .reg .b32 %r;
  ld.param.u64 %d, [at];
  ld.u32 %r, [%d];
  red.global.add.u32 [%d], %r;
  ret;
}
)" + std::string(".shared .align 16 .b8 words[4096];\n") +
                           entry(3, R"(
  .reg .b32 %r<20>; .reg .pred %p<6>; .reg .b64 %d<12>; .local .align 8 .b8 own[64];
  ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2];
  mov.u32 %r0, %tid.x; mul.wide.u32 %d3, %r0, 24; add.u64 %d3, %d0, %d3;
  ld.global.u32 %r1, [%d3];
  setp.eq.u32 %p0, %r1, 0;
  @%p0 bra DONE;
LOOP:
  add.u64 %d3, %d3, 4;
  ld.global.u32 %r2, [%d3];
  and.b32 %r3, %r2, 1;
  st.shared.u32 [words], %r2;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 atom.global.add.u32 %r4, [%d1], 1;
  cvta.shared.u64 %d4, words; cvta.local.u64 %d5, own;
  bfe.u32 %r5, %r2, 1, 2; setp.eq.u32 %p2, %r5, 0; setp.eq.u32 %p3, %r5, 1;
  mov.u64 %d6, %d2;
  selp.u64 %d6, %d4, %d6, %p2; selp.u64 %d6, %d5, %d6, %p3;
  and.b32 %r6, %r2, 8; setp.ne.u32 %p4, %r6, 0;
  @%p4 ld.v2.u32 {%r7, %r8}, [%d6];
  and.b32 %r6, %r2, 16; setp.ne.u32 %p5, %r6, 0;
  @%p5 bra PAST;
  st.local.u64 [own], %d6;
  { .param .b64 a; st.param.b64 [a], %d2; call twice, (a); }
PAST:
  ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [words+16];
  sub.u32 %r1, %r1, 1; setp.ne.u32 %p0, %r1, 0;
  @%p0 bra LOOP;
DONE:
  bar.sync 0;
  ret;)");
  const Program* program = link(text, "sm_80");
  ASSERT_TRUE(program);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint32_t> table(threads * 6);
    struct Model {
      std::uint64_t loaded[5] = {}, stored[5] = {}, atomic[5] = {};
    } model;
    constexpr int global = 0, shared = 1, local = 2, param = 4;
    for (std::uint32_t t = 0; t < threads; ++t) {
      const std::uint32_t rounds = table[t * 6] = random() % (most_rounds + 1);
      model.loaded[param] += 3 * 8, model.loaded[global] += 4;
      for (std::uint32_t i = 1; i <= rounds; ++i) {
        const std::uint32_t word = table[t * 6 + i] = random();
        model.loaded[global] += 4, model.stored[shared] += 4, model.loaded[shared] += 16;
        if (word & 1) model.atomic[global] += 4;
        const std::uint32_t where = word >> 1 & 3;
        if (word & 8) model.loaded[where == 0 ? shared : where == 1 ? local : global] += 8;
        if (word & 16) continue;
        model.stored[local] += 8, model.stored[param] += 8;  // and the argument of the call
        model.loaded[global] += 4, model.atomic[global] += 4;
      }
    }
    struct Listener : Sums {
      void access_counted(const check::AccessCount& event) override {
        Sums::access_counted(event);
        auto& all = event.kind == Kind::load    ? model.loaded
                    : event.kind == Kind::store ? model.stored
                                                : model.atomic;
        all[static_cast<int>(event.space)] += event.threads * event.bytes;
      }
      Model model;
    } listener;
    options.listener = &listener;
    const std::uint64_t words = upload(table), sum = upload(std::vector<std::uint32_t>(4)),
                        other = upload(std::vector<std::uint32_t>(4));
    const Outcome o = run(program, {{1, 1, 1}, {threads, 1, 1}}, {words, sum, other});
    ASSERT_TRUE(o.ok()) << o.report;
    EXPECT_TRUE(std::ranges::equal(listener.model.loaded, model.loaded)) << "seed " << seed;
    EXPECT_TRUE(std::ranges::equal(listener.model.stored, model.stored)) << "seed " << seed;
    EXPECT_TRUE(std::ranges::equal(listener.model.atomic, model.atomic)) << "seed " << seed;
    EXPECT_EQ(listener.barriers, 1u);

    // And in events, instruction by instruction.
    struct Both : Sums {
      check::Topic topics() const override {
        return check::Topic::counts | check::Topic::instructions | check::Topic::accesses |
               check::Topic::parameters;
      }
      void executed(const check::Executed& event) override {
        told[event.who.instruction] += static_cast<unsigned>(std::popcount(event.who.mask));
      }
      void accessed(const check::Access& event) override {
        Times& times = told_accesses[{event.who.instruction, event.space, event.kind}];
        ++times.warps;
        times.threads += static_cast<unsigned>(std::popcount(event.who.mask));
      }
      std::map<std::uint32_t, unsigned> told;
      std::map<Where, Times> told_accesses;
    } both;
    options.listener = &both;
    ASSERT_TRUE(run(program, {{1, 1, 1}, {threads, 1, 1}}, {words, sum, other}).ok());
    EXPECT_EQ(both.threads, both.told) << "seed " << seed;
    EXPECT_EQ(both.accesses, both.told_accesses) << "seed " << seed;
    EXPECT_EQ(both.threads, listener.threads) << "seed " << seed;
    EXPECT_EQ(both.accesses, listener.accesses) << "seed " << seed;
  }
}

// Whether listeners are told that a launch may copy tensors, which some of them need not follow
// otherwise.
TEST_F(Observed, ALaunchMayCopyTensorsIfACallReachesACopy) {
  struct Kernels : check::Listener {
    check::Topic topics() const override { return check::Topic::kernels; }
    void kernel_begin(const check::KernelBegin& event) override {
      tensors = event.kernel->may_copy_tensors;
    }
    bool tensors = false;
  };
  const std::string functions = R"(
.func plain() { ret; }
.func copies()
{
  .reg .b32 %r<2>; .reg .pred %p; .reg .b64 %d;
  setp.ne.u32 %p, %r0, %r0;
  mov.u64 %d, 0;
  @%p cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d, {%r0}], [%r1];
  ret;
}
)";
  const auto may_copy = [&](const std::string& body) {
    Kernels kernels;
    run_observed(kernels, functions + entry(1, ".reg .b64 %d<4>;" + body + " ret;"));
    return kernels.tensors;
  };
  EXPECT_FALSE(may_copy(""));
  EXPECT_FALSE(may_copy("call plain;"));
  EXPECT_TRUE(may_copy("call copies;"));
  EXPECT_TRUE(may_copy("mov.u64 %d1, plain; P: .callprototype _ (); call %d1, P;"));
}

}  // namespace
}  // namespace inflight::machine
