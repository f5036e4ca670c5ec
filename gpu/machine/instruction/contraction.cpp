// Follows products from their mul to their sums, through each stretch of code without branches.
#include "gpu/machine/instruction/contraction.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "gpu/machine/instruction/effort.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;
using Kind = Operand::Kind;

constexpr std::uint32_t none = ptx::none;
constexpr ModSet directions{Mod::rn, Mod::rz, Mod::rm, Mod::rp};

bool has_contraction(Type t) {
  return t == Type::f32 || t == Type::f64 || t == Type::f16 || t == Type::f16x2 ||
         t == Type::bf16 || t == Type::bf16x2;
}
bool is_plain(const ModSet& mods) { return mods.without({Mod::ftz}).empty(); }

// Does ptxas look for products on both sides of the instruction separately? Fences separate them,
// and so do instructions that become code with branches: divisions and the like.
bool separates(const Instruction& what) {
  const ptx::Instruction& in = *what.text;
  switch (what.opcode) {
    case Opcode::fence:
    case Opcode::membar:
    case Opcode::brkpt:
    case Opcode::pmevent:
      return true;
    case Opcode::div:
    case Opcode::rem:
    case Opcode::rcp:
    case Opcode::sqrt:
      return ptx::is_float(in.type()) ? in.mods.without(directions) != in.mods
                                      : in.type() != Type::u32;
    case Opcode::rsqrt:
      return in.type() == Type::f64 && !in.mods.has(Mod::ftz);
    default:
      return what.control != Control::next && what.control != Control::meet &&
             what.control != Control::wait;
  }
}

class Contractions {
 public:
  explicit Contractions(Function& function)
      : f_(function),
        effort_(function),
        text_(*function.text),
        holds_(text_.registers.size()),
        version_(text_.registers.size()),
        read_in_(text_.registers.size(), none),
        written_in_(text_.registers.size(), none),
        exposed_in_(text_.registers.size(), none) {}

  void find() {
    if (!any_product()) return;
    for (std::uint32_t b : f_.flow.order)
      if (begins_stretch(b)) divide(b);
    for (std::uint32_t s = 0; s < stretches_.size(); ++s)
      for (std::uint32_t i : stretches_[s].instructions) note_reads(i, s);
    for (stretch_ = 0; stretch_ < stretches_.size(); ++stretch_) stretch();
    for (std::uint32_t i : joined_) join(i);
  }

 private:
  // What a register holds: a product, perhaps negated.
  struct Held {
    std::uint32_t product = none;  // index in products_
    bool negated = false;
  };
  struct Product {
    std::uint32_t instruction;
    std::array<std::uint32_t, 2> versions;  // of its factors
    unsigned uses = 0;                      // in sums
    bool kept = false;                      // something else reads it
    bool read = false;                      // it must be computed
  };
  struct Sum {
    std::uint32_t instruction;
    std::array<Held, 2> operands;
    std::array<bool, 2> unchanged;  // the product's factors still have their values
  };
  struct Stretch {
    std::vector<std::uint32_t> instructions;
    std::uint32_t block, next;  // where it ends: before instruction `next`, in or after `block`
  };

  bool any_product() const {
    return std::any_of(f_.body.begin(), f_.body.end(),
                       [this](const Instruction& i) { return is_product(i); });
  }
  bool is_product(const Instruction& i) const {
    return i.opcode == Opcode::mul && !i.guard && has_contraction(i.text->type()) &&
           is_plain(i.text->mods) && i.text->operand_count == 3 && operand(i, 0).kind == Kind::reg;
  }
  // A sum's product must agree with it in type and .ftz.
  bool is_sum(const Instruction& i) const {
    return (i.opcode == Opcode::add || i.opcode == Opcode::sub) &&
           has_contraction(i.text->type()) && is_plain(i.text->mods.without({Mod::sat})) &&
           i.text->operand_count == 3;
  }
  bool agree(const Instruction& sum, const Product& product) const {
    const ptx::Instruction& mul = *f_.body[product.instruction].text;
    return sum.text->type() == mul.type() && sum.text->mods.has(Mod::ftz) == mul.mods.has(Mod::ftz);
  }
  const Operand& operand(const Instruction& i, unsigned n) const {
    return text_.operands(*i.text)[n];
  }

