// Chooses ops, entries and homes, and finds which registers are live or newer than the frame.
#include "gpu/machine/compile/places.hpp"

#include <algorithm>
#include <cstddef>

#include "gpu/machine/run/control.hpp"
#include "gpu/machine/run/warp.hpp"
#include "gpu/machine/shapes/results.hpp"

namespace inflight::machine::compile {
namespace {

constexpr std::uint32_t none = Code::none;
// Bits of a table of registers by op, and ops, above which a function counts as too large.
constexpr std::uint64_t most_bits = std::uint64_t{1} << 28;
constexpr std::size_t most_ops = 20000;
// A kernel is not compiled with less of it in forms.
constexpr double least_share = 0.7;
// Ops up to the next way out, where those in loops count for more.
constexpr std::uint32_t worth_entering = 12;
// Where a warp waits or ends, little has to be written back, which counts as so many ops.
constexpr std::uint32_t at_wait = 10, at_end = 12;
// Ops between two looks at whether the code is still wanted.
constexpr std::uint32_t look_after = 1024;

bool is_real(ptx::Type type) { return type == ptx::Type::f32 || type == ptx::Type::f64; }

}  // namespace

unsigned Places::width(std::uint32_t reg) const {
  const ptx::Type type = code.function->registers[reg].type;
  return type == ptx::Type::pred ? 0 : std::max(2u, ptx::size_of(type));
}

const Instruction& Places::instruction(std::uint32_t op) const {
  // Never destroyed, since a helper thread may compile when the process ends.
  static const Instruction& nothing = *new Instruction;
  const auto& body = code.description->body;
  const std::uint32_t i = code.ops[op].instruction;
  return i < body.size() ? body[i] : nothing;
}

bool Places::guarded(std::uint32_t op) const {
  return code.ops[op].guard != no_ref && ops[op].what != Place::Do::branch;
}

Places::Places(const Code& code_, BlockRows rows_, bool whole, const Patience& patience)
    : code(code_), rows(rows_), ops(code_.ops.size()) {
  const Function& f = *code.description;
  if (!code.function->entry) why_not = "it is no kernel";
  if (!f.held.empty()) why_not = "it has wgmma";
  if (code.ops.size() > most_ops || code.ops.size() * f.text->registers.size() > most_bits)
    why_not = "it is too large";
  if (!why_not.empty()) return;
  find_ops();
  find_leaders();
  find_liveness(patience);
  find_regions();
  find_masked_liveness();
  find_shapes();
  find_dirty(patience);
  find_masked_dirty();
  weigh();
  if (whole) return;
  if (share < least_share) why_not = "its handlers execute too much of it";
  drop_short_entries();
  if (std::ranges::none_of(ops, &Place::entry)) why_not = "its warps would soon leave it";
}

void Places::find_ops() {
  const auto ends = [&](const Op& op) {
    const Handler run = code.handler_of(&op);
    return run == &run_return || run == &run_exit;
  };
  const auto is_control = [&](const Op& op) {
    const Handler run = code.handler_of(&op);
    return run == &run_jump || run == &run_branch || run == &run_phase || ends(op);
  };
  const auto first_own = [&](std::uint32_t k) {
    const std::uint32_t i = code.ops[k].instruction;
    return i < code.own_ops.size() ? code.own_ops[i] : none;
  };
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    const Op& op = code.ops[k];
    const Handler run = code.handler_of(&op);
    Place& at = ops[k];
    const bool alone = (k == 0 || code.ops[k - 1].instruction != op.instruction ||
                        is_control(code.ops[k - 1]) || first_own(k) == k) &&
                       (k + 1 == ops.size() || code.ops[k + 1].instruction != op.instruction ||
                        is_control(code.ops[k + 1]));
    at.last = k + 1 == ops.size() || code.ops[k + 1].instruction != op.instruction ||
              code.handler_of(&code.ops[k + 1]) == &run_jump || ends(code.ops[k + 1]);
    if (run == &run_jump) {
      at.what = Place::Do::jump, at.ends = true;
    } else if (run == &run_branch) {
      at.what = Place::Do::branch;
    } else if (run == &run_phase) {
      at.what = Place::Do::phase, at.parks = true;
    } else if (ends(op)) {
      at.ends = true;
    } else if (const std::uint32_t own = first_own(k); own != none && k < own) {
      at.counts = true, at.last = false;
    } else {
      const Instruction& in = instruction(k);
      if (alone && in.text && in.control == Control::next) at.form = find_form({code, in, op, k});
      if (at.form) at.what = Place::Do::form;
      at.parks = in.control == Control::meet || in.control == Control::wait ||
                 in.control == Control::call || (!at.form && in.effect == Effect::other);
      at.ends = in.control == Control::ret || in.control == Control::exit ||
                in.control == Control::fault || in.control == Control::branch_table ||
                op.is(Op::refuses);
    }
    if (at.what != Place::Do::call)
      ++covered;
    else if (!at.counts)
      ++handled;
  }
}

