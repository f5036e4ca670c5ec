// ld and st of 32 and 64 bits. The extent that the op used last, or the end of shared memory,
// bounds the whole warp's access in two comparisons if its addresses are equal or in steps. The
// op's handler does all others, and the faults.
#include "gpu/machine/compile/memory.hpp"

#include <algorithm>
#include <vector>

#include "gpu/machine/link/reserved_shared.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/worker.hpp"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace inflight::machine::compile {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Space;
using Z = X::Zmm;

// Modifiers that change nothing here: hints to caches, and what a weak access is by default.
constexpr ptx::ModSet without_effect{Mod::weak, Mod::nc, Mod::ca, Mod::cg, Mod::cs,
                                     Mod::lu,   Mod::cv, Mod::wb, Mod::wt};

Access access_of(const Site& s) {
  Access x;
  x.stores = s.in.opcode == Opcode::st;
  x.bytes = ptx::size_of(s.type());
  x.count = s.in.text->vector;
  x.values = &s.operand(x.stores ? 1 : 0);
  x.address = &s.operand(x.stores ? 0 : 1);
  x.space = s.in.memory.empty() ? Space::generic : s.in.memory.front().space;
  return x;
}

Ref element(const Site& s, unsigned n) {
  return n == 0 ? s.op.d : n == 1 ? s.op.b : n == 2 ? s.op.c : s.code.extra[s.op.extra + n - 3];
}
const ptx::Operand& operand(const Site& s, const Access& x, unsigned n) {
  return x.values->kind == ptx::Operand::Kind::vector ? s.code.function->pool[x.values->index + n]
                                                      : *x.values;
}

bool is_entry_parameter(const Site& s, const Access& x) {
  return x.address->base == ptx::Operand::Kind::variable &&
         std::ranges::find(s.code.function->parameters, x.address->index) !=
             s.code.function->parameters.end();
}

bool takes(const Site& s) {
  if (s.operand_count() != 2 || s.in.memory.size() != 1 || s.in.text->type_count != 1) return false;
  if (s.op.flags & Op::strong || !s.in.text->mods.without(without_effect).empty()) return false;
  if (s.operand(0).kind == ptx::Operand::Kind::address &&
      s.operand(1).kind == ptx::Operand::Kind::address)
    return false;
  const Access x = access_of(s);
  if ((x.bytes != 4 && x.bytes != 8) || x.count > 4 || x.bytes * x.count > 16) return false;
  if (x.address->kind != ptx::Operand::Kind::address) return false;
  if (s.op.a != no_ref && static_cast<Base>(s.op.a & 3) == Base::frame &&
      (x.address->base != ptx::Operand::Kind::reg || s.code.slots[x.address->index] != s.op.a))
    return false;
  for (unsigned n = 0; n < x.count; ++n) {
    const ptx::Operand& o = operand(s, x, n);
    if (x.stores ? !is_value(s, element(s, n), o, x.bytes)
                 : !is_result(s, element(s, n), o, x.bytes))
      return false;
  }
  switch (x.space) {
    case Space::global:
    case Space::constant:
      return s.op.a == no_ref || (s.op.flags & Op::address_64);
    case Space::shared:
      return s.op.a == no_ref || !(s.op.flags & Op::address_64);
    case Space::local:  // by a variable's name: each element is a row of the lanes' words
      return x.bytes == 4 && s.op.a == no_ref && x.address->base == ptx::Operand::Kind::variable &&
             s.op.imm >= 0 && s.op.imm % 4 == 0;
    case Space::param:
    case Space::param_entry:
      return !x.stores && s.op.a == no_ref && is_entry_parameter(s, x);
    default:
      return false;
  }
}

// --- addresses ---

struct Lanes {
  Value base;
  std::int64_t stride = 0;
  bool halves = false;  // the second half's address is not the first's plus 16 steps
};

// Whether the addresses are equal, or follow one another without gaps, in each half.
bool find_lanes(Emitter& e, const Site& s, const Access& x, Lanes& out) {
  if (s.op.a == no_ref) return true;
  if (static_cast<Base>(s.op.a & 3) == Base::frame) {
    out.base = e.value_of(x.address->index);
  } else {
    out.base.of = Value::Of::row;
    out.base.base = s.op.a & 3, out.base.offset = s.op.a & ~3u;
    out.base.bytes = s.op.flags & Op::address_64 ? 8 : 4;
  }
  const Shape& shape = out.base.shape;
  if (!shape.is_affine()) return false;
  out.stride = shape.stride;
  out.halves = shape.reach == Shape::Reach::half;
  return out.stride == 0 || out.stride == std::int64_t{x.bytes} * x.count;
}