  // Blocks that always follow one another are one stretch.
  std::uint32_t only_successor(std::uint32_t b) const {
    const auto& s = f_.flow.blocks[b].successors;
    return s.size() == 1 && f_.flow.blocks[s[0]].predecessors.size() == 1 && s[0] != b ? s[0]
                                                                                       : none;
  }
  bool begins_stretch(std::uint32_t b) const {
    const auto& p = f_.flow.blocks[b].predecessors;
    return p.size() != 1 || only_successor(p[0]) != b;
  }

  // Adds the stretches of a chain of blocks. An instruction that separates them is alone in one.
  void divide(std::uint32_t block) {
    std::vector<std::uint32_t> here;
    const auto add = [&](std::uint32_t at, std::uint32_t next) {
      if (!here.empty()) stretches_.push_back({std::move(here), at, next});
      here.clear();
    };
    while (true) {
      const std::uint32_t next = only_successor(block);
      for (std::uint32_t i = f_.flow.blocks[block].first; i < f_.flow.blocks[block].last; ++i) {
        const bool jumps_on = f_.body[i].control == Control::branch && next != none;
        if (!separates(f_.body[i]) || jumps_on) {
          here.push_back(i);
          continue;
        }
        add(block, i);
        here.push_back(i);
        add(block, i + 1);
      }
      if (next == none || begins_stretch(next)) break;
      block = next;
    }
    add(block, f_.flow.blocks[block].last);
  }

  void note_reads(std::uint32_t index, std::uint32_t stretch) {
    const auto note = [&](const RegisterUse& use) {
      std::uint32_t& in = read_in_[use.reg];
      in = in == none || in == stretch ? stretch : several;
      if (written_in_[use.reg] != stretch) exposed_in_[use.reg] = stretch;
    };
    const Instruction& what = f_.body[index];
    for (const RegisterUse& use : what.reads) note(use);
    for (const RegisterUse& use : what.writes) {
      if (what.guard) note(use);
      written_in_[use.reg] = stretch;
    }
  }

  void stretch() {
    for (std::uint32_t r : touched_) holds_[r] = {};
    touched_.clear(), products_.clear(), sums_.clear();
    for (std::uint32_t i : stretches_[stretch_].instructions) instruction(i);
    for (std::uint32_t r : touched_)
      if (holds_[r].product != none && !products_[holds_[r].product].kept && lives_on(r))
        products_[holds_[r].product].kept = true;
    for (Product& p : products_) p.read = p.kept;
    for (const Sum& sum : sums_) decide(sum);
    for (const Product& p : products_)
      if (p.uses && !p.read) f_.body[p.instruction].contracted = true;
  }

  void instruction(std::uint32_t index) {
    const Instruction& what = f_.body[index];
    if (is_product(what)) {
      read_all(what);
      Product product{index, {version_of(what, 1), version_of(what, 2)}};
      write_all(what);
      hold(operand(what, 0).index, {static_cast<std::uint32_t>(products_.size()), false});
      products_.push_back(product);
    } else if (const std::optional<Held> copy = copied(what)) {
      write_all(what);
      hold(operand(what, 0).index, *copy);
    } else if (is_sum(what)) {
      sum(index);
      write_all(what);
    } else {
      read_all(what);
      write_all(what);
    }
  }

