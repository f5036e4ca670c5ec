// Another engine replaces basic blocks: it uses the registers of the description and the decoded
// function, calls back for what it does not compile, and continues in the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/run/warp.hpp"
#include "tests/unit/machine/event_log.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

constexpr const char* kernel = R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %n, %sum, %i, %t, %u; .reg .b64 %p, %at, %c; .reg .pred %q, %low;
  ld.param.u64 %p, [out];
  mov.u32 %n, %tid.x;
  mov.u32 %i, 0;
  mov.u32 %sum, 0;
loop:
  mad.lo.u32 %sum, %i, %i, %sum;
  add.u32 %i, %i, 1;
  setp.le.u32 %q, %i, %n;
  @%q bra loop;
  mul.wide.u32 %at, %n, 4;
  add.u64 %at, %p, %at;
  st.global.u32 [%at], %sum;
  popc.b32 %t, %sum;
  setp.lt.u32 %low, %n, 40;
  @%low st.global.u32 [%at+256], %t;
  popc.b32 %u, %t;
  st.global.u32 [%at+512], %u;
  mov.u64 %c, %clock64;
  st.global.u32 [%at+768], %c;
  ret;
}
)";
constexpr std::size_t threads = 64;

Ref register_of(const Code& code, std::string_view name) {
  for (std::size_t r = 0; r < code.slots.size(); ++r)
    if (code.function->registers[r].name == name) return code.slots[r];
  return no_ref;
}

const Code& code_of(const PtxRunner& runner, CodeForm form = {}) {
  const Kernel& k = *runner.program->kernel("k");
  return **prepared(*runner.program).code({k.module, k.function}, form);
}

int blocks_run = 0;  // by the functions below
Ref i_at, n_at, sum_at;
const Op *loop_again, *behind_loop;

// The loop's body as a compiler would generate it: for the lanes of the mask, then the branch.
const Op* loop_by_hand(Warp& w, const Op*) {
  ++blocks_run;
  auto* const i = w.at<std::uint32_t>(i_at);
  auto* const n = w.at<std::uint32_t>(n_at);
  auto* const sum = w.at<std::uint32_t>(sum_at);
  std::uint32_t again = 0;
  for (int l = 0; l < lanes; ++l) {
    if (!(w.mask >> l & 1)) continue;
    sum[l] += i[l] * i[l];
    ++i[l];
    if (i[l] <= n[l]) again |= 1u << l;
  }
  if (again == w.mask) return w.jump(loop_again);
  if (again == 0) return behind_loop;
  return w.diverge(loop_again, again, behind_loop);
}

// Compiles the loop of the kernel's code in this form.
void replace_loop(const Code& code) {
  ASSERT_EQ(code.description->flow.blocks.size(), 4u);  // before, the loop, after, and the end
  i_at = register_of(code, "%i"), n_at = register_of(code, "%n"),
  sum_at = register_of(code, "%sum");
  loop_again = &code.ops[code.block_start[1]];
  behind_loop = &code.ops[code.block_start[2]];
  blocks_run = 0;
  const_cast<Op*>(code.entry(1))->run = loop_by_hand;
}

TEST(Engines, OneMayRunABasicBlockThatAnotherInterprets) {
  PtxRunner runner({kernel});
  replace_loop(code_of(runner));
  auto* const out = runner.make<std::uint32_t>(4 * threads);
  ASSERT_TRUE(runner.run("k", {1}, {threads}, {reinterpret_cast<std::uint64_t>(out)}).ok());
  EXPECT_GT(blocks_run, 0);
  for (std::uint32_t n = 0, sum = 0; n < threads; ++n) {
    sum += n * n;
    EXPECT_EQ(out[n], sum) << n;
  }
}

