// Decodes ld, ldu, st and the instructions that only advise the caches.
#include "gpu/machine/families/memory_lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/lowering/observing.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = Operand::Kind;

constexpr ptx::ModSet understood{Mod::weak,    Mod::volatile_, Mod::relaxed, Mod::acquire,
                                 Mod::release, Mod::mmio,      Mod::cta,     Mod::cluster,
                                 Mod::gpu,     Mod::sys};
constexpr ptx::ModSet strong{Mod::volatile_, Mod::relaxed, Mod::acquire, Mod::release, Mod::mmio};

// The decoder's result for the address operand.
struct Target {
  AccessPlace place;
  bool materialise = false;  // the variable's address must be computed first
};

// Whether [variable + offset] is `bytes` aligned bytes inside the variable.
bool inside(const ptx::Variable& v, std::int64_t offset, unsigned bytes) {
  return offset >= 0 && offset % bytes == 0 && v.alignment % std::min(bytes, 16u) == 0 &&
         static_cast<std::uint64_t>(offset) + bytes <= v.size;
}

// Whether the variable is in a frame. Other variables have addresses outside frames.
bool in_frame(const ptx::Variable& v) {
  return v.space == Space::local || v.space == Space::param || v.space == Space::param_entry ||
         v.space == Space::param_func;
}

std::optional<Target> target(Lowering& lo, const Operand& address, unsigned bytes) {
  Space space = lo.in.space();
  const bool named = address.kind == Kind::address && address.base == Kind::variable;
  const ptx::Variable* v = named ? &lo.module.variables[address.index] : nullptr;
  if (v && space == Space::generic) space = v->space;
  switch (space) {
    case Space::global:
    case Space::constant:
      return Target{AccessPlace::global};
    case Space::shared:
    case Space::shared_cta:
      return Target{AccessPlace::shared};
    case Space::generic:
      return Target{AccessPlace::generic};
    case Space::param:
    case Space::param_entry:
    case Space::param_func:
      if (v ? lo.is_entry_parameter(address.index) : lo.function.entry)
        return Target{AccessPlace::parameter};
      [[fallthrough]];
    case Space::local:
      if (!v) return Target{AccessPlace::local};
      if (!in_frame(*v)) {
        lo.refuse(fmt::format("'{}' is a variable of another state space", v->name));
        return {};
      }
      if (inside(*v, address.value, bytes)) return Target{AccessPlace::frame};
      return Target{AccessPlace::local, true};
    case Space::shared_cluster:
      return Target{AccessPlace::cluster};
    default:
      lo.refuse("this state space cannot be accessed");
      return {};
  }
}

bool bind_address(Lowering& lo, const Operand& address, Target t, Ref materialised, Op& op) {
  if (!t.materialise) return lo.address(address, op);
  op.a = materialised;
  return true;
}

Ref materialise(Lowering& lo, const Operand& address) {
  Operand variable = address;
  variable.kind = Kind::variable;
  return lo.source(variable, Type::u32);
}

struct Form {
  Type type;       // of an element in memory
  unsigned bytes;  // of an element
  unsigned count;
  std::span<const Operand> values;  // the registers
};

std::optional<Form> form(Lowering& lo, const Operand& values) {
  Form f{lo.in.type(), ptx::size_of(lo.in.type()), lo.in.vector, {&values, 1}};
  if (lo.in.type_count != 1 || f.bytes == 0 || f.bytes > 16) {
    lo.refuse("values of this type cannot be loaded or stored");
    return {};
  }
  if (f.count == 1 && values.kind != Kind::vector) return f;
  if (values.kind != Kind::vector || values.count != f.count) {
    lo.refuse(fmt::format("a vector of {} register{} is needed", f.count, f.count == 1 ? "" : "s"));
    return {};
  }
  f.values = {lo.function.pool.data() + values.index, f.count};
  return f;
}

// Bytes of a lane of the operand's register; 0 if the operand is no register.
unsigned width(const Lowering& lo, const Operand& o) {
  const Type type = lo.register_type(o);
  return type == Type::none ? 0 : std::max(2u, ptx::size_of(type));
}

// The type extended to at least 16 bits, the narrowest register.
Type slot_type(Type type) {
  if (ptx::size_of(type) > 1) return type;
  return ptx::is_signed(type) ? Type::s16 : Type::u16;
}

const AccessHandlers* find(AccessTable table, bool store, const Form& f, unsigned width) {
  for (std::size_t i = 0; i < table.count; ++i) {
    const AccessHandlers& r = table.rows[i];
    if (r.store == store && r.bytes == f.bytes && r.count == f.count && r.width == width &&
        (store || width == f.bytes || r.sign == ptx::is_signed(f.type)))
      return &r;
  }
  return nullptr;
}

Handler handler_of(const AccessHandlers& row, AccessPlace place, bool is_strong) {
  if (is_strong && place == AccessPlace::global) return row.strong.global;
  if (is_strong && place == AccessPlace::generic) return row.strong.generic;
  return row.at[static_cast<unsigned>(place)];
}

