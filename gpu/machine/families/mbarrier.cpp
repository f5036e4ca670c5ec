// mbarrier.* (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
//
// Lanes act one after the other. An operation that breaks a rule changes nothing and returns an
// empty token, as gpu/async describes. The thread goes on, as on a GPU.
#include <fmt/format.h>

#include <bit>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/instruction/result_uses.hpp"
#include "gpu/machine/run/advice.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/mbarriers.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

namespace mb = async::mbarrier;
using mb::Step;
using mb::Word;
using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

using Mbarriers = LaneMbarriers;

// Whether every active lane's address is valid for an mbarrier. If not, a fault has ended the
// kernel.
bool resolve(Warp& w, const Op* op, bool own_only, Mbarriers& m) {
  const BadLanes bad = resolve_mbarriers(w, op, own_only, m);
  if (bad.lanes)
    bad_access(w, op, bad.lanes, m.addresses, mb::size, true, op->what->memory.front().space,
               bad.kind);
  return !bad.lanes;
}

std::uint32_t value(const Warp& w, Ref ref, int lane, std::uint32_t otherwise) {
  return ref == no_ref ? otherwise : w.at<std::uint32_t>(ref)[lane];
}

// --- operations on the state: `count` is Op::b, 1 if absent; `bytes` is Op::c ---

Step init(Word& word, std::uint32_t count, std::uint32_t) {
  return {mb::init(word, count), {}, {}};
}
Step inval(Word& word, std::uint32_t, std::uint32_t) { return {mb::invalidate(word), {}, {}}; }
Step arrive(Word& word, std::uint32_t count, std::uint32_t) { return mb::arrive(word, count); }
Step arrive_no_complete(Word& word, std::uint32_t count, std::uint32_t) {
  return mb::arrive_no_complete(word, count);
}
Step arrive_expect_tx(Word& word, std::uint32_t, std::uint32_t bytes) {
  return mb::arrive_expect_tx(word, bytes);
}
Step drop(Word& word, std::uint32_t count, std::uint32_t) { return mb::arrive_drop(word, count); }
Step drop_no_complete(Word& word, std::uint32_t count, std::uint32_t) {
  return mb::arrive_drop_no_complete(word, count);
}
Step drop_expect_tx(Word& word, std::uint32_t, std::uint32_t bytes) {
  return mb::arrive_drop_expect_tx(word, bytes);
}
Step expect_tx(Word& word, std::uint32_t, std::uint32_t bytes) {
  return mb::expect_tx(word, bytes);
}
Step complete_tx(Word& word, std::uint32_t, std::uint32_t bytes) {
  return mb::complete_tx(word, bytes);
}

// --- broken rules and events ---

// Every test and operation passes here what it broke.
void note(const Warp& w, const Op* op, async::Violation rule) {
  if (rule != async::Violation::none) [[unlikely]]
    advise(*w.block->grid, rule, w.number(op));
}

using Event = check::MbarrierOp;

bool wanted(const Warp& w) {
  const Observation* const observation = w.block->grid->observation;
  return observation && observation->wants(check::Topic::mbarriers);
}

// Adds the threads, the address and the mbarrier's state to `event` and emits it. The lanes name
// one mbarrier.
void report(const Warp& w, const Op* op, const Mbarriers& m, std::uint32_t mask, Event& event,
            const Step& step) {
  const Observation& observation = *w.block->grid->observation;
  const int lane = std::countr_zero(mask);
  event.who = observation.who(w, mask, op);
  event.address = m.offsets[lane];
  event.rank = static_cast<std::uint16_t>(m.blocks[lane]->rank);
  const MbarrierUse& use = use_of<MbarrierUse>(op);
  event.op = use.op;
  event.no_complete = use.no_complete;
  event.order = use.order;
  event.scope = use.scope;
  event.unscoped = use.unscoped;
  observation.report_mbarrier(event, m.word(lane), step);
}

using Operation = Step (*)(Word&, std::uint32_t count, std::uint32_t bytes);

// Initialising and invalidating work only on the block's own mbarriers. Arrivals and transaction
// counts also work on those of other blocks (.shared::cluster).
template <Event::Op name>
inline constexpr bool own_only = name == Event::Op::init || name == Event::Op::inval;