// Compiles some instructions of a block and calls the handlers of its other ops.
class Engine {
 public:
  using Compiled = std::function<void(Warp&)>;
  // Enters the block of this code. Stops before the instruction `end` and leaves the rest to the
  // interpreter.
  Engine(const Code& code, std::uint32_t block, std::map<std::uint32_t, Compiled> compiled,
         std::uint32_t end)
      : code_(code),
        block_(code.description->flow.blocks[block]),
        compiled_(std::move(compiled)),
        end_(end),
        entry_(const_cast<Op*>(code.entry(block))),
        replaced_(entry_->run) {
    entry_->run = run;
    engines[entry_] = this;
  }
  ~Engine() {
    entry_->run = replaced_;
    engines.erase(entry_);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int entered = 0, called_back = 0, compiled = 0;

 private:
  static const Op* run(Warp& w, const Op* op) { return engines.at(op)->run_from(w, op); }
  const Op* run_from(Warp& w, const Op* op) {
    ++entered;
    for (;;) {
      const std::uint32_t i = op->instruction;
      const bool own = op == &code_.ops[code_.own_ops[i]];
      if (i < block_.first || i >= block_.last || (own && i == end_)) return op;
      if (const auto known = compiled_.find(i); own && known != compiled_.end()) {
        ++compiled;
        known->second(w);
        while (op->instruction == i) ++op;
        continue;
      }
      ++called_back;
      const Op* const next = (op == entry_ ? replaced_ : op->run)(w, op);
      if (next != op + 1) return next;
      op = next;
    }
  }

  static inline std::map<const Op*, Engine*> engines;
  const Code& code_;
  const BasicBlock& block_;
  const std::map<std::uint32_t, Compiled> compiled_;
  const std::uint32_t end_;
  Op* const entry_;
  const Handler replaced_;
};

// Computes the result of each executing lane from the lane's number.
template <class T, class F>
void each(Warp& w, Ref to, F value) {
  T* const results = w.at<T>(to);
  for (int l = 0; l < lanes; ++l)
    if (w.mask >> l & 1) results[l] = value(l);
}

// The loop without its branch; and behind the loop all but the stores and the last two
// instructions, before which the engine leaves.
struct Engines2 {
  explicit Engines2(const Code& code)
      : sum(register_of(code, "%sum")),
        i(register_of(code, "%i")),
        n(register_of(code, "%n")),
        p(register_of(code, "%p")),
        at(register_of(code, "%at")),
        t(register_of(code, "%t")),
        loop(code, 1, {{4, [this](Warp& w) { square(w); }}, {5, [this](Warp& w) { step(w); }}},
             Code::none),
        behind(code, 2,
               {{8, [this](Warp& w) { widen(w); }},
                {9, [this](Warp& w) { add(w); }},
                {11, [this](Warp& w) { count(w); }}},
               14) {}

  void square(Warp& w) {
    const auto *const is = w.at<std::uint32_t>(i), *const sums = w.at<std::uint32_t>(sum);
    each<std::uint32_t>(w, sum, [&](int l) { return is[l] * is[l] + sums[l]; });
  }
  void step(Warp& w) {
    const auto* const is = w.at<std::uint32_t>(i);
    each<std::uint32_t>(w, i, [&](int l) { return is[l] + 1; });
  }
  void widen(Warp& w) {
    const auto* const ns = w.at<std::uint32_t>(n);
    each<std::uint64_t>(w, at, [&](int l) { return std::uint64_t{4} * ns[l]; });
  }
  void add(Warp& w) {
    const auto *const ps = w.at<std::uint64_t>(p), *const ats = w.at<std::uint64_t>(at);
    each<std::uint64_t>(w, at, [&](int l) { return ps[l] + ats[l]; });
  }
  void count(Warp& w) {
    const auto* const sums = w.at<std::uint32_t>(sum);
    each<std::uint32_t>(w, t, [&](int l) { return std::popcount(sums[l]); });
  }