template <class Each>
void Places::each_successor(std::uint32_t op, Each each) const {
  const Place& at = ops[op];
  if (at.what == Place::Do::jump || at.what == Place::Do::branch) each(target(op));
  if (at.what == Place::Do::call && !at.counts && instruction(op).control == Control::branch_table)
    for (const Op* to : code.branch_tables[code.ops[op].extra])
      each(static_cast<std::uint32_t>(to - code.ops.data()));
  if (!at.ends && op + 1 < ops.size()) each(op + 1);
}

bool Places::is_live_near(std::uint32_t op, std::uint32_t reg) const {
  bool found = live.has(op, reg);
  each_successor(op, [&](std::uint32_t to) { found |= live.has(to, reg); });
  return found;
}

void Places::find_leaders() {
  const auto enter = [&](std::uint32_t op) { ops[op].leader = ops[op].entry = true; };
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    const Place& at = ops[k];
    if (at.what == Place::Do::call && at.ends) {
      each_successor(k, [&](std::uint32_t to) { ops[to].leader = true; });
    } else if (at.what == Place::Do::jump || at.what == Place::Do::branch) {
      ops[target(k)].leader = true;
    }
    if (at.parks && !at.ends && k + 1 < ops.size()) enter(k + 1);
  }
  // Blocks that only the one before falls into are entered there.
  const Flow& flow = code.description->flow;
  for (std::size_t i = 0; i < flow.order.size(); ++i) {
    const std::uint32_t b = flow.order[i], start = code.block_start[b];
    const Op* const entry = code.entry(b);
    if (start == none || !entry) continue;
    if (i == 0 || ops[start].leader) enter(static_cast<std::uint32_t>(entry - code.ops.data()));
  }
  for (std::uint32_t k = 0; k < ops.size(); ++k)
    if (ops[k].leader && code.ops[k].is(Op::begins) && ops[k].what != Place::Do::phase) enter(k);
}

// The shapes of the whole function, weakened until each instruction gives its results from those of
// its operands alone, with whole warps.
void Places::find_shapes() {
  const Function& f = *code.description;
  shapes = machine::find_shapes(f, rows).registers;
  const auto& registers = f.text->registers;
  for (const Shape& each : shapes)
    ordered.push_back(each.is_uniform() || each.kind == Shape::Kind::monotone);
  for (std::uint32_t r = 0; r < shapes.size(); ++r) {
    const unsigned bytes = width(r);
    const bool kept = bytes == 4 || bytes == 8;
    if (bytes == 0 ? !shapes[r].is_uniform()
                   : !shapes[r].is_affine() || !kept || is_real(registers[r].type))
      shapes[r] = Shape::lanes();
  }
  const Results results(f, rows, shapes);
  std::vector<bool> emitted(f.body.size());
  std::vector<std::uint32_t> keeps(f.body.size(), 0);  // an op of it in a region, plus 1
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    const std::uint32_t i = code.ops[k].instruction;
    if (ops[k].what == Place::Do::form) emitted[i] = true;
    if (!regions.empty() && i < keeps.size() && ops[k].masked) keeps[i] = k + 1;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < f.body.size(); ++i) {
      const Instruction& in = f.body[i];
      if (in.contracted || in.writes.empty()) continue;
      Results::Result result = results.of(in);
      // Host code checks what has to be; a handler does not. In a region, host code computes for
      // all lanes where none of the others keeps what it has; a handler does not write theirs.
      if (in.guard || (result.checked && !emitted[i])) result.shape = Shape::lanes();
      for (const RegisterUse& use : in.writes) {
        Shape joined = join(shapes[use.reg], result.shape);
        if (keeps[i] != 0 &&
            (kept.has(keeps[i] - 1, use.reg) || (width(use.reg) == 0 && !emitted[i])))
          joined = Shape::lanes();
        if (width(use.reg) == 0 ? !joined.is_uniform() : !joined.is_affine())
          joined = Shape::lanes();
        if (joined == shapes[use.reg]) continue;
        shapes[use.reg] = joined;
        changed = true;
      }
    }
  }
  home.assign(shapes.size(), none);
  for (std::uint32_t r = 0; r < shapes.size(); ++r)
    if (width(r) != 0 && shapes[r].is_affine()) home[r] = homes++;
}