// Lanes arrive on one mbarrier together, unless that completes the phase: then all but the last
// do. Returns those that are left.
std::uint32_t arrive_together(Warp& w, const Op* op, const Mbarriers& m) {
  if (!m.one) return w.mask;
  const int first = std::countr_zero(w.mask);
  const std::uint32_t count = value(w, op->b, first, 1);
  bool alike = true;
  if (op->b != no_ref) each_lane(w.mask, [&](int l) { alike &= value(w, op->b, l, 1) == count; });
  if (!alike) return w.mask;
  const mb::Token token = mb::token_of(m.word(first));
  const std::uint32_t together = mb::arrive_alike(m.word(first), count, w.mask);
  if (together == 0) return w.mask;
  if (w.block->counts) [[unlikely]]
    w.block->counts->mbarrier(Event::Op::arrive, count * lane_count(together), false);
  if (wanted(w)) [[unlikely]] {
    Event event;
    event.count = count;
    report(w, op, m, together, event, {});
  }
  if (op->d != no_ref) {
    std::uint32_t before = 0;
    each_lane(together, [&](int l) {
      w.at<std::uint64_t>(op->d)[l] = mb::later_token(token, before);
      before += count;
    });
  }
  return w.mask & ~together;
}

template <Operation operation, Event::Op name>
const Op* run_operation(Warp& w, const Op* op) {
  Mbarriers m;
  if (!resolve(w, op, own_only<name>, m)) return nullptr;
  std::uint32_t rest = w.mask;
  if constexpr (operation == arrive) rest = arrive_together(w, op, m);
  each_lane(rest, [&](int l) {
    const std::uint32_t count = value(w, op->b, l, 1), bytes = value(w, op->c, l, 0);
    const Step step = operation(m.word(l), count, bytes);
    note(w, op, step.violation);
    if (w.block->counts) [[unlikely]]
      w.block->counts->mbarrier(name, count, step.completed);
    if (wanted(w)) [[unlikely]] {
      Event event;
      event.count = count, event.tx_bytes = bytes;
      report(w, op, m, 1u << l, event, step);
    }
    if (op->d != no_ref) w.at<std::uint64_t>(op->d)[l] = step.token;
    if (step.completed) wake_mbarrier(*m.blocks[l], m.offsets[l]);
  });
  if constexpr (name == Event::Op::init) {
    w.block->in_step = 0;
    if (InFlight* const of = w.block->cluster->in_flight.get()) [[unlikely]]
      each_lane(w.mask, [&](int l) { of->spurious_failures.forget(w.block->rank, m.offsets[l]); });
  }
  w.progressed = true;
  return op + 1;
}

// --- waits: Op::d is a predicate, Op::b a token or, with .parity, a parity. Op::count is a
// ResultUse. If nothing depends on the predicate, the thread does not observe the result ---

bool is(const Op* op, ResultUse use) { return op->count == static_cast<std::uint32_t>(use); }

mb::Test test_lane(const Warp& w, const Op* op, const Mbarriers& m, int l, bool parity) {
  return parity ? mb::test_parity(m.word(l), w.at<std::uint32_t>(op->b)[l])
                : mb::test(m.word(l), w.at<std::uint64_t>(op->b)[l]);
}

// The parity of the phase that a lane waits for.
std::uint32_t phase_parity(const Warp& w, const Op* op, int l, bool parity) {
  return parity ? w.at<std::uint32_t>(op->b)[l] : mb::decode(w.at<std::uint64_t>(op->b)[l]).parity;
}

// Whether all lanes test one phase of one mbarrier.
bool test_alike(const Warp& w, const Op* op, const Mbarriers& m, bool parity) {
  return m.one && (parity ? are_equal(w.mask, w.at<std::uint32_t>(op->b))
                          : are_equal(w.mask, w.at<std::uint64_t>(op->b)));
}

// Calls `what` for each group of `lanes` in which all lanes test the same: with its first lane and
// all of it. `all`: they are one group.
template <class Same, class What>
void each_group(std::uint32_t lanes, bool all, Same&& same, What&& what) {
  while (lanes) {
    const int first = std::countr_zero(lanes);
    std::uint32_t group = all ? lanes : 0;
    each_lane(all ? 0 : lanes, [&](int l) {
      if (same(l, first)) group |= 1u << l;
    });
    lanes &= ~group;
    what(first, group);
  }
}

