// Listeners are notified of synchronising operations of several host threads in the order in which
// these happened, with what was read and which lanes wrote.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu/async/timing.hpp"
#include "gpu/check/listener.hpp"
#include "tests/unit/check/enumerators.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using check::Mask;
using check::Order;
using check::Scope;
using Kind = check::Access::Kind;
using Lanes = std::array<std::uint32_t, 32>;

constexpr unsigned blocks = 16, rounds = 3, cluster_blocks = 2;
constexpr std::uint32_t arrived_word = 16;  // in which the blocks count themselves
using Words = std::array<std::uint32_t, arrived_word + 1>;

// How an access changes a word.
enum class Change { nothing, put, put_if_equal, add, most, bits };

struct Form {
  const char* text;  // {}: the address. %r1: the operand. %r2: what the lane has read last
  bool fence;
  Kind kind;
  Order order;
  Scope scope;
  Change change;
};
constexpr Form forms[] = {
    {"ld.acquire.gpu.global.u32 %r2, {};", false, Kind::load, Order::acquire, Scope::gpu,
     Change::nothing},
    {"ld.relaxed.sys.global.u32 %r2, {};", false, Kind::load, Order::relaxed, Scope::sys,
     Change::nothing},
    {"ld.volatile.u32 %r2, {};", false, Kind::load, Order::volatile_, Scope::sys, Change::nothing},
    {"st.release.gpu.global.u32 {}, %r1;", false, Kind::store, Order::release, Scope::gpu,
     Change::put},
    {"st.relaxed.sys.u32 {}, %r1;", false, Kind::store, Order::relaxed, Scope::sys, Change::put},
    {"st.volatile.global.u32 {}, %r1;", false, Kind::store, Order::volatile_, Scope::sys,
     Change::put},
    {"atom.acq_rel.gpu.global.exch.b32 %r2, {}, %r1;", false, Kind::atomic, Order::acq_rel,
     Scope::gpu, Change::put},
    {"atom.acquire.gpu.global.cas.b32 %r2, {}, %r2, %r1;", false, Kind::atomic, Order::acquire,
     Scope::gpu, Change::put_if_equal},
    {"atom.release.sys.add.u32 %r2, {}, %r1;", false, Kind::atomic, Order::release, Scope::sys,
     Change::add},
    {"atom.global.max.u32 %r2, {}, %r1;", false, Kind::atomic, Order::relaxed, Scope::gpu,
     Change::most},
    {"red.release.gpu.global.add.u32 {}, %r1;", false, Kind::reduction, Order::release, Scope::gpu,
     Change::add},
    {"red.relaxed.sys.global.or.b32 {}, %r1;", false, Kind::reduction, Order::relaxed, Scope::sys,
     Change::bits},
    {"fence.acq_rel.gpu;", true, {}, Order::acq_rel, Scope::gpu, {}},
    {"fence.sc.sys;", true, {}, Order::seq_cst, Scope::sys, {}},
};
constexpr unsigned fence_forms = 2, access_forms = std::size(forms) - fence_forms;
constexpr Form arrival{"red.release.gpu.global.add.u32 {}, 1;",
                       false,
                       Kind::reduction,
                       Order::release,
                       Scope::gpu,
                       Change::add};
constexpr Form poll{"ld.acquire.gpu.global.u32 %r6, {};",
                    false,
                    Kind::load,
                    Order::acquire,
                    Scope::gpu,
                    Change::nothing};

constexpr std::uint32_t factors[] = {0, 1, 3, 5};
constexpr Mask guards[] = {~0u, ~0u, 0xaaaaaaaa, 0xff, 1};  // by predicate, %p0 is always true

struct Step {
  const Form* form;
  unsigned factor = 0, offset = 0, guard = 0;
  bool polls = false;  // until all blocks have arrived

