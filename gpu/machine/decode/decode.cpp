// The walk over a function's blocks: each instruction finds its row and becomes ops.
#include "gpu/machine/decode/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/check/names.hpp"
#include "gpu/machine/builtins/builtins.hpp"
#include "gpu/machine/families/control.hpp"
#include "gpu/machine/families/families.hpp"
#include "gpu/machine/instruction/phases.hpp"
#include "gpu/machine/report/observe.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using Kind = Operand::Kind;

namespace {

constexpr std::uint32_t no_block = ~0u;
constexpr std::uint64_t most_local_bytes = 512 << 10;  // a thread's, on every GPU

// What the parser said of an instruction that it left undecoded.
std::string why_unknown(const ptx::Function& function, std::uint32_t index) {
  for (const auto& r : function.refusals)
    if (r.instruction == index) return r.reason;
  return "unknown instruction";
}

// Why a call does not fit the function it calls, which may be another module's; empty if it does.
std::string misfit(const Program& program, const CallSite& site) {
  const ptx::Module& module = *program.modules()[site.callee.module];
  const ptx::Function& callee = module.functions[site.callee.function];
  const auto alike = [&](const std::vector<LocalRange>& passed,
                         const std::vector<std::uint32_t>& formals) {
    return std::equal(passed.begin(), passed.end(), formals.begin(), formals.end(),
                      [&](const LocalRange& p, std::uint32_t formal) {
                        const ptx::Variable& v = module.variables[formal];
                        return v.unsized ||
                               p.size == v.size;  // a callee with an unsized one is refused
                      });
  };
  if (!callee.entry && alike(site.arguments, callee.parameters) &&
      alike(site.results, callee.returns))
    return {};
  return fmt::format("{} is defined in {} with other parameters or results than the call passes",
                     callee.name, module.name);
}

std::uint32_t align_up(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

}  // namespace

Decoder::Decoder(const Program& program_, Program::FunctionRef ref, const Function& description,
                 CodeForm form)
    : code(std::make_unique<Code>()),
      program(program_),
      module(*description.module),
      function(*description.text),
      description_(description),
      flow_(description.flow),
      form_(form) {
  code->program = &program;
  code->ref = ref;
  code->first_number = program.first_number(ref);
  code->module = &module;
  code->function = &function;
  code->description = &description;
}

// The first place of each kind: a kernel that needs tensor cores needs them in a hundred places.
void Decoder::refuse(const ptx::Instruction& in, std::string why) {
  const std::string what = fmt::format(": {} ({})", in.name, why);
  for (const std::string& error : errors)
    if (error.ends_with(what)) return;
  errors.push_back(fmt::format("{}, line {}{}", check::readable(function.name), in.line, what));
}

Ref Decoder::constant(std::uint64_t bits, unsigned bytes) {
  auto& known = constants_[std::countr_zero(bytes)];
  if (bytes < 8) bits &= (1ull << (8 * bytes)) - 1;
  if (auto it = known.find(bits); it != known.end()) return it->second;
  const auto offset = align_up(static_cast<std::uint32_t>(constant_bytes_.size()), 64);
  constant_bytes_.resize(offset + std::max(64u, 32 * bytes));
  for (unsigned l = 0; l < 32; ++l)
    std::memcpy(constant_bytes_.data() + offset + l * bytes, &bits, std::min(bytes, 8u));
  return known[bits] = make_ref(Base::constants, offset);
}

Ref Decoder::scratch(unsigned bytes) {
  const std::uint32_t offset = scratch_begin_ + scratch_used_;
  scratch_used_ += align_up(bytes, 64);
  scratch_max_ = std::max(scratch_max_, scratch_used_);
  return make_ref(Base::frame, offset);
}

std::uint32_t Decoder::local_offset(std::uint32_t variable) const {
  const auto it = local_offsets_.find(variable);
  return it == local_offsets_.end() ? 0 : it->second;
}

bool Decoder::is_entry_parameter(std::uint32_t variable, std::uint32_t& offset) const {
  if (!function.entry) return false;
  std::uint32_t at = 0;
  for (std::uint32_t p : function.parameters) {
    const auto& v = module.variables[p];
    at = align_up(at, std::max(1u, v.alignment));
    if (p == variable) {
      offset = at;
      return true;
    }
    at += static_cast<std::uint32_t>(v.size);
  }
  return false;
}

Op& Decoder::emit(Handler handler) {
  Op& op = code->ops.emplace_back();
  op.run = handler;
  op.instruction = current_;
  if (current_ < description_.body.size()) op.what = &description_.body[current_];
  if (guarded_) {
    op.run = &run_guarded;
    op.inner = handler;
    guard(op, op.what->guard);
  }
  return op;
}

void Decoder::guard(Op& op, const Guard& guard) const {
  op.guard = slots_.ref[guard.reg];
  if (guard.negated) op.flags |= Op::guard_negated;
}

// Parameters that calls cannot pass here.
void Decoder::refuse_parameters() {
  for (const auto* list : {&function.parameters, &function.returns})
    for (std::uint32_t v : *list) {
      if (module.variables[v].unsized)
        errors.push_back(
            fmt::format("{} is variadic (its parameter {} has no size), which is not "
                        "supported",
                        function.name, module.variables[v].name));
      else if (module.variables[v].space == Space::reg)
        errors.push_back(fmt::format("{} has the .reg parameter {}; only .param ones are supported",
                                     function.name, module.variables[v].name));
    }
}

// Local memory of one call: the function's parameters and results, its .local variables, and what
// it passes to functions that it calls. The last live shortly, so they share space by lives.
void Decoder::layout_locals() {
  std::uint64_t end = 0;
  auto put = [&](std::uint32_t v, std::uint64_t& at) {
    const auto& variable = module.variables[v];
    const std::uint32_t alignment = std::max(4u, variable.alignment);
    at = (at + alignment - 1) / alignment * alignment;
    local_offsets_[v] = static_cast<std::uint32_t>(at);
    code->local_alignment = std::max(code->local_alignment, alignment);
    const LocalRange range{static_cast<std::uint32_t>(at),
                           static_cast<std::uint32_t>(variable.size)};
    at += (variable.size + 3) / 4 * 4;
    return range;
  };
  if (!function.entry) {
    refuse_parameters();
    for (std::uint32_t p : function.parameters) code->parameters.push_back(put(p, end));
    for (std::uint32_t r : function.returns) code->returns.push_back(put(r, end));
  }
  struct Life {
    std::uint32_t variable, begin, end;
  };
  std::unordered_map<std::uint32_t, Life> lives;
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    auto name = [&](const Operand& o) {
      const bool variable =
          o.kind == Kind::variable || (o.kind == Kind::address && o.base == Kind::variable);
      if (!variable || module.variables[o.index].space != Space::param) return;
      if (local_offsets_.contains(o.index)) return;
      auto [it, fresh] = lives.try_emplace(o.index, Life{o.index, i, i});
      it->second.end = i;
    };
    for (const Operand& o : function.operands(function.body[i])) {
      name(o);
      if (o.kind == Kind::list || o.kind == Kind::vector)
        for (unsigned k = 0; k < o.count; ++k) name(function.pool[o.index + k]);
    }
  }
  for (std::uint32_t v = 0; v < module.variables.size(); ++v)
    if (module.variables[v].space == Space::local &&
        module.variables[v].function == code->ref.function)
      put(v, end);

