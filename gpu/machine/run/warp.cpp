// Splits: the lanes of a warp diverge, wait, reconverge and take turns.
#include "gpu/machine/run/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <new>

#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/circumstances.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/undefined.hpp"

namespace inflight::machine {
namespace {

// The scheduling order of splits: the deeper call first, then the lower op.
bool before(const Frame* a, const Op* a_pc, const Frame* b, const Op* b_pc) {
  if (a->depth != b->depth) return a->depth > b->depth;
  return std::less<>{}(a_pc, b_pc);
}

constexpr std::uint64_t starving = 256;  // slices without a turn after which a split gets a slice

// Frames without lanes that a frame keeps for calls from it, beside those with lanes.
constexpr std::size_t most_children = 32;

void make_spare(Warp& w, std::unique_ptr<Frame> frame) {
  w.spare_bytes += frame->bytes();
  w.spare.push_back(std::move(frame));
}
void trim_spare(Warp& w) {
  while (w.spare_bytes > Warp::most_spare) {
    const std::uint64_t bytes = w.spare.front()->bytes();
    w.spare_bytes -= bytes;
    w.block->grid->call_bytes -= bytes;
    w.spare.erase(w.spare.begin());
  }
}

// A function may make calls from so many places that searching the frames of them all takes long.
void forget_old_children(Warp& w, Frame& of) {
  if (of.children.size() < most_children + lanes) return;
  for (auto& child : of.children)
    if (child->inside == 0) make_spare(w, std::move(child));
  std::erase(of.children, nullptr);
  trim_spare(w);
}

}  // namespace

// Destroys frames one by one. Nested destruction after deep recursion would overflow the host's
// stack.
Warp::~Warp() {
  std::vector<std::unique_ptr<Frame>> all;
  try {
    all.push_back(std::move(root));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i]) continue;
      auto inner = std::move(all[i]->children);
      std::move(inner.begin(), inner.end(), std::back_inserter(all));
    }
  } catch (const std::bad_alloc&) {  // no memory for the list: destroys the rest nested
  }
}

void Warp::set_frame(Frame* f) {
  frame = f;
  base[0] = reinterpret_cast<char*>(f->registers.data());
  base[1] = reinterpret_cast<char*>(const_cast<std::byte*>(f->code->constants.data()));
}

void Warp::resume(const Split& split) {
  mask = split.mask;
  whole = mask == alive;
  if (split.frame != frame) set_frame(split.frame);
}

void Warp::make_homes() {
  home_lines.resize(compiled->home_bytes);
  homes = reinterpret_cast<char*>(home_lines.data());
  compiled_until = nullptr;
}

bool Warp::runnable() const {
  for (const Split& s : parked)
    if (s.wait == Wait::nothing) return true;
  return false;
}

void Warp::keep(const Split& split) {
  for (Split& s : parked) {
    if (s.pc != split.pc || s.frame != split.frame) continue;
    if (s.wait == Wait::nothing && split.wait == Wait::nothing) {
      s.mask |= split.mask;
      return;
    }
    // Lanes that wait for each other at a collective may now all be there. It runs again and
    // checks.
    if (s.wait == Wait::collective && split.wait != Wait::barrier && split.wait != Wait::sleep) {
      s.mask |= split.mask;
      s.wait = Wait::nothing;
      return;
    }
  }
  parked.push_back(split);
}

const Op* Warp::next() {
  if (parked.size() == 1) {  // the usual case
    exclusive = false;
    if (parked[0].wait != Wait::nothing) return nullptr;
    const Split split = parked[0];
    parked.clear();
    resume(split);
    return split.pc;
  }
  std::size_t best = parked.size();
  for (std::size_t i = 0; i < parked.size(); ++i) {
    if (parked[i].wait != Wait::nothing) continue;
    if (best == parked.size() ||
        before(parked[i].frame, parked[i].pc, parked[best].frame, parked[best].pc))
      best = i;
  }
  exclusive = false;
  if (best == parked.size()) return nullptr;
  const Split split = parked[best];
  parked.erase(parked.begin() + static_cast<std::ptrdiff_t>(best));
  resume(split);
  absorb(split.pc);
  return split.pc;
}

void Warp::absorb(const Op* pc) {
  const std::uint32_t before_reconverging = mask;
  for (std::size_t i = 0; i < parked.size();) {
    const Split& s = parked[i];
    if (s.pc != pc || s.frame != frame || (s.wait != Wait::nothing && s.wait != Wait::collective)) {
      ++i;
      continue;
    }
    mask |= s.mask;
    parked.erase(parked.begin() + static_cast<std::ptrdiff_t>(i));
  }
  whole = mask == alive;
  if (mask != before_reconverging && block->grid->observation)
    block->grid->observation->reconverged(*this);
}

const Op* Warp::converge(const Op* target) {
  absorb(target);
  if (exclusive) return target;
  std::size_t best = parked.size();
  for (std::size_t i = 0; i < parked.size(); ++i) {
    const Split& s = parked[i];
    const bool none = best == parked.size();
    if (s.wait == Wait::nothing &&
        before(s.frame, s.pc, none ? frame : parked[best].frame, none ? target : parked[best].pc))
      best = i;
  }
  if (best == parked.size()) return target;
  const Split split = parked[best];
  parked[best] = {target, frame, mask, Wait::nothing, 0, slice};
  resume(split);
  return split.pc;
}

