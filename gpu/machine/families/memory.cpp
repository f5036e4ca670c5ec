// ld, ldu, st: PTX ISA, "Data Movement and Conversion Instructions".
//
// Every access is checked once for the whole warp: against the end of shared or local memory, or
// against the extent of global memory that this op last found good. Only when that fails are the
// lanes looked at one by one.
#include "gpu/machine/families/memory_lanes.hpp"
#include "gpu/machine/families/memory_lowering.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/run/access.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using Address = std::uint64_t;
using Offset = std::uint32_t;

template <class To>
const To* fill(To* buffer, To value) {
  for (int l = 0; l < lanes; ++l) buffer[l] = value;
  return buffer;
}

// The lanes' address operands as written, without Op::imm.
inline const Address* wide_addresses(const Warp& w, const Op* op, Address* buffer) {
  if (op->a == no_ref) return fill<Address>(buffer, 0);
  if (op->flags & Op::address_64) [[likely]]
    return w.at<Address>(op->a);
  const std::uint32_t* a = w.at<std::uint32_t>(op->a);
  for (int l = 0; l < lanes; ++l) buffer[l] = a[l];
  return buffer;
}

// Shared, local and parameter addresses count modulo 2^32, as the hardware's do.
inline const Offset* narrow_addresses(const Warp& w, const Op* op, Offset* buffer) {
  if (op->a == no_ref) return fill<Offset>(buffer, 0);
  if (!(op->flags & Op::address_64)) return w.at<Offset>(op->a);
  const Address* a = w.at<Address>(op->a);
  for (int l = 0; l < lanes; ++l) buffer[l] = static_cast<Offset>(a[l]);
  return buffer;
}

template <class E>
inline const Op* finish(Warp& w, const Op* op) {
  if constexpr (E::writes) w.progressed = true;
  if (op->flags & Op::strong) w.poll();
  return op + 1;
}

inline char* at(Address address) { return reinterpret_cast<char*>(address); }

// The loops over lanes out of line, for paths that are rarely taken: each once a kind of access.
template <class E, class A>
[[gnu::noinline]] void move_scattered(Warp& w, const Op* op, std::uint32_t mask,
                                      Scattered<A> place) {
  E::run(w, op, mask, place);
}
template <class E>
[[gnu::noinline]] void move_uniform(Warp& w, const Op* op, std::uint32_t mask, Address address) {
  E::uniform(w, op, mask, at(address), at(address));
}
template <class E>
[[gnu::noinline]] void move_row(Warp& w, const Op* op, std::uint32_t mask, LocalRow row) {
  E::run(w, op, mask, row);
}

// Are [low, high + bytes) in the extent that this op found good last time?
inline bool known_good(Warp& w, const Op* op, Address low, Address high, std::uint64_t bytes,
                       bool writes) {
  const Worker::CachedExtent& known = w.worker->cached(op);
  const Extent& e = known.extent;
  return known.generation == w.block->grid->memory->generation() && low >= e.low && high < e.high &&
         e.high - high >= bytes && (!writes || e.writable);
}

// A whole warp whose lanes lie well, in memory that is known to be good: where the host has it is
// locate(low, high, bytes of each, distance from address to host). False: nothing is done.
template <class E, class Locate>
[[gnu::always_inline]] inline bool move_whole(Warp& w, const Op* op, Locate locate) {
  if (w.mask != all_lanes || op->a == no_ref || !(op->flags & Op::address_64)) return false;
  const Address* a = w.at<Address>(op->a);
  const Address first = a[0] + static_cast<Address>(op->imm),
                second = a[half] + static_cast<Address>(op->imm);
  const Address low = first < second ? first : second, high = first < second ? second : first;
  if ((first | second) & (E::bytes - 1)) return false;
  const Shape lie = shape<E::bytes>(a);
  Address distance = 0;
  if (lie == Shape::contiguous) {
    if (!locate(low, high, half * E::bytes, distance)) return false;
    E::contiguous(w, op, at(first + distance), at(second + distance));
    return true;
  }
  if (lie != Shape::uniform || !locate(low, high, E::bytes, distance)) return false;
  E::uniform(w, op, all_lanes, at(first + distance), at(second + distance));
  return true;
}