  std::vector<Life> order;
  std::uint32_t unused = 0;
  for (const auto& [v, life] : lives)
    if (!is_entry_parameter(v, unused)) order.push_back(life);
  std::sort(order.begin(), order.end(), [](const Life& a, const Life& b) {
    return std::tie(a.begin, a.variable) < std::tie(b.begin, b.variable);
  });
  // Calls come one after the other: whoever begins after all others ended starts afresh.
  const std::uint64_t base = (end + 15) / 16 * 16;
  std::uint64_t top = base;
  std::uint32_t busy_until = 0;
  for (const Life& life : order) {
    if (life.begin > busy_until) top = base;
    put(life.variable, top);
    busy_until = std::max(busy_until, life.end);
    end = std::max(end, top);
  }
  if (end > most_local_bytes || code->local_alignment > most_local_bytes)
    errors.push_back(
        fmt::format("{} needs {} bytes of local memory a thread, aligned to {}; a "
                    "thread has {}",
                    function.name, end, code->local_alignment, most_local_bytes));
  code->local_bytes = static_cast<std::uint32_t>((end + 15) / 16 * 16);
}

void Decoder::run() {
  phase_begins_ = phase_begins(description_);
  slots_ = allocate(description_);
  scratch_begin_ = align_up(slots_.bytes, 64);
  layout_locals();
  code->block_start.assign(flow_.blocks.size(), Code::none);
  for (std::size_t i = 0; i < flow_.order.size(); ++i)
    block(flow_.order[i], i + 1 < flow_.order.size() ? flow_.order[i + 1] : no_block);
  patch();
  code->frame_bytes = scratch_begin_ + scratch_max_;
  code->registers = slots_.live_words;
  code->slots = slots_.ref;
  code->constants.resize(std::max<std::size_t>(64, constant_bytes_.size()));
  if (!constant_bytes_.empty())
    std::memcpy(code->constants.data(), constant_bytes_.data(), constant_bytes_.size());
}

