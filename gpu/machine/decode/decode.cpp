// Walks over a function's blocks, finds each instruction's row and emits its ops.
#include "gpu/machine/decode/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "gpu/machine/builtins/builtins.hpp"
#include "gpu/machine/decode/table.hpp"
#include "gpu/machine/families/wgmma.hpp"
#include "gpu/machine/instruction/wgmma.hpp"
#include "gpu/machine/lowering/observing.hpp"
#include "gpu/machine/run/control.hpp"
#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using Kind = Operand::Kind;

namespace {

constexpr std::uint32_t no_block = ~0u;

bool waits_for_thread_copies(const Instruction& what) {
  const auto* group = what.as<GroupUse>();
  return group && group->waits && group->completion == check::Completion::thread_group;
}

bool tests_mbarrier(const Instruction& what) {
  using Op = check::MbarrierOp::Op;
  const auto* const use = what.as<MbarrierUse>();
  return use && (use->op == Op::try_wait || use->op == Op::test_wait);
}

// Does it read a register that a wgmma may write?
bool reads_held(const Function& function, const Instruction& what) {
  return !function.held.empty() &&
         std::any_of(what.reads.begin(), what.reads.end(),
                     [&](const RegisterUse& use) { return function.held[use.reg]; });
}

// The parser's reason for leaving an instruction undecoded.
std::string why_unknown(const ptx::Function& function, std::uint32_t index) {
  const auto& all = function.refusals;  // in the order of the instructions
  const auto found = std::ranges::lower_bound(all, index, {}, &ptx::Refusal::instruction);
  return found != all.end() && found->instruction == index ? found->reason : "unknown instruction";
}

// Why a call does not match its callee, which may be in another module; empty if it does.
std::string misfit(const Program& program, const CallSite& site) {
  const ptx::Module& module = *program.modules()[site.callee.module];
  const ptx::Function& callee = module.functions[site.callee.function];
  const auto alike = [&](const std::vector<LocalRange>& passed,
                         const std::vector<std::uint32_t>& formals) {
    return std::equal(passed.begin(), passed.end(), formals.begin(), formals.end(),
                      [&](const LocalRange& p, std::uint32_t formal) {
                        const ptx::Variable& v = module.variables[formal];
                        return v.unsized ||
                               p.size == v.size;  // a callee with an unsized one is refused later
                      });
  };
  if (!callee.entry && alike(site.arguments, callee.parameters) &&
      alike(site.results, callee.returns))
    return {};
  return fmt::format(
      "{} is defined in {} with different parameters or results than the call passes", callee.name,
      module.name.empty() ? "the program's PTX" : module.name);
}

}  // namespace

Decoder::Decoder(const Program& program, Program::FunctionRef ref, const Function& description,
                 CodeForm form)
    : builder_(program, ref, description, form, moves()),
      flow_(description.flow),
      module_(*description.module),
      function_(*description.text) {}

void Decoder::run(const Patience& patience) {
  constexpr std::uint32_t between_looks = 64;  // instructions, of which some take long
  builder_.code->block_start.assign(flow_.blocks.size(), Code::none);
  builder_.code->own_ops.assign(builder_.description.body.size(), Code::none);
  std::uint32_t since = 0;
  for (std::size_t i = 0; i < flow_.order.size(); ++i) {
    const BasicBlock& next = flow_.blocks[flow_.order[i]];
    if ((since += next.last - next.first + 1) >= between_looks) patience.look(), since = 0;
    block(flow_.order[i], i + 1 < flow_.order.size() ? flow_.order[i + 1] : no_block);
  }
  patch();
  builder_.finish();
}

void Decoder::block(std::uint32_t id, std::uint32_t next) {
  const BasicBlock& b = flow_.blocks[id];
  builder_.code->block_start[id] = builder_.next_op();
  builder_.begin_block();
  counting_.begin();
  if (builder_.description.computes_forever[id]) return begin_endless(b);
  if (builder_.description.repeats_forever[id] && builder_.form.observed()) begin_repeat(b);
  for (std::uint32_t i = b.first; i < b.last; ++i) instruction(i);
  builder_.set_guarded(false);
  if (b.successors.empty() && (b.first == b.last || b.falls_through)) {
    builder_.emit(&run_return);
  } else if (b.falls_through) {
    const std::uint32_t to = b.successors.back();
    if (to != next || flow_.blocks[to].predecessors.size() > 1) jump_to(to);
  }
}

void Decoder::begin_endless(const BasicBlock& block) {
  builder_.begin(block.first, false);
  builder_.set_guarded(false);
  builder_.emit(&run_endless, Op::diverts);
}

void Decoder::begin_repeat(const BasicBlock& block) {
  builder_.begin(block.first, false);
  builder_.set_guarded(false);
  builder_.emit(&run_repeat, Op::diverts);
}

void Decoder::jump_to(std::uint32_t block) {
  builder_.set_guarded(false);
  fixups_.push_back({builder_.next_op(), block});
  builder_.emit(&run_jump, Op::diverts);
}

