// Adds ops, constants and scratch to a function's code.
#include "gpu/machine/lowering/code_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/machine/run/control.hpp"
#include "gpu/machine/run/values.hpp"

namespace inflight::machine {
namespace {

std::uint32_t align_up(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

}  // namespace

CodeBuilder::CodeBuilder(const Program& program_, Program::FunctionRef ref,
                         const Function& description_, CodeForm form_, const MoveHandlers& moves_)
    : program(program_),
      description(description_),
      module(*description_.module),
      function(*description_.text),
      form(form_),
      moves(moves_),
      code(std::make_unique<Code>()),
      slots_(allocate(description_)),
      locals_(module, function, ref.function),
      scratch_begin_(align_up(slots_.bytes, 64)) {
  code->program = &program;
  code->ref = ref;
  code->first_number = program.first_number(ref);
  code->module = &module;
  code->function = &function;
  code->description = &description;
  code->slots = slots_.ref;
  code->parameters = locals_.parameters();
  code->returns = locals_.returns();
  code->local_bytes = locals_.bytes();
  code->locals.assign(locals_.offsets().begin(), locals_.offsets().end());
  code->local_alignment = locals_.alignment();
  errors = locals_.errors();
}

// Keeps one line for each reason: a kernel may use an unsupported instruction in a hundred places.
void CodeBuilder::refuse(const ptx::Instruction& in, std::string_view why) {
  if (refused()) return;
  std::string what = fmt::format("{} ({})", in.name, why);
  constexpr std::ptrdiff_t looked_at = 256;  // of the last ones
  auto& all = code->refusals;
  const auto known =
      std::find_if(all.size() > looked_at ? all.end() - looked_at : all.begin(), all.end(),
                   [&](const Refusal& each) { return each.what == what; });
  refusal_ = static_cast<std::uint32_t>(known - all.begin());
  if (known == all.end()) all.push_back({std::move(what), in.line});
}

void CodeBuilder::stop_at(const Mark& first) {
  code->ops.resize(first.next);
  paid_ = first.paid;
  emit(&run_unsupported, Op::refuses).extra = refusal_;
}

Ref CodeBuilder::constant(std::uint64_t bits, unsigned bytes) {
  auto& known = constants_[std::countr_zero(bytes | 16u)];
  if (bytes < 8) bits &= (1ull << (8 * bytes)) - 1;
  if (auto it = known.find(bits); it != known.end()) return it->second;
  const auto offset = align_up(static_cast<std::uint32_t>(constant_bytes_.size()), 64);
  constant_bytes_.resize(offset + std::max(64u, 32 * bytes));
  for (unsigned l = 0; l < 32; ++l)
    std::memcpy(constant_bytes_.data() + offset + l * bytes, &bits, std::min(bytes, 8u));
  return known[bits] = make_ref(Base::constants, offset);
}

Ref CodeBuilder::scratch(unsigned bytes) {
  const std::uint32_t offset = scratch_begin_ + scratch_used_;
  scratch_used_ += align_up(bytes, 64);
  scratch_max_ = std::max(scratch_max_, scratch_used_);
  return make_ref(Base::frame, offset);
}

bool CodeBuilder::is_entry_parameter(std::uint32_t variable, std::uint32_t& offset) const {
  return entry_parameter(module, function, variable, offset);
}

void CodeBuilder::begin(std::uint32_t instruction, bool guarded) {
  instruction_ = instruction;
  begin_ = next_op();
  guarded_ = guarded;
  refusal_ = none;
  scratch_used_ = 0;
}

Op& CodeBuilder::emit(Handler handler, std::uint32_t marks) {
  if (next_op() == begin_) marks |= Op::begins;
  Op& op = code->ops.emplace_back();
  op.run = handler;
  op.instruction = instruction_;
  op.marks = marks;
  if (instruction_ < description.body.size()) op.what = &description.body[instruction_];
  if (guarded_) {
    op.run = &run_guarded;
    op.inner = handler;
    guard(op, op.what->guard);
  }
  return op;
}

void CodeBuilder::guard(Op& op, const Guard& guard) const {
  op.guard = slots_.ref[guard.reg];
  if (guard.negated) op.flags |= Op::guard_negated;
}

void CodeBuilder::read_clock() {
  code->ops.back().imm = next_op() - paid_;
  paid_ = next_op();
}

Ref CodeBuilder::block_value(Ref slot) {
  code->block_values |= block_value_row(slot);
  return slot;
}

void CodeBuilder::begin_block() { paid_ = next_op(); }

void CodeBuilder::finish() {
  code->frame_bytes = scratch_begin_ + scratch_max_;
  code->constants.resize(std::max<std::size_t>(64, constant_bytes_.size()));
  if (!constant_bytes_.empty())
    std::memcpy(code->constants.data(), constant_bytes_.data(), constant_bytes_.size());
}

}  // namespace inflight::machine