void Decoder::block(std::uint32_t id, std::uint32_t next) {
  const BasicBlock& b = flow_.blocks[id];
  code->block_start[id] = counted_ = static_cast<std::uint32_t>(code->ops.size());
  counting_.begin();
  for (std::uint32_t i = b.first; i < b.last; ++i) instruction(i);
  guarded_ = false;
  if (b.successors.empty() && (b.first == b.last || b.falls_through)) {
    emit(&run_return);
  } else if (b.falls_through) {
    const std::uint32_t to = b.successors.back();
    if (to != next || flow_.blocks[to].predecessors.size() > 1) jump_to(to);
  }
}

void Decoder::jump_to(std::uint32_t block) {
  guarded_ = false;
  fixups_.push_back({static_cast<std::uint32_t>(code->ops.size()), block});
  emit(&run_jump);
}

void Decoder::instruction(std::uint32_t index) {
  const Instruction& what = description_.body[index];
  current_ = index;
  scratch_used_ = 0;
  guarded_ = false;
  if (phase_begins_[index]) {
    emit(&run_phase);
    counting_.meet();
  }
  if (form_.observed || form_.counted) {
    // A guarded branch executes for all lanes; other guarded instructions for those that it is on
    // for.
    guarded_ = what.guard && what.control != Control::branch;
    Lowering lo(*this, what);
    if (form_.observed) emit_observing(lo);
    if (form_.counted) counting_.emit(lo, index, guarded_);
    guarded_ = false;
  }
  if (what.control == Control::branch) return branch(what);
  if (!what.guard || !what.diverts()) {
    guarded_ = static_cast<bool>(what.guard);
    return lower(what);
  }
  // Lanes whose guard is off go round the instruction and meet the others behind it.
  const auto around = static_cast<std::uint32_t>(code->ops.size());
  guard(emit(&run_branch), {what.guard.reg, !what.guard.negated});
  lower(what);
  // The jump to the op behind it is where they meet; patch() turns op counts into pointers.
  const auto meet = static_cast<std::uint32_t>(code->ops.size());
  emit(&run_jump).imm = meet + 1;
  code->ops[around].imm = meet + 1;
  meets_.push_back(around);
  meets_.push_back(meet);
}

// Only jumps take from a slice: who looks at the time pays for the ops before it, so that it sees
// them.
void Decoder::read_clock() {
  const auto here = static_cast<std::uint32_t>(code->ops.size());
  code->ops.back().imm = here - counted_;
  counted_ = here;
}

void Decoder::branch(const Instruction& what) {
  const auto operands = function.operands(*what.text);
  if (operands.empty() || operands[0].kind != Kind::label)
    return refuse(*what.text, "the target must be a label");
  fixups_.push_back(
      {static_cast<std::uint32_t>(code->ops.size()), flow_.block_of[operands[0].index]});
  Op& op = emit(what.guard ? &run_branch : &run_jump);
  if (what.guard) guard(op, what.guard);
}

void Decoder::lower(const Instruction& what) {
  const ptx::Instruction& in = *what.text;
  Lowering lo(*this, what);
  switch (what.control) {
    case Control::ret:
      emit(&run_return);
      return;
    case Control::exit:
      emit(&run_exit);
      return;
    case Control::call:
      return call(in, lo);
    case Control::branch_table:
      return branch_table(in, lo);
    default:
      break;
  }
  if (what.opcode == Opcode::unknown) return refuse(in, why_unknown(function, current_));
  const Row* row = find_row(in);
  if (!row) return refuse(in, "not supported by the software GPU");
  if (row->lower) {
    if (!row->lower(lo, *row)) {
      if (errors.empty()) refuse(in, "this form is not supported by the software GPU");
      return;
    }
  } else if (!bind(in, lo, *row)) {
    return;
  }
  lo.finish();
}

// Operands in the order written, into d, a, b, c as the row's types say.
bool Decoder::bind(const ptx::Instruction& in, Lowering& lo, const Row& row) {
  const auto operands = lo.operands;
  Ref refs[4] = {no_ref, no_ref, no_ref, no_ref};
  std::uint8_t flags = 0;
  unsigned n = 0;
  for (; n < 4 && row.operands[n] != ptx::Type::none; ++n) {
    if (n >= operands.size()) {
      refuse(in, "too few operands");
      return false;
    }
    const ptx::Type type = row.operands[n];
    if (n == 0) {
      refs[0] = type == ptx::Type::pred ? lo.predicate_destination(operands[0])
                                        : lo.destination(operands[0], type);
    } else {
      refs[n] = type == ptx::Type::pred
                    ? lo.predicate(operands[n], flags, static_cast<std::uint8_t>(1u << n))
                    : lo.source(operands[n], type);
    }
    if (refs[n] == no_ref) return false;
  }
  // A trailing cache policy changes nothing here.
  if (n < operands.size() && !in.mods.has(ptx::Mod::L2_cache_hint)) {
    refuse(in, "too many operands");
    return false;
  }
  Op& op = lo.emit(row.handler);
  op.d = refs[0], op.a = refs[1], op.b = refs[2], op.c = refs[3];
  op.flags |= flags;
  if (!operands.empty())
    if (const Ref q = lo.second_destination(operands[0]); q != no_ref) op.imm = q, op.count = 2;
  return true;
}

