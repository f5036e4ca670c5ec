// Finds shapes as the least solution: no register has one at first, and all lanes are together.
#include "gpu/machine/shapes/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/machine/shapes/regions.hpp"
#include "gpu/machine/shapes/results.hpp"

namespace inflight::machine {
namespace {

// The bits of a table of registers by block, above which the function counts as too large.
constexpr std::uint64_t most_bits = std::uint64_t{1} << 28;
// Passes over the function. Most take three.
constexpr int most_passes = 64;

// Whether lanes may end their turn before or behind the instruction, so that others that come to
// the same place join them there.
bool may_meet(const Function& function, std::uint32_t i) {
  const Instruction& in = function.body[i];
  const bool settles = in.awaits_multiplies || (!function.held.empty() && !in.memory.empty());
  return in.effect == Effect::other || in.control != Control::next || function.begins_phase[i] ||
         settles;
}

// By register: each read of it follows a write in the same stretch of a block, within which no
// lanes join or leave. So what the lanes that read it have, they wrote together.
std::vector<bool> find_local(const Function& f) {
  std::vector<bool> local(f.text->registers.size(), true);
  std::vector<std::uint32_t> written(local.size(), 0);
  std::uint32_t stretch = 0;
  for (const std::uint32_t b : f.flow.order) {
    ++stretch;
    for (std::uint32_t i = f.flow.blocks[b].first; i < f.flow.blocks[b].last; ++i) {
      const Instruction& in = f.body[i];
      if (in.contracted) continue;
      const bool meets = may_meet(f, i);
      if (meets && in.control != Control::branch) ++stretch;
      const auto read = [&](std::uint32_t reg) {
        if (written[reg] != stretch) local[reg] = false;
      };
      for (const RegisterUse& use : in.reads) read(use.reg);
      if (in.guard)
        for (const RegisterUse& use : in.writes) read(use.reg);
      if (meets) ++stretch;
      // What lanes write while others may join them is not of this stretch.
      for (const RegisterUse& use : in.writes) written[use.reg] = meets ? 0 : stretch;
    }
  }
  return local;
}

// A bit for each register.
class Registers {
 public:
  explicit Registers(std::size_t count, bool all = false)
      : words_((count + 63) / 64, all ? ~std::uint64_t{0} : 0) {}
  bool has(std::uint32_t reg) const { return words_[reg / 64] >> reg % 64 & 1; }
  void add(std::uint32_t reg) { words_[reg / 64] |= std::uint64_t{1} << reg % 64; }
  // Returns whether it changed.
  bool keep(const Registers& others) {
    bool changed = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t both = words_[i] & others.words_[i];
      changed |= both != words_[i];
      words_[i] = both;
    }
    return changed;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// By register: some lane may read it before it wrote it.
std::vector<bool> find_unwritten(const Function& f) {
  const std::size_t count = f.text->registers.size();
  std::vector<bool> unwritten(count, false);
  if (f.flow.order.empty()) return unwritten;
  // What each way to the block's start has written.
  std::vector<Registers> before(f.flow.blocks.size(), Registers(count, true));
  before[f.flow.order.front()] = Registers(count);
  const auto pass = [&](std::uint32_t b, bool collect) {
    Registers written = before[b];
    for (std::uint32_t i = f.flow.blocks[b].first; i < f.flow.blocks[b].last; ++i) {
      const Instruction& in = f.body[i];
      if (in.contracted) continue;
      if (collect) {
        for (const RegisterUse& use : in.reads)
          if (!written.has(use.reg)) unwritten[use.reg] = true;
        if (in.guard)
          for (const RegisterUse& use : in.writes)
            if (!written.has(use.reg)) unwritten[use.reg] = true;
      }
      if (!in.guard)
        for (const RegisterUse& use : in.writes) written.add(use.reg);
    }
    return written;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t b : f.flow.order) {
      const Registers after = pass(b, false);
      for (const std::uint32_t s : f.flow.blocks[b].successors) changed |= before[s].keep(after);
    }
  }
  for (const std::uint32_t b : f.flow.order) pass(b, true);
  return unwritten;
}

class Finder {
 public:
  Finder(const Function& function, BlockRows rows)
      : f_(function),
        regions_(function),
        shapes_(function.text->registers.size()),
        results_(function, rows, shapes_),
        local_(find_local(function)),
        fixed_(function.text->registers.size(), true),
        checked_(function.body.size()),
        part_by_part_(function.body.size()) {
    const std::vector<bool> unwritten = find_unwritten(f_);
    std::vector<std::uint32_t> writers(shapes_.size(), 0);
    for (const Instruction& in : f_.body)
      if (!in.contracted)
        for (const RegisterUse& use : in.writes) ++writers[use.reg];
    for (std::uint32_t r = 0; r < shapes_.size(); ++r) {
      if (unwritten[r] || (!f_.held.empty() && f_.held[r])) shapes_[r] = Shape::lanes();
      if (unwritten[r] || writers[r] != 1) fixed_[r] = false;
    }
  }