  // The product of which `what` makes a copy, or the negative.
  std::optional<Held> copied(const Instruction& what) const {
    if (what.guard || what.text->operand_count != 2) return {};
    const Operand &to = operand(what, 0), &from = operand(what, 1);
    if (to.kind != Kind::reg || from.kind != Kind::reg || to.second != none) return {};
    Held held = holds_[from.index];
    if (held.product == none) return {};
    const ptx::Instruction& mul = *f_.body[products_[held.product].instruction].text;
    const unsigned bytes = ptx::size_of(mul.type());
    if (what.opcode == Opcode::mov) {
      const auto wide = [&](const Operand& o) {
        return ptx::size_of(text_.registers[o.index].type) != bytes;
      };
      if (ptx::size_of(what.text->type()) != bytes || wide(to) || wide(from)) return {};
      return held;
    }
    if (what.opcode != Opcode::neg || what.text->type() != mul.type() || mul.type() == Type::bf16x2)
      return {};
    if (what.text->mods.has(Mod::ftz) && !mul.mods.has(Mod::ftz)) return {};
    held.negated = !held.negated;
    return held;
  }

  void sum(std::uint32_t index) {
    const Instruction& what = f_.body[index];
    Sum sum{index, {}, {}};
    for (unsigned n = 0; n < 2; ++n) {
      const Operand& o = operand(what, n + 1);
      if (o.kind == Kind::reg) sum.operands[n] = holds_[o.index];
    }
    if (sum.operands[0].product == sum.operands[1].product || (what.guard && guard_held(what))) {
      read_all(what);
      return;
    }
    for (unsigned n = 0; n < 2; ++n) {
      Held& held = sum.operands[n];
      if (held.product == none) continue;
      Product& product = products_[held.product];
      if (!agree(what, product)) {
        product.kept = true, held = {};
        continue;
      }
      ++product.uses;
      const Instruction& mul = f_.body[product.instruction];
      sum.unchanged[n] =
          product.versions[0] == version_of(mul, 1) && product.versions[1] == version_of(mul, 2);
    }
    sums_.push_back(sum);
  }
  bool guard_held(const Instruction& what) const { return holds_[what.guard.reg].product != none; }

  // Joins a sum with one of its products. The sums are decided in their order.
  void decide(const Sum& sum) {
    const auto may_join = [&](unsigned n) {
      const std::uint32_t p = sum.operands[n].product;
      return p != none && !products_[p].kept && sum.unchanged[n];
    };
    unsigned n = may_join(0) ? 0 : 1;
    if (!may_join(n)) {
      for (const Held& held : sum.operands)
        if (held.product != none) products_[held.product].read = true;
      return;
    }
    if (n == 0 && may_join(1) &&
        products_[sum.operands[1].product].uses < products_[sum.operands[0].product].uses)
      n = 1;
    if (const std::uint32_t other = sum.operands[1 - n].product; other != none)
      products_[other].kept = products_[other].read = true;
    Instruction& what = f_.body[sum.instruction];
    const Instruction& mul = f_.body[products_[sum.operands[n].product].instruction];
    const bool subtracts = what.opcode == Opcode::sub;
    Contraction c;
    c.factors = {&operand(mul, 1), &operand(mul, 2)};
    c.addend = &operand(what, 2 - n);
    c.minus_product = sum.operands[n].negated != (subtracts && n == 1);
    c.minus_addend = subtracts && n == 0;
    what.detail = c;
    joined_.push_back(sum.instruction);
  }

  // --- registers ---

  std::uint32_t version_of(const Instruction& what, unsigned n) const {
    const Operand& o = operand(what, n);
    return o.kind == Kind::reg ? version_[o.index] : 0;
  }
  void hold(std::uint32_t reg, Held held) {
    holds_[reg] = held;
    touched_.push_back(reg);
  }
  void read_all(const Instruction& what) {
    for (const RegisterUse& use : what.reads) keep(use.reg);
  }
  void keep(std::uint32_t reg) {
    if (holds_[reg].product != none) products_[holds_[reg].product].kept = true;
  }
  void write_all(const Instruction& what) {
    for (const RegisterUse& use : what.writes) {
      if (what.guard) keep(use.reg);
      holds_[use.reg] = {};
      ++version_[use.reg];
    }
  }

