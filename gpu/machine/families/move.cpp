// mov, cvta, isspacep, mapa, and the moves from which the decoder composes other instructions.
#include "gpu/machine/families/lanes.hpp"
#include "gpu/machine/families/wgmma.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/lowering/moves.hpp"
#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/values.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using u128 = unsigned __int128;
using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

template <class T>
struct Same {
  T operator()(T a) const { return a; }
};
template <class D, class A>
struct Cast {
  D operator()(A a) const { return static_cast<D>(a); }
};

template <class Whole, class Part>
const Op* pack2(Warp& w, const Op* op) {
  const Part* a = w.at<Part>(op->a);
  const Part* b = w.at<Part>(op->b);
  write<Whole>(w, op->d, [=](int l) {
    return static_cast<Whole>(static_cast<Whole>(a[l]) | static_cast<Whole>(b[l])
                                                             << (8 * sizeof(Part)));
  });
  return op + 1;
}

template <class Whole, class Part>
const Op* pack4(Warp& w, const Op* op) {
  const Ref* parts = w.frame->code->extra.data() + op->extra;
  const Part* p[4];
  for (int i = 0; i < 4; ++i) p[i] = w.at<Part>(parts[i]);
  write<Whole>(w, op->d, [=](int l) {
    Whole v = 0;
    for (int i = 0; i < 4; ++i)
      v |= static_cast<Whole>(static_cast<Whole>(p[i][l]) << (8 * sizeof(Part) * i));
    return v;
  });
  return op + 1;
}

// Op::detail: the index of the part; Op::count: the number of parts.
template <class Whole, class Part>
void unpack_as(Warp& w, const Op* op) {
  const Whole* a = w.at<Whole>(op->a);
  const int shift = 8 * sizeof(Part) * op->detail;
  write<Part>(w, op->d, [=](int l) { return static_cast<Part>(a[l] >> shift); });
}
template <class Part>
const Op* unpack(Warp& w, const Op* op) {
  switch (sizeof(Part) * op->count) {
    case 2:
      unpack_as<uint16_t, Part>(w, op);
      break;
    case 4:
      unpack_as<uint32_t, Part>(w, op);
      break;
    case 8:
      unpack_as<uint64_t, Part>(w, op);
      break;
    default:
      unpack_as<u128, Part>(w, op);
      break;
  }
  return op + 1;
}

template <class T>
const Op* local_address(Warp& w, const Op* op) {
  const T value = static_cast<T>(w.frame->local_base + op->imm);
  write<T>(w, op->d, [=](int) { return value; });
  return op + 1;
}
template <class T>
const Op* special(Warp& w, const Op* op) {
  w.budget -= static_cast<std::int32_t>(op->imm);
  const T value = static_cast<T>(read_special(w, ptx::Special(op->detail)));
  write<T>(w, op->d, [=](int) { return value; });
  w.poll(Polls::time);
  // A warp that spins on a clock gets short turns, since it can only be waiting for other warps.
  constexpr std::int32_t shorter = 192;
  w.budget -= shorter;
  w.allotted -= shorter;
  return op + 1;
}

const Op* move_predicate(Warp& w, const Op* op) {
  w.set_predicate(op->d, w.predicate(op->a, op->flags & Op::negate_a));
  return op + 1;
}

// cvta and cvta.to: Op::imm is the window's base, negative for cvta.to.
template <class T>
const Op* offset(Warp& w, const Op* op) {
  const T* a = w.at<T>(op->a);
  const T base = static_cast<T>(op->imm);
  write<T>(w, op->d, [=](int l) { return a[l] + base; });
  return op + 1;
}

std::uint64_t window(const Windows& w, Space space) {
  switch (space) {
    case Space::shared:
    case Space::shared_cta:
    case Space::shared_cluster:
      return w.shared;
    case Space::local:
      return w.local;
    case Space::param:
    case Space::param_entry:
      return w.param;
    default:
      return 0;
  }
}

// d = a is in [imm, imm + 2^detail).
template <class T>
const Op* in_window(Warp& w, const Op* op) {
  const T* a = w.at<T>(op->a);
  const uint64_t low = static_cast<uint64_t>(op->imm), size = 1ull << op->detail;
  w.set_predicate(op->d, bits([=](int l) { return static_cast<uint64_t>(a[l]) - low < size; }));
  return op + 1;
}
// The block's own shared memory: the part of the window with the block's rank.
const Op* in_own_shared(Warp& w, const Op* op) {
  const uint64_t* a = w.at<uint64_t>(op->a);
  const uint64_t low = static_cast<uint64_t>(op->imm) + w.block->window;
  w.set_predicate(op->d, bits([=](int l) { return a[l] - low <= offset_mask; }));
  return op + 1;
}
const Op* in_no_window(Warp& w, const Op* op) {
  const uint64_t* a = w.at<uint64_t>(op->a);
  const Windows& v = w.block->grid->memory->windows();
  const uint64_t s = v.shared, l0 = v.local, p = v.param;
  w.set_predicate(op->d, bits([=](int l) {
                    return a[l] - s >= Windows::shared_size && a[l] - l0 >= Windows::local_size &&
                           a[l] - p >= Windows::param_size;
                  }));
  return op + 1;
}
const Op* in_constant(Warp& w, const Op* op) {
  const uint64_t* a = w.at<uint64_t>(op->a);
  uint32_t m = 0;
  for (int l = 0; l < lanes; ++l)
    if ((w.mask >> l) & 1 && is_constant_address(w, a[l])) m |= 1u << l;
  w.set_predicate(op->d, m);
  return op + 1;
}

