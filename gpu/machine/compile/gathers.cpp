// Loads and stores at an address of each lane: the least and the greatest are checked.
#include <algorithm>
#include <array>
#include <utility>

#include "gpu/machine/compile/memory.hpp"

namespace inflight::machine::compile {
namespace {

using ptx::Space;
using Z = X::Zmm;

constexpr std::int64_t most_offset = 1 << 20;

bool is_shared(const Access& x) { return x.space == Space::shared; }
// Parts of the addresses: 16 of 32 bits, or 8 of 64 bits.
unsigned address_bytes(const Access& x) { return is_shared(x) ? 4 : 8; }

enum class Fold : std::uint8_t { least, greatest, bits };

template <class V>
void fold(X::Assembler& a, Fold how, bool wide, const V& to, const V& x, const V& y) {
  if (how == Fold::bits)
    a.vporq(to, x, y);
  else if (how == Fold::least)
    wide ? a.vpminuq(to, x, y) : a.vpminud(to, x, y);
  else
    wide ? a.vpmaxuq(to, x, y) : a.vpmaxud(to, x, y);
}

// All elements of z, in `to`.
void fold_all(X::Assembler& a, Fold how, bool wide, const Z& z, const Z& free, const X::Gp& to) {
  a.vextracti64x4(free.ymm(), z, 1);
  fold(a, how, wide, z.ymm(), z.ymm(), free.ymm());
  a.vextracti64x2(free.xmm(), z.ymm(), 1);
  fold(a, how, wide, z.xmm(), z.xmm(), free.xmm());
  a.vpshufd(free.xmm(), z.xmm(), 0x4e);
  fold(a, how, wide, z.xmm(), z.xmm(), free.xmm());
  if (wide) {
    a.vmovq(to.r64(), z.xmm());
    return;
  }
  a.vpshufd(free.xmm(), z.xmm(), 0xb1);
  fold(a, how, wide, z.xmm(), z.xmm(), free.xmm());
  a.vmovd(to.r32(), z.xmm());
}

// The least address in rsi and the greatest in rdi, of lanes that execute the instruction.
void bound(Emitter& e, const Site& s, const Access& x, const Value& address,
           const asmjit::Label& out) {
  auto& a = e.a;
  const unsigned bytes = address_bytes(x), size = x.bytes * x.count;
  const bool wide = bytes == 8;
  const Z low = Emitter::scratch(0), high = Emitter::scratch(1), bits = Emitter::scratch(2);
  a.vpternlogd(low, low, low, 0xff);
  a.vpxorq(high, high, high);
  a.vpxorq(bits, bits, bits);
  for (unsigned p = 0; p < Emitter::parts_of(bytes); ++p) {
    const Z at = e.lanes(address, p, low);
    for (const auto& [to, how] :
         {std::pair{low, Fold::least}, {high, Fold::greatest}, {bits, Fold::bits}}) {
      // Bits of 32-bit lanes need a mask of such lanes.
      X::Assembler& masked = e.masked(p, bytes);
      if (how == Fold::bits && !wide)
        masked.vpord(to, to, at);
      else
        fold(masked, how, wide, to, to, at);
    }
  }
  const Z free = e.free_now();
  fold_all(a, Fold::least, wide, low, free, X::rsi);
  fold_all(a, Fold::greatest, wide, high, free, X::rdi);
  fold_all(a, Fold::bits, wide, bits, free, X::rdx);
  e.add_constant(sized(X::rsi, bytes), s.op.imm);
  e.add_constant(sized(X::rdi, bytes), s.op.imm);
  a.test(X::edx, static_cast<std::int32_t>(size - 1));
  a.jnz(out);
  a.cmp(X::rdi, X::rsi);
  a.jb(out);
  check_bounds(e, s, x, X::rsi, X::rdi, size, out);
}

void copy_mask(Emitter& e, unsigned part, unsigned bytes) {
  if (!e.is_masked())
    e.a.kxnorw(X::k1, X::k1, X::k1);
  else
    e.a.kmovw(X::k1, e.active_part(part, bytes));
}

// Words of 32 lanes, from 128 bytes at rsi.
void load_from_window(Emitter& e, const Site& s, const std::array<Z, 4>& lanes,
                      const std::array<Z, 4>& to) {
  auto& a = e.a;
  const Z first = Emitter::scratch(0), low = Emitter::scratch(1), high = Emitter::scratch(2);
  a.mov(X::rax, X::rsi);
  e.add_constant(X::rax, -s.op.imm);
  a.vpbroadcastq(first, X::rax);
  for (unsigned h = 0; h < 2; ++h) {
    a.vpsubq(low, lanes[2 * h], first);
    a.vpsubq(high, lanes[2 * h + 1], first);
    a.vpmovqd(low.ymm(), low);
    a.vpmovqd(high.ymm(), high);
    a.vinserti64x4(low, low, high.ymm(), 1);
    a.vpsrld(to[h], low, 2);
    a.vmovups(high, X::zmmword_ptr(X::rsi));
    a.vpermi2d(to[h], high, X::zmmword_ptr(X::rsi, 64));
  }
}

}  // namespace

bool takes_gather(const Emitter& e, const Site& s, const Access& x) {
  if (x.space != Space::global && x.space != Space::constant && x.space != Space::shared)
    return false;
  if (s.op.a == no_ref || static_cast<Base>(s.op.a & 3) != Base::frame ||
      e.places.in_home(x.address->index))
    return false;
  const std::int64_t size = std::int64_t{x.bytes} * x.count;
  // The sum of a 32-bit address and its offset must not wrap where both are good.
  return s.op.imm % size == 0 && s.op.imm > -most_offset && s.op.imm < most_offset;
}

void gather(Emitter& e, const Site& s, const Access& x, const Value& address,
            const std::vector<std::uint32_t>& regs, const asmjit::Label& out) {
  auto& a = e.a;
  const bool shared = is_shared(x);
  bound(e, s, x, address, out);
  // A result may take the register's name, but not its lanes.
  std::array<Z, 4> lanes;
  for (unsigned p = 0; p < Emitter::parts_of(address_bytes(x)); ++p)
    lanes[p] = e.lanes(address, p, Emitter::scratch(0));
  const bool own = std::ranges::find(regs, address.reg) != regs.end();
  std::vector<std::array<Z, 4>> to;
  for (const std::uint32_t reg : regs) to.push_back(e.fresh_result(reg));
  if (!own)
    for (unsigned p = 0; p < Emitter::parts_of(address_bytes(x)); ++p)
      lanes[p] = e.lanes(address, p, Emitter::scratch(0));
  const asmjit::Label done = a.newLabel(), apart = a.newLabel();
  const bool window = !shared && x.bytes == 4 && x.count == 1;
  if (window) {
    // rcx has what lies behind the greatest address.
    a.mov(X::rax, X::rdi);
    a.sub(X::rax, X::rsi);
    a.cmp(X::rax, 31 * 4);
    a.ja(apart);
    a.add(X::rax, X::rcx);
    a.cmp(X::rax, 32 * 4);
    a.jb(apart);
    load_from_window(e, s, lanes, to[0]);
    a.jmp(done);
    a.bind(apart);
  }
  const X::Gp base = shared ? e.shared : X::rax.r64();
  if (!shared) a.xor_(X::eax, X::eax);
  const Z got = Emitter::scratch(0), spare = Emitter::scratch(1);
  for (unsigned n = 0; n < x.count; ++n) {
    const auto offset = static_cast<std::int32_t>(s.op.imm + std::int64_t{n} * x.bytes);
    const unsigned parts = shared && x.bytes == 4 ? 2 : 4;
    for (unsigned p = 0; p < parts; ++p) {
      copy_mask(e, p, parts == 2 ? 4 : 8);
      a.vpxorq(got, got, got);
      if (parts == 2) {
        a.k(X::k1).vpgatherdd(got, X::ptr(base, lanes[p], 0, offset));
        a.vmovaps(to[n][p], got);
      } else if (shared) {
        const Z at = lanes[p / 2];
        X::Ymm half = at.ymm();
        if (p % 2) half = spare.ymm(), a.vextracti64x4(half, at, 1);
        a.k(X::k1).vpgatherdq(got, X::ptr(base, half, 0, offset));
        a.vmovaps(to[n][p], got);
      } else if (x.bytes == 8) {
        a.k(X::k1).vpgatherqq(got, X::ptr(base, lanes[p], 0, offset));
        a.vmovaps(to[n][p], got);
      } else {
        a.k(X::k1).vpgatherqd(got.ymm(), X::ptr(base, lanes[p], 0, offset));
        if (p % 2)
          a.vinserti64x4(to[n][p / 2], to[n][p / 2], got.ymm(), 1);
        else
          a.vmovaps(to[n][p / 2], got);
      }
    }
  }
  a.bind(done);
}

void scatter(Emitter& e, const Site& s, const Access& x, const Value& address,
             const std::vector<Value>& values, const asmjit::Label& out) {
  auto& a = e.a;
  const bool shared = is_shared(x);
  if (e.is_guarded()) {
    a.cmp(e.active(), 0);
    a.je(out);
  }
  bound(e, s, x, address, out);
  const X::Gp base = shared ? e.shared : X::rax.r64();
  const Z at = Emitter::scratch(0), from = Emitter::scratch(1);
  // Of lanes that store to one place, the last one's value stays: vectors are stored in its order.
  const unsigned parts = shared && x.bytes == 4 ? 2 : 4;
  for (unsigned p = 0; p < parts; ++p) {
    for (unsigned n = 0; n < x.count; ++n) {
      const auto offset = static_cast<std::int32_t>(s.op.imm + std::int64_t{n} * x.bytes);
      const Z value = e.lanes(values[n], x.bytes == 8 ? p : parts == 2 ? p : p / 2, from);
      const Z place = e.lanes(address, shared && parts == 4 ? p / 2 : p, at);
      copy_mask(e, p, parts == 2 ? 4 : 8);
      if (!shared) a.xor_(X::eax, X::eax);
      X::Ymm words = value.ymm();
      if (x.bytes == 4 && parts == 4 && p % 2) words = from.ymm(), a.vextracti64x4(words, value, 1);
      if (parts == 2) {
        a.k(X::k1).vpscatterdd(X::ptr(base, place, 0, offset), value);
      } else if (shared) {
        X::Ymm half = place.ymm();
        if (p % 2) half = at.ymm(), a.vextracti64x4(half, place, 1);
        a.k(X::k1).vpscatterdq(X::ptr(base, half, 0, offset), value);
      } else if (x.bytes == 8) {
        a.k(X::k1).vpscatterqq(X::ptr(base, place, 0, offset), value);
      } else {
        a.k(X::k1).vpscatterqd(X::ptr(base, place, 0, offset), words);
      }
    }
  }
}

}  // namespace inflight::machine::compile