  Mask mask() const { return guards[guard]; }
  std::uint32_t word(unsigned lane) const { return lane * factors[factor] % 8 + offset; }
  std::string text() const {
    std::string line = guard ? fmt::format("@%p{} ", guard) : "";
    const std::string address = fmt::format("[%a{}+{}]", factor, offset * 4);
    line += fmt::format(fmt::runtime(form->text), address);
    // The next operand: no other thread has it, nor has this one had it.
    return "  " + line + "\n  add.u32 %r1, %r1, 1;\n";
  }
};

struct History {
  std::vector<Step> body, tail;  // executed `rounds` times, and once when all blocks have arrived
  bool clusters = false;         // blocks of a cluster also synchronise by mbarriers

  // The steps that each warp executes.
  std::vector<Step> steps() const {
    std::vector<Step> all;
    for (unsigned i = 0; i < rounds; ++i) all.insert(all.end(), body.begin(), body.end());
    all.push_back({&arrival, 0, arrived_word, 4});
    all.push_back({&poll, 0, arrived_word, 0, true});
    all.insert(all.end(), tail.begin(), tail.end());
    return all;
  }
};

History random_history(std::mt19937& random, bool clusters) {
  const auto steps = [&](unsigned count) {
    std::vector<Step> made;
    for (unsigned i = 0; i < count; ++i) {
      const bool fence = random() % 8 == 0;
      const Form& form =
          forms[fence ? access_forms + random() % fence_forms : random() % access_forms];
      made.push_back({&form, static_cast<unsigned>(random() % std::size(factors)),
                      static_cast<unsigned>(random() % 8),
                      static_cast<unsigned>(random() % std::size(guards))});
    }
    return made;
  };
  return {steps(10), steps(4), clusters};
}

// --- what the events must be ------------------------------------------------------------------

struct Mbarrier {
  std::uint32_t parity = 0, expected = 0, pending = 0, phases = 0;
  std::int32_t bytes = 0;
};

// Replays the events on its own words, registers and mbarriers, in the order in which they come.
// The words are guarded by the order of strong accesses, all else by that of a block's or cluster's
// events.
class Replay : public check::Listener {
 public:
  Replay(const History& history, std::uint64_t base, const Words& words,
         std::set<std::thread::id>& threads)
      : words(words), steps_(history.steps()), base_(base), threads_(threads) {
    for (std::uint32_t block = 0; block < blocks; ++block)
      for (std::uint32_t lane = 0; lane < 32; ++lane)
        warps_[block].operand[lane] = (block * 32 + lane + 1) << 12;
  }
  check::Topic topics() const override {
    using check::Topic;
    return Topic::accesses | Topic::addresses | Topic::fences | Topic::mbarriers | Topic::barriers |
           Topic::blocks;
  }