// Where a worker keeps the extent that the op used last.
std::int32_t offset_of_cached(const Op& op) {
  static const Worker any;
  return static_cast<std::int32_t>(reinterpret_cast<const char*>(&any.cached(&op)) -
                                   reinterpret_cast<const char*>(&any));
}

}  // namespace

void check_bounds(Emitter& e, const Site& s, const Access& x, const X::Gp& low, const X::Gp& high,
                  std::int64_t reach, const asmjit::Label& out) {
  auto& a = e.a;
  if (x.space == Space::shared) {
    a.cmp(low, static_cast<std::int32_t>(reserved_shared));
    a.jb(out);
    a.mov(X::rcx, X::qword_ptr(X::rsp, Emitter::shared_end_at));
  } else {
    const std::int32_t at = offset_of_cached(s.op);
    a.mov(X::rcx, X::qword_ptr(e.generation));
    a.cmp(X::rcx, X::qword_ptr(e.worker,
                               at + static_cast<int>(offsetof(Worker::CachedExtent, generation))));
    a.jne(out);
    a.cmp(low, X::qword_ptr(e.worker, at + static_cast<int>(offsetof(Worker::CachedExtent, low))));
    a.jb(out);
    a.mov(X::rcx,
          X::qword_ptr(e.worker,
                       at + static_cast<int>(x.stores ? offsetof(Worker::CachedExtent, write_end)
                                                      : offsetof(Worker::CachedExtent, read_end))));
  }
  a.sub(X::rcx, high);
  a.jb(out);
  a.cmp(X::rcx, static_cast<std::int32_t>(reach));
  a.jb(out);
}