template <class E>
[[gnu::noinline]] const Op* global_any(Warp& w, const Op* op, std::uint32_t mask, const Address* a,
                                       Address imm) {
  const Reach<Address> r = reach(a, imm, mask);
  if (known_good(w, op, r.low, r.high, E::bytes, E::writes) && !(r.bits & (E::bytes - 1)))
      [[likely]] {
    E::run(w, op, mask, Scattered<Address>{0, a, imm});
    return finish<E>(w, op);
  }
  Address full[lanes];
  for (int l = 0; l < lanes; ++l) full[l] = a[l] + imm;
  if (const BadLanes bad = check_global(w, op, mask, full, E::bytes, E::writes); bad.lanes)
    return bad_access(w, op, bad.lanes, full, E::bytes, E::writes, ptx::Space::global, bad.kind);
  move_scattered<E, Address>(w, op, mask, {0, full, 0});
  return finish<E>(w, op);
}

// A stretch of memory that offsets count in.
struct Stretch {
  ptx::Space space;
  std::uint64_t size;
};

[[gnu::noinline]] void bad_offset(Warp& w, const Op* op, std::uint32_t mask, const Offset* a,
                                  Offset imm, std::uint32_t bytes, bool writes, Stretch s) {
  Address full[lanes];
  std::uint32_t past = 0, misaligned = 0;
  for (int l = 0; l < lanes; ++l) {
    full[l] = static_cast<Offset>(a[l] + imm);
    if (full[l] + bytes > s.size) past |= mask & 1u << l;
    if (full[l] % bytes) misaligned |= mask & 1u << l;
  }
  bad_access(w, op, misaligned ? misaligned : past, full, bytes, writes, s.space,
             misaligned ? FaultKind::misaligned_address : FaultKind::illegal_address);
}

template <unsigned bytes>
inline bool fits(const Reach<Offset>& r, std::uint64_t size) {
  return r.high + std::uint64_t{bytes} <= size && !(r.bits & (bytes - 1));
}

// The movers of stretches answer whether all was well; if not, a fault has ended the kernel.
template <class E>
[[gnu::noinline]] bool move_stretch(Warp& w, const Op* op, std::uint32_t mask,
                                    const std::byte* origin, const Offset* a, Offset imm,
                                    Stretch s) {
  const Reach<Offset> r = reach(a, imm, mask);
  if (!fits<E::bytes>(r, s.size)) [[unlikely]] {
    bad_offset(w, op, mask, a, imm, E::bytes, E::writes, s);
    return false;
  }
  const auto from = reinterpret_cast<std::uintptr_t>(origin);
  if (r.low == r.high)
    move_uniform<E>(w, op, mask, from + r.low);
  else
    move_scattered<E, Offset>(w, op, mask, {from, a, imm});
  return true;
}
template <class E>
[[gnu::noinline]] bool move_local(Warp& w, const Op* op, std::uint32_t mask, const Offset* a,
                                  Offset imm) {
  const Reach<Offset> r = reach(a, imm, mask);
  const Stretch s{ptx::Space::local, local_bytes(w)};
  if (!fits<E::bytes>(r, s.size)) [[unlikely]] {
    bad_offset(w, op, mask, a, imm, E::bytes, E::writes, s);
    return false;
  }
  if (r.low == r.high)
    move_row<E>(w, op, mask, {w.local, r.low});
  else
    E::run(w, op, mask, LocalScattered{w.local, a, imm});
  return true;
}

// Accesses to shared memory that need more than a range check: in other blocks of the cluster, in
// reserved bytes, or out of bounds.
template <class E>
[[gnu::noinline]] bool move_cluster(Warp& w, const Op* op, std::uint32_t mask,
                                    const Address* shared, ptx::Space space) {
  LanePlaces places;
  if (const BadLanes bad = resolve_lanes(w, op, mask, space, shared, E::bytes, E::writes, places);
      bad.lanes) {
    bad_access(w, op, bad.lanes, shared, E::bytes, E::writes, space, bad.kind);
    return false;
  }
  Address host[lanes];
  for (int l = 0; l < lanes; ++l) host[l] = reinterpret_cast<Address>(places.at[l]);
  move_scattered<E, Address>(w, op, mask, {0, host, 0});
  return true;
}

