// atom and red (PTX ISA, "atom", "red").
//
// Lanes update memory in ascending order. Other host threads run blocks that share global memory,
// so there each update is a sequentially consistent host atomic, for any order and scope of the
// instruction. Shared memory is used only by the host thread that runs the block. Local memory is
// reached only by generic addresses. PTX does not define this case; an H200 updates the thread's
// own bytes, and so does this code (libcu++ has such barriers and atomics).
#include <fmt/format.h>

#include <optional>

#include "gpu/machine/families/atomic_ops.hpp"
#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/lowering/observing.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/numbers/small_floats.hpp"

namespace inflight::machine {
namespace {

using namespace atomics;
using numbers::Bf16, numbers::F16;
using ptx::Mod;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using u128 = unsigned __int128;

constexpr unsigned most_elements = 8, most_bytes = 16;  // of a vector or one value

template <class U>
bool exchange_if(U* p, U& expected, U wanted) {
  return __atomic_compare_exchange_n(p, &expected, wanted, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}
[[gnu::target("cx16"), gnu::noinline]] bool exchange_if(u128* p, u128& expected, u128 wanted) {
  const u128 found = __sync_val_compare_and_swap(p, expected, wanted);
  const bool done = found == expected;
  expected = found;
  return done;
}
template <class U>
U peek(const U* p) {
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}
// The value may be torn. The compare-and-swap that follows then fails and returns the true value.
u128 peek(const u128* p) {
  u128 value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

// Replaces *place by f(*place), atomically if it is global. Returns the old value.
template <class U, class F>
U update(void* place, bool global, F f) {
  U* p = static_cast<U*>(place);
  U old = peek(p);
  if (!global) {
    *p = f(old);
    return old;
  }
  while (!exchange_if(p, old, f(old))) {
  }
  return old;
}

// All lanes have one address, so their operations are combined into one update. Returns whether the
// value changed.
template <class Operation>
bool together(Warp& w, const Op* op, void* place, bool global) {
  using U = typename Operation::Value;
  const U* b = w.at<U>(op->b);
  const U* c = op->c == no_ref ? b : w.at<U>(op->c);
  U seen[lanes], after = 0;
  const U before = update<U>(place, global, [&](U value) {
    for (std::uint32_t m = w.mask; m; m &= m - 1) {
      const int l = std::countr_zero(m);
      seen[l] = value;
      value = Operation::apply(value, b[l], c[l], global);
    }
    return after = value;
  });
  if (op->d != no_ref)
    for (std::uint32_t m = w.mask; m; m &= m - 1)
      w.at<U>(op->d)[std::countr_zero(m)] = seen[std::countr_zero(m)];
  return after != before;
}

template <class Operation>
[[gnu::noinline]] bool in_turn(Warp& w, const Op* op, const LanePlaces& places) {
  using U = typename Operation::Value;
  const U* b = w.at<U>(op->b);
  const U* c = op->c == no_ref ? b : w.at<U>(op->c);
  U* d = op->d == no_ref ? nullptr : w.at<U>(op->d);
  bool changed = false;
  for (std::uint32_t m = w.mask; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const bool global = !(places.shared >> l & 1);
    U after{};
    const U old = update<U>(places.at[l], global, [&](U value) {
      return after = Operation::apply(value, b[l], c[l], global);
    });
    changed |= old != after;
    if (d) d[l] = old;
  }
  return changed;
}

// Vectors of Op::count elements. Op::extra has the results' registers, then the operands'.
template <class Operation>
[[gnu::noinline]] bool vectors_in_turn(Warp& w, const Op* op, const LanePlaces& places) {
  using U = typename Operation::Value;
  const unsigned count = op->count;
  const Ref *d = w.frame->code->extra.data() + op->extra, *b = d + count;
  bool changed = false;
  for (std::uint32_t m = w.mask; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const bool global = !(places.shared >> l & 1);
    // A result may share an operand's register, so all operands are read first.
    U operand[most_elements], old[most_elements];
    for (unsigned i = 0; i < count; ++i) operand[i] = w.at<U>(b[i])[l];
    for (unsigned i = 0; i < count; ++i) {
      U after{};
      old[i] = update<U>(reinterpret_cast<U*>(places.at[l]) + i, global, [&](U value) {
        return after = Operation::apply(value, operand[i], U{}, global);
      });
      changed |= old[i] != after;
    }
    if (op->d != no_ref)
      for (unsigned i = 0; i < count; ++i) w.at<U>(d[i])[l] = old[i];
  }
  return changed;
}

bool all_equal(const std::uint64_t* a, std::uint32_t mask) {
  const std::uint64_t first = a[std::countr_zero(mask)];
  std::uint64_t differ = 0;
  for (int l = 0; l < lanes; ++l) differ |= mask >> l & 1 ? a[l] ^ first : 0;
  return differ == 0;
}

// Returns the next op. An atomic that changes nothing may be part of a spin.
const Op* go_on(Warp& w, const Op* op, bool changed) {
  if (changed)
    w.exchanged = true;
  else
    w.poll();
  return op + 1;
}

using InTurn = bool (*)(Warp& w, const Op* op, const LanePlaces& places);

// Some lanes' addresses are in local memory. It is interleaved, so these lanes work on copies.
[[gnu::noinline]] const Op* run_local(Warp& w, const Op* op, const std::uint64_t* addresses,
                                      std::uint32_t bytes, InTurn in_turn) {
  LanePlaces places;
  const auto resolve = [&](std::uint32_t mask) {
    return resolve_lanes(w, op, mask, Space::generic, addresses, bytes, true, places);
  };
  const std::uint32_t local = resolve(w.mask).lanes;
  if (const BadLanes bad = resolve(w.mask & ~local); bad.lanes)
    return bad_access(w, op, bad.lanes, addresses, bytes, true, Space::generic, bad.kind);
  alignas(16) std::byte copies[lanes][most_bytes];
  std::uint32_t outside = 0;
  for (std::uint32_t m = local; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    places.at[l] = copies[l];
    if (!read_generic(w, l, addresses[l], copies[l], bytes) ||
        !write_generic(w, l, addresses[l], copies[l], bytes))
      outside |= 1u << l;
  }
  if (outside)
    return bad_access(w, op, outside, addresses, bytes, true, Space::generic,
                      FaultKind::invalid_address_space);
  places.shared |= local;
  const bool changed = in_turn(w, op, places);
  for (std::uint32_t m = local; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    write_generic(w, l, addresses[l], copies[l], bytes);
  }
  return go_on(w, op, changed);
}

template <class Operation>
const Op* run(Warp& w, const Op* op) {
  constexpr std::uint32_t bytes = sizeof(typename Operation::Value);
  const Space space = op->what->memory.front().space;
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, space, addresses);
  const bool one = all_equal(addresses, w.mask);
  const std::uint32_t first = w.mask & -w.mask;
  LanePlaces places;
  const BadLanes bad =
      resolve_lanes(w, op, one ? first : w.mask, space, addresses, bytes, true, places);
  if (bad.kind == FaultKind::invalid_address_space) [[unlikely]]
    return run_local(w, op, addresses, bytes, in_turn<Operation>);
  if (bad.lanes)
    return bad_access(w, op, one ? w.mask : bad.lanes, addresses, bytes, true, space, bad.kind);
  const bool changed =
      one ? together<Operation>(w, op, places.at[std::countr_zero(first)], !places.shared)
          : in_turn<Operation>(w, op, places);
  return go_on(w, op, changed);
}

const Op* run_vectors_in(Warp& w, const Op* op, std::uint32_t bytes, InTurn in_turn) {
  const Space space = op->what->memory.front().space;
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, space, addresses);
  LanePlaces places;
  const BadLanes bad = resolve_lanes(w, op, w.mask, space, addresses, bytes, true, places);
  if (bad.kind == FaultKind::invalid_address_space) [[unlikely]]
    return run_local(w, op, addresses, bytes, in_turn);
  if (bad.lanes) return bad_access(w, op, bad.lanes, addresses, bytes, true, space, bad.kind);
  return go_on(w, op, in_turn(w, op, places));
}
template <class Operation>
const Op* run_vectors(Warp& w, const Op* op) {
  return run_vectors_in(w, op, sizeof(typename Operation::Value) * op->count,
                        vectors_in_turn<Operation>);
}

// --- the forms ---

struct Form {
  Mod operation;
  Type type;
  unsigned count;
  Handler handler;
};

template <template <class> class Operation, class T>
constexpr Form form(Mod mod, Type type) {
  return {mod, type, 1, run<Operation<T>>};
}
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

constexpr Form scalar_forms[] = {
    form<Add, u32>(Mod::add, Type::u32),
    form<Add, u32>(Mod::add, Type::s32),
    form<Add, u64>(Mod::add, Type::u64),
    form<Add, u64>(Mod::add, Type::s64),
    form<And, u32>(Mod::and_, Type::b32),
    form<And, u64>(Mod::and_, Type::b64),
    form<Or, u32>(Mod::or_, Type::b32),
    form<Or, u64>(Mod::or_, Type::b64),
    form<Xor, u32>(Mod::xor_, Type::b32),
    form<Xor, u64>(Mod::xor_, Type::b64),
    form<Exchange, u32>(Mod::exch, Type::b32),
    form<Exchange, u64>(Mod::exch, Type::b64),
    form<Exchange, u128>(Mod::exch, Type::b128),
    form<CompareAndSwap, u16>(Mod::cas, Type::b16),
    form<CompareAndSwap, u32>(Mod::cas, Type::b32),
    form<CompareAndSwap, u64>(Mod::cas, Type::b64),
    form<CompareAndSwap, u128>(Mod::cas, Type::b128),
    form<Increment, u32>(Mod::inc, Type::u32),
    form<Decrement, u32>(Mod::dec, Type::u32),
    form<Min, u32>(Mod::min, Type::u32),
    form<Min, s32>(Mod::min, Type::s32),
    form<Min, u64>(Mod::min, Type::u64),
    form<Min, s64>(Mod::min, Type::s64),
    form<Max, u32>(Mod::max, Type::u32),
    form<Max, s32>(Mod::max, Type::s32),
    form<Max, u64>(Mod::max, Type::u64),
    form<Max, s64>(Mod::max, Type::s64),
    {Mod::add, Type::f64, 1, run<AddDouble>},
};
// Operations on bits: the type may also be written .u or .s.
constexpr ptx::ModSet untyped{Mod::and_, Mod::or_, Mod::xor_, Mod::exch, Mod::cas};

template <class Operation>
Form floats(Mod mod, Type type, unsigned count) {
  return {mod, type, count, count == 1 ? run<Operation> : run_vectors<Operation>};
}
template <class Operation>
Form vectors(Mod mod, Type type, unsigned count) {
  return {mod, type, count, run_vectors<Operation>};
}

Form small_add(Mod mod, Type type, unsigned count) {
  return type == Type::f16     ? floats<Small<F16, Sum>>(mod, type, count)
         : type == Type::bf16  ? floats<Small<Bf16, Sum>>(mod, type, count)
         : type == Type::f16x2 ? floats<SmallPair<F16, Sum>>(mod, type, count)
                               : floats<SmallPair<Bf16, Sum>>(mod, type, count);
}
template <class Function>
Form small_vectors(Mod mod, Type type, unsigned count) {
  return type == Type::f16     ? vectors<Small<F16, Function>>(mod, type, count)
         : type == Type::bf16  ? vectors<Small<Bf16, Function>>(mod, type, count)
         : type == Type::f16x2 ? vectors<SmallPair<F16, Function>>(mod, type, count)
                               : vectors<SmallPair<Bf16, Function>>(mod, type, count);
}

Form float_form(Mod mod, Type type, unsigned count) {
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  const bool one = type == Type::f16 || type == Type::bf16;
  if (type == Type::f32 && mod == Mod::add && count <= 4) return floats<AddFloat>(mod, type, count);
  if (!(one && count <= most_elements) && !(pair && count <= most_elements / 2)) return {};
  if (mod == Mod::add) return small_add(mod, type, count);
  if (count == 1) return {};  // .min and .max are vectors only
  if (mod == Mod::min) return small_vectors<Least>(mod, type, count);
  if (mod == Mod::max) return small_vectors<Greatest>(mod, type, count);
  return {};
}

Type as_bits(Type type) {
  return type == Type::u32 || type == Type::s32   ? Type::b32
         : type == Type::u64 || type == Type::s64 ? Type::b64
                                                  : type;
}

Form find(Mod mod, Type type, unsigned count) {
  if (untyped.has(mod)) type = as_bits(type);
  for (const Form& f : scalar_forms)
    if (f.operation == mod && f.type == type && count == 1) return f;
  return float_form(mod, type, count);
}

constexpr Mod operations[] = {Mod::add, Mod::and_, Mod::or_, Mod::xor_, Mod::exch,
                              Mod::cas, Mod::inc,  Mod::dec, Mod::min,  Mod::max};
constexpr ptx::ModSet understood{Mod::add,     Mod::and_,    Mod::or_,     Mod::xor_,    Mod::exch,
                                 Mod::cas,     Mod::inc,     Mod::dec,     Mod::min,     Mod::max,
                                 Mod::relaxed, Mod::acquire, Mod::release, Mod::acq_rel, Mod::cta,
                                 Mod::cluster, Mod::gpu,     Mod::sys};

// The register type of an element, as plain bits.
Type slot_type(Type type) {
  const unsigned bytes = ptx::size_of(type);
  return bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : bytes == 8 ? Type::b64 : Type::b128;
}

bool bind_vector(Lowering& lo, const Form& f, const ptx::Operand* d, const ptx::Operand& b,
                 Op& op) {
  const Type type = slot_type(f.type);
  std::vector<Ref> refs(2 * f.count, no_ref);
  const auto element = [&](const ptx::Operand& v, unsigned i) {
    return lo.function.pool[v.index + i];
  };
  for (unsigned i = 0; i < f.count; ++i) {
    if (d) refs[i] = lo.destination(element(*d, i), type);
    refs[f.count + i] = lo.source(element(b, i), type);
    if ((d && refs[i] == no_ref) || refs[f.count + i] == no_ref) return false;
  }
  op.extra = lo.extra(refs);
  op.count = static_cast<std::uint8_t>(f.count);
  op.d = d ? refs[0] : no_ref;
  return true;
}

bool is_vector(const ptx::Operand& o, unsigned count) {
  return o.kind == ptx::Operand::Kind::vector && o.count == count;
}

bool bind_values(Lowering& lo, const Form& f, const ptx::Operand* d,
                 std::span<const ptx::Operand> values, Op& op) {
  if (f.count > 1) {
    if ((d && !is_vector(*d, f.count)) || !is_vector(values[0], f.count))
      return lo.refuse(fmt::format("vectors of {} registers are needed", f.count));
    return bind_vector(lo, f, d, values[0], op);
  }
  const Type type = slot_type(f.type);
  if (d && (op.d = lo.destination(*d, type)) == no_ref) return false;
  if ((op.b = lo.source(values[0], type)) == no_ref) return false;
  return f.operation != Mod::cas || (op.c = lo.source(values[1], type)) != no_ref;
}

bool has_atomics(Space space) {
  return space == Space::generic || space == Space::global || is_shared(space);
}

bool lower_atomic(Lowering& lo, const Row&) {
  if (!only(lo, understood)) return false;
  const bool returns = lo.in.opcode == Opcode::atom;
  Form f{};
  for (Mod mod : operations)
    if (lo.in.mods.has(mod)) f = find(mod, lo.in.type(), lo.in.vector);
  if (!f.handler || lo.in.type_count != 1)
    return lo.refuse(fmt::format("{} is not supported", lo.in.name));
  const std::size_t first = returns, needed = first + 2 + (f.operation == Mod::cas);
  const std::size_t given = lo.operands.size() - lo.in.mods.has(Mod::L2_cache_hint);
  if (given != needed) return lo.refuse(fmt::format("{} operands are needed", needed));
  if (lo.what.memory.empty() || lo.what.memory.front().operand != first)
    return lo.refuse("an address in brackets is needed");
  if (!has_atomics(lo.what.memory.front().space))
    return lo.refuse("atomics work on global and shared memory only");
  Op bound;
  if (!bind_values(lo, f, returns ? &lo.operands[0] : nullptr, lo.operands.subspan(first + 1),
                   bound))
    return false;
  Op& op = lo.emit(f.handler);
  op.d = bound.d, op.b = bound.b, op.c = bound.c, op.extra = bound.extra, op.count = bound.count;
  if (!lo.address(lo.operands[first], op)) return false;
  if (f.count != 1) {
    observe_access(lo, op, {});
    return true;
  }
  const bool swaps = f.operation == Mod::cas;
  observe_access(lo, op,
                 {.bytes = ptx::size_of(f.type),
                  .wrote = {swaps ? &bound.c : &bound.b, 1},
                  .read = bound.d,
                  .compared = swaps ? bound.b : no_ref});
  return true;
}

}  // namespace

void atomic_rows(Rows& rows) {
  add(rows, any_form(Opcode::atom, lower_atomic));
  add(rows, any_form(Opcode::red, lower_atomic));
}

}  // namespace inflight::machine