  const Ref sum, i, n, p, at, t;
  Engine loop, behind;
};

// What a launch stores, and the lines that its listener wrote.
struct Results {
  std::vector<std::uint32_t> stored;
  std::vector<std::string> lines;
  bool operator==(const Results&) const = default;
};

// Also lists instructions and counts.
class EventsAndCounts : public EventLog {
 public:
  using EventLog::EventLog;
  void executed(const check::Executed& e) override { add(e.who, "executed"); }
  void run_counted(const check::RunCount& e) override {
    for (const std::uint32_t each : e.instructions)
      lines.push_back(fmt::format("{} counted {} {}", each, e.warps, e.threads));
  }
  void access_counted(const check::AccessCount& e) override {
    lines.push_back(fmt::format("{} accessed {} {} {} {}", e.instruction, static_cast<int>(e.space),
                                static_cast<int>(e.kind), e.warps, e.threads));
  }
};

class TwoEngines : public testing::Test {
 protected:
  Results run(check::Topic topics) {
    EventsAndCounts log(topics);
    runner.options.listener = topics == check::Topic::none ? nullptr : &log;
    auto* const out = runner.make<std::uint32_t>(4 * threads);
    log.call("out", reinterpret_cast<std::uint64_t>(out), 16 * threads);
    EXPECT_TRUE(runner.run("k", {1}, {threads}, {reinterpret_cast<std::uint64_t>(out)}).ok());
    return {{out, out + 4 * threads}, log.lines};
  }
  // Runs without and with the engines.
  void expect_equal(check::Topic topics, CodeForm form) {
    const Results interpreted = run(topics);
    Engines2 engines(code_of(runner, form));
    const Results both = run(topics);
    EXPECT_EQ(both.stored, interpreted.stored);
    EXPECT_EQ(both.lines, interpreted.lines);
    EXPECT_EQ(interpreted.lines.empty(), topics == check::Topic::none);
    EXPECT_GT(engines.loop.compiled, 2 * 32);
    EXPECT_EQ(engines.behind.compiled % 3, 0);
    EXPECT_GE(engines.behind.entered, 2) << "once for each warp";
    EXPECT_GE(engines.behind.called_back, 3 * engines.behind.entered);
  }

  PtxRunner runner{{kernel}};
};

// The kernel stores results and the clock, so the engines take as long as the interpreter.
TEST_F(TwoEngines, CallBackForWhatTheyDoNotCompileAndEndInTheMiddleOfABlock) {
  expect_equal(check::Topic::none, {});
}

TEST_F(TwoEngines, LoseNoEvent) {
  expect_equal(check::Topic::instructions | check::Topic::accesses,
               {.executed = true, .accessed = true});
}

TEST_F(TwoEngines, LoseNoCount) { expect_equal(check::Topic::counts, {.counted = true}); }

// The op that counts a block's instructions stands before the entry.
TEST_F(TwoEngines, LoseNoCountOfABlockThatOneRunsAlone) {
  const Results interpreted = run(check::Topic::counts);
  replace_loop(code_of(runner, {.counted = true}));
  const Results both = run(check::Topic::counts);
  EXPECT_EQ(both.stored, interpreted.stored);
  EXPECT_EQ(both.lines, interpreted.lines);
  EXPECT_GT(blocks_run, 2 * 32);
}

// Where a block begins, there may be ops that an engine must not replace.
TEST(EntriesOfBlocks, AreBehindOpsThatOnlyCountReportAndPause) {
  const PtxRunner runner({R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %d; .reg .pred %q; .shared .u32 s[32];
  ld.param.u64 %d, [out];
  mov.u32 %r0, s;
  setp.eq.u64 %q, %d, 0;
  bar.sync 0;
  ld.shared.u32 %r1, [%r0];
  @%q bra skip;
  st.shared.u32 [%r0], %r1;
skip:
  ret;
}
)"});
  const auto distance = [&](std::uint32_t block, CodeForm form) {
    const Code& code = code_of(runner, form);
    const Op* const entry = code.entry(block);
    EXPECT_EQ(entry->instruction, code.description->flow.blocks[block].first);
    return entry - &code.ops[code.block_start[block]];
  };
  EXPECT_EQ(distance(0, {}), 0);
  EXPECT_EQ(distance(1, {}), 1) << "its store begins a phase";
  EXPECT_EQ(distance(0, {.counted = true}), 1);
  EXPECT_EQ(distance(1, {.counted = true}), 2);
  EXPECT_EQ(distance(0, {.executed = true}), 1);
}

TEST(EntriesOfBlocks, AreNotInInstructionsThatAreMergedIntoOthers) {
  const PtxRunner runner({R"(
.visible .entry k(.param .u64 out) {
  .reg .f32 %a, %b, %c; .reg .b64 %d; .reg .pred %q;
  ld.param.u64 %d, [out];
  ld.global.f32 %a, [%d];
  setp.eq.u64 %q, %d, 0;
  @%q bra skip;
  mul.f32 %b, %a, %a;
  add.f32 %c, %b, %a;
  st.global.f32 [%d], %c;
skip:
  ret;
}
)"});
  const Code& code = code_of(runner, {.counted = true});
  const BasicBlock& block = code.description->flow.blocks[1];
  ASSERT_TRUE(code.description->body[block.first].contracted);
  EXPECT_EQ(code.entry(1)->instruction, block.first + 1);
}

}  // namespace
}  // namespace inflight::machine