// mapa: the same offset in the shared memory of the cluster's block of rank b. Op::imm is the start
// of the shared window in a's address space.
template <class T>
const Op* map_rank(Warp& w, const Op* op) {
  const T* a = w.at<T>(op->a);
  const uint32_t* rank = w.at<uint32_t>(op->b);
  const T base = static_cast<T>(op->imm);
  write<T>(w, op->d, [=](int l) {
    return base + ((a[l] - base) & offset_mask) + (static_cast<T>(rank[l]) << rank_shift);
  });
  return op + 1;
}
// getctarank: the rank of the block that a shared address belongs to.
template <class T>
const Op* rank_of(Warp& w, const Op* op) {
  const T* a = w.at<T>(op->a);
  const T base = static_cast<T>(op->imm);
  write<uint32_t>(w, op->d,
                  [=](int l) { return static_cast<uint32_t>((a[l] - base) >> rank_shift); });
  return op + 1;
}

std::int64_t shared_base(Lowering& lo) {
  const bool generic = !is_shared(lo.in.space());
  return generic ? static_cast<std::int64_t>(lo.program_memory().windows().shared) : 0;
}

// The name of a shared variable is a shared address, even if the form takes generic addresses.
Ref shared_operand(Lowering& lo, const ptx::Operand& o, Type type, std::int64_t& base) {
  if (o.kind == ptx::Operand::Kind::variable) base = 0;
  return lo.source(o, type);
}

bool lower_mapa(Lowering& lo, const Row&) {
  if (lo.operands.size() != 3) return lo.refuse("it takes an address and a rank");
  const Type type = lo.in.type();
  if (type != Type::u32 && type != Type::u64) return lo.refuse("addresses are .u32 or .u64");
  std::int64_t base = shared_base(lo);
  const Ref a = shared_operand(lo, lo.operands[1], type, base);
  const Ref b = lo.source(lo.operands[2], Type::u32);
  const Ref d = lo.destination(lo.operands[0], type);
  if (a == no_ref || b == no_ref || d == no_ref) return false;
  Op& op = lo.emit(type == Type::u32 ? Handler(&map_rank<uint32_t>) : Handler(&map_rank<uint64_t>));
  op.a = a, op.b = b, op.d = d, op.imm = base;
  return true;
}

bool lower_getctarank(Lowering& lo, const Row&) {
  if (lo.operands.size() != 2) return lo.refuse("it takes an address");
  const Type type = lo.in.type();
  if (type != Type::u32 && type != Type::u64) return lo.refuse("addresses are .u32 or .u64");
  std::int64_t base = shared_base(lo);
  const Ref a = shared_operand(lo, lo.operands[1], type, base);
  const Ref d = lo.destination(lo.operands[0], Type::u32);
  if (a == no_ref || d == no_ref) return false;
  Op& op = lo.emit(type == Type::u32 ? Handler(&rank_of<uint32_t>) : Handler(&rank_of<uint64_t>));
  op.a = a, op.d = d, op.imm = base;
  return true;
}

bool lower_mov(Lowering& lo, const Row&) {
  const Type type = lo.in.type();
  if (!lo.in.mods.without(ignorable()).empty() || lo.operands.size() != 2)
    return lo.refuse("this form of mov is not supported");
  if (lo.what.follows_multiplies && lo.function.entry) return lower_following_move(lo);
  if (type == Type::pred) {
    std::uint8_t flags = 0;
    const Ref a = lo.predicate(lo.operands[1], flags, Op::negate_a);
    const Ref d = lo.predicate_destination(lo.operands[0]);
    Op& op = lo.emit(&move_predicate);
    op.a = a, op.d = d, op.flags |= flags;
    return true;
  }
  const Ref a = lo.source(lo.operands[1], type);
  const Ref d = lo.destination(lo.operands[0], type);
  if (a == no_ref || d == no_ref) return false;
  Op& op = lo.emit(lo.moves().copy[std::countr_zero(ptx::size_of(type))]);
  op.a = a, op.d = d;
  return true;
}

