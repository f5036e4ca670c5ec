// Operands and results: homes, lanes, and the cache of vector registers.
#include <algorithm>
#include <cstring>

#include "gpu/machine/compile/emitter.hpp"
#include "gpu/machine/run/warp.hpp"
#include "gpu/machine/shapes/results.hpp"

namespace inflight::machine::compile {
namespace {

constexpr unsigned half_lanes = 16;

std::uint64_t constant_bits(const Code& code, Ref ref, unsigned bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, code.constants.data() + (ref & ~3u), bytes);
  return bits;
}

}  // namespace

Value Emitter::value_of(std::uint32_t reg) {
  Value v;
  v.reg = reg;
  v.bytes = places.width(reg);
  v.shape = places.shapes[reg];
  v.of = places.in_home(reg) ? Value::Of::home : Value::Of::lanes;
  if (v.of == Value::Of::lanes) v.shape = Shape::lanes();
  return v;
}

Value Emitter::value(Ref ref, const ptx::Operand& operand, unsigned bytes) {
  const auto base = static_cast<Base>(ref & 3);
  if (base == Base::frame) return value_of(operand.index);
  Value v;
  v.bytes = bytes;
  if (base == Base::constants) {
    v.bits = constant_bits(code, ref, bytes);
    return v;
  }
  v.of = Value::Of::row;
  v.base = ref & 3, v.offset = ref & ~3u;
  if (base == Base::warp)
    v.shape = Results(*code.description, places.rows, places.shapes)
                  .operand(operand, bytes == 8 ? ptx::Type::u64 : ptx::Type::u32);
  if (!v.shape.is_affine()) v.shape = Shape::lanes();
  return v;
}

X::Mem Emitter::home(std::uint32_t reg, int half, unsigned bytes) const {
  return X::Mem(homes, static_cast<std::int32_t>(16 * places.home[reg]) + 8 * half, bytes);
}

X::Mem Emitter::slot(std::uint32_t reg, unsigned part) const {
  return X::zmmword_ptr(frame, offset_of(reg) + static_cast<std::int32_t>(64 * part));
}

void Emitter::scalar(const Value& v, int half, const X::Gp& to) {
  const X::Gp reg = sized(to, v.bytes);
  switch (v.of) {
    case Value::Of::constant:
      if (v.bits == 0)
        a.xor_(to.r32(), to.r32());
      else if (v.bytes == 8)
        a.mov(reg, v.bits);
      else
        a.mov(reg, static_cast<std::uint32_t>(v.bits));
      return;
    case Value::Of::home: {
      const bool second = half != 0 && v.shape.reach == Shape::Reach::half;
      a.mov(reg, home(v.reg, second, v.bytes));
      if (half != 0 && !second) add_constant(reg, v.shape.stride * half_lanes);
      return;
    }
    case Value::Of::lanes:
      if (const Cached* const c = find(v.reg)) {
        const X::Xmm from(c->at[half ? c->parts / 2 : 0]);
        if (v.bytes == 8)
          a.vmovq(reg, from);
        else
          a.vmovd(reg, from);
      } else {
        a.mov(reg, X::Mem(frame, offset_of(v.reg) + half * static_cast<int>(half_lanes * v.bytes),
                          v.bytes));
      }
      return;
    case Value::Of::row:
      a.mov(to.r64(), field(offsetof(Warp, base) + 8 * v.base, 8));
      a.mov(reg, X::Mem(to.r64(),
                        static_cast<std::int32_t>(v.offset) +
                            half * static_cast<int>(half_lanes * v.bytes),
                        v.bytes));
      return;
  }
}

void Emitter::add_constant(const X::Gp& to, std::int64_t value) {
  if (value == 0) return;
  if (to.size() == 4 || value == static_cast<std::int32_t>(value)) {
    a.add(to, static_cast<std::int32_t>(value));
  } else {
    a.mov(X::r11, value);
    a.add(to, X::r11);
  }
}

void Emitter::broadcast(const X::Zmm& to, const X::Gp& from, unsigned bytes) {
  if (bytes == 8)
    a.vpbroadcastq(to, from.r64());
  else
    a.vpbroadcastd(to, from.r32());
}

X::Mem Emitter::constant_vector(const std::array<std::uint64_t, 8>& words) {
  auto [it, fresh] = constants_.try_emplace(words);
  if (fresh) it->second = a.newLabel();
  return X::zmmword_ptr(it->second);
}

void Emitter::add_steps(const X::Zmm& to, std::int64_t stride, unsigned bytes, unsigned part) {
  if (stride == 0) return;
  std::array<std::uint64_t, 8> words{};
  const unsigned count = 64 / bytes;
  for (unsigned l = 0; l < count; ++l) {
    const unsigned lane = (part * count + l) % half_lanes;
    const std::uint64_t step = static_cast<std::uint64_t>(stride) * lane;
    std::memcpy(reinterpret_cast<char*>(words.data()) + l * bytes, &step, bytes);
  }
  if (bytes == 8)
    a.vpaddq(to, to, constant_vector(words));
  else
    a.vpaddd(to, to, constant_vector(words));
}

X::Zmm Emitter::lanes(const Value& v, unsigned part, const X::Zmm& scratch) {
  if (v.of == Value::Of::lanes) {
    const Cached& c = load(v.reg);
    return X::Zmm(c.at[part]);
  }
  if (v.of == Value::Of::row) {
    a.mov(X::rax, field(offsetof(Warp, base) + 8 * v.base, 8));
    a.vmovups(scratch, X::zmmword_ptr(X::rax, static_cast<std::int32_t>(v.offset + 64 * part)));
    return scratch;
  }
  const int half = part >= parts_of(v.bytes) / 2 ? 1 : 0;
  scalar(v, half, X::rax);
  broadcast(scratch, X::rax, v.bytes);
  add_steps(scratch, v.shape.stride, v.bytes, part);
  return scratch;
}

