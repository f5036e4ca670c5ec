// Warp collectives: shfl, vote, match, redux, activemask, elect (PTX ISA 9.7.9, 9.7.13).
#include "gpu/machine/families/collectives.hpp"
#include "gpu/machine/families/mask.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

// Runs F at once if all members have arrived, the common case; else calls run_groups().
template <Collective F>
const Op* collective(Warp& w, const Op* op) {
  if (op->extra == no_ref) {
    F(w, op, w.mask);
    return op + 1;
  }
  const U32* masks = w.at<U32>(op->extra);
  const U32 members = masks[__builtin_ctz(w.mask)];
  const U32 alike = op->detail & CollectiveShape::same_members
                        ? all_lanes
                        : lane_bits<U32>([=](int l) { return masks[l] == members; });
  if ((members & w.alive & ~w.mask) != 0 || (w.mask & ~(alike & members)) != 0)
    return run_groups(w, op, F);
  F(w, op, members & w.mask);
  return op + 1;
}

[[gnu::always_inline]] inline void write_q(Warp& w, const Op* op, U32 bits) {
  if (static_cast<Ref>(op->imm) != no_ref) w.set_predicate(static_cast<Ref>(op->imm), bits);
}

// --- shfl -------------------------------------------------------------------------------------

// d[l] = a[from[l]] for the active lanes.
[[gnu::always_inline]] inline void permute(Warp& w, const Op* op, const S32* a, const S32* from) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_load_si512(a), high = _mm512_load_si512(a + 16);
  const auto pick = [&](int at) {
    return _mm512_permutex2var_epi32(low, _mm512_load_si512(from + at), high);
  };
  const __m512i first = pick(0), second = pick(16);
  S32* d = w.at<S32>(op->d);
  _mm512_mask_store_epi32(d, static_cast<__mmask16>(w.mask), first);
  _mm512_mask_store_epi32(d + 16, static_cast<__mmask16>(w.mask >> 16), second);
#else
  alignas(64) S32 values[lanes];
  for (int l = 0; l < lanes; ++l) values[l] = a[l];
  write<S32>(w, op->d, [&](int l) { return values[from[l]]; });
#endif
}

// A lane that does not take part gives 0, as on an H200 (tests/kernels/shuffle_from_outside).
[[gnu::always_inline]] inline void permute_active(Warp& w, const Op* op, const S32* from) {
  const S32* a = w.at<S32>(op->a);
  if (w.mask == all_lanes) return permute(w, op, a, from);
  alignas(64) S32 given[lanes];
  for (int l = 0; l < lanes; ++l) given[l] = (w.mask >> l) & 1 ? a[l] : 0;
  permute(w, op, given, from);
}

template <Shuffle Mode>
void shuffle_by_operands(Warp& w, const Op* op) {
  alignas(64) S32 from[lanes], inside[lanes];
  const S32* b = w.at<S32>(op->b);
  const S32* c = w.at<S32>(op->c);
#pragma GCC ivdep
  for (S32 l = 0; l < lanes; ++l) {
    const S32 delta = b[l] & 31, clamp = c[l] & 31, segment = (c[l] >> 8) & 31;
    const S32 low = l & segment, high = low | (clamp & ~segment);
    S32 j = 0;
    if constexpr (Mode == Shuffle::up) j = l - delta;
    if constexpr (Mode == Shuffle::down) j = l + delta;
    if constexpr (Mode == Shuffle::bfly) j = l ^ delta;
    if constexpr (Mode == Shuffle::idx) j = low | (delta & ~segment);
    const bool good = Mode == Shuffle::up ? j >= high : j <= high;
    from[l] = (good ? j : l) & 31;
    inside[l] = good ? -1 : 0;
  }
  const U32 good = signs(inside);
  permute_active(w, op, from);
  write_q(w, op, good);
}

template <Shuffle Mode>
void shuffle(Warp& w, const Op* op, U32) {
  if (!(op->detail & CollectiveShape::mapped)) return shuffle_by_operands<Mode>(w, op);
  const ShuffleMap& map = shuffle_maps[op->b];
  permute_active(w, op, map.from);
  write_q(w, op, map.inside);
}

// --- vote -------------------------------------------------------------------------------------

enum class Vote { all, any, uni, ballot };