bool lower_cvta(Lowering& lo, const Row&) {
  const bool to = lo.in.mods.has(ptx::Mod::to);
  const Type type = lo.in.type();
  if (ptx::size_of(type) != 8 && ptx::size_of(type) != 4)
    return lo.refuse("cvta takes .u32 or .u64");
  const auto base = window(lo.program_memory().windows(), lo.in.space());
  const Ref a = lo.source(lo.operands[1], type);
  const Ref d = lo.destination(lo.operands[0], type);
  if (a == no_ref || d == no_ref) return false;
  Op& op = lo.emit(type == Type::u32 ? Handler(&offset<uint32_t>) : Handler(&offset<uint64_t>));
  op.a = a, op.d = d;
  op.imm = static_cast<std::int64_t>(to ? 0 - base : base);
  return true;
}

bool lower_isspacep(Lowering& lo, const Row&) {
  const Windows& windows = lo.program_memory().windows();
  const Space space = lo.in.space();
  const Ref a = lo.source(lo.operands[1], Type::u64);
  const Ref d = lo.predicate_destination(lo.operands[0]);
  if (a == no_ref) return false;
  Handler handler = &in_window<uint64_t>;
  unsigned log_size = 32;
  if (space == Space::global) handler = &in_no_window;
  if (space == Space::shared || space == Space::shared_cta) handler = &in_own_shared;
  if (space == Space::constant) handler = &in_constant;
  if (space == Space::param || space == Space::param_entry) log_size = 16;
  Op& op = lo.emit(handler);
  op.a = a, op.d = d, op.detail = static_cast<uint16_t>(log_size);
  op.imm = static_cast<std::int64_t>(window(windows, space));
  return true;
}

}  // namespace

MoveHandlers move_handlers() {
  MoveHandlers m;
  m.copy[0] = &unary<uint8_t, uint8_t, Same<uint8_t>>;
  m.copy[1] = &unary<uint16_t, uint16_t, Same<uint16_t>>;
  m.copy[2] = &unary<uint32_t, uint32_t, Same<uint32_t>>;
  m.copy[3] = &unary<uint64_t, uint64_t, Same<uint64_t>>;
  m.copy[4] = &unary<u128, u128, Same<u128>>;
#define CASTS(from, A, SA, to, D, SD)               \
  m.narrow[from][to] = &unary<D, A, Cast<D, A>>;    \
  m.extend[0][to][from] = &unary<A, D, Cast<A, D>>; \
  m.extend[1][to][from] = &unary<SA, SD, Cast<SA, SD>>;
  CASTS(1, uint16_t, std::int16_t, 0, uint8_t, std::int8_t)
  CASTS(2, uint32_t, std::int32_t, 0, uint8_t, std::int8_t)
  CASTS(3, uint64_t, std::int64_t, 0, uint8_t, std::int8_t)
  CASTS(2, uint32_t, std::int32_t, 1, uint16_t, std::int16_t)
  CASTS(3, uint64_t, std::int64_t, 1, uint16_t, std::int16_t)
  CASTS(3, uint64_t, std::int64_t, 2, uint32_t, std::int32_t)
#undef CASTS
  m.pack2[0] = &pack2<uint16_t, uint8_t>;
  m.pack2[1] = &pack2<uint32_t, uint16_t>;
  m.pack2[2] = &pack2<uint64_t, uint32_t>;
  m.pack2[3] = &pack2<u128, uint64_t>;
  m.pack4[0] = &pack4<uint32_t, uint8_t>;
  m.pack4[1] = &pack4<uint64_t, uint16_t>;
  m.pack4[2] = &pack4<u128, uint32_t>;
  m.unpack[0] = &unpack<uint8_t>;
  m.unpack[1] = &unpack<uint16_t>;
  m.unpack[2] = &unpack<uint32_t>;
  m.unpack[3] = &unpack<uint64_t>;
  m.offset[0] = &offset<uint32_t>;
  m.offset[1] = &offset<uint64_t>;
  m.local_address[0] = &local_address<uint32_t>;
  m.local_address[1] = &local_address<uint64_t>;
  m.special[0] = &special<uint32_t>;
  m.special[1] = &special<uint64_t>;
  return m;
}

void move_rows(Rows& rows) {
  add(rows, {Opcode::mov, {}, {}, {}, nullptr, &lower_mov});
  add(rows, {Opcode::cvta, {}, {}, {}, nullptr, &lower_cvta});
  add(rows, {Opcode::mapa, {}, {}, {}, nullptr, &lower_mapa});
  add(rows, {Opcode::getctarank, {}, {}, {}, nullptr, &lower_getctarank});
  add(rows, {Opcode::isspacep, {}, {}, {}, nullptr, &lower_isspacep});
}

}  // namespace inflight::machine::INFLIGHT_ISA