  // On a busy machine, a helper may need a pause to get a core.
  void block_begin(const check::BlockBegin&) override {
    if (alone()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void accessed(const check::Access& e) override {
    if (e.order == Order::weak || e.space != check::Space::global) return;
    note_thread();
    Warp& warp = warps_[e.who.block];
    if (warp.next == steps_.size()) return wrong(e.who, "an access after the last one");
    const Step& step = steps_[warp.next];
    const Form& form = *step.form;
    if (form.fence || e.kind != form.kind || e.order != form.order || e.scope != form.scope ||
        e.who.mask != step.mask() || e.bytes != 4)
      return wrong(e.who, "another access than the next one");
    const Words before = words;
    Lanes read{}, wrote{};
    const Mask written = change(step, warp, read, wrote);
    if (e.written != written) wrong(e.who, "other lanes wrote");
    each_lane(e.who.mask, [&](unsigned l) {
      const std::uint32_t word = step.word(l);
      if (e.addresses[l] != base_ + word * 4) wrong(e.who, "another address");
      if (e.read && e.read[l] != read[l]) wrong(e.who, "another value was read");
      if (e.wrote && e.wrote[l] != wrote[l]) wrong(e.who, "another value was written");
      if (e.before && e.before[l] != before[word]) wrong(e.who, "memory held another value before");
      if (e.after && e.after[l] != words[word]) wrong(e.who, "memory holds another value");
    });
    const bool puts = form.change == Change::put || form.change == Change::put_if_equal;
    if ((e.read != nullptr) != (form.kind == Kind::load || form.kind == Kind::atomic) ||
        (e.wrote != nullptr) != puts)
      wrong(e.who, "values are missing");
    if (step.polls && words[arrived_word] != blocks) return;
    go_on(warp, read);
  }

  void fenced(const check::Fence& e) override {
    if (e.kind == check::Fence::Kind::mbarrier_init) return;
    Warp& warp = warps_[e.who.block];
    if (warp.next == steps_.size()) return wrong(e.who, "a fence after the last one");
    const Step& step = steps_[warp.next];
    if (!step.form->fence || e.order != step.form->order || e.scope != step.form->scope ||
        e.who.mask != step.mask())
      wrong(e.who, "another fence than the next one");
    go_on(warp, {});
  }

  void mbarrier(const check::MbarrierOp& e) override {
    using Op = check::MbarrierOp::Op;
    Mbarrier& m = mbarriers[e.who.block / cluster_blocks * cluster_blocks + e.rank];
    const auto lanes = static_cast<std::uint32_t>(std::popcount(e.who.mask));
    switch (e.op) {
      case Op::init:
        m = {0, e.count, e.count};
        break;
      case Op::arrive:
        m.bytes += static_cast<std::int32_t>(e.tx_bytes * lanes);
        if (m.pending < e.count * lanes) return wrong(e.who, "more arrivals than expected");
        m.pending -= e.count * lanes;
        break;
      case Op::complete_tx:
        m.bytes -= static_cast<std::int32_t>(e.tx_bytes);
        break;
      case Op::try_wait:
        if (e.done && m.parity == e.parity) wrong(e.who, "a wait ended before its phase");
        break;
      default:
        return wrong(e.who, "an unexpected operation");
    }
    const bool ends = e.op != Op::try_wait && m.pending == 0 && m.bytes == 0;
    if (ends) m.parity ^= 1, m.pending = m.expected, ++m.phases;
    if (e.op != Op::try_wait && e.done != ends) wrong(e.who, "a phase ended elsewhere");
    if (e.phase_parity != m.parity || e.pending != m.pending || e.expected != m.expected ||
        e.tx_count != m.bytes || e.violation != async::Violation::none)
      wrong(e.who, "another state of the mbarrier");
  }

  void barrier(const check::Barrier& e) override {
    using Op = check::Barrier::Step;
    Cluster& cluster = clusters_[e.who.block / cluster_blocks];
    const auto lanes = static_cast<std::uint32_t>(std::popcount(e.who.mask));
    if (e.step == Op::arrive) cluster.arrived += lanes;
    const bool arrives = e.step == Op::arrive || e.step == Op::complete;
    if (arrives && (e.phase != cluster.phase || e.arrived != cluster.arrived))
      wrong(e.who, "another arrival at the barrier");
    if (e.step == Op::complete) {
      if (cluster.arrived != 32 * cluster_blocks) wrong(e.who, "an early end of a phase");
      cluster.arrived = 0, ++cluster.phase;
    }
    if (e.step == Op::wait && e.phase >= cluster.phase)
      wrong(e.who, "a wait ended before its phase");
  }

  bool finished() const {
    return std::ranges::all_of(warps_, [&](const Warp& w) { return w.next == steps_.size(); });
  }
  std::string first_wrong() const { return first_wrong_; }
  std::uint64_t events() const { return events_; }

  Words words;
  std::array<Mbarrier, blocks> mbarriers;

 private:
  struct Warp {
    std::size_t next = 0;  // step
    Lanes operand{}, last_read{};
  };
  struct Cluster {
    std::uint32_t arrived = 0;
    std::uint64_t phase = 0;
  };

  template <class F>
  static void each_lane(Mask mask, F f) {
    for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
  }
  // Performs the step on the words. Lanes act in order. Returns those that write.
  Mask change(const Step& step, const Warp& warp, Lanes& read, Lanes& wrote) {
    Mask written = 0;
    each_lane(step.mask(), [&](unsigned l) {
      std::uint32_t& word = words[step.word(l)];
      const std::uint32_t operand = step.form == &arrival ? 1 : warp.operand[l];
      read[l] = word, wrote[l] = operand;
      switch (step.form->change) {
        case Change::nothing:
          return;
        case Change::put_if_equal:
          if (word != warp.last_read[l]) return;
          [[fallthrough]];
        case Change::put:
          word = operand;
          break;
        case Change::add:
          word += operand;
          break;
        case Change::most:
          word = std::max(word, operand);
          break;
        case Change::bits:
          word |= operand;
          break;
      }
      written |= 1u << l;
    });
    return written;
  }
  void go_on(Warp& warp, const Lanes& read) {
    const Step& step = steps_[warp.next++];
    if (!step.form->fence && !step.polls && step.form->kind != Kind::store &&
        step.form->kind != Kind::reduction)
      each_lane(step.mask(), [&](unsigned l) { warp.last_read[l] = read[l]; });
    if (step.form != &arrival && step.form != &poll)
      for (std::uint32_t& operand : warp.operand) ++operand;
  }
  void wrong(const check::Who& who, std::string_view what) {
    const std::lock_guard lock(mutex_);
    if (!first_wrong_.empty()) return;
    first_wrong_ = fmt::format("{}: block {}, lanes {:x}, step {}", what, who.block, who.mask,
                               warps_[who.block].next);
  }
  void note_thread() {
    ++events_;
    if (last_thread_ == std::this_thread::get_id()) return;
    last_thread_ = std::this_thread::get_id();
    const std::lock_guard lock(mutex_);
    threads_.insert(last_thread_);
  }
  bool alone() {
    const std::lock_guard lock(mutex_);
    return threads_.size() < 2;
  }

  const std::vector<Step> steps_;
  const std::uint64_t base_;
  std::array<Warp, blocks> warps_;
  std::array<Cluster, blocks / cluster_blocks> clusters_;
  std::uint64_t events_ = 0;
  std::thread::id last_thread_;
  std::mutex mutex_;  // guards the others
  std::set<std::thread::id>& threads_;
  std::string first_wrong_;
};

// --- the kernel -------------------------------------------------------------------------------

// %r3 counts rounds, %r8 is shared memory, %r9 an mbarrier in it, %r10 that of the other block.
constexpr const char* begin_clusters = R"(
  mov.u32 %r8, tile; mov.u32 %r9, bar; mov.u32 %r10, %cluster_ctarank; xor.b32 %r10, %r10, 1;
  mapa.shared::cluster.u32 %r10, %r9, %r10;
  @%p4 mbarrier.init.shared.b64 [%r9], 65;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive; barrier.cluster.wait;
)";
// Both blocks arrive at both mbarriers, and a copy completes bytes at its own.
constexpr const char* meet_in_clusters = R"(
  @%p4 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 16;
  @%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%d1], 16, [%r9];
  mbarrier.arrive.shared.b64 _, [%r9];
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];
  and.b32 %r7, %r3, 1;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p5, [%r9], %r7;
  @!%p5 bra WAIT;
  barrier.cluster.arrive; barrier.cluster.wait;
)";