template <Vote Mode>
void vote(Warp& w, const Op* op, U32 members) {
  const U32 set = w.predicate(op->a, op->flags & Op::negate_a) & members;
  if constexpr (Mode == Vote::ballot) write<U32>(w, op->d, [=](int) { return set; });
  if constexpr (Mode == Vote::all) w.set_predicate(op->d, set == members ? all_lanes : 0);
  if constexpr (Mode == Vote::any) w.set_predicate(op->d, set != 0 ? all_lanes : 0);
  if constexpr (Mode == Vote::uni)
    w.set_predicate(op->d, set == 0 || set == members ? all_lanes : 0);
}

// --- match ------------------------------------------------------------------------------------

template <class T>
void match_any(Warp& w, const Op* op, U32 members) {
  alignas(64) U32 found[lanes] = {};
  const T* a = w.at<T>(op->a);
  for (U32 rest = members; rest != 0;) {
    const T value = a[__builtin_ctz(rest)];
    const U32 same = lane_bits<T>([=](int l) { return a[l] == value; }) & members;
    for (int l = 0; l < lanes; ++l) found[l] |= (same >> l) & 1 ? same : 0;
    rest &= ~same;
  }
  write<U32>(w, op->d, [&](int l) { return found[l]; });
}

template <class T>
void match_all(Warp& w, const Op* op, U32 members) {
  const T* a = w.at<T>(op->a);
  const T value = a[members ? __builtin_ctz(members) : 0];
  const U32 same = lane_bits<T>([=](int l) { return a[l] == value; }) & members;
  const U32 result = same == members ? members : 0;
  write<U32>(w, op->d, [=](int) { return result; });
  write_q(w, op, same == members ? all_lanes : 0);
}

// --- redux, activemask, elect -------------------------------------------------------------------

struct Add {
  static constexpr U32 neutral = 0;
  U32 operator()(U32 a, U32 b) const { return a + b; }
};
struct And {
  static constexpr U32 neutral = ~0u;
  U32 operator()(U32 a, U32 b) const { return a & b; }
};
struct Or {
  static constexpr U32 neutral = 0;
  U32 operator()(U32 a, U32 b) const { return a | b; }
};
struct Xor {
  static constexpr U32 neutral = 0;
  U32 operator()(U32 a, U32 b) const { return a ^ b; }
};
template <class T, bool Least>
struct Extreme {
  static constexpr T neutral =
      static_cast<T>(Least ? (T(-1) < 0 ? 0x7fffffff : 0xffffffff) : (T(-1) < 0 ? 0x80000000 : 0));
  T operator()(T a, T b) const { return (a < b) == Least ? a : b; }
};

// The least or greatest number: -0 is less than +0. A NaN is skipped, or with .NaN decides. f32 is
// mapped to integers of the same order.
template <bool Least, bool Abs, bool Nan>
void reduce_f32(Warp& w, const Op* op, U32 members) {
  constexpr S32 skipped = Least ? 0x7fffffff : -0x7fffffff - 1;
  constexpr U32 nan = 0x7fffffff;
  const U32* a = w.at<U32>(op->a);
  S32 total = skipped;
  bool any = false, number = false;
  for (int l = 0; l < lanes; ++l) {
    const U32 magnitude = a[l] & 0x7fffffff, bits = Abs ? magnitude : a[l];
    const bool member = members >> l & 1, is_nan = magnitude > 0x7f800000;
    const S32 order = static_cast<S32>(bits >> 31 ? bits ^ 0x7fffffff : bits);
    any |= member & is_nan, number |= member & !is_nan;
    const S32 taken = member & !is_nan ? order : skipped;
    total = (total < taken) == Least ? total : taken;
  }
  const U32 bits = static_cast<U32>(total < 0 ? total ^ 0x7fffffff : total);
  const U32 result = !number || (Nan && any) ? nan : bits;
  write<U32>(w, op->d, [=](int) { return result; });
}

template <class T, class F>
void reduce(Warp& w, const Op* op, U32 members) {
  const T* a = w.at<T>(op->a);
  T total = F::neutral;
  for (int l = 0; l < lanes; ++l)
    total = F{}(total, (members >> l) & 1 ? a[l] : static_cast<T>(F::neutral));
  write<T>(w, op->d, [=](int) { return total; });
}

const Op* active_mask(Warp& w, const Op* op) {
  const U32 active = w.mask;
  write<U32>(w, op->d, [=](int) { return active; });
  return op + 1;
}

// PTX lets the implementation choose the lane, always the same for a mask. Here it is the lowest.
void elect(Warp& w, const Op* op, U32 members) {
  const U32 leader = members ? static_cast<U32>(__builtin_ctz(members)) : 0;
  write<U32>(w, op->d, [=](int) { return leader; });
  write_q(w, op, members & (0 - members));
}