void Decoder::instruction(std::uint32_t index) {
  const Instruction& what = builder_.description.body[index];
  builder_.begin(index, false);
  // The checker keeps the order in which a warp runs ahead by phases, because it shows what may go
  // wrong then.
  const bool lets_others_wait = tests_mbarrier(what) && !builder_.form.observed();
  if (const Handler yield_handler = builder_.description.begins_phase[index] ? &run_phase
                                    : waits_for_thread_copies(what)          ? &run_copy_wait
                                    : lets_others_wait                       ? &run_mbarrier_wait
                                                                             : nullptr) {
    builder_.emit(yield_handler, Op::diverts);
    counting_.meet();
  }
  // A guarded branch executes for all lanes. Other guarded instructions execute for the lanes whose
  // guard is true.
  const bool own_lanes = what.guard && what.control != Control::branch;
  builder_.set_guarded(own_lanes);
  if (builder_.form.counted) {
    Lowering lo(builder_, what);
    counting_.emit(lo, index, own_lanes);
  }
  const CodeBuilder::Mark first = builder_.mark();
  if (builder_.form.observed()) {
    Lowering lo(builder_, what);
    emit_observing(lo);
  }
  translate(what);
  if (builder_.form.accessed && !builder_.refused() &&
      !reports_access(what, function_, std::span(builder_.code->ops).subspan(first.next)))
    builder_.refuse(*what.text, "its access would not be reported to listeners");
  if (!builder_.refused()) return;
  builder_.set_guarded(own_lanes);
  builder_.stop_at(first);
  builder_.code->own_ops[index] = first.next;
}

void Decoder::translate(const Instruction& what) {
  builder_.set_guarded(false);
  if (what.awaits_multiplies) builder_.emit(&run_settle);
  if (may_spill(what) && reads_held(builder_.description, what)) {
    Lowering lo(builder_, what);
    Op& op = lo.emit(&run_settle_local);
    lo.address(lo.operands[what.memory.front().operand], op);
  }
  builder_.code->own_ops[builder_.instruction()] = builder_.next_op();
  if (what.control == Control::branch) return branch(what);
  if (!what.guard || !what.diverts()) {
    builder_.set_guarded(static_cast<bool>(what.guard));
    return lower(what);
  }
  // Lanes whose guard is false branch around the instruction and reconverge after it.
  const std::uint32_t around = builder_.next_op();
  builder_.guard(builder_.emit(&run_branch, Op::diverts), {what.guard.reg, !what.guard.negated});
  lower(what);
  if (builder_.refused()) return;
  // A jump to the next op is where they reconverge. patch() turns op indices into pointers.
  const std::uint32_t meet = builder_.next_op();
  builder_.emit(&run_jump, Op::diverts).imm = meet + 1;
  builder_.code->ops[around].imm = meet + 1;
  meets_.push_back(around);
  meets_.push_back(meet);
}

void Decoder::branch(const Instruction& what) {
  const auto operands = function_.operands(*what.text);
  if (operands.empty() || operands[0].kind != Kind::label)
    return builder_.refuse(*what.text, "the target must be a label");
  fixups_.push_back({builder_.next_op(), flow_.block_of[operands[0].index]});
  Op& op = builder_.emit(what.guard ? &run_branch : &run_jump, Op::diverts);
  if (what.guard) builder_.guard(op, what.guard);
}

void Decoder::lower(const Instruction& what) {
  const ptx::Instruction& in = *what.text;
  Lowering lo(builder_, what);
  switch (what.control) {
    case Control::ret:
      builder_.emit(&run_return);
      return;
    case Control::exit:
      builder_.emit(&run_exit);
      return;
    case Control::call:
      return call(in, lo);
    case Control::branch_table:
      return branch_table(in, lo);
    default:
      break;
  }
  if (what.opcode == Opcode::unknown)
    return builder_.refuse(in, why_unknown(function_, builder_.instruction()));
  if (what.contracted) return;
  if (const auto* joined = what.as<Contraction>()) return contraction(in, lo, *joined);
  const Row* row = find_row(in);
  if (!row) return builder_.refuse(in, "not supported by the software GPU");
  if (row->lower) {
    if (!row->lower(lo, *row)) {
      builder_.refuse(in, "this form is not supported by the software GPU");
      return;
    }
  } else if (!bind(in, lo, *row)) {
    return;
  }
  lo.finish();
}