  Shapes run() {
    changed_ = true;
    for (int passes = 0; changed_; ++passes) {
      if (passes == most_passes || regions_.gave_up()) return nothing(f_);
      changed_ = false;
      for (node_ = 0; node_ < regions_.nodes().size(); ++node_)
        for (std::uint32_t i = regions_.nodes()[node_].first; i < regions_.nodes()[node_].last; ++i)
          if (!f_.body[i].contracted) visit(i);
    }
    Shapes found{std::move(shapes_), std::vector<bool>(f_.body.size(), true), std::move(checked_)};
    for (Shape& each : found.registers)
      if (!each.known()) each = Shape::lanes();
    for (std::uint32_t n = 0; n < regions_.nodes().size(); ++n)
      for (std::uint32_t i = regions_.nodes()[n].first; i < regions_.nodes()[n].last; ++i)
        found.apart[i] = regions_.apart(n) || part_by_part_[i];
    return found;
  }

  static Shapes nothing(const Function& f) {
    return {std::vector<Shape>(f.text->registers.size(), Shape::lanes()),
            std::vector<bool>(f.body.size(), true), std::vector<bool>(f.body.size(), false)};
  }

 private:
  void visit(std::uint32_t i) {
    const Instruction& in = f_.body[i];
    const Shape guard = in.guard ? shapes_[in.guard.reg] : Shape::uniform();
    if (separates(in, guard)) {
      // Lanes that do not go with the first stay at a branch, and execute it once more.
      if (in.control != Control::branch) part_by_part_[i] = true;
      changed_ |= regions_.separate(
          node_, in.control != Control::branch && in.control != Control::branch_table);
    }
    if (in.writes.empty()) return;
    Results::Result result = results_.of(in);
    if (!guard.known()) return;
    if (!guard.is_uniform()) result = {Shape::lanes()};
    checked_[i] = result.checked;
    const bool apart = regions_.apart(node_);
    for (const RegisterUse& use : in.writes) {
      fix(in, use.reg);
      // Lanes that write it at different times may have it from different times when they meet.
      if (apart && !local_[use.reg] && !fixed_[use.reg])
        set(use.reg, Shape::lanes());
      else
        set(use.reg, result.shape);
    }
  }

  // A register that one instruction writes, from what does not change, is the same each time.
  void fix(const Instruction& in, std::uint32_t reg) {
    if (!fixed_[reg]) return;
    const bool fixed =
        results_.is_constant(in) &&
        std::ranges::all_of(in.reads, [&](const RegisterUse& use) { return fixed_[use.reg]; });
    if (!fixed) fixed_[reg] = false, changed_ = true;
  }

  void set(std::uint32_t reg, Shape shape) {
    const Shape joined = join(shapes_[reg], shape);
    if (joined == shapes_[reg]) return;
    shapes_[reg] = joined;
    changed_ = true;
  }

  // Whether lanes that execute it may not go on together.
  bool separates(const Instruction& in, Shape guard) const {
    const auto differs = [](Shape shape) { return shape.known() && !shape.is_uniform(); };
    switch (in.control) {
      case Control::branch:
        return differs(guard);
      case Control::branch_table: {
        const auto operands = f_.text->operands(*in.text);
        return differs(guard) || operands.empty() ||
               differs(results_.operand(operands[0], ptx::Type::u32));
      }
      case Control::call:
        return true;
      case Control::meet:
      case Control::wait:
        return differs(guard) ||
               std::ranges::any_of(sorting_operands(*f_.text, in), [&](const ptx::Operand& o) {
                 return differs(results_.operand(o, ptx::Type::u32));
               });
      case Control::next:
      case Control::ret:
      case Control::exit:
      case Control::fault:
        return false;
    }
    return true;
  }

  const Function& f_;
  Regions regions_;
  std::vector<Shape> shapes_;  // by register
  Results results_;
  // By register: find_local; and it has one value in each lane, whenever the lane has written it.
  std::vector<bool> local_, fixed_;
  std::vector<bool> checked_, part_by_part_;  // by instruction
  std::uint32_t node_ = 0;
  bool changed_ = false;
};

}  // namespace

BlockRows block_rows(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  if (y == 1 && z == 1) return BlockRows::line;
  if (x % 32 == 0) return BlockRows::warps;
  return x % 16 == 0 ? BlockRows::halves : BlockRows::any;
}

Shapes find_shapes(const Function& function, BlockRows rows) {
  const std::uint64_t bits =
      std::uint64_t{function.flow.blocks.size()} * function.text->registers.size();
  if (!function.text->entry || bits > most_bits) return Finder::nothing(function);
  return Finder(function, rows).run();
}

std::string to_text(const Shape& shape) {
  const bool half = shape.reach == Shape::Reach::half;
  switch (shape.kind) {
    case Shape::Kind::affine:
      if (shape.stride == 0) return half ? "half-uniform" : "uniform";
      return fmt::format("{}affine, {} a lane", half ? "half-" : "", shape.stride);
    case Shape::Kind::monotone:
      return half ? "half-monotone" : "monotone";
    default:
      return "lanes";
  }
}

}  // namespace inflight::machine