std::string text_of(const History& history) {
  std::string text = R"(
  .reg .b32 %r<12>; .reg .pred %p<6>; .reg .b64 %d<2>; .reg .b64 %a<4>;
  ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
  mov.u32 %r0, %tid.x; mov.u32 %r4, %ctaid.x;
  mad.lo.u32 %r1, %r4, 32, %r0; add.u32 %r1, %r1, 1; shl.b32 %r1, %r1, 12;
  mov.u32 %r2, 0; mov.u32 %r3, 0;
  setp.eq.u32 %p0, %r0, %r0; setp.eq.u32 %p1, %r0, %r0;
  and.b32 %r5, %r0, 1; setp.eq.u32 %p2, %r5, 1;
  setp.lt.u32 %p3, %r0, 8; setp.eq.u32 %p4, %r0, 0;
)";
  for (std::size_t i = 0; i < std::size(factors); ++i)
    text += fmt::format(
        "  mul.lo.u32 %r5, %r0, {1}; and.b32 %r5, %r5, 7; mul.wide.u32 %a{0}, %r5, 4;\n"
        "  add.u64 %a{0}, %a{0}, %d0;\n",
        i, factors[i]);
  if (history.clusters) text += begin_clusters;
  text += "AGAIN:\n";
  for (const Step& step : history.body) text += step.text();
  if (history.clusters) text += meet_in_clusters;
  text += fmt::format(R"(
  add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, {0};
  @%p0 bra AGAIN;
  @%p4 red.release.gpu.global.add.u32 [%d0+{1}], 1;
POLL:
  ld.acquire.gpu.global.u32 %r6, [%d0+{1}];
  setp.ge.u32 %p0, %r6, {2};
  @%p0 bra TAIL;
  nanosleep.u32 100;
  bra POLL;
TAIL:
)",
                      rounds, arrived_word * 4, blocks);
  for (const Step& step : history.tail) text += step.text();
  return text + "  ret;";
}

