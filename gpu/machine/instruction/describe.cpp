// Builds descriptions from PTX instructions: registers, memory operands, control.
#include "gpu/machine/instruction/comparisons.hpp"
#include "gpu/machine/instruction/contraction.hpp"
#include "gpu/machine/instruction/detail.hpp"
#include "gpu/machine/instruction/drops.hpp"
#include "gpu/machine/instruction/endless.hpp"
#include "gpu/machine/instruction/flags.hpp"
#include "gpu/machine/instruction/function.hpp"
#include "gpu/machine/instruction/liveness.hpp"
#include "gpu/machine/instruction/load_uses.hpp"
#include "gpu/machine/instruction/peeks.hpp"
#include "gpu/machine/instruction/phases.hpp"
#include "gpu/machine/instruction/spins.hpp"
#include "gpu/machine/instruction/tensor_detail.hpp"
#include "gpu/machine/instruction/wgmma.hpp"

namespace inflight::machine {
namespace {

using check::Order;
using check::Proxy;
using check::Scope;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using Kind = Operand::Kind;
using Role = MemoryOperand::Role;

constexpr std::uint32_t map_bytes = 128, mbarrier_bytes = 8;

Destination written(const ptx::Instruction& in, const Detail& detail) {
  if (const auto* barrier = std::get_if<BarrierUse>(&detail))
    return barrier->step >= BarrierUse::Step::red_popc ? Destination::first : Destination::nothing;
  return facts(in.opcode).written;
}

class Describer {
 public:
  Describer(const ptx::Module& module, const ptx::Function& text) : module_(module), text_(text) {
    out_->module = &module;
    out_->text = &text;
  }

  std::unique_ptr<const Function> run(const Patience& patience) {
    for (const ptx::Instruction& in : text_.body) instruction(in);
    // The vectors have their final places now.
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Places& p = places_[i];
      Instruction& d = out_->body[i];
      const RegisterUse* const registers = out_->registers.data();
      d.reads = {registers + p.reads, p.writes - p.reads};
      d.writes = {registers + p.writes, p.registers_end - p.writes};
      d.memory = {out_->memory.data() + p.memory, p.memory_end - p.memory};
    }
    find_unread_elements();
    find_held_registers(*out_);
    patience.look();
    out_->flow = analyse(text_);
    find_load_uses(*out_);
    for (auto* const find : {find_peeks, find_drops, find_spins, find_comparisons, find_flags,
                             find_contractions, find_lifetimes, find_phases, find_endless_blocks}) {
      patience.look();
      find(*out_);
    }
    return std::move(out_);
  }

 private:
  struct Places {
    std::size_t reads, writes, registers_end, memory, memory_end;
  };

  // Compilers load four elements where three are needed. Finds the unneeded last ones.
  void find_unread_elements() {
    std::vector<bool> read(text_.registers.size());
    for (const Instruction& each : out_->body)
      for (const RegisterUse& use : each.reads) read[use.reg] = true;
    for (std::size_t i = 0; i < text_.returns.size() && i < read.size(); ++i) read[i] = true;
    const auto unread = [&](const Operand& o) {
      if (o.kind == Kind::sink) return o.second == ptx::none;
      return o.kind == Kind::reg && o.second == ptx::none && !read[o.index];
    };
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const ptx::Instruction& in = *out_->body[i].text;
      if (in.vector == 1 || places_[i].memory == places_[i].memory_end) continue;
      MemoryOperand& m = out_->memory[places_[i].memory];
      const Operand& to = text_.operands(in)[0];
      if (m.role != Role::load || m.order != Order::weak || to.kind != Kind::vector ||
          to.count != in.vector)
        continue;
      unsigned last = to.count;
      while (last > 1 && unread(text_.pool[to.index + last - 1])) --last;
      m.unread = (to.count - last) * (m.bytes / to.count);
    }
  }