template <class E>
[[gnu::noinline]] bool move_shared(Warp& w, const Op* op, std::uint32_t mask, const Offset* a,
                                   Offset imm, ptx::Space space) {
  const Block& b = *w.block;
  Offset own[lanes];
  if (b.window) {
    for (int l = 0; l < lanes; ++l) own[l] = (a[l] + imm) ^ b.window;
    a = own, imm = 0;
  }
  const Reach<Offset> r = reach(a, imm, mask);
  if (r.low < reserved_shared || !fits<E::bytes>(r, b.shared_end)) [[unlikely]] {
    Address full[lanes];
    for (int l = 0; l < lanes; ++l) full[l] = static_cast<Offset>(a[l] + imm) ^ b.window;
    // A strong load of reserved bytes is the wait of a tile of several warps for the others.
    if (!E::writes && op->flags & Op::strong && r.high < reserved_shared) w.spin();
    return move_cluster<E>(w, op, mask, full, space);
  }
  const auto from = reinterpret_cast<std::uintptr_t>(b.shared);
  if (r.low == r.high)
    move_uniform<E>(w, op, mask, from + r.low);
  else
    E::run(w, op, mask, Scattered<Offset>{from, a, imm});
  return true;
}

inline Stretch parameter_stretch(const Warp& w) {
  return {ptx::Space::param, w.block->grid->launch->kernel->parameter_bytes};
}

// --- handlers ---

template <class E>
[[gnu::noinline]] const Op* global_rare(Warp& w, const Op* op) {
  Address buffer[lanes];
  const Address* a = wide_addresses(w, op, buffer);
  return global_any<E>(w, op, w.mask, a, static_cast<Address>(op->imm));
}

template <class E>
const Op* global(Warp& w, const Op* op) {
  const auto locate = [&](Address low, Address high, std::uint64_t bytes, Address&) {
    return known_good(w, op, low, high, bytes, E::writes);
  };
  if (!move_whole<E>(w, op, locate)) [[unlikely]]
    return global_rare<E>(w, op);
  return finish<E>(w, op);
}

template <class E, ptx::Space space = ptx::Space::shared>
[[gnu::noinline]] const Op* shared_rare(Warp& w, const Op* op) {
  Offset buffer[lanes];
  const Offset* a =
      op->a == no_ref ? fill<Offset>(buffer, w.block->window) : narrow_addresses(w, op, buffer);
  const bool done = move_shared<E>(w, op, w.mask, a, static_cast<Offset>(op->imm), space);
  return done ? finish<E>(w, op) : nullptr;
}

template <class E>
const Op* shared(Warp& w, const Op* op) {
  if (w.mask != all_lanes || op->a == no_ref || op->flags & Op::address_64) [[unlikely]]
    return shared_rare<E>(w, op);
  const Offset* a = w.at<Offset>(op->a);
  const Offset window = w.block->window;
  // Counted from the end of the reserved bytes, so that those are far past the end.
  const Offset first = ((a[0] + static_cast<Offset>(op->imm)) ^ window) - reserved_shared,
               second = ((a[half] + static_cast<Offset>(op->imm)) ^ window) - reserved_shared;
  const std::uint64_t high = first < second ? second : first,
                      size = w.block->shared_end - reserved_shared;
  char* const origin = reinterpret_cast<char*>(w.block->shared + reserved_shared);
  const Shape lie = shape<E::bytes>(a);
  if ((first | second) & (E::bytes - 1)) [[unlikely]]
    return shared_rare<E>(w, op);
  if (lie == Shape::contiguous && high + half * E::bytes <= size)
    E::contiguous(w, op, origin + first, origin + second);
  else if (lie == Shape::uniform && high + E::bytes <= size)
    E::uniform(w, op, all_lanes, origin + first, origin + second);
  else
    return shared_rare<E>(w, op);
  return finish<E>(w, op);
}

template <class E>
[[gnu::noinline]] const Op* local_rare(Warp& w, const Op* op) {
  Offset buffer[lanes];
  const Offset* a = narrow_addresses(w, op, buffer);
  return move_local<E>(w, op, w.mask, a, static_cast<Offset>(op->imm)) ? op + 1 : nullptr;
}

