// A walk from the registers of a load to what their values are used for.
#include "gpu/machine/instruction/value_flow.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

namespace inflight::machine {
namespace {

using Kind = ptx::Operand::Kind;
using Role = MemoryOperand::Role;

// What has become of the value on its way.
enum class Form : std::uint8_t {
  as_is,
  moved,  // converted, shifted or masked: it may be on the way to a place beside others
  part,   // some of its bytes, or beside others in one register: what copies do byte by byte
  computed,
};

// What an instruction that reads the value as `form` writes.
Form through(const Instruction& in, Form form) {
  using ptx::Opcode;
  if (form == Form::computed) return form;
  switch (in.opcode) {
    case Opcode::cvt:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::and_:
      return form == Form::part ? form : Form::moved;
    case Opcode::or_:
    case Opcode::prmt:
    case Opcode::bfi:
      return Form::part;
    default:
      return Form::computed;
  }
}

// The registers of an operand by element of a vector; none: it is dropped.
std::vector<std::uint32_t> registers_of(const ptx::Function& function, const ptx::Operand& o) {
  if (o.kind == Kind::reg) return {o.index};
  std::vector<std::uint32_t> all;
  if (o.kind != Kind::vector) return all;
  for (const ptx::Operand& each : std::span(function.pool).subspan(o.index, o.count))
    all.push_back(each.kind == Kind::reg ? each.index : ptx::none);
  return all;
}

// Nobody can say what becomes of the value behind it.
bool loses(const Instruction& in) {
  switch (in.family) {
    case Family::collective:
    case Family::matrix:
    case Family::tensor_core:
    case Family::call:
    case Family::barrier:
    case Family::texture:
    case Family::multimem:
    case Family::system:
    case Family::unknown:
      return true;
    default:
      return false;
  }
}

class Walk {
 public:
  Walk(const Function& function, std::uint32_t load) : function_(function), load_(load) {}

  ValueFlow run() {
    const Instruction& in = function_.body[load_];
    const auto operands = function_.text->operands(*in.text);
    if (in.opcode != ptx::Opcode::ld || in.writes.empty() || operands.empty()) return {};
    index_readers();
    const auto loaded = registers_of(*function_.text, operands[0]);
    flow_.elements = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(loaded.size()));
    for (std::uint32_t i = 0; i < loaded.size(); ++i) {
      if (loaded[i] == ptx::none) continue;
      element_ = static_cast<std::uint8_t>(i);
      seen_.clear();
      push(loaded[i], Form::as_is);
      while (!open_.empty()) {
        const auto [reg, form] = open_.back();
        open_.pop_back();
        for (const std::uint32_t reader : readers_[reg]) step(reader, reg, form);
      }
    }
    return std::move(flow_);
  }

 private:
  void index_readers() {
    readers_.resize(function_.text->registers.size());
    writers_.resize(readers_.size());
    for (const Instruction& in : function_.body)
      for (const RegisterUse& use : in.writes) ++writers_[use.reg];
    for (std::uint32_t i = 0; i < function_.body.size(); ++i)
      for (const RegisterUse& use : function_.body[i].reads)
        if (readers_[use.reg].empty() || readers_[use.reg].back() != i)
          readers_[use.reg].push_back(i);
  }
  void push(std::uint32_t reg, Form form) {
    if (seen_.emplace(reg, form).second) open_.emplace_back(reg, form);
  }
  // What else writes a register may have done so last, unless the lanes that load come here too.
  void push_written(const Instruction& in, std::uint32_t at, Form form) {
    for (const RegisterUse& use : in.writes)
      if (writers_[use.reg] == 1 || follows_at_once(at)) push(use.reg, form);
  }
  void sink(std::uint32_t instruction, bool as_is = false, std::uint8_t target = 0) {
    flow_.sinks.push_back({instruction, element_, as_is, target});
  }

  // `reader` reads `reg`.
  void step(std::uint32_t reader, std::uint32_t reg, Form form) {
    const Instruction& in = function_.body[reader];
    for (const RegisterUse& use : in.reads) {
      if (use.reg != reg) continue;
      if (use.operand == RegisterUse::guard_operand)
        guard(in, reader);
      else if (is_address(in, use.operand))
        sink(reader);
      else
        value(in, reader, use, form);
    }
  }

  void guard(const Instruction& in, std::uint32_t reader) {
    if (in.control == Control::branch) {
      if (follows_at_once(reader)) sink(load_);
    } else if (!in.memory.empty()) {
      sink(reader);
    } else if (!loses(in)) {
      push_written(in, reader, Form::computed);
    }
  }

  void value(const Instruction& in, std::uint32_t reader, const RegisterUse& use, Form form) {
    if (in.opcode == ptx::Opcode::st) {
      if (form == Form::computed || form == Form::moved) return sink(reader);
      if (form == Form::as_is) store(in, reader, use);
      return;
    }
    if (!in.memory.empty() && in.memory.front().role <= Role::reduction) return sink(reader);
    if (loses(in) || !in.memory.empty()) return;
    constexpr std::uint8_t condition = 3;
    if (in.opcode == ptx::Opcode::selp && use.operand != condition) return;
    push_written(in, reader, in.opcode == ptx::Opcode::mov ? moved(in, form) : through(in, form));
  }

  void store(const Instruction& in, std::uint32_t reader, const RegisterUse& use) {
    const auto operands = function_.text->operands(*in.text);
    const auto stored = registers_of(*function_.text, operands[use.operand]);
    for (std::uint32_t i = 0; i < stored.size(); ++i)
      if (stored[i] == use.reg) sink(reader, true, static_cast<std::uint8_t>(i));
  }

  // Of a mov that packs or unpacks.
  Form moved(const Instruction& in, Form form) const {
    const auto operands = function_.text->operands(*in.text);
    const bool whole = std::all_of(operands.begin(), operands.end(),
                                   [](const auto& o) { return o.kind == Kind::reg; });
    return form != Form::computed && !whole ? Form::part : form;
  }

  static bool is_address(const Instruction& in, std::uint8_t operand) {
    return std::any_of(in.memory.begin(), in.memory.end(),
                       [&](const MemoryOperand& m) { return m.operand == operand; });
  }
  // Behind the load, in its basic block.
  bool follows_at_once(std::uint32_t reader) const {
    if (reader < load_) return false;
    return std::any_of(
        function_.flow.blocks.begin(), function_.flow.blocks.end(), [&](const BasicBlock& b) {
          return b.first <= load_ && load_ < b.last && b.first <= reader && reader < b.last;
        });
  }

  const Function& function_;
  const std::uint32_t load_;
  ValueFlow flow_;
  std::uint8_t element_ = 0;
  std::vector<std::vector<std::uint32_t>> readers_;  // by register
  std::vector<std::uint32_t> writers_;               // how many, by register
  std::set<std::pair<std::uint32_t, Form>> seen_;
  std::vector<std::pair<std::uint32_t, Form>> open_;
};

}  // namespace

ValueFlow value_flow(const Function& function, std::uint32_t load) {
  if (load >= function.body.size()) return {};
  return Walk(function, load).run();
}

}  // namespace inflight::machine