  void instruction(const ptx::Instruction& in) {
    Instruction d;
    d.text = &in;
    d.opcode = in.opcode;
    d.family = family_of(in);
    d.control = facts(in.opcode).control;
    d.effect = effect_of(in);
    if (in.guarded) d.guard = {in.guard, in.guard_negated};
    d.writes_carry = in.mods.has(Mod::cc);
    d.reads_carry =
        in.opcode == Opcode::addc || in.opcode == Opcode::subc || in.opcode == Opcode::madc;
    d.detail = detail_of(module_, text_, in);
    const Destination first = written(in, d.detail);
    const auto operands = text_.operands(in);
    Places p;
    p.reads = out_->registers.size();
    for (std::size_t i = 0; i < operands.size(); ++i)
      registers(operands[i], i, i == 0 ? first : Destination::nothing, false);
    if (in.guarded) out_->registers.push_back({in.guard, RegisterUse::guard_operand});
    p.writes = out_->registers.size();
    if (!operands.empty() && first != Destination::nothing) registers(operands[0], 0, first, true);
    p.registers_end = out_->registers.size();
    p.memory = out_->memory.size();
    memory(in, d.detail);
    p.memory_end = out_->memory.size();
    out_->body.push_back(std::move(d));
    places_.push_back(p);
  }

  void use(std::uint32_t reg, std::size_t operand) {
    out_->registers.push_back({reg, static_cast<std::uint8_t>(operand)});
  }

  // Appends the registers that an operand reads or, if `writes`, those that it writes.
  void registers(const Operand& o, std::size_t operand, Destination written, bool writes) {
    const bool wanted = writes ? written != Destination::nothing : written != Destination::first;
    switch (o.kind) {
      case Kind::reg:
        if (wanted) use(o.index, operand);
        [[fallthrough]];
      case Kind::sink:
        if (wanted && o.second != ptx::none) use(o.second, operand);
        break;
      case Kind::address:  // its registers are always read
        if (writes) break;
        if (o.base == Kind::reg) use(o.index, operand);
        if (o.second != ptx::none) use(o.second, operand);
        break;
      case Kind::vector:
      case Kind::list:
        for (unsigned i = 0; i < o.count; ++i)
          registers(text_.pool[o.index + i], operand, written, writes);
        break;
      default:
        break;
    }
  }

  Address address(const Operand& o) const {
    Address a;
    a.offset = o.value;
    if (o.base == Kind::reg) {
      a.base = Address::Base::reg;
      a.wide = ptx::size_of(text_.registers[o.index].type) == 8;
    } else if (o.base == Kind::variable) {
      a.base = Address::Base::variable;
    }
    if (a.base != Address::Base::absolute) a.index = o.index;
    return a;
  }

  // Iterates over the instruction's operands in brackets.
  class Brackets {
   public:
    explicit Brackets(std::span<const Operand> operands) : operands_(operands) {}
    // The index of the next such operand; the number of operands if there is none.
    std::size_t next() {
      while (at_ < operands_.size() && operands_[at_].kind != Kind::address) ++at_;
      return at_ < operands_.size() ? at_++ : at_;
    }

   private:
    std::span<const Operand> operands_;
    std::size_t at_ = 0;
  };

  // Adds the next operand in brackets and returns it, or null if there is none. If `space` is
  // generic, a variable's own space replaces it.
  MemoryOperand* add(std::span<const Operand> operands, Brackets& brackets, Role role, Space space,
                     std::uint32_t bytes) {
    const std::size_t i = brackets.next();
    if (i >= operands.size()) return nullptr;
    MemoryOperand m;
    m.role = role;
    m.operand = static_cast<std::uint8_t>(i);
    m.bytes = bytes;
    m.address = address(operands[i]);
    m.space = space;
    if (space == Space::generic && m.address.base == Address::Base::variable)
      m.space = module_.variables[m.address.index].space;
    if (m.space == Space::shared_cta) m.space = Space::shared;
    return &out_->memory.emplace_back(m);
  }

  void memory(const ptx::Instruction& in, const Detail& detail) {
    const auto operands = text_.operands(in);
    Brackets brackets(operands);
    switch (facts(in.opcode).memory) {
      case MemoryRole::load:
        access(in, detail, operands, brackets, Role::load);
        break;
      case MemoryRole::store:
        access(in, detail, operands, brackets, Role::store);
        break;
      case MemoryRole::atomic:
        access(in, detail, operands, brackets, Role::atomic);
        break;
      case MemoryRole::reduction:
        access(in, detail, operands, brackets, Role::reduction);
        break;
      case MemoryRole::mbarrier:
        if (auto* m = add(operands, brackets, Role::mbarrier, in.space(), mbarrier_bytes)) {
          const auto& use = std::get<MbarrierUse>(detail);
          m->order = use.order, m->scope = use.scope;
        }
        break;
      case MemoryRole::copy:
        copy(in, std::get<CopyUse>(detail), operands, brackets);
        break;
      case MemoryRole::tensor_map:
        add(operands, brackets, Role::tensor_map_target, in.space(), map_bytes);
        if (std::holds_alternative<Fence>(detail))  // it copies the map
          add(operands, brackets, Role::load, in.space(1), map_bytes);
        break;
      case MemoryRole::advice:
        if (const auto* copy = std::get_if<CopyUse>(&detail);
            copy && copy->of == CopyUse::Of::tensor)
          if (auto* m = add(operands, brackets, Role::tensor_map, Space::generic, map_bytes))
            m->proxy = Proxy::tensormap;
        break;
      case MemoryRole::texture:
      case MemoryRole::tensor_memory:
      case MemoryRole::none:
        break;
    }
    // fence.proxy.tensormap names a map.
    const std::uint32_t rest = std::holds_alternative<Fence>(detail) ? map_bytes : 0;
    while (add(operands, brackets, Role::advice, in.space(), rest)) {
    }
  }