// Most often all lanes are at one offset, in a 64-bit register.
template <class E>
const Op* local(Warp& w, const Op* op) {
  if (w.mask != all_lanes || op->a == no_ref || !(op->flags & Op::address_64))
    return local_rare<E>(w, op);
  const Address* a = w.at<Address>(op->a);
  Address spread = 0;
  for (int l = 0; l < lanes; ++l) spread |= a[l] ^ a[0];
  const auto offset = static_cast<Offset>(a[0] + static_cast<Address>(op->imm));
  if (spread != 0 || offset + std::uint64_t{E::bytes} > local_bytes(w) || offset & (E::bytes - 1))
    return local_rare<E>(w, op);
  E::run(w, op, all_lanes, LocalRow{w.local, offset});
  return op + 1;
}

template <class E>
[[gnu::noinline]] const Op* parameter_rare(Warp& w, const Op* op) {
  Offset buffer[lanes];
  const Offset* a = narrow_addresses(w, op, buffer);
  const bool done = move_stretch<E>(w, op, w.mask, w.block->grid->parameters, a,
                                    static_cast<Offset>(op->imm), parameter_stretch(w));
  return done ? op + 1 : nullptr;
}

// Mostly a parameter by its name: one value for all lanes.
template <class E>
const Op* parameter(Warp& w, const Op* op) {
  const std::uint64_t offset = static_cast<Offset>(op->imm);
  if (op->a != no_ref || offset + E::bytes > parameter_stretch(w).size || offset % E::bytes)
      [[unlikely]]
    return parameter_rare<E>(w, op);
  auto* p = reinterpret_cast<char*>(const_cast<std::byte*>(w.block->grid->parameters)) + offset;
  if (w.mask == all_lanes) [[likely]]
    E::uniform(w, op, all_lanes, p, p);
  else
    move_uniform<E>(w, op, w.mask, reinterpret_cast<Address>(p));
  return op + 1;
}

template <class E>
const Op* frame(Warp& w, const Op* op) {
  move_row<E>(w, op, w.mask, {w.local, w.frame->local_base + static_cast<Offset>(op->imm)});
  return op + 1;
}

// The lanes of `mask` that point into [window, window + size), and their offsets in it.
inline std::uint32_t inside(std::uint32_t mask, const Address* a, Address imm, Address window,
                            Address size, Offset* offsets) {
  std::uint32_t in = 0;
  for (int l = 0; l < lanes; ++l) {
    const Address offset = a[l] + imm - window;
    offsets[l] = static_cast<Offset>(offset);
    in |= offset < size ? 1u << l : 0u;
  }
  return in & mask;
}

template <class E>
[[gnu::noinline]] const Op* generic_rare(Warp& w, const Op* op) {
  Address buffer[lanes];
  const Address* a = wide_addresses(w, op, buffer);
  const Address imm = static_cast<Address>(op->imm);
  const Windows& at = w.block->grid->memory->windows();
  std::uint32_t rest = w.mask;
  using Plain = typename E::Plain;  // only in global memory another host thread may look on
  Offset offsets[lanes];
  if (const auto m = inside(rest, a, imm, at.shared, at.shared_size, offsets)) {
    if (!move_shared<Plain>(w, op, m, offsets, 0, ptx::Space::shared_cluster)) return nullptr;
    rest &= ~m;
  }
  if (const auto m = inside(rest, a, imm, at.local, at.local_size, offsets)) {
    if (!move_local<Plain>(w, op, m, offsets, 0)) return nullptr;
    rest &= ~m;
  }
  if constexpr (!E::writes) {
    if (const auto m = inside(rest, a, imm, at.param, at.param_size, offsets)) {
      if (!move_stretch<Plain>(w, op, m, w.block->grid->parameters, offsets, 0,
                               parameter_stretch(w)))
        return nullptr;
      rest &= ~m;
    }
  }
  return rest ? global_any<E>(w, op, rest, a, imm) : finish<E>(w, op);
}