void Decoder::branch_table(const ptx::Instruction& in, Lowering& lo) {
  const auto operands = lo.operands;
  if (operands.size() != 2 || !is_branch_table(function, operands[1]))
    return refuse(in, "brx.idx takes an index and a .branchtargets label");
  const Ref a = lo.source(operands[0], ptx::Type::u32);
  if (a == no_ref) return;
  const auto table = static_cast<std::uint32_t>(code->branch_tables.size());
  const auto& entries = function.tables[operands[1].index].entries;
  code->branch_tables.emplace_back(entries.size());
  for (std::uint32_t i = 0; i < entries.size(); ++i)
    table_fixups_.push_back({table, i, flow_.block_of[entries[i]]});
  Op& op = emit(&run_branch_table);
  op.a = a, op.extra = table;
}

void Decoder::call(const ptx::Instruction& in, Lowering& lo) {
  // (results), function, (arguments), prototype: the lists may be missing.
  const Operand *callee = nullptr, *results = nullptr, *arguments = nullptr;
  for (const Operand& o : lo.operands) {
    if (o.kind == Kind::list)
      (callee ? arguments : results) = &o;
    else if (o.kind != Kind::table && !callee)
      callee = &o;
  }
  if (!callee) return refuse(in, "names no function");
  CallSite site;
  auto transfers = [&](const Operand* list, std::vector<LocalRange>& out) {
    for (unsigned i = 0; list && i < list->count; ++i) {
      const Operand& o = function.pool[list->index + i];
      if (o.kind != Kind::variable || module.variables[o.index].space != Space::param)
        return refuse(in, "only .param variables can be passed to a call"), false;
      out.push_back(
          {local_offset(o.index), static_cast<std::uint32_t>(module.variables[o.index].size)});
    }
    return true;
  };
  if (!transfers(results, site.results) || !transfers(arguments, site.arguments)) return;
  Handler handler = &run_call;
  Ref target = no_ref;
  if (callee->kind == Kind::function) {
    const auto& name = module.functions[callee->index].name;
    site.callee = program.resolve(code->ref.module, callee->index);
    if (site.callee.module == ptx::none) {
      site.builtin = find_builtin(name);
      if (!site.builtin && std::string_view(name).starts_with("__cudaCDP"))
        return refuse(in, fmt::format("{} is of dynamic parallelism, kernels that launch kernels, "
                                      "which is not supported; launch from the host",
                                      name));
      if (!site.builtin)
        return refuse(in, fmt::format("function {} is not defined in the program, nor supplied by "
                                      "the software GPU",
                                      name));
      if (!fits(*site.builtin, site))
        return refuse(in, fmt::format("{} is declared with other arguments or results than the "
                                      "device runtime's {} has",
                                      name, name));
      handler = &run_builtin;
    } else if (const std::string why = misfit(program, site); !why.empty()) {
      return refuse(in, why);
    }
  } else {
    target = lo.source(*callee, ptx::Type::u64);
    if (target == no_ref) return;
    handler = &run_call_indirect;
  }
  const auto index = static_cast<std::uint32_t>(code->calls.size());
  code->calls.push_back(std::move(site));
  Op& op = emit(handler);
  op.a = target, op.extra = index;
}

void Decoder::patch() {
  auto& ops = code->ops;
  for (const auto& f : fixups_) {
    Op& jump = ops[f.op];
    jump.target = &ops[code->block_start[f.block]];
    code->loops |= jump.target <= &jump;
    // A loop pays for its body, so that a slice is bounded however long that is.
    jump.imm = std::max(Warp::shortest_jump, Warp::distance(jump.target, &jump));
  }
  for (std::uint32_t m : meets_) {
    ops[m].target = &ops[ops[m].imm];
    ops[m].imm = Warp::shortest_jump;
  }
  code->loops |= !table_fixups_.empty();
  for (const auto& f : table_fixups_)
    code->branch_tables[f.table][f.entry] = &ops[code->block_start[f.block]];
}

}  // namespace inflight::machine