bool lower_access(Lowering& lo, AccessTable table, bool store) {
  if (!only(lo, understood)) return false;
  const bool hinted = lo.in.mods.has(Mod::L2_cache_hint);
  if (lo.operands.size() != (hinted ? 3u : 2u)) return lo.refuse("it takes a value and an address");
  const Operand& values = lo.operands[store ? 1 : 0];
  const Operand& address = lo.operands[store ? 0 : 1];
  const auto f = form(lo, values);
  if (!f) return false;
  if (f->bytes * f->count > 16 && !lo.on_target(100, "an access of 256 bits")) return false;
  const auto t = target(lo, address, f->bytes * f->count);
  if (!t) return false;

  const unsigned own = width(lo, f->values[0]);
  const AccessHandlers* row =
      f->count == 1 && own >= f->bytes ? find(table, store, *f, own) : nullptr;
  const bool direct = row != nullptr;
  if (!row) row = find(table, store, *f, ptx::size_of(slot_type(f->type)));
  if (!row) return lo.refuse("vectors of this shape are not supported");
  const bool is_strong = lo.in.mods.without(strong) != lo.in.mods;
  const Handler handler = handler_of(*row, t->place, is_strong);
  if (!handler) return lo.refuse("a kernel's parameters cannot be written");

  Ref refs[8];
  for (unsigned i = 0; i < f->count; ++i) {
    const Operand& o = f->values[i];
    const Type type = direct ? lo.register_type(o) : slot_type(f->type);
    refs[i] = store ? lo.source(o, slot_type(type)) : lo.destination(o, slot_type(type));
    if (refs[i] == no_ref) return false;
  }
  const Ref base = t->materialise ? materialise(lo, address) : no_ref;
  const std::uint32_t rest = f->count > 3 ? lo.extra({refs + 3, f->count - 3}) : 0;
  Op& op = lo.emit(handler);
  op.d = refs[0];
  if (f->count > 1) op.b = refs[1];
  if (f->count > 2) op.c = refs[2];
  op.extra = rest;
  op.count = static_cast<std::uint8_t>(f->count);
  if (is_strong) op.flags |= Op::strong;
  if (!bind_address(lo, address, *t, base, op)) return false;
  // The size of one element in its register.
  const unsigned value_bytes = direct ? own : ptx::size_of(slot_type(f->type));
  const std::span<const Ref> registers(refs, f->count);
  if (store)
    observe_access(lo, op, {.bytes = value_bytes, .wrote = registers});
  else
    observe_access(lo, op,
                   {.bytes = f->count == 1 ? value_bytes : 0, .wrote = {}, .read = refs[0]});
  return true;
}

// --- advice to the caches ---

const Op* nothing(Warp&, const Op* op) { return op + 1; }

bool lower_hint(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::L1, Mod::L2, Mod::tensormap})) return false;
  lo.emit(nothing);
  return true;
}

// applypriority and discard work on one line of the L2 cache. discard makes its bytes undefined, so
// leaving them unchanged is allowed.
bool lower_line(Lowering& lo, const Row&) {
  constexpr std::int64_t line_bytes = 128;
  if (!only(lo, {Mod::L2})) return false;
  const auto o = lo.operands;
  if (o.size() != 2 || !lo.is_constant(o[1]) || lo.constant(o[1]) != line_bytes)
    return lo.refuse("it takes an address and the size 128");
  lo.emit(nothing);
  return true;
}

// The sixteenths of the accesses that get the primary priority, at least one. The chip uses only
// the upper bits of the fraction, rounded.
std::uint64_t sixteenths(float fraction) {
  std::uint32_t bits;
  std::memcpy(&bits, &fraction, sizeof bits);
  bits = (bits + 0x1000) & ~0x1fffu;
  std::memcpy(&fraction, &bits, sizeof fraction);
  return static_cast<std::uint64_t>(std::clamp(std::ceil(16 * fraction), 1.0f, 16.0f));
}

const Op* make_policy(Warp& w, const Op* op) {
  auto* out = w.at<std::uint64_t>(op->d);
  for (int l = 0; l < lanes; ++l)
    if (w.mask >> l & 1) {
      const std::uint64_t share = op->a == no_ref ? 16 : sixteenths(w.at<float>(op->a)[l]);
      out[l] = static_cast<std::uint64_t>(op->imm) | (share - 1) << 52;
    }
  return op + 1;
}

// A cache policy is a 64-bit operand that accesses ignore. Its bits are an H200's for fractions: 1,
// the primary priority in 3 bits, whether the secondary is evict_first, and the fraction in
// sixteenths minus one. Address ranges and createpolicy.cvt are encoded as the whole fraction.
bool lower_policy(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::L2, Mod::L2_evict_unchanged})) return false;
  const auto o = lo.operands;
  if (o.empty()) return lo.refuse("it takes a destination");
  const bool fractional = lo.in.opcode == ptx::Opcode::createpolicy_fractional;
  const Ref fraction = fractional && o.size() > 1 ? lo.source(o[1], Type::f32) : no_ref;
  const Ref d = lo.destination(o[0], Type::b64);
  if (d == no_ref) return false;
  // The secondary priority, if any, is evict_first or evict_unchanged.
  const auto has = [&](Mod mod) { return lo.in.mods.has(mod); };
  const bool first = has(Mod::L2_evict_first);
  const std::int64_t primary = has(Mod::L2_evict_normal) ? 3
                               : has(Mod::L2_evict_last) ? 2
                               : first                   ? 1
                                                         : 0;
  const bool secondary_first = first && primary > 1;
  Op& op = lo.emit(make_policy);
  op.d = d;
  op.a = fraction;
  op.imm = std::int64_t{1} << 60 | primary << 57 | std::int64_t{secondary_first} << 56;
  return true;
}

}  // namespace

bool lower_load(Lowering& lo, AccessTable table) { return lower_access(lo, table, false); }
bool lower_store(Lowering& lo, AccessTable table) { return lower_access(lo, table, true); }

void add_cache_hints(Rows& rows) {
  using ptx::Opcode;
  for (Opcode o : {Opcode::prefetch, Opcode::prefetchu}) add(rows, any_form(o, lower_hint));
  for (Opcode o : {Opcode::applypriority, Opcode::discard}) add(rows, any_form(o, lower_line));
  for (Opcode o :
       {Opcode::createpolicy_fractional, Opcode::createpolicy_range, Opcode::createpolicy_cvt})
    add(rows, any_form(o, lower_policy));
}

}  // namespace inflight::machine