template <class E>
const Op* generic(Warp& w, const Op* op) {
  const auto locate = [&](Address low, Address high, std::uint64_t bytes, Address& distance) {
    if (known_good(w, op, low, high, bytes, E::writes)) return true;
    const Address window =
                      w.block->grid->memory->windows().shared + w.block->window + reserved_shared,
                  size = w.block->shared_end - reserved_shared;
    if (low < window || high - window > size || size - (high - window) < bytes) return false;
    distance = reinterpret_cast<std::uintptr_t>(w.block->shared + reserved_shared) - window;
    return true;
  };
  if (!move_whole<E>(w, op, locate)) return generic_rare<E>(w, op);
  return finish<E>(w, op);
}

// --- the table ---

// Of one element, the order of its bytes is the host's.
template <class E, class Strong>
constexpr StrongHandlers strong_of() {
  if constexpr (E::count > 1)
    return {global<Strong>, generic<Strong>};
  else
    return {global<E>, generic<E>};
}

template <class M, class R, int N>
constexpr AccessHandlers load_row() {
  using E = Load<M, R, N>;
  return {false,
          sizeof(M),
          static_cast<M>(-1) < M{0},
          sizeof(R),
          N,
          {global<E>, shared<E>, local<E>, generic<E>, parameter<E>, frame<E>,
           shared_rare<E, ptx::Space::shared_cluster>},
          strong_of<E, StrongLoad<M, R, N>>()};
}
template <class M, class R, int N>
constexpr AccessHandlers store_row() {
  using E = Store<M, R, N>;
  return {true,
          sizeof(M),
          false,
          sizeof(R),
          N,
          {global<E>, shared<E>, local<E>, generic<E>, nullptr, frame<E>,
           shared_rare<E, ptx::Space::shared_cluster>},
          strong_of<E, StrongStore<M, R, N>>()};
}

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using u128 = unsigned __int128;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;

// Wider registers in vectors are extended by an op of their own (Lowering::destination).
constexpr AccessHandlers rows[] = {
    load_row<u8, u16, 1>(),     load_row<u8, u32, 1>(),   load_row<u8, u64, 1>(),
    load_row<s8, u16, 1>(),     load_row<s8, u32, 1>(),   load_row<s8, u64, 1>(),
    load_row<u16, u16, 1>(),    load_row<u16, u32, 1>(),  load_row<u16, u64, 1>(),
    load_row<s16, u32, 1>(),    load_row<s16, u64, 1>(),  load_row<u32, u32, 1>(),
    load_row<u32, u64, 1>(),    load_row<s32, u64, 1>(),  load_row<u64, u64, 1>(),
    load_row<u128, u128, 1>(),  load_row<u8, u16, 2>(),   load_row<s8, u16, 2>(),
    load_row<u16, u16, 2>(),    load_row<u32, u32, 2>(),  load_row<u64, u64, 2>(),
    load_row<u8, u16, 4>(),     load_row<s8, u16, 4>(),   load_row<u16, u16, 4>(),
    load_row<u32, u32, 4>(),    load_row<u64, u64, 4>(),  load_row<u32, u32, 8>(),
    store_row<u8, u16, 1>(),    store_row<u8, u32, 1>(),  store_row<u8, u64, 1>(),
    store_row<u16, u16, 1>(),   store_row<u16, u32, 1>(), store_row<u16, u64, 1>(),
    store_row<u32, u32, 1>(),   store_row<u32, u64, 1>(), store_row<u64, u64, 1>(),
    store_row<u128, u128, 1>(), store_row<u8, u16, 2>(),  store_row<u16, u16, 2>(),
    store_row<u32, u32, 2>(),   store_row<u64, u64, 2>(), store_row<u8, u16, 4>(),
    store_row<u16, u16, 4>(),   store_row<u32, u32, 4>(), store_row<u64, u64, 4>(),
    store_row<u32, u32, 8>(),
};
constexpr AccessTable table{rows, sizeof rows / sizeof rows[0]};

bool load(Lowering& lo, const Row&) { return lower_load(lo, table); }
bool store(Lowering& lo, const Row&) { return lower_store(lo, table); }

}  // namespace

void memory_rows(Rows& out) {
  add(out, any_form(ptx::Opcode::ld, load));
  add(out, any_form(ptx::Opcode::ldu, load));
  add(out, any_form(ptx::Opcode::st, store));
  add_cache_hints(out);
}

}  // namespace inflight::machine::INFLIGHT_ISA