// The same for lanes that test the same phase of one mbarrier.
template <class What>
void each_phase(Warp& w, const Op* op, const Mbarriers& m, bool parity, std::uint32_t lanes,
                bool all, What&& what) {
  each_group(
      lanes, all,
      [&](int l, int first) {
        return m.offsets[l] == m.offsets[first] &&
               phase_parity(w, op, l, parity) == phase_parity(w, op, first, parity);
      },
      [&](int first, std::uint32_t group) {
        what(first, group, phase_parity(w, op, first, parity));
      });
}

// `alike_all`: the lanes test_alike().
void report_results(const Warp& w, const Op* op, const Mbarriers& m, bool parity,
                    std::uint32_t done, bool alike_all) {
  if (is(op, ResultUse::none)) done = 0;
  if (w.block->counts)
    w.block->counts->sums.mbarrier_tests += static_cast<std::uint64_t>(std::popcount(w.mask));
  if (!wanted(w)) return;
  const auto tested = [&](int l) {  // a parity or a token
    return parity ? w.at<std::uint32_t>(op->b)[l] : w.at<std::uint64_t>(op->b)[l];
  };
  const auto same = [&](int l, int first) {
    return &m.word(l) == &m.word(first) && tested(l) == tested(first) &&
           (done >> l & 1) == (done >> first & 1);
  };
  each_group(w.mask, alike_all && (done == 0 || done == w.mask), same,
             [&](int first, std::uint32_t group) {
               Event event;
               event.by_parity = parity;
               event.parity = phase_parity(w, op, first, parity);
               if (!parity) event.token = w.at<std::uint64_t>(op->b)[first];
               const mb::Test result = test_lane(w, op, m, first, parity);
               report(w, op, m, group, event, {result.violation, (done >> first & 1) != 0});
             });
}

// Does a test that may return false leave alone what is in flight? In a shuffled order every other
// test does, so that programs that ignore the result fail.
bool leaves_in_flight(const Warp& w) {
  const async::Timing& timing = w.block->grid->options->timing;
  if (timing.policy != async::Timing::Policy::shuffled) return false;
  async::Random random(timing.seed ^ (w.block->linear << 40) ^ (std::uint64_t{w.index} << 32) ^
                       (w.block->clock.now() + w.used()));
  return random.below(2) == 0;
}

// Unless `settles`, what is in flight completes by itself alone.
template <bool parity>
std::uint32_t test(Warp& w, const Op* op, const Mbarriers& m, bool settles, bool alike) {
  const auto is_done = [&](int l) {
    const mb::Test answer = test_lane(w, op, m, l, parity);
    note(w, op, answer.violation);
    return answer.done;
  };
  if (alike) {
    const int first = std::countr_zero(w.mask);
    if (is_done(first)) return w.mask;
    if (settles) settle_mbarrier(*w.block, &m.word(first));
    return settles && is_done(first) ? w.mask : 0;
  }
  std::uint32_t done = 0;
  // The last mbarrier that was settled and what it was then: until it changes nothing else is due.
  const Word* settled = nullptr;
  Word then = 0;
  each_lane(w.mask, [&](int l) {
    const Word& word = m.word(l);
    if (settles && !is_done(l) && (&word != settled || word != then)) {
      settle_mbarrier(*w.block, &word);
      settled = &word, then = word;
    }
    if (is_done(l)) done |= 1u << l;
  });
  return done;
}

// The lanes of `done` that observe completion. The test of the others fails spuriously.
std::uint32_t observing(Warp& w, const Op* op, const Mbarriers& m, bool parity, std::uint32_t done,
                        bool alike_all) {
  InFlight* const of = w.block->cluster->in_flight.get();
  if (!of || is(op, ResultUse::none)) return done;
  std::uint32_t failing = 0;
  each_phase(w, op, m, parity, done, alike_all,
             [&](int first, std::uint32_t group, std::uint32_t phase) {
               if (is(op, ResultUse::doubtful) && test_lane(w, op, m, first, parity).done &&
                   of->spurious_failures.fails(w, *op->what, m.offsets[first], phase)) {
                 failing |= group;
                 w.progressed = true;  // it comes nearer to the last of these failures
               } else {
                 of->spurious_failures.observed(w, m.offsets[first], phase);
               }
             });
  return done & ~failing;
}

template <bool parity>
const Op* run_test_wait(Warp& w, const Op* op) {
  Mbarriers m;
  if (!resolve(w, op, true, m)) return nullptr;
  advance_block(*w.block);
  const bool alike = test_alike(w, op, m, parity);
  std::uint32_t done = test<parity>(w, op, m, !leaves_in_flight(w), alike);
  if (w.block->grid->observation) [[unlikely]] {
    if (wanted(w)) done = observing(w, op, m, parity, done, alike);
    report_results(w, op, m, parity, done, alike);
  }
  w.set_predicate(op->d, done);
  if (done != w.mask) w.spin();
  return op + 1;
}