const Op* Warp::diverge(const Op* taken, std::uint32_t taken_mask, const Op* other) {
  if (block->grid->observation) block->grid->observation->diverged(*this, taken_mask);
  keep({taken, frame, taken_mask, Wait::nothing, 0, slice});
  budget -= shortest_jump;
  mask &= ~taken_mask;
  whole = false;
  return converge(other);
}

void Warp::split_off(std::uint32_t rest, const Op* pc) {
  keep({pc, frame, rest, Wait::nothing, 0, slice});
  mask &= ~rest;
  whole = false;
}

const Op* Warp::spend(const Op* next, std::uint64_t ops) {
  budget -= static_cast<std::int32_t>(
      std::min(ops, static_cast<std::uint64_t>(std::max(budget, 0)) + shortest_jump));
  return block->grid->stop.load(std::memory_order_relaxed) ? pause(next) : next;
}

const Op* Warp::pause(const Op* pc) {
  keep({pc, frame, mask, Wait::nothing, 0, slice});
  mask = 0;
  return nullptr;
}

const Op* Warp::yield(const Op* pc) {
  --slice;
  return pause(pc);
}

const Op* Warp::park(const Op* pc, Wait wait, std::uint64_t detail, std::uint32_t parity) {
  const std::uint32_t lanes = mask;
  if (block->grid->observation) [[unlikely]]
    block->grid->observation->wait_begun(*this, {pc, frame, lanes, wait, detail, slice, parity});
  mask = 0;
  if (parked.empty()) {
    // In its place: to copy it would load at once what was just stored in parts, which waits for
    // the stores to reach the cache.
    parked.emplace_back(pc, frame, lanes, wait, detail, slice, parity);
    exclusive = false;
    return nullptr;
  }
  keep({pc, frame, lanes, wait, detail, slice, parity});
  return next();
}

void Frame::begin(std::uint32_t mask) {
  if (!code->dynamic_stack) return;
  if (!stack) stack = std::make_unique<StackPointers>();
  each_lane(mask, [&](int l) { (*stack)[l] = local_base + code->local_bytes; });
}

std::uint64_t Frame::end(std::uint32_t mask) const {
  if (!stack) return std::uint64_t{local_base} + code->local_bytes;
  std::uint32_t highest = 0;
  each_lane(mask, [&](int l) { highest = std::max(highest, (*stack)[l]); });
  return highest;
}

// The frame for a call by the running lanes: that of the last call from here, or one without lanes.
// Adds the bytes of a new frame to `grown`. If the caller's stack has moved since, the frame moves
// along, unless other lanes are still in it.
Frame& Warp::enter_frame(const Code* code, const Op* op, std::uint32_t local_base,
                         std::uint64_t& grown) {
  for (const auto& c : frame->children)
    if (c->call == op && c->code == code && c->local_base == local_base) return *c;
  for (const auto& c : frame->children)
    if (c->call == op && c->code == code && c->inside == 0) {
      c->local_base = local_base;
      return *c;
    }
  forget_old_children(*this, *frame);
  std::unique_ptr<Frame> f;
  const auto kept = std::find_if(spare.rbegin(), spare.rend(),
                                 [code](const auto& each) { return each->code == code; });
  if (kept != spare.rend()) {
    f = std::move(*kept);
    spare.erase(std::next(kept).base());
    spare_bytes -= f->bytes();
  } else {
    f = std::make_unique<Frame>();
    f->code = code;
    f->registers.resize(code->frame_bytes);
    if (block->counts) f->counts = block->counts->of(*code);
    grown += f->bytes();
  }
  f->parent = frame;
  f->call = op;
  f->local_base = local_base;
  f->depth = frame->depth + 1;
  return *frame->children.emplace_back(std::move(f));
}

// The lanes `gone` leave `f`. A frame without lanes stays for the next call from the same place,
// and the frames of its own calls become spare. So the number of frames depends on the nesting of
// calls, not on the number of call paths.
void Warp::leave_frame(Frame* f, std::uint32_t gone) {
  f->inside &= ~gone;
  if (f->inside == 0) forget_undefined(*this, *f);
  if (f->inside != 0 || f->children.empty()) return;
  for (auto& c : f->children) make_spare(*this, std::move(c));
  f->children.clear();
  trim_spare(*this);
}

