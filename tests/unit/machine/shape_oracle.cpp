// Replaces the handlers of a kernel's ops by one that compares registers before and after.
#include "tests/unit/machine/shape_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "gpu/machine/decode/prepared.hpp"

namespace inflight::machine {
namespace {

std::unordered_map<const Op*, ShapeOracle*> oracles;
std::unordered_map<std::uint64_t, int> watched_launches;  // by Code::id

// A long launch is watched at its begin, and of many launches of one kernel the first.
constexpr std::uint64_t most_compared = 1 << 16;
constexpr int most_launches = 4;

unsigned bits_of(ptx::Type type) {
  return type == ptx::Type::pred ? 1 : std::max(2u, ptx::size_of(type)) * 8;
}

std::uint64_t low(std::uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

const Code& code_of(const Program& program, std::string_view kernel) {
  const Kernel& k = *program.kernel(kernel);
  return **prepared(program).code({k.module, k.function}, {});
}

}  // namespace

ShapeOracle::ShapeOracle(const Program& program, std::string_view kernel, BlockRows rows)
    : code_(code_of(program, kernel)),
      shapes_(find_shapes(*code_.description, rows)),
      regions_(*code_.description),
      only_ends_(code_.ops.size()) {
  const Flow& flow = code_.description->flow;
  for (std::size_t k = 0; k < flow.order.size(); ++k) {
    const std::size_t end =
        k + 1 < flow.order.size() ? code_.block_start[flow.order[k + 1]] : code_.ops.size();
    const auto only_ends = [&](std::uint32_t b) {
      return regions_.nodes()[regions_.first_node(b)].only_ends;
    };
    for (std::size_t op = code_.block_start[flow.order[k]]; op < end; ++op)
      only_ends_[op] = only_ends(flow.order[k]);
    // So does a jump to the end that stands behind the block's instructions.
    const BasicBlock& block = flow.blocks[flow.order[k]];
    if (block.falls_through && !block.successors.empty() && end > 0 &&
        code_.ops[end - 1].is(Op::diverts) && end - 1 != code_.own_ops[block.last - 1])
      only_ends_[end - 1] = only_ends_[end - 1] || only_ends(block.successors.back());
  }
  for (const Op& op : code_.ops) {
    handlers_.push_back(op.run);
    oracles[&op] = this;
    const_cast<Op&>(op).run = watch;
  }
}

ShapeOracle::~ShapeOracle() {
  for (std::size_t i = 0; i < handlers_.size(); ++i) {
    const_cast<Op&>(code_.ops[i]).run = handlers_[i];
    oracles.erase(&code_.ops[i]);
  }
}

const Op* ShapeOracle::watch(Warp& w, const Op* op) { return oracles.at(op)->run(w, op); }

const Op* ShapeOracle::run(Warp& w, const Op* op) {
  const Handler handler = handlers_[static_cast<std::size_t>(op - code_.ops.data())];
  if (compared > most_compared) {
    for (std::size_t i = 0; i < handlers_.size(); ++i)
      const_cast<Op&>(code_.ops[i]).run = handlers_[i];
    return handler(w, op);
  }
  if (!wrong_.empty() || !holds(w, op)) return handler(w, op);
  const Instruction& in = code_.description->body[op->instruction];
  if (op == &code_.ops[code_.own_ops[op->instruction]] && !in.contracted) {
    check_together(w, op);
    check_uses(w, op, in.reads);
    if (shapes_.checked[op->instruction] && wraps(w, op)) {
      ++released;
      left_alone_.push_back(&w);
    }
  }
  const std::uint32_t mask = w.mask;
  const bool last = is_last(op);
  const Op* const next = handler(w, op);
  if (last && next == op + 1 && w.mask == mask && holds(w, op)) check_uses(w, op, in.writes);
  return next;
}

// Whether the claims hold for the warp still.
bool ShapeOracle::holds(Warp& w, const Op* op) {
  const bool begins = op == code_.ops.data() && w.mask == w.alive && w.parked.empty();
  if (begins) std::erase(left_alone_, &w);
  if (std::ranges::find(left_alone_, &w) != left_alone_.end()) return false;
  if (!w.exclusive) return true;
  ++released;
  left_alone_.push_back(&w);
  return false;
}

bool ShapeOracle::is_last(const Op* op) const {
  const auto i = static_cast<std::size_t>(op - code_.ops.data());
  const Instruction& in = code_.description->body[op->instruction];
  return i >= code_.own_ops[op->instruction] && !in.contracted &&
         (i + 1 == code_.ops.size() || code_.ops[i + 1].instruction != op->instruction ||
          code_.ops[i + 1].is(Op::diverts));
}

void ShapeOracle::check_together(const Warp& w, const Op* op) {
  if (shapes_.apart[op->instruction]) return;
  for (const Split& s : w.parked)
    if (s.mask != 0 &&
        (s.frame != w.frame || !only_ends_[static_cast<std::size_t>(s.pc - code_.ops.data())]))
      fail(w, op,
           fmt::format("lanes {:08x} are at instruction {} meanwhile", s.mask, s.pc->instruction));
}

void ShapeOracle::check_uses(const Warp& w, const Op* op, std::span<const RegisterUse> uses) {
  for (const RegisterUse& use : uses) check(w, op, use.reg, shapes_.registers[use.reg]);
}

std::uint64_t ShapeOracle::value(const Warp& w, std::uint32_t reg, int lane) const {
  const Ref slot = code_.slots[reg];
  switch (bits_of(code_.function->registers[reg].type)) {
    case 1:
      return *w.at<std::uint32_t>(slot) >> lane & 1;
    case 16:
      return w.at<std::uint16_t>(slot)[lane];
    case 32:
      return w.at<std::uint32_t>(slot)[lane];
    default:
      return w.at<std::uint64_t>(slot)[lane];
  }
}

void ShapeOracle::check(const Warp& w, const Op* op, std::uint32_t reg, const Shape& shape) {
  const unsigned bits = bits_of(code_.function->registers[reg].type);
  if (code_.slots[reg] == no_ref || bits > 64) return;
  ++compared;
  if (shape.kind == Shape::Kind::lanes) return;
  ++claims;
  const int span = shape.reach == Shape::Reach::warp ? lanes : lanes / 2;
  for (int from = 0; from < lanes; from += span) {
    int first = -1, changes = 0;
    std::uint64_t previous = 0;
    for (int l = from; l < from + span; ++l) {
      if (!(w.mask >> l & 1)) continue;
      const std::uint64_t v = value(w, reg, l);
      if (first < 0) first = l, previous = v;
      changes += v != previous;
      previous = v;
      if (shape.kind == Shape::Kind::monotone) continue;
      const std::uint64_t base =
          v - static_cast<std::uint64_t>(shape.stride) * static_cast<unsigned>(l - from);
      const std::uint64_t expected =
          value(w, reg, first) +
          static_cast<std::uint64_t>(shape.stride) * static_cast<unsigned>(l - first);
      const std::uint64_t zeros =
          shape.zeros >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << shape.zeros) - 1;
      if (low(v - expected, bits) != 0 || (low(base, bits) & zeros) != 0)
        return fail(
            w, op,
            fmt::format("{} is said to be {}, with {} zeros; lane {} has {:x}, lane {} {:x}",
                        code_.function->registers[reg].name, to_text(shape), shape.zeros, first,
                        value(w, reg, first), l, v));
    }
    if (shape.kind == Shape::Kind::monotone && changes > 1)
      return fail(
          w, op,
          fmt::format("{} is said to be {} and is {:08x}", code_.function->registers[reg].name,
                      to_text(shape), *w.at<std::uint32_t>(code_.slots[reg]) & w.mask));
  }
}

// Whether an affine source of the instruction wraps in its type.
bool ShapeOracle::wraps(const Warp& w, const Op* op) const {
  const Instruction& in = code_.description->body[op->instruction];
  const ptx::Type type = in.opcode == ptx::Opcode::cvt ? in.text->type(1) : in.text->type();
  const unsigned bits = bits_of(type);
  const auto extended = [&](std::uint64_t v) {
    return ptx::is_signed(type) ? in_width(v, bits) : static_cast<std::int64_t>(low(v, bits));
  };
  const auto operands = code_.function->operands(*in.text);
  for (std::size_t n = 1; n < std::min<std::size_t>(operands.size(), 3); ++n) {
    if (operands[n].kind != ptx::Operand::Kind::reg) continue;
    const std::uint32_t reg = operands[n].index;
    const Shape& shape = shapes_.registers[reg];
    const std::int64_t stride = in_width(static_cast<std::uint64_t>(shape.stride), bits);
    if (!shape.is_affine() || stride == 0) continue;
    const int span = shape.reach == Shape::Reach::warp ? lanes : lanes / 2;
    for (int from = 0; from < lanes; from += span) {
      int first = -1;
      for (int l = from; l < from + span; ++l) {
        if (!(w.mask >> l & 1)) continue;
        if (first < 0) first = l;
        const __int128 steps = static_cast<__int128>(stride) * (l - first);
        const auto number = [&](int lane) -> __int128 {
          const std::int64_t v = extended(value(w, reg, lane));
          return bits == 64 && !ptx::is_signed(type) ? static_cast<__int128>(std::uint64_t(v)) : v;
        };
        if (number(l) != number(first) + steps) return true;
      }
    }
  }
  return false;
}

std::unique_ptr<ShapeOracle> watch_shapes(const Launch& launch, const Options& options) {
  if (options.listener || options.turns.kind != Turns::Kind::chip) return nullptr;
  const Kernel& k = *launch.kernel;
  const auto code = prepared(*k.program).code({k.module, k.function}, {});
  if (!code || oracles.contains((*code)->ops.data())) return nullptr;
  // Other workers must not watch at the same time: of other blocks, or of kernels that it launches.
  const bool calls = std::ranges::any_of((*code)->description->body, [](const Instruction& in) {
    return in.control == Control::call;
  });
  if (options.workers != 1 && (launch.grid.count() != 1 || calls)) return nullptr;
  if (++watched_launches[(*code)->id] > most_launches) return nullptr;
  const Dim3& block = launch.block;
  return std::make_unique<ShapeOracle>(*k.program, k.name, block_rows(block.x, block.y, block.z));
}

void ShapeOracle::fail(const Warp& w, const Op* op, const std::string& what) {
  if (!wrong_.empty()) return;
  wrong_ = fmt::format("warp {}, lanes {:08x}, instruction {} ({}): {}", w.index, w.mask,
                       op->instruction, code_.description->body[op->instruction].text->name, what);
}

}  // namespace inflight::machine