  void access(const ptx::Instruction& in, const Detail& detail, std::span<const Operand> operands,
              Brackets& brackets, Role role) {
    const std::uint32_t element = in.type_count ? ptx::size_of(in.types[in.type_count - 1]) : 0;
    MemoryOperand* const m = add(operands, brackets, role, in.space(), element * in.vector);
    if (!m) return;
    const bool atomic = role == Role::atomic || role == Role::reduction;
    m->order = order_of(in.mods, atomic ? Order::relaxed : Order::weak);
    const bool system = m->order == Order::volatile_ || m->order == Order::mmio;
    m->scope = scope_of(in.mods, atomic ? Scope::gpu : system ? Scope::sys : Scope::thread);
    if (in.mods.has(Mod::nc)) m->proxy = Proxy::texture;
    if (in.space() == ptx::Space::constant) m->proxy = Proxy::constant;
    if (facts(in.opcode).family == Family::matrix) {  // a lane gives each row
      const auto& use = std::get<MatrixUse>(detail);
      const unsigned lanes = use.rows * use.count;
      m->bytes = use.row_bytes;
      m->lanes = lanes < 32 ? (1u << lanes) - 1 : ~0u;
    }
    if (in.opcode == Opcode::tcgen05_alloc) m->lanes = 1;  // the warp stores one address
    if (std::holds_alternative<TensorUse>(detail)) {
      m->bytes = matrix_bytes(detail) / 32;
      m->strided = true;
    }
  }

  void copy(const ptx::Instruction& in, const CopyUse& use, std::span<const Operand> operands,
            Brackets& brackets) {
    const Proxy proxy =
        use.completion == check::Completion::thread_group ? Proxy::generic : Proxy::async;
    const auto end = [&](Role role, Space space, std::uint32_t bytes) {
      if (auto* m = add(operands, brackets, role, space, bytes))
        m->proxy = role == Role::tensor_map ? Proxy::tensormap : proxy;
    };
    const bool store = in.space(0) == Space::global;
    switch (use.of) {
      case CopyUse::Of::bytes:
        end(Role::destination, in.space(0), use.bytes);
        end(Role::source, in.space(1), use.bytes);
        break;
      case CopyUse::Of::values:
        end(Role::destination, in.space(0), std::uint32_t{use.bytes} * use.count);
        break;
      case CopyUse::Of::tensor:
        if (!store) end(Role::destination, in.space(0), 0);
        end(Role::tensor_map, Space::generic, map_bytes);
        if (store) end(Role::source, in.space(1), 0);
        break;
    }
    if (use.completion == check::Completion::transaction)
      add(operands, brackets, Role::mbarrier, Space::shared, mbarrier_bytes);
  }

  const ptx::Module& module_;
  const ptx::Function& text_;
  std::unique_ptr<Function> out_ = std::make_unique<Function>();
  std::vector<Places> places_;
};

}  // namespace

Family family_of(const ptx::Instruction& in) {
  const Family family = facts(in.opcode).family;
  return family == Family::integer && ptx::is_float(in.type()) ? Family::floating : family;
}

Effect effect_of(const ptx::Instruction& in) {
  const Effect effect = facts(in.opcode).effect;
  if (effect != Effect::keeps) return effect;
  for (unsigned i = 0; i < in.type_count; ++i)
    if (ptx::is_float(in.types[i])) return Effect::computes;
  return effect;
}

std::unique_ptr<const Function> describe(const ptx::Module& module, const ptx::Function& function,
                                         const Patience& patience) {
  return Describer(module, function).run(patience);
}

}  // namespace inflight::machine