template <Collective F>
constexpr Row row(Opcode opcode, Type type, ModSet mods, std::array<Type, 4> operands) {
  return {opcode, {type}, mods, operands, collective<F>, lower_collective};
}

constexpr std::array<Type, 4> shuffled{Type::b32, Type::b32, Type::u32, Type::u32};
constexpr std::array<Type, 4> voted{Type::pred, Type::pred};

template <class T, Type type>
constexpr std::array<Row, 3> reductions() {
  constexpr std::array<Type, 4> operands{type, type};
  return {row<reduce<U32, Add>>(Opcode::redux, type, {Mod::add}, operands),
          row<reduce<T, Extreme<T, true>>>(Opcode::redux, type, {Mod::min}, operands),
          row<reduce<T, Extreme<T, false>>>(Opcode::redux, type, {Mod::max}, operands)};
}
constexpr auto unsigned_reductions = reductions<U32, Type::u32>();
constexpr auto signed_reductions = reductions<S32, Type::s32>();

template <bool Least>
constexpr std::array<Row, 4> f32_reductions() {
  constexpr Mod which = Least ? Mod::min : Mod::max;
  constexpr std::array<Type, 4> operands{Type::f32, Type::f32};
  return {
      row<reduce_f32<Least, false, false>>(Opcode::redux, Type::f32, {which}, operands),
      row<reduce_f32<Least, true, false>>(Opcode::redux, Type::f32, {which, Mod::abs}, operands),
      row<reduce_f32<Least, false, true>>(Opcode::redux, Type::f32, {which, Mod::NaN}, operands),
      row<reduce_f32<Least, true, true>>(Opcode::redux, Type::f32, {which, Mod::abs, Mod::NaN},
                                         operands)};
}
constexpr auto least_f32 = f32_reductions<true>();
constexpr auto greatest_f32 = f32_reductions<false>();

constexpr Row rows_of_collectives[] = {
    row<shuffle<Shuffle::up>>(Opcode::shfl, Type::b32, {Mod::up}, shuffled),
    row<shuffle<Shuffle::down>>(Opcode::shfl, Type::b32, {Mod::down}, shuffled),
    row<shuffle<Shuffle::bfly>>(Opcode::shfl, Type::b32, {Mod::bfly}, shuffled),
    row<shuffle<Shuffle::idx>>(Opcode::shfl, Type::b32, {Mod::idx}, shuffled),
    row<vote<Vote::all>>(Opcode::vote, Type::pred, {Mod::all}, voted),
    row<vote<Vote::any>>(Opcode::vote, Type::pred, {Mod::any}, voted),
    row<vote<Vote::uni>>(Opcode::vote, Type::pred, {}, voted),  // .uni is ignorable()
    row<vote<Vote::ballot>>(Opcode::vote, Type::b32, {Mod::ballot}, {Type::b32, Type::pred}),
    row<match_any<U32>>(Opcode::match, Type::b32, {Mod::any}, {Type::b32, Type::b32}),
    row<match_any<U64>>(Opcode::match, Type::b64, {Mod::any}, {Type::b32, Type::b64}),
    row<match_all<U32>>(Opcode::match, Type::b32, {Mod::all}, {Type::b32, Type::b32}),
    row<match_all<U64>>(Opcode::match, Type::b64, {Mod::all}, {Type::b32, Type::b64}),
    row<reduce<U32, And>>(Opcode::redux, Type::b32, {Mod::and_}, {Type::b32, Type::b32}),
    row<reduce<U32, Or>>(Opcode::redux, Type::b32, {Mod::or_}, {Type::b32, Type::b32}),
    row<reduce<U32, Xor>>(Opcode::redux, Type::b32, {Mod::xor_}, {Type::b32, Type::b32}),
    row<elect>(Opcode::elect, Type::none, {}, {Type::b32}),
    {Opcode::activemask, {Type::b32}, {}, {Type::b32}, active_mask, nullptr},
};

}  // namespace

void shuffle_rows(Rows& rows) {
  add_rows(rows, rows_of_collectives);
  for (int i = 0; i < 3; ++i) {
    add(rows, unsigned_reductions.data()[i]);
    add(rows, signed_reductions.data()[i]);
  }
  for (int i = 0; i < 4; ++i) {
    add(rows, least_f32.data()[i]);
    add(rows, greatest_f32.data()[i]);
  }
}

}  // namespace inflight::machine::INFLIGHT_ISA
