// suld, sust and sured (PTX ISA, "Surface Instructions").
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/texture_lanes.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/observe/access_events.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Type;
using Name = TextureOperands::Name;
using check::Access;

constexpr ModSet understood{Mod::_1d, Mod::_2d,  Mod::_3d,   Mod::a1d,  Mod::a2d, Mod::b,
                            Mod::p,   Mod::trap, Mod::clamp, Mod::zero, Mod::ca,  Mod::cg,
                            Mod::cs,  Mod::cv,   Mod::wb,    Mod::wt};
constexpr ModSet operations{Mod::add, Mod::min, Mod::max, Mod::and_, Mod::or_};

// The addresses of the lanes of `mask`; the others have none. find_places() returns false if a
// fault has ended the kernel.
struct Places {
  std::uint64_t at[lanes] = {};
  std::uint32_t mask = 0;
  texture::Format format;
};

// Bytes of the texel that a formatted reduction changes.
constexpr std::uint32_t formatted_reduction = 4;

bool find_places(Warp& w, const Op* op, const SurfaceUse& use, Places& places) {
  const bool reduces = use.kind == Access::Kind::reduction;
  return each_lane(w.mask, [&](int l) {
    const texture::Surface* const s = surface_of(w, op, l, use.kind != Access::Kind::load);
    if (!s) return false;
    texture::SurfacePlace place;
    std::int32_t at[3] = {};
    for (unsigned i = 0; i < 3; ++i)
      if (const auto* from = lanes_of<std::int32_t>(w, op, Name::at + i)) at[i] = from[l];
    place.x = at[0], place.y = at[1], place.z = at[2];
    if (const auto* layer = lanes_of<std::uint32_t>(w, op, Name::layer)) place.layer = layer[l];
    texture::SurfaceAccess access = use.access;
    if (access.formatted) access.bytes = s->image.format.bytes();
    places.format = s->image.format;
    if (reduces && access.formatted && access.bytes < formatted_reduction) {
      w.fault(
          op, FaultKind::illegal_instruction, 1u << l,
          fmt::format("sured.p takes surfaces of texels of at least {} bytes, but these have {}",
                      formatted_reduction, access.bytes));
      return false;
    }
    if (!access.formatted && place.x & static_cast<std::int32_t>(access.bytes - 1)) {
      w.fault(op, FaultKind::misaligned_address, 1u << l,
              fmt::format("the first coordinate, {}, counts bytes: it must be a multiple of {}",
                          place.x, access.bytes));
      return false;
    }
    if (const auto address = texture::address_in(s->image, access, place)) {
      places.at[l] = *address;
      places.mask |= 1u << l;
    } else if (access.outside == texture::Outside::trap) {
      w.fault(op, FaultKind::illegal_address, 1u << l,
              fmt::format(
                  "the access at ({}, {}, {}) is outside the surface", at[0], at[1],
                  texture::is_layered(access.geometry) ? static_cast<int>(place.layer) : at[2]));
      return false;
    }
    return true;
  });
}

void note(Warp& w, const Op* op, const SurfaceUse& use, Places& places) {
  if (!texels_are_noted(w)) return;
  const std::uint32_t bytes = use.access.formatted ? places.format.bytes() : use.access.bytes;
  note_texels(w, op, places.mask, places.at, bytes, use.kind);
}

// A lane's value. Those of 8 bits are narrowed or widened apart, so they take one byte here.
std::byte* element(Warp& w, const Op* op, Type type, unsigned i, int lane) {
  return lanes_of<std::byte>(w, op, Name::value + i) +
         static_cast<unsigned>(lane) * ptx::size_of(type);
}

const Op* run_load(Warp& w, const Op* op) {
  const SurfaceUse& use = use_of<SurfaceUse>(op);
  Places places;
  if (!find_places(w, op, use, places)) return nullptr;
  note(w, op, use, places);
  const unsigned bytes = ptx::size_of(use.type);
  std::byte values[lanes][16] = {};
  each_lane(places.mask, [&](int l) {
    std::memcpy(values[l], reinterpret_cast<const std::byte*>(places.at[l]), use.access.bytes);
  });
  each_lane(w.mask, [&](int l) {
    for (unsigned i = 0; i < use.count; ++i) {
      std::memcpy(element(w, op, use.type, i, l), values[l] + i * bytes, bytes);
    }
  });
  return op + 1;
}