bool Warp::call(const Code* code, const Op* op) {
  Grid& grid = *block->grid;
  const auto refuse = [&](std::string why) {
    fault(op, FaultKind::stack_overflow, mask, std::move(why));
    return false;
  };
  const std::uint64_t alignment = code->local_alignment,
                      base = (frame->end(mask) + alignment - 1) & ~(alignment - 1),
                      end = base + code->local_bytes;
  if (end > grid.stack_limit || frame->depth >= deepest_call)
    return refuse("calls nest deeper than the stack of its threads allows");
  std::uint64_t grown = 0;
  Frame& callee = enter_frame(code, op, static_cast<std::uint32_t>(base), grown);
  callee.inside |= mask;
  callee.begin(mask);
  const std::size_t before = local_words.capacity();
  ensure_local(static_cast<std::uint32_t>(end));
  grown += (local_words.capacity() - before) * sizeof(local_words[0]);
  if (grown != 0 && (grid.call_bytes += grown) > grid.options->call_bytes)
    return refuse(fmt::format(
        "the calls of its threads nest so deep that their registers and local memory take more "
        "than {} MiB of the host's memory; nest fewer calls, launch fewer threads at once, or "
        "raise the limit with cudaDeviceSetLimit(cudaLimitStackSize, BYTES)",
        grid.options->call_bytes >> 20));
  set_frame(&callee);
  return true;
}

const Op* Warp::leave(const Op* from) {
  const std::int32_t passed = distance(frame->code->ops.data(), from);
  Frame* const left = frame;
  const Op* pc = left->call + 1;
  set_frame(left->parent);
  leave_frame(left, mask);
  return jump(pc, std::max(shortest_jump, passed));
}

const Op* Warp::exit_lanes() {
  const std::uint32_t gone = mask;
  alive &= ~gone;
  mask = 0;
  progressed = true;
  block->lanes_exited(*this, gone);
  wake(Wait::collective, any_detail);
  if (frame->parent) [[unlikely]] {
    for (Frame* f = frame; f->parent; f = f->parent) leave_frame(f, gone);
    frame = nullptr;
  }
  return next();
}

const Op* Warp::fault(const Op* at, FaultKind kind, std::uint32_t lane_mask, std::string what,
                      const FaultDetail& about) {
  if (const Observation* const observation = block->grid->observation)
    observation->faulted(*this, at, kind, lane_mask, what, about);
  Outcome outcome{kind, to_text(fault_of(*this, at, kind, lane_mask, std::move(what)))};
  if (kind == FaultKind::illegal_address && about.access) outcome.slack = slack_for(*this, about);
  block->grid->fail(std::move(outcome));
  if (block->counts) block->counts->stopped(*frame->code, number(at), counted_lanes);
  mask = 0;
  return nullptr;
}

void Warp::wake(Wait wait, std::uint64_t detail) {
  for (Split& s : parked) {
    if (s.wait != wait || (detail != any_detail && s.detail != detail)) continue;
    s.wait = Wait::nothing;
    if (wait != Wait::collective) phases = block->turns.phases_in_step();
  }
}

void Warp::ensure_local(std::uint32_t bytes) {
  const std::size_t words = std::size_t{(bytes + 3) / 4} * lanes;
  if (local_words.size() < words) {
    local_words.resize(words);
    local = local_words.data();
  }
}

// Resumes the first split in order. If a spin or long running may starve others, resumes the split
// that waited longest.
const Op* Warp::next_fair() {
  if (parked.size() > 1) {
    std::size_t oldest = parked.size();
    unsigned ready = 0;
    for (std::size_t i = 0; i < parked.size(); ++i) {
      if (parked[i].wait != Wait::nothing) continue;
      ++ready;
      if (oldest == parked.size() || parked[i].last_run < parked[oldest].last_run) oldest = i;
    }
    if (ready > 1 && (polled || slice - parked[oldest].last_run > starving)) {
      const Split split = parked[oldest];
      parked.erase(parked.begin() + static_cast<std::ptrdiff_t>(oldest));
      resume(split);
      absorb(split.pc);
      exclusive = true;
      polled = 0;
      return split.pc;
    }
  }
  polled = 0;
  return next();
}

void Warp::run_instructions(std::uint32_t count, bool fair) {
  constexpr std::int32_t slice_instructions = 1 << 14, enough = 1 << 20;
  if (counted >= slice_instructions) counted = 0;
  if (counted == 0) ++slice;
  allotted = budget = enough;
  if (!fair) polled = 0;
  const Op* pc = fair ? next_fair() : next();
  std::uint32_t done = 0;
  tracks_undefined = true;
  compiled_until = nullptr;
  while (pc) {
    const Op* const after =
        undefined != 0 ? follow_one(*this, pc) : frame->code->handler_of(pc)(*this, pc);
    if (!after) break;
    if (after->instruction != pc->instruction && ++done == count) {
      pause(after);
      break;
    }
    pc = after;
  }
  allotted += static_cast<std::int32_t>(done);
  counted += static_cast<std::int32_t>(done) + 1;
}

void Warp::run(std::int32_t slice_ops) {
  ++slice;
  allotted = budget = slice_ops;
  const Op* pc = nullptr;
  if (parked.size() == 1) [[likely]] {
    polled = 0;
    exclusive = false;
    if (parked[0].wait != Wait::nothing) return;
    resume(parked[0]);
    pc = parked[0].pc;
    parked.clear();
  } else {
    pc = next_fair();
  }
  tracks_undefined = false;
  if (undefined != 0) [[unlikely]]
    pc = follow(*this, pc);
  while (pc) pc = pc->handler()(*this, pc);
}

}  // namespace inflight::machine
