// ld, ldu, st (PTX ISA, "Data Movement and Conversion Instructions"): a handler for each state
// space, and the table of them.
#include "gpu/machine/families/memory_lowering.hpp"
#include "gpu/machine/families/memory_moves.hpp"
#include "gpu/machine/families/modifiers.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

inline Stretch parameter_stretch(const Warp& w) {
  return {ptx::Space::param, w.block->grid->launch->kernel->parameter_bytes};
}

// --- handlers ---

template <class E>
[[gnu::noinline]] const Op* global_rare(Warp& w, const Op* op) {
  Address buffer[lanes];
  const Address* a = address_bases<ptx::Space::global>(w, op, buffer);
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
  const Offset* a = address_bases<space>(w, op, buffer);
  const bool done = move_shared<E>(w, op, w.mask, a, static_cast<Offset>(op->imm), space);
  return done ? finish<E>(w, op) : nullptr;
}

template <class E>
const Op* shared(Warp& w, const Op* op) {
  if (w.mask != all_lanes || op->a == no_ref || op->flags & Op::address_64) [[unlikely]]
    return shared_rare<E>(w, op);
  const Offset* a = w.at<Offset>(op->a);
  const Offset window = w.block->window;
  // Offsets start at the end of the reserved bytes. Those wrap around and fail the range check.
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
  const Offset* a = address_bases<ptx::Space::local>(w, op, buffer);
  return move_local<E>(w, op, w.mask, a, static_cast<Offset>(op->imm)) ? op + 1 : nullptr;
}

// The common case: all lanes have one offset, in a 64-bit register.
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
  const Offset* a = address_bases<ptx::Space::param>(w, op, buffer);
  const bool done = move_stretch<E>(w, op, w.mask, w.block->grid->parameters, a,
                                    static_cast<Offset>(op->imm), parameter_stretch(w));
  return done ? op + 1 : nullptr;
}

// The common case is a parameter by its name: one value for all lanes.
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

// The lanes of `mask` whose addresses are in [window, window + size). Sets their offsets in it.
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
  const Address* a = address_bases<ptx::Space::generic>(w, op, buffer);
  const Address imm = static_cast<Address>(op->imm);
  const Windows& at = w.block->grid->memory->windows();
  std::uint32_t rest = w.mask;
  using Plain = typename E::Plain;  // other host threads may access only global memory
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

// Strong accesses of one element use the plain handlers: the host orders the bytes of an element.
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

// Vector elements in wider registers are extended by separate ops (Lowering::destination).
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