class StrongOrder : public KernelRunner {
 protected:
  void run_history(const History& history, unsigned launches, std::mt19937& random) {
    const Program* const program = link(
        ".shared .align 16 .b8 tile[16];\n"
        ".shared .align 8 .b64 bar;\n" +
        entry(2, text_of(history)));
    for (unsigned i = 0; i < launches && !HasFatalFailure(); ++i) {
      options.turns = {i % 2 ? Turns::Kind::random : Turns::Kind::chip, 0, random()};
      options.timing = i % 3 ? async::shuffled(random()) : async::late;
      run_once(program, history);
    }
  }
  std::set<std::thread::id> threads;  // that reported strong accesses
  std::uint64_t events = 0;

 private:
  void run_once(const Program* program, const History& history) {
    Words& words = *reinterpret_cast<Words*>(base_);
    words[arrived_word] = 0;
    Replay replay(history, base_, words, threads);
    options.listener = &replay;
    const Shape shape{.grid = {blocks, 1, 1},
                      .cluster = {history.clusters ? cluster_blocks : 1, 1, 1}};
    const Outcome o = run(program, shape, {base_, data_});
    ASSERT_TRUE(o.ok()) << o.report;
    ASSERT_EQ(replay.first_wrong(), "") << text_of(history);
    ASSERT_TRUE(replay.finished()) << "events are missing: " << text_of(history);
    ASSERT_EQ(replay.words, words);
    if (history.clusters)
      for (const Mbarrier& m : replay.mbarriers) ASSERT_EQ(m.phases, rounds);
    events += replay.events();
  }
  const std::uint64_t base_ = upload(std::vector<Words>(1)),
                      data_ = upload(std::vector<std::uint32_t>(4));
};

TEST_F(StrongOrder, NoAcquireIsToldBeforeTheReleaseThatItRead) {
  static constexpr unsigned histories = 375, launches = 8;
  options.workers = 4;
  std::mt19937 random(20250711);
  for (unsigned i = 0; i < histories && !HasFatalFailure(); ++i)
    run_history(random_history(random, i % 3 == 0), launches, random);
  EXPECT_GE(threads.size(), 2u) << "one host thread delivered all " << events << " accesses";
}

}  // namespace
}  // namespace inflight::machine
