// Waits for the lanes of a member mask, and runs collectives whose lanes are at different places.
#include "gpu/machine/families/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/undefined_registers.hpp"

namespace inflight::machine {
namespace {

constexpr unsigned widths = 6;  // of a shfl's segment: 32, 16, ... 1 lanes

}  // namespace

ShuffleMap shuffle_maps[4 * widths * lanes];

namespace {

using Shape = CollectiveShape;

// Whether the ops have the same opcode and qualifiers and were decoded in the same way.
bool same_instruction(const Op& a, const Op& b) {
  const ptx::Instruction &x = *a.what->text, &y = *b.what->text;
  if (x.opcode != y.opcode || x.types != y.types || x.mods != y.mods) return false;
  if (a.detail != b.detail || b.extra == no_ref) return false;
  return !(a.detail & Shape::mapped) || a.b == b.b;
}

char* base_of(const Warp& w, const Frame& frame, Ref ref) {
  switch (static_cast<Base>(ref & 3)) {
    case Base::frame:
      return reinterpret_cast<char*>(const_cast<Frame&>(frame).registers.data());
    case Base::constants:
      return reinterpret_cast<char*>(const_cast<std::byte*>(frame.code->constants.data()));
    default:
      return w.base[ref & 3];
  }
}

template <class T>
T* lanes_at(const Warp& w, const Frame& frame, Ref ref) {
  return reinterpret_cast<T*>(base_of(w, frame, ref) + (ref & ~3u));
}

// Lanes of one split that take part in a collective whose lanes are at several places.
struct Part {
  const Op* op;
  Frame* frame;
  std::uint32_t mask;
};

// The operands of all parts, merged into registers on which the collective runs.
struct alignas(64) Joint {
  std::uint64_t wide_a[lanes];
  std::uint32_t a[lanes], b[lanes], c[lanes], d[lanes];
  alignas(64) std::uint32_t predicate_a, predicate_d, q;
};

constexpr Ref joint_ref(std::size_t offset) {
  return make_ref(Base::frame, static_cast<std::uint32_t>(offset));
}

template <class T>
void copy_lanes(T* to, const T* from, std::uint32_t mask) {
  for (int l = 0; l < lanes; ++l)
    if ((mask >> l) & 1) to[l] = from[l];
}
void copy_bits(std::uint32_t& to, std::uint32_t from, std::uint32_t mask) {
  to = (to & ~mask) | (from & mask);
}

void collect(const Warp& w, const Part& p, Joint& joint) {
  const Op& op = *p.op;
  if (op.detail & Shape::predicate_a) {
    const std::uint32_t bits = *lanes_at<std::uint32_t>(w, *p.frame, op.a);
    copy_bits(joint.predicate_a, op.flags & Op::negate_a ? ~bits : bits, p.mask);
  } else if (op.detail & Shape::wide_a) {
    copy_lanes(joint.wide_a, lanes_at<std::uint64_t>(w, *p.frame, op.a), p.mask);
  } else if (op.detail & Shape::has_a) {
    copy_lanes(joint.a, lanes_at<std::uint32_t>(w, *p.frame, op.a), p.mask);
  }
  if (!(op.detail & Shape::has_bc)) return;
  copy_lanes(joint.b, lanes_at<std::uint32_t>(w, *p.frame, op.b), p.mask);
  copy_lanes(joint.c, lanes_at<std::uint32_t>(w, *p.frame, op.c), p.mask);
}

void scatter_results(Warp& w, const Part& p, const Joint& joint) {
  const Op& op = *p.op;
  auto* d = lanes_at<std::uint32_t>(w, *p.frame, op.d);
  if (op.detail & Shape::predicate_d)
    copy_bits(*d, joint.predicate_d, p.mask);
  else
    copy_lanes(d, joint.d, p.mask);
  if (const auto q = static_cast<Ref>(op.imm); q != no_ref)
    copy_bits(*lanes_at<std::uint32_t>(w, *p.frame, q), joint.q, p.mask);
  if (!p.frame->undefined) return;
  for (const RegisterUse& use : op.what->writes) p.frame->undefined->define(w, use.reg, p.mask);
}

void run_joint(Warp& w, const std::vector<Part>& parts, Collective run) {
  Joint joint{};
  Op op = *parts.front().op;
  op.flags &= static_cast<std::uint8_t>(~Op::negate_a);
  op.a = joint_ref(op.detail & Shape::predicate_a ? offsetof(Joint, predicate_a)
                   : op.detail & Shape::wide_a    ? offsetof(Joint, wide_a)
                                                  : offsetof(Joint, a));
  if (op.detail & Shape::has_bc) {
    op.b = joint_ref(offsetof(Joint, b));
    op.c = joint_ref(offsetof(Joint, c));
  }
  op.d =
      joint_ref(op.detail & Shape::predicate_d ? offsetof(Joint, predicate_d) : offsetof(Joint, d));
  op.imm = joint_ref(offsetof(Joint, q));
  char* const registers = w.base[0];
  w.base[0] = reinterpret_cast<char*>(&joint);
  w.mask = 0;
  for (const Part& p : parts) {
    collect(w, p, joint);
    w.mask |= p.mask;
  }
  w.whole = false;
  run(w, &op, w.mask);
  for (const Part& p : parts) scatter_results(w, p, joint);
  w.base[0] = registers;
}

// --- shuffles with constant operands --------------------------------------------------------

std::uint32_t segment_mask(unsigned width) { return (0x1f << (5 - width)) & 0x1f; }
std::uint32_t map_index(Shuffle mode, std::uint32_t delta, unsigned width) {
  return (static_cast<std::uint32_t>(mode) * widths + width) * lanes + delta;
}

// Follows the pseudocode of shfl in the PTX ISA.
ShuffleMap shuffle_map(Shuffle mode, int delta, unsigned width) {
  ShuffleMap map;
  const int segment = static_cast<int>(segment_mask(width));
  const int clamp = mode == Shuffle::up ? 0 : 31;
  for (int l = 0; l < lanes; ++l) {
    const int low = l & segment, high = low | (clamp & ~segment);
    const int from[] = {l - delta, l + delta, l ^ delta, low | (delta & ~segment)};
    const int j = from[static_cast<unsigned>(mode)];
    const bool inside = mode == Shuffle::up ? j >= high : j <= high;
    map.from[l] = inside ? j : l;
    map.inside |= std::uint32_t{inside} << l;
  }
  return map;
}

bool fill_shuffle_maps() {
  for (unsigned mode = 0; mode < 4; ++mode)
    for (unsigned width = 0; width < widths; ++width)
      for (unsigned delta = 0; delta < lanes; ++delta) {
        const auto m = static_cast<Shuffle>(mode);
        shuffle_maps[map_index(m, delta, width)] = shuffle_map(m, static_cast<int>(delta), width);
      }
  return true;
}

// The index of the map of a shfl whose b and c are constants that CUDA's functions make; else none.
std::optional<std::uint32_t> map_of(const Lowering& lo) {
  using ptx::Mod;
  if (lo.in.opcode != ptx::Opcode::shfl || !lo.is_constant(lo.operands[2]) ||
      !lo.is_constant(lo.operands[3]))
    return std::nullopt;
  [[maybe_unused]] static const bool filled = fill_shuffle_maps();
  const auto& mods = lo.in.mods;
  const Shuffle mode = mods.has(Mod::up)     ? Shuffle::up
                       : mods.has(Mod::down) ? Shuffle::down
                       : mods.has(Mod::bfly) ? Shuffle::bfly
                                             : Shuffle::idx;
  const auto delta = static_cast<std::uint32_t>(lo.constant(lo.operands[2])) & 31;
  const auto c = static_cast<std::uint32_t>(lo.constant(lo.operands[3])) & 0x1f1f;
  for (unsigned width = 0; width < widths; ++width)
    if (c == (segment_mask(width) << 8 | (mode == Shuffle::up ? 0u : 31u)))
      return map_index(mode, delta, width);
  return std::nullopt;
}

// Parked lanes that wait at the same instruction, at another place, with this member mask.
std::vector<Part> waiting_elsewhere(const Warp& w, const Op* op, std::uint32_t members) {
  std::vector<Part> found;
  for (const Split& s : w.parked) {
    if (s.wait != Wait::collective || !same_instruction(*op, *s.pc)) continue;
    const std::uint32_t mask = s.mask & lanes_equal(values_of(w, s, s.pc->extra), members);
    if (mask) found.push_back({s.pc, s.frame, mask});
  }
  return found;
}

// The handler in code decoded for a listener. Reports lanes that need not wait; run_groups()
// reports the others.
const Op* run_observed(Warp& w, const Op* op) {
  std::uint32_t members = w.mask;
  bool all_here = true;
  if (op->extra != no_ref) {
    const auto* masks = w.at<std::uint32_t>(op->extra);
    members = masks[std::countr_zero(w.mask)];
    all_here = (members & w.alive & ~w.mask) == 0 &&
               (w.mask & ~(lanes_equal(masks, members) & members)) == 0;
  }
  if (all_here) w.block->grid->observation->met(w, op, w.mask, members);
  return op->inner(w, op);
}

// Releases parked lanes that took part: they go on after their instruction.
void release_parked(Warp& w, const Part& part) {
  for (std::size_t i = 0; i < w.parked.size(); ++i) {
    Split& s = w.parked[i];
    if (s.pc != part.op || s.frame != part.frame || s.wait != Wait::collective) continue;
    Split freed = s;
    freed.mask = s.mask & part.mask;
    if (freed.mask == 0) continue;
    freed.wait = Wait::nothing, ++freed.pc;
    if (s.mask &= ~part.mask)
      w.parked.push_back(freed);
    else
      s = freed;
    return;
  }
}

}  // namespace

std::uint32_t lanes_equal(const std::uint32_t* values, std::uint32_t value) {
  std::uint32_t mask = 0;
  for (int l = 0; l < lanes; ++l) mask |= std::uint32_t{values[l] == value} << l;
  return mask;
}

const std::uint32_t* values_of(const Warp& w, const Split& s, Ref ref) {
  return lanes_at<std::uint32_t>(w, *s.frame, ref);
}

void keep_waiting(Warp& w, const Op* op, std::uint32_t mask, std::uint32_t members) {
  const Split split{op, w.frame, mask, Wait::collective, members, w.slice};
  if (w.block->grid->observation) w.block->grid->observation->wait_begun(w, split);
  w.keep(split);
  w.mask &= ~mask;
  w.whole = false;
}

const Op* not_a_member(Warp& w, const Op* op, std::uint32_t non_members, std::uint32_t members) {
  return w.fault(
      op, FaultKind::illegal_instruction, non_members,
      fmt::format("uses member mask 0x{:08x}, which does not include the thread itself", members));
}

const Op* run_groups(Warp& w, const Op* op, Collective run) {
  const std::uint32_t split = w.mask;
  const auto* masks = w.at<std::uint32_t>(op->extra);
  std::uint32_t ready = 0, first_missing = 0;
  std::vector<Part> gone;
  for (std::uint32_t rest = split; rest != 0;) {
    const std::uint32_t members = masks[std::countr_zero(rest)];
    const std::uint32_t group = rest & lanes_equal(masks, members);
    rest &= ~group;
    if (const std::uint32_t non_members = group & ~members; non_members && group != split)
      return not_a_member(w, op, non_members, members);
    std::vector<Part> parts = waiting_elsewhere(w, op, members);
    std::uint32_t present = group;
    for (const Part& p : parts) present |= p.mask;
    if (members & w.alive & ~present) {
      first_missing = members;
      continue;
    }
    ready |= group;
    if (w.block->grid->observation) w.block->grid->observation->met(w, op, present, members);
    if (parts.empty()) {
      w.mask = group, w.whole = false;
      run(w, op, group);
      continue;
    }
    parts.insert(parts.begin(), Part{op, w.frame, group});
    run_joint(w, parts, run);
    gone.insert(gone.end(), parts.begin() + 1, parts.end());
  }
  w.mask = split;
  w.whole = split == w.alive;
  for (const Part& p : gone) release_parked(w, p);
  if (ready == 0) return w.park(op, Wait::collective, first_missing);
  if (ready != split) keep_waiting(w, op, split & ~ready, first_missing);
  return gone.empty() ? op + 1 : w.jump(op + 1);
}

bool lower_collective(Lowering& lo, const Row& row) {
  const auto operands = lo.operands;
  const bool sync = lo.in.mods.has(ptx::Mod::sync);
  const auto count = static_cast<std::size_t>(
      std::find(row.operands.begin(), row.operands.end(), ptx::Type::none) - row.operands.begin());
  if (operands.size() != count + (sync ? 1 : 0))
    return lo.refuse(sync ? "takes a member mask as its last operand" : "too many operands");
  Op made;
  Ref refs[4] = {no_ref, no_ref, no_ref, no_ref};
  for (std::size_t i = 0; i < count; ++i) {
    const bool predicate = row.operands[i] == ptx::Type::pred;
    if (i == 0)
      refs[i] = predicate ? lo.predicate_destination(operands[i])
                          : lo.destination(operands[i], row.operands[i]);
    else
      refs[i] = predicate ? lo.predicate(operands[i], made.flags, Op::negate_a)
                          : lo.source(operands[i], row.operands[i]);
    if (refs[i] == no_ref) return false;
  }
  made.detail |= row.operands[0] == ptx::Type::pred ? Shape::predicate_d : 0;
  made.detail |= count > 1 ? Shape::has_a : 0;
  made.detail |= row.operands[1] == ptx::Type::pred ? Shape::predicate_a : 0;
  made.detail |= ptx::size_of(row.operands[1]) == 8 ? Shape::wide_a : 0;
  made.detail |= count > 2 ? Shape::has_bc : 0;
  if (sync && lo.is_constant(operands[count])) made.detail |= Shape::same_members;
  if (const auto map = map_of(lo)) {
    made.detail = static_cast<std::uint16_t>((made.detail & ~Shape::has_bc) | Shape::mapped);
    refs[2] = *map;
  }
  const Ref members = sync ? lo.source(operands[count], ptx::Type::u32) : no_ref;
  if (sync && members == no_ref) return false;
  Op& op = lo.emit(row.handler);
  op.d = refs[0], op.a = refs[1], op.b = refs[2], op.c = refs[3];
  op.imm = lo.second_destination(operands[0]);
  op.extra = members;
  op.detail = made.detail;
  op.flags |= made.flags;
  if (lo.form().synchronised) op.inner = op.run, op.run = run_observed, op.marks |= Op::wraps;
  return true;
}

}  // namespace inflight::machine