void Places::find_liveness(const Patience& patience) {
  const std::size_t count = code.function->registers.size();
  live = Bits(ops.size(), count);
  Bits row(1, count);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto k = static_cast<std::uint32_t>(ops.size()); k-- > 0;) {
      if (k % look_after == 0) patience.look();
      row.clear(0);
      each_successor(k, [&](std::uint32_t to) { row.add(0, live, to); });
      const Place& at = ops[k];
      const Instruction& in = instruction(k);
      if (at.what == Place::Do::branch) {
        // The guard, perhaps of an instruction that the branch leads around.
        if (in.guard) row.add(0, in.guard.reg);
      } else if (at.what != Place::Do::jump && at.what != Place::Do::phase) {
        if (at.last && !in.guard)
          for (const RegisterUse& use : in.writes) row.remove(0, use.reg);
        for (const RegisterUse& use : in.reads) row.add(0, use.reg);
        if (in.guard) {
          row.add(0, in.guard.reg);
          // Lanes whose guard is false keep what they have.
          for (const RegisterUse& use : in.writes) row.add(0, use.reg);
        }
      }
      changed |= row.give(0, live, k);
    }
  }
}

void Places::find_dirty(const Patience& patience) {
  const std::size_t count = shapes.size();
  dirty = Bits(ops.size(), count);
  Bits row(1, count);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t k = 0; k < ops.size(); ++k) {
      if (k % look_after == 0) patience.look();
      row.clear(0);
      row.add(0, dirty, k);
      const Instruction& in = instruction(k);
      if (ops[k].what == Place::Do::form) {
        for (const RegisterUse& use : in.writes)
          if (in_home(use.reg)) row.add(0, use.reg);
      } else if (ops[k].what == Place::Do::call && ops[k].parks) {
        row.clear(0);
      } else if (ops[k].what == Place::Do::call) {
        // They are stored for the handler, and read from the frame behind it.
        for (const RegisterUse& use : in.reads) row.remove(0, use.reg);
        for (const RegisterUse& use : in.writes) row.remove(0, use.reg);
      }
      each_successor(k, [&](std::uint32_t to) { changed |= dirty.add(to, row, 0); });
    }
  }
}

void Places::weigh() {
  // What lies in loops counts for more, up to three deep.
  std::vector<int> change(ops.size() + 1, 0);
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    if (ops[k].what != Place::Do::jump && ops[k].what != Place::Do::branch) continue;
    if (target(k) <= k) ++change[target(k)], --change[k + 1];
  }
  double all = 0, done = 0;
  int depth = 0;
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    depth += change[k];
    weights.push_back(ops[k].counts ? 0 : 1u << 3 * std::clamp(depth, 0, 3));
    all += weights[k];
    if (ops[k].what != Place::Do::call) done += weights[k];
  }
  share = all > 0 ? done / all : 0;
}

// A branch at which warps often diverge: not one that asks which threads are before the end of the
// data, at which one warp of a block diverges at most.
bool Places::may_diverge(std::uint32_t op) const {
  if (ops[op].what != Place::Do::branch || region_of[op] != none) return false;
  const Instruction& in = instruction(op);
  return in.guard && !ordered[in.guard.reg];
}

// To come in and go out again takes as long as some interpreted ops. So it does not pay a few ops
// before a warp diverges or waits.
void Places::drop_short_entries() {
  std::vector<std::uint32_t> way(ops.size(), worth_entering);  // to the nearest way out
  for (bool changed = true; changed;) {
    changed = false;
    for (auto k = static_cast<std::uint32_t>(ops.size()); k-- > 0;) {
      std::uint32_t shortest = worth_entering;
      if (may_diverge(k))
        shortest = 0;
      else if (ops[k].parks)
        shortest = at_wait;
      else if (ops[k].what == Place::Do::call && ops[k].ends)
        shortest = at_end;
      each_successor(k, [&](std::uint32_t to) { shortest = std::min(shortest, way[to]); });
      shortest = std::min(shortest + weights[k], worth_entering);
      if (shortest < way[k]) way[k] = shortest, changed = true;
    }
  }
  for (std::uint32_t k = 0; k < ops.size(); ++k)
    if (way[k] < worth_entering) ops[k].entry = false;
}

}  // namespace inflight::machine::compile
