// Looks objects up by handle, binds operands of texture instructions and reports texel accesses.
#include "gpu/machine/families/texture_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/check/events.hpp"
#include "gpu/machine/memory/ranges.hpp"
#include "gpu/machine/run/advice.hpp"
#include "gpu/machine/run/counts.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {

using ptx::Operand;
using ptx::Type;
using Kind = Operand::Kind;

namespace {

std::string no_object_text(std::string_view what, std::uint64_t handle) {
  return fmt::format("0x{:x} is not the handle of an existing {} object", handle, what);
}

std::nullptr_t no_object(Warp& w, const Op* op, FaultKind kind, int lane, std::string_view what,
                         std::uint64_t handle) {
  w.fault(op, kind, 1u << lane, no_object_text(what, handle));
  return nullptr;
}

// The first byte of the image, or the first behind it in one piece of memory, that the kernel may
// not access.
std::uint64_t first_out_of_reach(const Warp& w, const texture::Image& image, bool writing) {
  const Grid& grid = *w.block->grid;
  const Extent around = grid.memory->extent(grid.device, image.base);
  const ByteRange own = range_of(around);
  return own.contains(image.base) && (around.writable || !writing) ? own.end() : image.base;
}

// Whether the kernel may access all texels of the image, which must lie in one allocation. If not,
// ends the kernel. The extent that holds the last byte must begin at or before the first one.
bool reachable(Warp& w, const Op* op, int lane, const texture::Image& image, bool writing) {
  const auto range = ByteRange::of(image.base, image.bytes);
  if (range && range->empty()) return true;
  if (range && resolve_global(w, op, range->end() - 1, 1, writing) &&
      w.worker->cached(op).low <= range->base())
    return true;
  std::uint64_t addresses[lanes] = {};
  addresses[lane] = first_out_of_reach(w, image, writing);
  bad_access(w, op, 1u << lane, addresses, 1, writing, ptx::Space::global,
             FaultKind::illegal_address);
  return false;
}

}  // namespace

TextureOperands::TextureOperands() { std::fill(std::begin(refs), std::end(refs), no_ref); }

const texture::Texture* texture_of(Warp& w, const Op* op, int lane) {
  const std::uint64_t handle = w.at<std::uint64_t>(op->a)[lane];
  const texture::Table* const table = w.block->grid->launch->textures.get();
  const texture::Texture* const t = table ? table->texture(handle) : nullptr;
  if (!t) return no_object(w, op, FaultKind::illegal_instruction, lane, "texture", handle);
  return reachable(w, op, lane, t->image, false) ? t : nullptr;
}

const texture::Texture* nothing() {
  static const texture::Texture none;
  return &none;
}

const texture::Texture* texture_to_read(Warp& w, const Op* op, int lane) {
  const std::uint64_t handle = w.at<std::uint64_t>(op->a)[lane];
  Grid& grid = *w.block->grid;
  const texture::Table* const table = grid.launch->textures.get();
  if (table && table->texture(handle)) return texture_of(w, op, lane);
  if (grid.observation && grid.observation->wants(check::Topic::faults))
    return no_object(w, op, FaultKind::illegal_instruction, lane, "texture", handle);
  if (!texture::Table::reaches(table, handle))
    return no_object(w, op, FaultKind::illegal_address, lane, "texture", handle);
  advise(grid, w.number(op), "handle",
         fmt::format("{}, so the read returns zeros", no_object_text("texture", handle)));
  return nothing();
}

const texture::Surface* surface_of(Warp& w, const Op* op, int lane, bool writing) {
  const std::uint64_t handle = w.at<std::uint64_t>(op->a)[lane];
  const texture::Table* const table = w.block->grid->launch->textures.get();
  const texture::Surface* const s = table ? table->surface(handle) : nullptr;
  if (!s) return no_object(w, op, FaultKind::illegal_instruction, lane, "surface", handle);
  return reachable(w, op, lane, s->image, writing) ? s : nullptr;
}

bool texels_are_noted(const Warp& w) {
  const Observation* const observation = w.block->grid->observation;
  return w.block->counts || (observation && observation->wants(check::Topic::accesses));
}

void note_texels(Warp& w, const Op* op, std::uint32_t mask, std::uint64_t (&addresses)[lanes],
                 std::uint32_t bytes, check::Access::Kind kind) {
  if (mask == 0) return;
  if (w.block->counts) w.block->counts->texels(w.number(op), kind, bytes, mask);
  if (const Observation* const observation = w.block->grid->observation)
    observation->accessed_texels(w, op, mask, addresses, bytes, kind);
}

// --- decoding ---

std::span<const Operand> TextureReader::elements(const Operand& o) const {
  if (o.kind != Kind::vector) return {&o, 1};
  return {lo_.function.pool.data() + o.index, o.count};
}

bool TextureReader::place(const Operand& handle, texture::Geometry geometry, bool integer) {
  const auto all = lo_.operands;
  const auto first = static_cast<std::size_t>(&handle - all.data());
  if (first + 1 >= all.size()) return lo_.refuse("it takes a handle and coordinates in brackets");
  if (handle.base == Kind::variable)
    return lo_.refuse(
        "references to textures and surfaces, which CUDA 12 removed, are not supported; use "
        "texture and surface objects");
  Operand at = all[first + 1];
  if (at.kind == Kind::address) {  // `[t, x]`, or a sampler
    if (at.base == Kind::variable ||
        (first + 2 < all.size() && all[first + 2].kind == Kind::vector &&
         lo_.register_type({.kind = Kind::reg, .index = at.index}) == Type::b64))
      return lo_.refuse(
          "samplers apart from their textures (.texmode_independent) are not supported");
    at.kind = at.base;
  }
  rest = all.subspan(first + 2);
  handles = lo_.address_lanes(handle, ptx::Space::generic);
  auto list = elements(at);
  if (texture::is_layered(geometry)) {
    if (list.empty()) return lo_.refuse("the layer is missing");
    operands.refs[TextureOperands::layer] = lo_.source(list[0], Type::u32);
    list = list.subspan(1);
  }
  const unsigned count = texture::is_cube(geometry) ? 3 : texture::dimensions(geometry);
  if (list.size() < count) return lo_.refuse(fmt::format("it takes {} coordinates", count));
  for (unsigned i = 0; i < count; ++i) {
    Ref& ref = operands.refs[TextureOperands::at + i];
    ref = lo_.source(list[i], integer ? Type::s32 : Type::f32);
    if (ref == no_ref) return false;
  }
  return handles != no_ref;
}

bool TextureReader::values(const Operand& o, unsigned count, Type type, bool results) {
  const auto list = elements(o);
  if (list.size() != count || count > 4)
    return lo_.refuse(fmt::format("it takes {} registers", count));
  for (unsigned i = 0; i < count; ++i) {
    Ref& ref = operands.refs[TextureOperands::value + i];
    ref = results ? lo_.destination(list[i], type) : lo_.source(list[i], type);
    if (ref == no_ref) return false;
  }
  return true;
}

bool TextureReader::numbers(const Operand& o, unsigned name, unsigned count, Type type) {
  const auto list = elements(o);
  if (list.size() < count) return lo_.refuse(fmt::format("it takes {} numbers here", count));
  for (unsigned i = 0; i < count; ++i)
    if ((operands.refs[name + i] = lo_.source(list[i], type)) == no_ref) return false;
  return true;
}

}  // namespace inflight::machine
