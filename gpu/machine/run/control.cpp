// Branches, calls, returns.
#include "gpu/machine/run/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

const Op* run_guarded(Warp& w, const Op* op) {
  const std::uint32_t mask = w.mask;
  const std::uint32_t on = mask & w.predicate(op->guard, op->flags & Op::guard_negated);
  if (on == 0) return op + 1;
  if (on == mask) return op->inner(w, op);
  const bool whole = w.whole;
  w.mask = on;
  w.whole = false;
  const Op* next = op->inner(w, op);
  w.mask = mask;
  w.whole = whole;
  return next;
}

const Op* run_jump(Warp& w, const Op* op) {
  return w.jump(op->target, static_cast<std::int32_t>(op->imm));
}

const Op* run_branch(Warp& w, const Op* op) {
  const std::uint32_t taken = w.mask & w.predicate(op->guard, op->flags & Op::guard_negated);
  if (taken == 0) return op + 1;
  if (taken == w.mask) return w.jump(op->target, static_cast<std::int32_t>(op->imm));
  return w.diverge(op->target, taken, op + 1);
}

const Op* run_endless(Warp& w, const Op* op) { return w.park(op, Wait::endless, 0); }

// What the loop does to memory is checked in its first rounds.
const Op* run_repeat(Warp& w, const Op* op) {
  constexpr std::uint32_t enough = 1024;
  if (w.repeats == enough) return w.park(op, Wait::endless, 1);
  ++w.repeats;
  return op + 1;
}

const Op* run_phase(Warp& w, const Op* op) {
  if (w.phases == 0) return op + 1;
  --w.phases;
  return w.yield(op + 1);
}

namespace {

// Active lanes whose value equals that of the first active lane.
template <class T>
std::uint32_t like_first(const Warp& w, const T* values) {
  const T first = values[std::countr_zero(w.mask)];
  std::uint32_t same = 0;
  for (int l = 0; l < lanes; ++l)
    if (values[l] == first) same |= 1u << l;
  return same & w.mask;
}

void copy_words(Warp& w, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < (bytes + 3) / 4; ++i) {
    const std::uint32_t* in = w.local + (from / 4 + i) * lanes;
    std::uint32_t* out = w.local + (to / 4 + i) * lanes;
    for (int l = 0; l < lanes; ++l) out[l] = (w.mask >> l) & 1 ? in[l] : out[l];
  }
}

// The call site matches the callee: decoding or enter_any has checked it.
const Op* enter(Warp& w, const Op* op, const CallSite& site, const Code& code) {
  if (!w.call(&code, op)) return nullptr;
  const std::uint32_t from = w.frame->parent->local_base;
  for (std::size_t i = 0; i < site.arguments.size(); ++i)
    copy_words(w, w.frame->local_base + code.parameters[i].offset, from + site.arguments[i].offset,
               site.arguments[i].size);
  return w.jump(code.ops.data());
}

bool same_sizes(const std::vector<LocalRange>& a, const std::vector<LocalRange>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const LocalRange& x, const LocalRange& y) { return x.size == y.size; });
}

std::string sizes(const std::vector<LocalRange>& list) {
  std::string text;
  for (const LocalRange& r : list) text += fmt::format("{}{}", text.empty() ? "" : ", ", r.size);
  return text.empty() ? "no" : text;
}

// A call through a register. Its prototype may not match the callee.
const Op* enter_any(Warp& w, const Op* op, const CallSite& site, const Code& code) {
  if (!same_sizes(site.arguments, code.parameters) || !same_sizes(site.results, code.returns))
    return w.fault(op, FaultKind::invalid_pc, w.mask,
                   fmt::format("calls {} with {} bytes of arguments and {} bytes of results; it "
                               "takes {} and returns {}",
                               code.function->name, sizes(site.arguments), sizes(site.results),
                               sizes(code.parameters), sizes(code.returns)));
  return enter(w, op, site, code);
}

// The code of a function of which this warp has a frame.
const Code* called_before(const Warp& w, Program::FunctionRef callee) {
  for (auto f = w.spare.rbegin(); f != w.spare.rend(); ++f)
    if ((*f)->code->ref == callee) return (*f)->code;
  for (const auto& f : w.frame->children)
    if (f->code->ref == callee) return f->code;
  return nullptr;
}

// The code that a kernel reaches by direct calls is known before its launch, but a function called
// by its address may reach more.
const Code* callee_of(Warp& w, const Op* op, const CallSite& site) {
  std::atomic_ref known(const_cast<CallSite&>(site).code);
  if (const Code* code = known.load(std::memory_order_relaxed)) [[likely]]
    return code;
  const auto code = w.block->grid->code(site.callee);
  if (code)
    known.store(*code, std::memory_order_relaxed);
  else
    w.fault(op, FaultKind::refused, w.mask, code.error());
  return code.value_or(nullptr);
}

}  // namespace

const Op* run_branch_table(Warp& w, const Op* op) {
  const auto& targets = w.frame->code->branch_tables[op->extra];
  const auto* index = w.at<std::uint32_t>(op->a);
  const std::uint32_t lane = std::countr_zero(w.mask);
  if (index[lane] >= targets.size())
    return w.fault(op, FaultKind::invalid_pc, 1u << lane, "brx.idx with an index past its targets");
  const std::uint32_t same = like_first(w, index);
  if (same != w.mask) w.split_off(w.mask & ~same, op);
  const Op* target = targets[index[lane]];
  return w.jump(target, std::max(Warp::shortest_jump, Warp::distance(target, op)));
}

const Op* run_call(Warp& w, const Op* op) {
  const CallSite& site = w.frame->code->calls[op->extra];
  const Code* const code = callee_of(w, op, site);
  return code ? enter(w, op, site, *code) : nullptr;
}

const Op* run_call_indirect(Warp& w, const Op* op) {
  const CallSite& site = w.frame->code->calls[op->extra];
  const auto* targets = w.at<std::uint64_t>(op->a);
  const std::uint64_t target = targets[std::countr_zero(w.mask)];
  const std::uint32_t same = like_first(w, targets);
  if (same != w.mask) w.split_off(w.mask & ~same, op);
  const auto callee = w.frame->code->program->function_at(target);
  if (callee.module == ptx::none)
    return w.fault(op, FaultKind::invalid_pc, same, "calls an address that is not a function");
  if (const Code* code = called_before(w, callee)) return enter_any(w, op, site, *code);
  const auto code = w.block->grid->code(callee);
  if (!code) return w.fault(op, FaultKind::refused, same, code.error());
  return enter_any(w, op, site, **code);
}

const Op* run_return(Warp& w, const Op* op) {
  const Frame* callee = w.frame;
  if (!callee->parent) return w.exit_lanes();
  const CallSite& site = callee->parent->code->calls[callee->call->extra];
  for (std::size_t i = 0; i < site.results.size(); ++i)
    copy_words(w, callee->parent->local_base + site.results[i].offset,
               callee->local_base + callee->code->returns[i].offset, site.results[i].size);
  return w.leave(op);
}

const Op* run_exit(Warp& w, const Op*) { return w.exit_lanes(); }

const Op* run_unsupported(Warp& w, const Op* op) {
  return w.fault(op, FaultKind::refused, w.mask, w.frame->code->refusals[op->extra].what);
}

}  // namespace inflight::machine
