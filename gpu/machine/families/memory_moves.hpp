// Moves a warp's loads and stores in one range of memory. The addresses are checked once for the
// whole warp, against the end of shared or local memory, or against the valid extent of global
// memory that this op last used. Only if that fails are the lanes checked one by one.
// Included only by files compiled for each instruction set, like lanes.hpp.
#pragma once
#include <type_traits>

#include "gpu/machine/families/memory_lanes.hpp"
#include "gpu/machine/instruction/addresses.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/multicast_access.hpp"

namespace inflight::machine::INFLIGHT_ISA {

using Address = AddressIn<ptx::Space::global>;
using Offset = AddressIn<ptx::Space::shared>;
static_assert(std::is_same_v<Address, AddressIn<ptx::Space::generic>> &&
              std::is_same_v<Offset, AddressIn<ptx::Space::local>> &&
              std::is_same_v<Offset, AddressIn<ptx::Space::param>>);

template <class To>
const To* fill(To* buffer, To value) {
  for (int l = 0; l < lanes; ++l) buffer[l] = value;
  return buffer;
}

// What Op::imm is added to: the lanes' registers, in the width of the space's addresses.
template <ptx::Space space, class A = AddressIn<space>>
inline const A* address_bases(const Warp& w, const Op* op, A* buffer) {
  using Other = std::conditional_t<sizeof(A) == 8, std::uint32_t, std::uint64_t>;
  if (op->a == no_ref) return fill<A>(buffer, base_without_register(w, space));
  const bool wide = op->flags & Op::address_64;
  if (wide == (sizeof(A) == 8)) [[likely]]
    return w.at<A>(op->a);
  const Other* a = w.at<Other>(op->a);
  for (int l = 0; l < lanes; ++l) buffer[l] = static_cast<A>(a[l]);
  return buffer;
}

template <class E>
inline const Op* finish(Warp& w, const Op* op) {
  const bool strong = op->flags & Op::strong;
  if constexpr (E::writes)
    (strong ? w.exchanged : w.progressed) = true;
  else if (strong)
    w.poll();
  return op + 1;
}

inline char* at(Address address) { return reinterpret_cast<char*>(address); }

// The loops over lanes, out of line for rarely taken paths: one for each kind of access.
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

// Whether [low, high + bytes) is in the valid extent that this op used last.
inline bool known_good(Warp& w, const Op* op, Address low, Address high, std::uint64_t bytes,
                       bool writes) {
  return w.worker->cached(op).holds(low, high, bytes, writes, *w.block->grid->memory);
}

// Moves a whole warp's bytes if its addresses are contiguous or uniform.
// locate(low, high, bytes, distance) returns whether [low, high + bytes) is valid and sets the
// distance from address to host address. Returns false, with nothing moved, in all other cases.
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

// Stores the lanes of `cast` to the devices of the multicast object at their addresses, and the
// others to memory. Returns false, with nothing stored, if an address is of no such object.
template <class E>
[[gnu::noinline]] bool store_multicast(Warp& w, const Op* op, std::uint32_t mask,
                                       std::uint32_t cast, const Address* a) {
  const auto move = [&](std::uint32_t to, const Address* there) {
    move_scattered<E, Address>(w, op, to, {0, there, 0});
  };
  if (!for_each_device(w, cast, a, E::bytes, move)) return false;
  if (mask != cast) move(mask & ~cast, a);
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
  if (const BadLanes bad = check_global(w, op, mask, full, E::bytes, E::writes); bad.lanes) {
    if constexpr (E::writes)
      if (bad.kind == FaultKind::illegal_address &&
          store_multicast<E>(w, op, mask, bad.lanes, full))
        return finish<E>(w, op);
    return bad_access(w, op, bad.lanes, full, E::bytes, E::writes, ptx::Space::global, bad.kind);
  }
  move_scattered<E, Address>(w, op, mask, {0, full, 0});
  return finish<E>(w, op);
}

// A memory addressed by offsets, and its size in bytes.
struct Stretch {
  ptx::Space space;
  std::uint64_t size;
};

[[gnu::noinline]] inline void bad_offset(Warp& w, const Op* op, std::uint32_t mask, const Offset* a,
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

// The functions below return false if a fault has ended the kernel.
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

// Accesses to shared memory that need more than a range check: to other blocks of the cluster, to
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
    // With a strong load of reserved bytes, a tile of several warps waits for its other warps.
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

}  // namespace inflight::machine::INFLIGHT_ISA