  bool reads(const Instruction& what, std::uint32_t reg) const {
    const auto is = [reg](const RegisterUse& use) { return use.reg == reg; };
    return std::any_of(what.reads.begin(), what.reads.end(), is) ||
           (what.guard && std::any_of(what.writes.begin(), what.writes.end(), is));
  }
  bool writes(const Instruction& what, std::uint32_t reg) const {
    return std::any_of(what.writes.begin(), what.writes.end(),
                       [reg](const RegisterUse& use) { return use.reg == reg; });
  }
  // Whether code from `first` to the end of the block reads the register's value, or leaves it.
  enum class Fate { read, written, left };
  Fate fate(std::uint32_t reg, std::uint32_t first, std::uint32_t last) const {
    for (std::uint32_t i = first; i < last; ++i) {
      if (reads(f_.body[i], reg)) return Fate::read;
      if (writes(f_.body[i], reg)) return Fate::written;
    }
    return Fate::left;
  }
  // Whether something after the stretch reads the register's value, or that is too much to find
  // out.
  bool lives_on(std::uint32_t reg) {
    if (reg < text_.returns.size()) return true;
    if (read_in_[reg] == none) return false;
    if (read_in_[reg] == stretch_) return exposed_in_[reg] == stretch_;
    const Stretch& here = stretches_[stretch_];
    if (!effort_.spend(f_.flow.blocks.size() / 64)) return true;
    const Fate first = fate(reg, here.next, f_.flow.blocks[here.block].last);
    if (first != Fate::left) return first == Fate::read;
    std::vector<bool> seen(f_.flow.blocks.size());
    std::vector<std::uint32_t> work{here.block};
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      for (std::uint32_t s : f_.flow.blocks[b].successors) {
        if (seen[s]) continue;
        seen[s] = true;
        if (!effort_.spend(f_.flow.blocks[s].last - f_.flow.blocks[s].first + 1)) return true;
        const Fate there = fate(reg, f_.flow.blocks[s].first, f_.flow.blocks[s].last);
        if (there == Fate::read) return true;
        if (there == Fate::left) work.push_back(s);
      }
    }
    return false;
  }

  // A joined sum reads the factors in place of their product.
  void join(std::uint32_t index) {
    Instruction& what = f_.body[index];
    const auto& c = std::get<Contraction>(what.detail);
    const std::size_t first = f_.contracted.size();
    std::uint8_t n = 0;
    for (const Operand* o : {c.factors[0], c.factors[1], c.addend}) {
      ++n;
      if (o->kind == Kind::reg) f_.contracted.push_back({o->index, std::min<std::uint8_t>(n, 2)});
    }
    if (what.guard) f_.contracted.push_back({what.guard.reg, RegisterUse::guard_operand});
    what.reads = {f_.contracted.data() + first, f_.contracted.size() - first};
  }

  Function& f_;
  Effort effort_;
  const ptx::Function& text_;
  std::vector<Held> holds_;             // by register
  std::vector<std::uint32_t> version_;  // by register: how often it was written
  std::vector<std::uint32_t> touched_;  // registers that hold a product, or did
  std::vector<Product> products_;
  std::vector<Sum> sums_;
  std::vector<std::uint32_t> joined_;  // sums
  std::vector<Stretch> stretches_;
  std::uint32_t stretch_ = 0;  // the one under way
  // By register, a stretch: the only one that reads it, or several; the last one that writes it;
  // the last one that reads what it had before.
  static constexpr std::uint32_t several = none - 1;
  std::vector<std::uint32_t> read_in_, written_in_, exposed_in_;
};

}  // namespace

void find_contractions(Function& function) {
  if (function.module->debug) return;  // the assembler optimises nothing
  function.contracted.reserve(4 * function.body.size());
  Contractions(function).find();
}

}  // namespace inflight::machine
