// alloca, stacksave, stackrestore (PTX ISA 9.7.9: stack manipulation). Each lane has its own stack,
// which grows upwards. A function's return frees what it allocated.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/each_lane.hpp"

namespace inflight::machine {
namespace {

using ptx::Opcode;
using ptx::Type;

constexpr std::int64_t least_alignment = 8, most_alignment = 1 << 23;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) & ~(to - 1);
}

// Op::imm is the alignment.
template <class T>
const Op* run_alloca(Warp& w, const Op* op) {
  const T* sizes = w.at<T>(op->a);
  T* pointers = w.at<T>(op->d);
  StackPointers& stack = *w.frame->stack;
  const std::uint64_t limit = w.block->grid->stack_limit;
  const auto alignment = static_cast<std::uint64_t>(op->imm);
  std::uint32_t bad = 0;
  std::uint64_t highest = 0, wanted = 0;
  each_lane(w.mask, [&](int l) {
    const std::uint64_t size = sizes[l], at = round_up(stack[l], alignment);
    if (at > limit || size > limit - at) {
      bad |= 1u << l;
      wanted = size;
      return;
    }
    stack[l] = static_cast<std::uint32_t>(round_up(at + size, least_alignment));
    pointers[l] = static_cast<T>(at);
    highest = std::max<std::uint64_t>(highest, stack[l]);
  });
  if (bad)
    return w.fault(op, FaultKind::stack_overflow, bad,
                   fmt::format("allocates {} bytes on a stack of {} bytes, of which {} are in use",
                               wanted, limit, stack[std::countr_zero(bad)]));
  w.ensure_local(static_cast<std::uint32_t>(highest));
  return op + 1;
}

template <class T>
const Op* run_stacksave(Warp& w, const Op* op) {
  T* saved = w.at<T>(op->d);
  each_lane(w.mask, [&](int l) { saved[l] = (*w.frame->stack)[l]; });
  return op + 1;
}

template <class T>
const Op* run_stackrestore(Warp& w, const Op* op) {
  const T* saved = w.at<T>(op->a);
  const std::uint64_t low = w.frame->local_base + w.frame->code->local_bytes,
                      high = w.block->grid->stack_limit;
  std::uint32_t bad = 0, highest = 0;
  each_lane(w.mask, [&](int l) {
    if (saved[l] < low || saved[l] > high) {
      bad |= 1u << l;
      return;
    }
    (*w.frame->stack)[l] = static_cast<std::uint32_t>(saved[l]);
    highest = std::max(highest, (*w.frame->stack)[l]);
  });
  if (bad)
    return w.fault(
        op, FaultKind::stack_overflow, bad,
        fmt::format("restores the stack pointer 0x{:x}, which no stacksave of this call returned",
                    saved[std::countr_zero(bad)]));
  w.ensure_local(highest);
  return op + 1;
}

bool wide(const Lowering& lo) { return lo.in.type() == Type::u64; }

bool lower_alloca(Lowering& lo, const Row&) {
  const auto o = lo.operands;
  std::int64_t alignment = least_alignment;
  if (o.size() == 3) {
    if (!lo.is_constant(o[2])) return lo.refuse("the alignment must be a constant");
    alignment = lo.constant(o[2]);
    if (alignment <= 0 || alignment > most_alignment ||
        !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
      return lo.refuse("the alignment must be a power of two up to 2^23");
  }
  const Ref size = lo.source(o[1], lo.in.type()), d = lo.destination(o[0], lo.in.type());
  if (size == no_ref || d == no_ref) return false;
  lo.code().dynamic_stack = true;
  Op& op = lo.emit(wide(lo) ? run_alloca<std::uint64_t> : run_alloca<std::uint32_t>);
  op.d = d, op.a = size, op.imm = std::max(alignment, least_alignment);
  return true;
}

bool lower_stacksave(Lowering& lo, const Row&) {
  const Ref d = lo.destination(lo.operands[0], lo.in.type());
  if (d == no_ref) return false;
  lo.code().dynamic_stack = true;
  lo.emit(wide(lo) ? run_stacksave<std::uint64_t> : run_stacksave<std::uint32_t>).d = d;
  return true;
}

bool lower_stackrestore(Lowering& lo, const Row&) {
  const Ref a = lo.source(lo.operands[0], lo.in.type());
  if (a == no_ref) return false;
  lo.code().dynamic_stack = true;
  lo.emit(wide(lo) ? run_stackrestore<std::uint64_t> : run_stackrestore<std::uint32_t>).a = a;
  return true;
}

}  // namespace

void stack_rows(Rows& rows) {
  add(rows, {Opcode::alloca, {}, {}, {}, nullptr, lower_alloca});
  add(rows, {Opcode::stacksave, {}, {}, {}, nullptr, lower_stacksave});
  add(rows, {Opcode::stackrestore, {}, {}, {}, nullptr, lower_stackrestore});
}

}  // namespace inflight::machine