void Emitter::set_home(std::uint32_t reg, int half, const X::Gp& from) {
  const unsigned bytes = places.width(reg);
  a.mov(home(reg, half, bytes), sized(from, bytes));
}

// --- the cache ---

Emitter::Cached* Emitter::find(std::uint32_t reg) {
  const auto it = std::ranges::find(cached_, reg, &Cached::reg);
  return it == cached_.end() ? nullptr : &*it;
}
const Emitter::Cached* Emitter::find(std::uint32_t reg) const {
  const auto it = std::ranges::find(cached_, reg, &Cached::reg);
  return it == cached_.end() ? nullptr : &*it;
}
bool Emitter::is_cached(std::uint32_t reg) const { return find(reg) != nullptr; }

void Emitter::make_room(unsigned count) {
  for (;;) {
    unsigned taken = 0;
    for (const Cached& c : cached_) taken += c.parts;
    if (taken + count <= vectors) return;
    const auto oldest = std::ranges::min_element(cached_, {}, &Cached::used);
    store(*oldest);
    cached_.erase(oldest);
  }
}

std::uint8_t Emitter::free_vector() {
  for (;;) {
    std::uint32_t taken = 0;
    for (const Cached& c : cached_)
      for (unsigned p = 0; p < c.parts; ++p) taken |= 1u << c.at[p];
    for (unsigned n = 0; n < vectors; ++n)
      if (!(taken >> n & 1)) return static_cast<std::uint8_t>(n);
    const auto oldest = std::ranges::min_element(cached_, {}, &Cached::used);
    store(*oldest);
    cached_.erase(oldest);
  }
}

// Vector registers for the lanes of a register, which the cache knows by `name`.
Emitter::Cached& Emitter::take(std::uint32_t reg, std::uint32_t name) {
  const unsigned parts = parts_of(places.width(reg));
  Cached c{name, 0, {}, false, false, ~std::uint64_t{0}};  // not to be evicted meanwhile
  cached_.push_back(c);
  for (unsigned p = 0; p < parts; ++p) {
    const std::uint8_t at = free_vector();
    Cached& own = *find(name);
    own.at[p] = at, ++own.parts;
  }
  Cached& own = *find(name);
  own.used = ++clock_;
  return own;
}

Emitter::Cached& Emitter::load(std::uint32_t reg) {
  if (Cached* const c = find(reg)) {
    c->used = ++clock_;
    return *c;
  }
  Cached& c = take(reg);
  for (unsigned p = 0; p < c.parts; ++p) a.vmovups(X::Zmm(c.at[p]), slot(reg, p));
  return c;
}

void Emitter::prepare(const Value& v) {
  if (v.of == Value::Of::lanes) load(v.reg);
}

void Emitter::canonicalise(const Cached& c) {
  for (unsigned p = 0; p < c.parts; ++p) {
    const X::Zmm z(c.at[p]);
    a.vcmpps(X::k1, z, z, 3);
    a.k(X::k1).vmovaps(z, nan());
  }
}

void Emitter::settle(const Value& v) {
  if (v.of != Value::Of::lanes) return;
  Cached& c = load(v.reg);
  if (!c.raw) return;
  canonicalise(c);
  c.raw = false;
}

std::array<X::Zmm, 4> Emitter::fresh_result(std::uint32_t reg) {
  if (keeps_lanes(reg)) return merged_result(reg, false);
  // Its old lanes stay where they are until the form is complete.
  if (Cached* const c = find(reg)) c->reg = ptx::none, c->used = ~std::uint64_t{0};
  return result(reg);
}

std::array<X::Zmm, 4> Emitter::result(std::uint32_t reg, bool raw) {
  if (keeps_lanes(reg)) return merged_result(reg, raw);
  Cached* c = find(reg);
  if (!c) c = &take(reg);
  c->used = ++clock_;
  c->dirty = true;
  c->raw = raw;
  std::array<X::Zmm, 4> all;
  for (unsigned p = 0; p < c->parts; ++p) all[p] = X::Zmm(c->at[p]);
  return all;
}

void Emitter::store(Cached& c) {
  if (!c.dirty) return;
  if (c.raw) canonicalise(c), c.raw = false;
  for (unsigned p = 0; p < c.parts; ++p) a.vmovups(slot(c.reg, p), X::Zmm(c.at[p]));
  c.dirty = false;
}

void Emitter::flush(std::uint32_t op, bool forget) {
  for (Cached& c : cached_)
    if (is_live(op, c.reg)) store(c);
  if (forget) cached_.clear();
}

void Emitter::flush_for(std::uint32_t op, std::uint32_t other) {
  for (Cached& c : cached_)
    if (places.live.has(op, c.reg) || places.live.has(other, c.reg)) store(c);
}

void Emitter::forget_dead(std::uint32_t op) {
  std::erase_if(cached_, [&](const Cached& c) { return !is_live(op, c.reg); });
}

// Writes a home to all lanes of the frame.
void Emitter::spread_home(std::uint32_t reg) {
  const Value v = value_of(reg);
  for (unsigned p = 0; p < parts_of(v.bytes); ++p) {
    if (p != 0 && v.shape.is_uniform()) {
      a.vmovups(slot(reg, p), scratch(0));
      continue;
    }
    a.vmovups(slot(reg, p), lanes(v, p, scratch(0)));
  }
}

}  // namespace inflight::machine::compile