namespace {

// The first lane's address in rsi, lane 16's in rdi, as addresses of the host. Goes to `out` if the
// access is not known to be good.
void locate(Emitter& e, const Site& s, const Access& x, const Lanes& lie,
            const asmjit::Label& out) {
  auto& a = e.a;
  const unsigned bytes = x.bytes * x.count;
  const bool shared = x.space == Space::shared;
  const bool two = lie.halves;
  const auto first = [&](int h, const X::Gp& to) {
    if (s.op.a == no_ref) {
      a.mov(to.r64(), shared ? std::int64_t{static_cast<std::uint32_t>(s.op.imm)} : s.op.imm);
      return;
    }
    e.scalar(lie.base, h, to);
    e.add_constant(sized(to, shared ? 4 : 8), s.op.imm);
  };
  first(0, X::rsi);
  if (two) first(1, X::rdi);
  // What the warp accesses begins at rax and has rdx's bytes, or `reach`, behind it.
  const std::int64_t half_reach = lie.stride * 15 + bytes;
  const std::int64_t reach = two ? half_reach : lie.stride * 31 + bytes;
  X::Gp low = X::rsi, high = X::rsi;
  if (two) {
    a.mov(X::rax, X::rsi);
    a.cmp(X::rdi, X::rsi);
    a.cmovb(X::rax, X::rdi);
    a.mov(X::rdx, X::rsi);
    a.cmova(X::rdx, X::rdi);
    low = X::rax, high = X::rdx;
  }
  if (two) {
    a.mov(X::rcx, X::rsi);
    a.or_(X::rcx, X::rdi);
    a.test(X::ecx, static_cast<std::int32_t>(bytes - 1));
  } else {
    a.test(X::esi, static_cast<std::int32_t>(bytes - 1));
  }
  a.jnz(out);
  check_bounds(e, s, x, low, high, reach, out);
  if (!shared) return;
  a.add(X::rsi, e.shared);
  if (two) a.add(X::rdi, e.shared);
}

// Element n of a half's first lane, or part q of a half's lanes.
X::Mem place(const Lanes& lie, int half, std::int64_t offset, unsigned bytes) {
  if (half == 0) return X::Mem(X::rsi, static_cast<std::int32_t>(offset), bytes);
  if (lie.halves) return X::Mem(X::rdi, static_cast<std::int32_t>(offset), bytes);
  return X::Mem(X::rsi, static_cast<std::int32_t>(offset + 16 * lie.stride), bytes);
}

void broadcast(Emitter& e, const Z& to, const X::Mem& from, unsigned bytes) {
  bytes == 8 ? e.a.vpbroadcastq(to, from) : e.a.vpbroadcastd(to, from);
}

// --- rows of vectors: element n of 16 lanes from `count` times 64 bytes, and back ---

// Which word of two vectors each lane takes.
X::Mem choice(Emitter& e, unsigned first, unsigned step) {
  std::array<std::uint64_t, 8> words{};
  for (unsigned l = 0; l < 16; ++l)
    words[l / 2] |= std::uint64_t{(first + l * step) % 32} << (l % 2 ? 32 : 0);
  return e.constant_vector(words);
}

void load_elements(Emitter& e, const Access& x, const Lanes& lie,
                   const std::vector<std::array<Z, 4>>& to) {
  auto& a = e.a;
  const unsigned per_half = Emitter::parts_of(x.bytes) / 2;
  for (int h = 0; h < 2; ++h) {
    if (x.count == 1) {
      for (unsigned q = 0; q < per_half; ++q)
        a.vmovups(to[0][h * per_half + q], place(lie, h, 64 * q, 64));
      continue;
    }
    // Words only: pairs of vectors, then pairs of pairs.
    for (unsigned n = 0; n < x.count; ++n) {
      const Z low = Emitter::scratch(0), high = Emitter::scratch(1), index = Emitter::scratch(2);
      a.vmovups(index, choice(e, n, x.count));
      if (x.count == 2) {
        a.vmovups(low, place(lie, h, 0, 64));
        a.vpermt2d(low, index, place(lie, h, 64, 64));
        a.vmovaps(to[n][h], low);
        continue;
      }
      // Eight lanes from each pair.
      a.vmovups(low, place(lie, h, 0, 64));
      a.vpermt2d(low, index, place(lie, h, 64, 64));
      a.vmovups(high, place(lie, h, 128, 64));
      a.vpermt2d(high, index, place(lie, h, 192, 64));
      a.vinserti64x4(to[n][h], low, high.ymm(), 1);
    }
  }
}

// Part p of the row of element n.
X::Mem local_row(Emitter& e, const Site& s, unsigned n, unsigned p) {
  e.a.mov(X::rsi, e.field(offsetof(Warp, local), 8));
  return X::zmmword_ptr(X::rsi, static_cast<std::int32_t>((s.op.imm / 4 + n) * 4 * lanes + 64 * p));
}

void load_local(Emitter& e, const Site& s, const Access& x) {
  for (unsigned n = 0; n < x.count; ++n) {
    const auto to = e.result(operand(s, x, n).index);
    for (unsigned p = 0; p < 2; ++p) e.a.vmovups(to[p], local_row(e, s, n, p));
  }
}

void store_local(Emitter& e, const Site& s, const Access& x) {
  for (unsigned n = 0; n < x.count; ++n) {
    const Value v = e.value(element(s, n), operand(s, x, n), 4);
    e.prepare(v), e.settle(v);
    for (unsigned p = 0; p < 2; ++p) {
      const Z from = e.lanes(v, p, Emitter::scratch(0));
      const X::Mem to = local_row(e, s, n, p);
      e.masked(p, 4).vmovups(to, from);
    }
  }
}

void load(Emitter& e, const Site& s) {
  const Access x = access_of(s);
  if (x.space == Space::local) return load_local(e, s, x);
  Lanes lie;
  const bool parameter = x.space == Space::param || x.space == Space::param_entry;
  asmjit::Label out;
  if (!parameter) {
    const bool in_steps =
        find_lanes(e, s, x, lie) && !(lie.stride != 0 && x.count > 1 && x.bytes != 4);
    if (!in_steps && takes_gather(e, s, x)) {
      e.make_room(5);
      e.prepare(lie.base), e.settle(lie.base);
      std::vector<std::uint32_t> to;
      for (unsigned n = 0; n < x.count; ++n) to.push_back(operand(s, x, n).index);
      return gather(e, s, x, lie.base, to, e.slow(s));
    }
    out = e.slow(s);
    // Addresses of other patterns are the handler's.
    if (!in_steps) {
      for (unsigned n = 0; n < x.count; ++n) e.forget(operand(s, x, n).index);
      e.a.jmp(out);
      return;
    }
    locate(e, s, x, lie, out);
  } else {
    e.a.mov(X::rsi, X::qword_ptr(X::rsp, Emitter::parameters_at));
  }
  const std::int64_t offset = parameter ? std::int64_t{static_cast<std::uint32_t>(s.op.imm)} : 0;
  if (lie.stride != 0) {
    std::vector<std::array<Z, 4>> to;
    for (unsigned n = 0; n < x.count; ++n) to.push_back(e.result(operand(s, x, n).index));
    load_elements(e, x, lie, to);
    return;
  }
  for (unsigned n = 0; n < x.count; ++n) {
    const std::uint32_t reg = operand(s, x, n).index;
    const std::int64_t at = offset + std::int64_t{n} * x.bytes;
    if (e.places.in_home(reg)) {
      for (int h = 0; h < halves_of(e, reg); ++h) {
        e.a.mov(sized(X::rax, x.bytes), place(lie, h, at, x.bytes));
        e.set_home(reg, h, X::rax);
      }
      continue;
    }
    const auto to = e.result(reg);
    const unsigned parts = Emitter::parts_of(x.bytes);
    for (unsigned p = 0; p < parts; ++p) {
      if (p % (parts / 2) != 0 || (p != 0 && !lie.halves))
        e.a.vmovaps(to[p], to[p - 1]);
      else
        broadcast(e, to[p], place(lie, p >= parts / 2, at, x.bytes), x.bytes);
    }
  }
}

// Of words that masked lanes store to one place, the last one's stays.
void store_last(Emitter& e, const Access& x, const Lanes& lie, const std::vector<Value>& values) {
  e.a.mov(X::eax, e.active());
  e.a.bsr(X::ecx, X::eax);
  for (unsigned n = 0; n < x.count; ++n) {
    const Z low = e.lanes(values[n], 0, Emitter::scratch(0)),
            high = e.lanes(values[n], 1, Emitter::scratch(1)), last = Emitter::scratch(2);
    e.a.vpbroadcastd(last, X::ecx);
    e.a.vpermi2d(last, low, high);
    e.a.vmovd(place(lie, 0, std::int64_t{n} * x.bytes, 4), last.xmm());
  }
}

void store(Emitter& e, const Site& s) {
  const Access x = access_of(s);
  if (x.space == Space::local) return store_local(e, s, x);
  Lanes lie;
  bool known = find_lanes(e, s, x, lie) && !(x.count > 1 && lie.stride != 0);
  known &= !e.is_masked() || lie.stride != 0 || (x.bytes == 4 && !lie.halves);
  std::vector<Value> values;
  for (unsigned n = 0; n < x.count; ++n) {
    values.push_back(e.value(element(s, n), operand(s, x, n), x.bytes));
    if (known) e.prepare(values.back()), e.settle(values.back());
  }
  const bool scatters = !known && takes_gather(e, s, x);
  if (scatters) {
    e.make_room(13);
    e.prepare(lie.base), e.settle(lie.base);
    for (const Value& v : values) e.prepare(v), e.settle(v);
  }
  const asmjit::Label out = e.slow(s);
  if (scatters) {
    scatter(e, s, x, lie.base, values, out);
    e.a.mov(e.field(offsetof(Warp, progressed), 1), 1);
    return;
  }
  if (!known) {
    e.a.jmp(out);
    return;
  }
  if (e.is_guarded()) {
    e.a.cmp(e.active(), 0);
    e.a.je(out);
  }
  locate(e, s, x, lie, out);
  const unsigned per_half = Emitter::parts_of(x.bytes) / 2;
  if (lie.stride == 0 && e.is_masked()) {
    store_last(e, x, lie, values);
    e.a.mov(e.field(offsetof(Warp, progressed), 1), 1);
    return;
  }
  for (int h = 0; h < 2; ++h) {
    if (lie.stride != 0) {
      for (unsigned q = 0; q < per_half; ++q) {
        const unsigned part = static_cast<unsigned>(h) * per_half + q;
        const Z from = e.lanes(values[0], part, Emitter::scratch(0));
        const X::Mem to = place(lie, h, 64 * q, 64);
        X::Assembler& a = e.masked(part, x.bytes);
        x.bytes == 8 ? a.vmovupd(to, from) : a.vmovups(to, from);
      }
      continue;
    }
    // Of lanes that store to one place, the last one's value stays.
    if (h == 0 && !lie.halves) continue;
    for (unsigned n = 0; n < x.count; ++n) {
      const Z last = e.lanes(values[n], (h + 1) * per_half - 1, Emitter::scratch(0));
      e.a.vextracti32x4(X::xmm29, last, 3);
      const X::Mem to = place(lie, h, std::int64_t{n} * x.bytes, x.bytes);
      x.bytes == 8 ? e.a.vpextrq(to, X::xmm29, 1) : e.a.vpextrd(to, X::xmm29, 3);
    }
  }
  e.a.mov(e.field(offsetof(Warp, progressed), 1), 1);
}

constexpr Form forms[] = {
    {Opcode::ld, takes, load},
    {Opcode::ldu, takes, load},
    {Opcode::st, takes, store},
};

}  // namespace

std::span<const Form> memory_forms() { return forms; }

}  // namespace inflight::machine::compile