// Reports that waiting lanes go on. They may wait for phases of different mbarriers.
void report_waited(Warp& w, const Op* op, const Mbarriers& m, bool parity) {
  const Observation& observation = *w.block->grid->observation;
  each_phase(
      w, op, m, parity, w.mask & w.waiting, false,
      [&](int first, std::uint32_t group, std::uint32_t phase) {
        observation.wait_ended(w, {op, w.frame, group, Wait::mbarrier, m.offsets[first], 0, phase});
      });
}

// Waits until some lane's phase is complete. The scheduler may end the wait earlier, so that a
// program's own time-outs work.
template <bool parity>
const Op* run_try_wait(Warp& w, const Op* op) {
  Mbarriers m;
  if (!resolve(w, op, true, m)) return nullptr;
  const bool alike = test_alike(w, op, m, parity);
  std::uint32_t done = test<parity>(w, op, m, true, alike) | (w.granted & w.mask);
  w.granted &= ~w.mask;
  if (!done && !w.worker->give_up && m.one) {
    const int first = std::countr_zero(w.mask);
    return w.park(op, Wait::mbarrier, m.offsets[first], mb::decode(m.word(first)).parity);
  }
  if (w.block->grid->observation) [[unlikely]] {
    report_waited(w, op, m, parity);
    if (wanted(w)) done = observing(w, op, m, parity, done, alike);
    report_results(w, op, m, parity, done, alike);
  }
  w.set_predicate(op->d, done);
  if (done != w.mask) w.spin();
  return op + 1;
}

const Op* run_pending_count(Warp& w, const Op* op) {
  each_lane(w.mask, [&](int l) {
    const mb::Token token = w.at<std::uint64_t>(op->a)[l];
    const mb::Count count = mb::pending_count(token);
    w.at<std::uint32_t>(op->d)[l] = count.pending;
    note(w, op, count.violation);
    if (!wanted(w)) return;
    const Observation& observation = *w.block->grid->observation;
    Event event;
    event.who = observation.who(w, 1u << l, op);
    event.op = Event::Op::pending_count;
    event.address = check::nothing;
    observation.report_mbarrier(event, token, {count.violation});
  });
  return op + 1;
}

// --- decoding ---

// Emits `handler` with the operands d, b, c and the address.
bool emit(Lowering& lo, Handler handler, const ptx::Operand& address, Ref d, Ref b, Ref c,
          ResultUse use = ResultUse::decisive) {
  if (lo.what.memory.empty()) return lo.refuse("an address in brackets is needed");
  const Space space = lo.what.memory.front().space;
  if (space != Space::generic && !is_shared(space))
    return lo.refuse("mbarriers are in shared memory");
  Op& op = lo.emit(handler);
  op.d = d, op.b = b, op.c = c;
  op.count = static_cast<std::uint32_t>(use);
  return lo.address(address, op);
}

bool arity(Lowering& lo, std::size_t least, std::size_t most) {
  if (lo.operands.size() >= least && lo.operands.size() <= most) return true;
  return lo.refuse(fmt::format("{} takes {} to {} operands", lo.in.name, least, most));
}

constexpr ModSet scopes{Mod::release, Mod::acquire, Mod::relaxed, Mod::cta, Mod::cluster};

bool lower_init(Lowering& lo, const Row&) {
  if (!only(lo, {}) || !arity(lo, 2, 2)) return false;
  lo.code().makes_mbarriers = true;
  const Ref count = lo.source(lo.operands[1], Type::u32);
  return count != no_ref &&
         emit(lo, run_operation<init, Event::Op::init>, lo.operands[0], no_ref, count, no_ref);
}

bool lower_inval(Lowering& lo, const Row&) {
  if (!only(lo, {}) || !arity(lo, 1, 1)) return false;
  return emit(lo, run_operation<inval, Event::Op::inval>, lo.operands[0], no_ref, no_ref, no_ref);
}

