// Forms of wgmma.mma_async, which the parser has checked (gpu/ptx/wgmma), and the moves of their
// registers.
#include "gpu/machine/instruction/wgmma.hpp"

#include <algorithm>
#include <unordered_map>

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;
using tensor::Element;

struct ElementOf {
  Type type;
  Element element;
};
constexpr ElementOf elements[] = {{Type::f16, Element::f16},   {Type::bf16, Element::bf16},
                                  {Type::tf32, Element::tf32}, {Type::e4m3, Element::e4m3},
                                  {Type::e5m2, Element::e5m2}, {Type::s8, Element::s8},
                                  {Type::u8, Element::u8},     {Type::b1, Element::b1},
                                  {Type::f32, Element::f32},   {Type::s32, Element::s32}};
Element element_of(Type type) {
  for (const ElementOf& each : elements)
    if (each.type == type) return each.element;
  return Element::f32;
}

// Reads the operands after scale-d: for floats imm-scale-a and imm-scale-b (the signs), then for
// 16-bit matrices in shared memory whether each is MN-major.
void read_immediates(std::span<const Operand> rest, WgmmaUse& use) {
  const tensor::Format& a = tensor::format(use.product.a);
  if (a.is_integer()) return;
  use.product.negates_a = rest[0].value < 0;
  use.product.negates_b = rest[1].value < 0;
  if (a.bits != 16) return;
  const auto major = [](const Operand& o) { return o.value ? async::Major::mn : async::Major::k; };
  if (!use.a_in_registers) use.a_major = major(rest[2]);
  use.b_major = major(rest.back());
}

bool is_multiply(const Instruction& in) { return in.as<WgmmaUse>() != nullptr; }

// Whether the instruction is a mov of 32 bits between 32-bit registers, or of another operand into
// one.
bool moves_words(const ptx::Function& f, const Instruction& in) {
  if (in.opcode != Opcode::mov || ptx::size_of(in.text->type()) != 4) return false;
  const auto operands = f.operands(*in.text);
  const auto is_word = [&](const Operand& o) {
    return o.kind == Operand::Kind::reg && ptx::size_of(f.registers[o.index].type) == 4;
  };
  return operands.size() == 2 && is_word(operands[0]) &&
         (operands[1].kind != Operand::Kind::reg || is_word(operands[1]));
}

class RegistersInFlight {
 public:
  explicit RegistersInFlight(Function& function)
      : function_(function), written_(function.text->registers.size()) {}

  void find() {
    for (const Instruction& in : function_.body)
      if (moves_words(*function_.text, in)) moves_.push_back(&in);
    function_.held.assign(written_.size(), false);
    for (const Instruction& in : function_.body)
      if (is_multiply(in)) mark(in);
    follow();
    for (std::size_t r = 0; r < written_.size(); ++r)
      if (written_[r]) function_.held[r] = true;
    for (Instruction& in : function_.body)
      if (moves_words(*function_.text, in))
        in.follows_multiplies = function_.held[target(in)] || from_written(in);
    if (function_.text->entry) find_waits();
  }

 private:
  const Operand& operand(const Instruction& in, std::size_t i) const {
    return function_.text->operands(*in.text)[i];
  }
  std::uint32_t target(const Instruction& in) const { return operand(in, 0).index; }
  bool from_written(const Instruction& in) const {
    const Operand& from = operand(in, 1);
    return from.kind == Operand::Kind::reg && written_[from.index];
  }

  void mark(const Instruction& in) {
    const auto& use = *in.as<WgmmaUse>();
    for (const RegisterUse& each : in.writes) written_[each.reg] = true;
    for (const RegisterUse& each : in.reads)
      if ((use.a_in_registers && each.operand == 1) ||
          (use.product.sparse && each.operand == use.metadata_operand))
        function_.held[each.reg] = true;
  }
  void find_waits() {
    bool uncommitted = false;
    for (Instruction& in : function_.body) {
      const bool reads_accumulator = std::any_of(
          in.reads.begin(), in.reads.end(), [&](const RegisterUse& r) { return written_[r.reg]; });
      if (is_multiply(in))
        uncommitted = true;
      else if (const auto* group = in.as<WgmmaGroupUse>())
        uncommitted &= group->step == WgmmaGroupUse::Step::fence;
      else if (reads_accumulator && !in.follows_multiplies)
        in.awaits_multiplies = uncommitted || spills(in);
    }
  }
  static bool spills(const Instruction& in) {
    return in.opcode == Opcode::st && !in.memory.empty() &&
           in.memory.front().space == ptx::Space::local;
  }
  // Marks the targets of moves from accumulators, and of moves from those targets.
  void follow() {
    std::unordered_multimap<std::uint32_t, std::uint32_t> targets;  // by source
    for (const Instruction* in : moves_)
      if (const Operand& from = operand(*in, 1); from.kind == Operand::Kind::reg)
        targets.emplace(from.index, target(*in));
    std::vector<std::uint32_t> open;
    for (std::uint32_t r = 0; r < written_.size(); ++r)
      if (written_[r]) open.push_back(r);
    while (!open.empty()) {
      const auto [first, last] = targets.equal_range(open.back());
      open.pop_back();
      for (auto to = first; to != last; ++to)
        if (!written_[to->second]) written_[to->second] = true, open.push_back(to->second);
    }
  }

  Function& function_;
  std::vector<bool> written_;
  std::vector<const Instruction*> moves_;
};

}  // namespace

bool may_spill(const Instruction& in) {
  return in.opcode == Opcode::st && !in.memory.empty() &&
         in.memory.front().space == ptx::Space::generic;
}

WgmmaUse wgmma_use(const ptx::Function& function, const ptx::Instruction& in) {
  WgmmaUse use;
  tensor::Product& p = use.product;
  p.d = p.c = element_of(in.type(0));
  p.a = element_of(in.type(1));
  p.b = element_of(in.type(2));
  p.m = in.shape[0], p.n = in.shape[1], p.k = in.shape[2];
  p.unit = tensor::Unit::warpgroup;
  p.saturates = in.mods.has(Mod::satfinite);
  p.sparse = in.opcode == Opcode::wgmma_mma_async_sp;
  p.bits = tensor::BitOperation::and_popc;
  const auto operands = function.operands(in);
  use.a_in_registers = operands[1].kind == Operand::Kind::vector;
  if (p.sparse) {
    use.metadata_operand = 3;
    use.selector = static_cast<std::uint8_t>(operands[4].value);
  }
  use.scale_operand = p.sparse ? 5 : 3;
  read_immediates(operands.subspan(use.scale_operand + 1u), use);
  return use;
}

void find_held_registers(Function& function) {
  if (std::any_of(function.body.begin(), function.body.end(), is_multiply))
    RegistersInFlight(function).find();
}

}  // namespace inflight::machine