const Op* run_store(Warp& w, const Op* op) {
  const SurfaceUse& use = use_of<SurfaceUse>(op);
  Places places;
  if (!find_places(w, op, use, places)) return nullptr;
  note(w, op, use, places);
  const unsigned bytes = ptx::size_of(use.type);
  each_lane(places.mask, [&](int l) {
    auto* const to = reinterpret_cast<std::byte*>(places.at[l]);
    if (use.access.formatted) {
      std::uint32_t channels[4];
      for (unsigned i = 0; i < use.count; ++i)
        std::memcpy(&channels[i], element(w, op, use.type, i, l), sizeof channels[i]);
      return texture::encode(places.format, channels, use.count, to);
    }
    for (unsigned i = 0; i < use.count; ++i)
      std::memcpy(to + i * bytes, element(w, op, use.type, i, l), bytes);
  });
  w.progressed = true;
  return op + 1;
}

// --- sured ---

template <class T>
T combine(async::ReduceOp operation, T a, T b) {
  switch (operation) {
    case async::ReduceOp::add:
      return static_cast<T>(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
    case async::ReduceOp::min:
      return std::min(a, b);
    case async::ReduceOp::max:
      return std::max(a, b);
    case async::ReduceOp::bit_and:
      return a & b;
    default:
      return a | b;
  }
}

template <class T>
void reduce(Warp& w, const Op* op, const Places& places) {
  const async::ReduceOp operation = use_of<SurfaceUse>(op).operation;
  const T* const values = lanes_of<T>(w, op, Name::value);
  each_lane(places.mask, [&](int l) {
    const std::atomic_ref<T> at(*reinterpret_cast<T*>(places.at[l]));
    T old = at.load(std::memory_order_relaxed);
    while (!at.compare_exchange_weak(old, combine(operation, old, values[l]),
                                     std::memory_order_relaxed)) {
    }
  });
}

// Formatted reductions use the surface's type.
const Op* run_reduce(Warp& w, const Op* op) {
  const SurfaceUse& use = use_of<SurfaceUse>(op);
  Places places;
  if (!find_places(w, op, use, places)) return nullptr;
  std::unique_lock<std::mutex> lock;
  if (const Observation* const to = w.block->grid->observation;
      to && to->wants(check::Topic::accesses))
    lock = in_strong_order();
  note(w, op, use, places);
  const bool formatted = use.access.formatted;
  if (use.type == Type::u64)
    reduce<std::uint64_t>(w, op, places);
  else if (use.type == Type::s64)
    reduce<std::int64_t>(w, op, places);
  else if (formatted ? places.format.kind == texture::Kind::signed_integer : use.type == Type::s32)
    reduce<std::int32_t>(w, op, places);
  else
    reduce<std::uint32_t>(w, op, places);
  w.progressed = true;
  return op + 1;
}

// --- decoding ---

// Formatted accesses have 32 bits for each channel. Reductions have the types of the ISA.
bool supports(const SurfaceUse& use) {
  constexpr Type reduced[] = {Type::u32, Type::s32, Type::b32, Type::u64, Type::s64};
  if (use.access.formatted) return use.type == Type::b32;
  if (use.kind != Access::Kind::reduction) return true;
  return use.count == 1 &&
         std::find(std::begin(reduced), std::end(reduced), use.type) != std::end(reduced);
}

bool lower_surface(Lowering& lo, const Row&) {
  const auto* use = lo.what.as<SurfaceUse>();
  if (!use || !supports(*use)) return lo.refuse("this form of a surface is not supported");
  const bool loads = use->kind == Access::Kind::load,
             reduces = use->kind == Access::Kind::reduction;
  if (!only(lo, reduces ? understood | operations : understood)) return false;
  if (lo.operands.size() != 3) return lo.refuse("it takes a surface and a value");
  if (use->access.bytes > 16) return lo.refuse("an access has at most 16 bytes");
  TextureReader reader(lo);
  if (!reader.place(lo.operands[loads ? 1 : 0], use->access.geometry, true)) return false;
  const ptx::Operand& value = lo.operands[loads ? 0 : 2];
  if (!reader.values(value, use->count, use->type, loads)) return false;
  const std::uint32_t extra = lo.extra(reader.operands.refs);
  Op& op = lo.emit(loads ? run_load : reduces ? run_reduce : run_store);
  op.a = reader.handles, op.extra = extra;
  return true;
}

}  // namespace

void surface_rows(Rows& rows) {
  for (const Opcode o : {Opcode::suld, Opcode::sust, Opcode::sured})
    add(rows, any_form(o, lower_surface));
}

}  // namespace inflight::machine