// The sum is the fma of the same type, with the signs of the two terms as further modifiers.
void Decoder::contraction(const ptx::Instruction& in, Lowering& lo, const Contraction& joined) {
  ptx::Instruction fma = in;
  fma.opcode = Opcode::fma;
  fma.mods.insert(ptx::Mod::rn);
  if (joined.minus_product) fma.mods.insert(ptx::Mod::minus_product);
  if (joined.minus_addend) fma.mods.insert(ptx::Mod::minus_addend);
  const Row& row = *find_row(fma);
  const ptx::Type type = row.operands[0];
  const Ref d = lo.destination(lo.operands[0], type), a = lo.source(*joined.factors[0], type),
            b = lo.source(*joined.factors[1], type), c = lo.source(*joined.addend, type);
  if (d == no_ref || a == no_ref || b == no_ref || c == no_ref) return;
  Op& op = lo.emit(row.handler);
  op.d = d, op.a = a, op.b = b, op.c = c;
  lo.finish();
}

// Binds the operands in the order written to d, a, b, c, with the row's types.
bool Decoder::bind(const ptx::Instruction& in, Lowering& lo, const Row& row) {
  const auto operands = lo.operands;
  Ref refs[4] = {no_ref, no_ref, no_ref, no_ref};
  std::uint8_t flags = 0;
  unsigned n = 0;
  for (; n < 4 && row.operands[n] != ptx::Type::none; ++n) {
    if (n >= operands.size()) {
      builder_.refuse(in, "too few operands");
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
    builder_.refuse(in, "too many operands");
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
  if (operands.size() != 2 || !is_branch_table(function_, operands[1]))
    return builder_.refuse(in, "brx.idx takes an index and a .branchtargets label");
  const Ref a = lo.source(operands[0], ptx::Type::u32);
  if (a == no_ref) return;
  const auto next = static_cast<std::uint32_t>(builder_.code->branch_tables.size());
  const auto [known, fresh] = tables_.try_emplace(operands[1].index, next);
  if (fresh) {
    const auto& entries = function_.tables[operands[1].index].entries;
    builder_.code->branch_tables.emplace_back(entries.size());
    for (std::uint32_t i = 0; i < entries.size(); ++i)
      table_fixups_.push_back({next, i, flow_.block_of[entries[i]]});
  }
  Op& op = builder_.emit(&run_branch_table);
  op.a = a, op.extra = known->second;
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
  if (!callee) return builder_.refuse(in, "names no function");
  CallSite site;
  auto transfers = [&](const Operand* list, std::vector<LocalRange>& out) {
    for (unsigned i = 0; list && i < list->count; ++i) {
      const Operand& o = function_.pool[list->index + i];
      if (o.kind != Kind::variable || module_.variables[o.index].space != Space::param)
        return builder_.refuse(in, "only .param variables can be passed to a call"), false;
      out.push_back({builder_.local_offset(o.index),
                     static_cast<std::uint32_t>(module_.variables[o.index].size)});
    }
    return true;
  };
  if (!transfers(results, site.results) || !transfers(arguments, site.arguments)) return;
  Handler handler = &run_call;
  Ref target = no_ref;
  if (callee->kind == Kind::function) {
    const auto& name = module_.functions[callee->index].name;
    site.callee = builder_.program.resolve(builder_.code->ref.module, callee->index);
    if (site.callee.module == ptx::none) {
      site.builtin = find_builtin(name);
      if (!site.builtin && std::string_view(name).starts_with("__cudaCDP"))
        return builder_.refuse(
            in, fmt::format("{} belongs to CUDA's device runtime, of which only launches, streams, "
                            "events, and one- and two-dimensional copies and fills are supported",
                            name));
      if (!site.builtin)
        return builder_.refuse(
            in, fmt::format("neither the program nor the software GPU defines function {}", name));
      if (!fits(*site.builtin, site))
        return builder_.refuse(
            in,
            fmt::format(
                "{} is declared with different parameters or results than the device runtime's {}",
                name, name));
      handler = &run_builtin;
    } else if (const std::string why = misfit(builder_.program, site); !why.empty()) {
      return builder_.refuse(in, why);
    }
  } else {
    target = lo.source(*callee, ptx::Type::u64);
    if (target == no_ref) return;
    handler = &run_call_indirect;
  }
  const auto index = static_cast<std::uint32_t>(builder_.code->calls.size());
  builder_.code->calls.push_back(std::move(site));
  Op& op = builder_.emit(handler);
  op.a = target, op.extra = index;
}

void Decoder::patch() {
  auto& ops = builder_.code->ops;
  for (const auto& f : fixups_) {
    Op& jump = ops[f.op];
    jump.target = &ops[builder_.code->block_start[f.block]];
    builder_.code->loops |= jump.target <= &jump;
    // A backward jump charges for the loop's body, so a slice is bounded for any body length.
    jump.imm = std::max(Warp::shortest_jump, Warp::distance(jump.target, &jump));
  }
  for (std::uint32_t m : meets_) {
    ops[m].target = &ops[ops[m].imm];
    ops[m].imm = Warp::shortest_jump;
  }
  builder_.code->loops |= !table_fixups_.empty();
  for (const auto& f : table_fixups_)
    builder_.code->branch_tables[f.table][f.entry] = &ops[builder_.code->block_start[f.block]];
}

}  // namespace inflight::machine