bool lower_tx(Lowering& lo, const Row&) {
  if (!only(lo, scopes) || !arity(lo, 2, 2)) return false;
  const Ref bytes = lo.source(lo.operands[1], Type::u32);
  const bool expects = lo.in.opcode == Opcode::mbarrier_expect_tx;
  return bytes != no_ref && emit(lo,
                                 expects ? run_operation<expect_tx, Event::Op::expect_tx>
                                         : run_operation<complete_tx, Event::Op::complete_tx>,
                                 lo.operands[0], no_ref, no_ref, bytes);
}

bool lower_arrive(Lowering& lo, const Row&) {
  if (!only(lo, scopes | ModSet{Mod::expect_tx, Mod::noComplete})) return false;
  const bool drops = lo.in.opcode == Opcode::mbarrier_arrive_drop;
  const MbarrierUse& use = *lo.what.as<MbarrierUse>();
  const bool tx = use.expects_bytes, quiet = use.no_complete;
  // The state operand is optional: mbarrier.arrive [addr].
  const std::size_t at =
      !lo.operands.empty() && lo.operands[0].kind == ptx::Operand::Kind::address ? 0 : 1;
  if (!arity(lo, at + (tx || quiet ? 2 : 1), at + 2)) return false;
  const bool stateless = at == 0 || lo.operands[0].kind == ptx::Operand::Kind::sink;
  const Ref state = stateless ? no_ref : lo.destination(lo.operands[0], Type::b64);
  const bool counted = lo.operands.size() > at + 1;
  const Ref operand = counted ? lo.source(lo.operands[at + 1], Type::u32) : no_ref;
  if ((!stateless && state == no_ref) || (counted && operand == no_ref)) return false;
  const Handler handler = drops ? (tx      ? run_operation<drop_expect_tx, Event::Op::arrive_drop>
                                   : quiet ? run_operation<drop_no_complete, Event::Op::arrive_drop>
                                           : run_operation<drop, Event::Op::arrive_drop>)
                                : (tx      ? run_operation<arrive_expect_tx, Event::Op::arrive>
                                   : quiet ? run_operation<arrive_no_complete, Event::Op::arrive>
                                           : run_operation<arrive, Event::Op::arrive>);
  return emit(lo, handler, lo.operands[at], state, tx ? no_ref : operand, tx ? operand : no_ref);
}

bool lower_wait(Lowering& lo, const Row&) {
  if (!only(lo, scopes | ModSet{Mod::parity})) return false;
  const bool tries = lo.in.opcode == Opcode::mbarrier_try_wait;
  if (!arity(lo, 3, tries ? 4 : 3)) return false;
  const bool parity = lo.what.as<MbarrierUse>()->by_parity;
  const Ref d = lo.predicate_destination(lo.operands[0]);
  const Ref b = lo.source(lo.operands[2], parity ? Type::u32 : Type::b64);
  if (d == no_ref || b == no_ref) return false;
  const Handler handler = tries ? (parity ? run_try_wait<true> : run_try_wait<false>)
                                : (parity ? run_test_wait<true> : run_test_wait<false>);
  const Function& function = *lo.code().description;
  const auto index = static_cast<std::uint32_t>(&lo.what - function.body.data());
  const ResultUse use =
      lo.form().synchronised ? use_of_result(function, index) : ResultUse::decisive;
  return emit(lo, handler, lo.operands[1], d, b, no_ref, use);
}

bool lower_pending_count(Lowering& lo, const Row&) {
  if (!only(lo, {}) || !arity(lo, 2, 2)) return false;
  const Ref d = lo.destination(lo.operands[0], Type::u32);
  const Ref a = lo.source(lo.operands[1], Type::b64);
  if (d == no_ref || a == no_ref) return false;
  Op& op = lo.emit(run_pending_count);
  op.d = d, op.a = a;
  return true;
}

}  // namespace

void mbarrier_rows(Rows& rows) {
  add(rows, any_form(Opcode::mbarrier_init, lower_init));
  add(rows, any_form(Opcode::mbarrier_inval, lower_inval));
  add(rows, any_form(Opcode::mbarrier_expect_tx, lower_tx));
  add(rows, any_form(Opcode::mbarrier_complete_tx, lower_tx));
  add(rows, any_form(Opcode::mbarrier_arrive, lower_arrive));
  add(rows, any_form(Opcode::mbarrier_arrive_drop, lower_arrive));
  add(rows, any_form(Opcode::mbarrier_test_wait, lower_wait));
  add(rows, any_form(Opcode::mbarrier_try_wait, lower_wait));
  add(rows, any_form(Opcode::mbarrier_pending_count, lower_pending_count));
}

}  // namespace inflight::machine
