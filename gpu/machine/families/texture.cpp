// tex, tld4, txq, suq and istypep (PTX ISA, "Texture Instructions"). gpu/texture selects and
// filters the texels.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/texture_lanes.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/numbers/small_floats.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;
using Kind = Operand::Kind;
using Name = TextureOperands::Name;

constexpr ModSet shapes{Mod::_1d, Mod::_2d, Mod::_3d, Mod::a1d, Mod::a2d, Mod::cube, Mod::acube};

// The lanes of an instruction's operands; null for an operand that it lacks.
class Operands {
 public:
  Operands(Warp& w, const Op* op, const texture::Read& how) : integer_(how.integer) {
    const auto lanes = [&](unsigned name) { return lanes_of<std::uint32_t>(w, op, name); };
    layer_ = lanes(Name::layer), level_ = lanes(Name::level);
    for (unsigned i = 0; i < 3; ++i) at_[i] = lanes(Name::at + i);
    detailed_ = how.lod == texture::Lod::grad || lanes(Name::offset);
    for (unsigned i = 0; i < 3; ++i) {
      dx_[i] = lanes(Name::dx + i), dy_[i] = lanes(Name::dy + i);
      offset_[i] = lanes(Name::offset + i);
    }
  }
  texture::Request of(int lane) const {
    texture::Request r;
    if (integer_)
      take(at_, lane, r.texel);
    else
      take(at_, lane, r.at);
    if (layer_) r.layer = layer_[lane];
    if (level_) r.level = std::bit_cast<float>(level_[lane]);
    if (!detailed_) return r;
    take(dx_, lane, r.dx);
    take(dy_, lane, r.dy);
    take(offset_, lane, r.offset);
    return r;
  }

 private:
  using Lanes = const std::uint32_t*;
  template <class T>
  static void take(const Lanes (&from)[3], int lane, T (&to)[3]) {
    for (unsigned i = 0; i < 3; ++i)
      if (from[i]) to[i] = std::bit_cast<T>(from[i][lane]);
  }
  bool integer_, detailed_ = false;
  Lanes layer_, level_, at_[3], dx_[3], dy_[3], offset_[3];
};

// Writes the lanes' values to the result registers.
void write_result(Warp& w, const Op* op, Type result, const texture::Value (&values)[lanes]) {
  const auto half = [](std::uint32_t bits) {
    return numbers::F16::round(std::bit_cast<float>(bits));
  };
  for (unsigned i = 0; i < 4; ++i) {
    if (result == Type::f16x2) {
      if (i % 2) continue;
      auto* const to = lanes_of<std::uint32_t>(w, op, Name::value + i / 2);
      each_lane(w.mask, [&](int l) {
        to[l] = half(values[l][i]) | static_cast<std::uint32_t>(half(values[l][i + 1])) << 16;
      });
    } else if (result == Type::f16) {
      auto* const to = lanes_of<std::uint16_t>(w, op, Name::value + i);
      each_lane(w.mask, [&](int l) { to[l] = half(values[l][i]); });
    } else {
      auto* const to = lanes_of<std::uint32_t>(w, op, Name::value + i);
      each_lane(w.mask, [&](int l) { to[l] = values[l][i]; });
    }
  }
}

// Reports the texels that lanes read, one of each lane at a time.
void note_reads(Warp& w, const Op* op, const texture::Footprint (&touched)[lanes],
                std::uint32_t bytes) {
  for (unsigned i = 0; i < texture::Footprint::most; ++i) {
    std::uint64_t addresses[lanes] = {};
    std::uint32_t mask = 0;
    each_lane(w.mask, [&](int l) {
      if (i >= touched[l].count) return;
      addresses[l] = touched[l].at[i];
      mask |= 1u << l;
    });
    if (mask == 0) return;
    note_texels(w, op, mask, addresses, bytes, check::Access::Kind::load);
  }
}

const Op* run_read(Warp& w, const Op* op) {
  const TextureUse& use = use_of<TextureUse>(op);
  texture::Value values[lanes];
  texture::Footprint touched[lanes];
  const bool noted = texels_are_noted(w);
  const Operands operands(w, op, use.how);
  const texture::Texture* t = nullptr;
  std::uint64_t known = 0;
  const bool good = each_lane(w.mask, [&](int l) {
    const std::uint64_t handle = w.at<std::uint64_t>(op->a)[l];
    if (!t || handle != known) t = texture_to_read(w, op, l);
    known = handle;
    if (!t) return false;
    touched[l].count = 0;
    if (t == nothing()) {
      values[l] = {};
      return true;
    }
    values[l] = texture::read(*t, use.how, operands.of(l), noted ? &touched[l] : nullptr);
    return true;
  });
  if (!good) return nullptr;
  // Results are written last because one may share a coordinate's register.
  write_result(w, op, use.result, values);
  if (noted) note_reads(w, op, touched, t->image.format.bytes());
  w.progressed = true;
  return op + 1;
}

const Op* run_query(Warp& w, const Op* op) {
  const auto& use = use_of<TextureQueryUse>(op);
  const auto* level = op->b == no_ref ? nullptr : w.at<std::uint32_t>(op->b);
  std::uint32_t answers[lanes];
  const bool good = each_lane(w.mask, [&](int l) {
    const texture::Texture* const t = use.surface ? nullptr : texture_of(w, op, l);
    const texture::Surface* const s = use.surface ? surface_of(w, op, l, false) : nullptr;
    if (!t && !s) return false;
    answers[l] =
        texture::answer(use.query, t ? t->image : s->image, use.surface, level ? level[l] : 0);
    return true;
  });
  if (!good) return nullptr;
  each_lane(w.mask, [&](int l) { w.at<std::uint32_t>(op->d)[l] = answers[l]; });
  return op + 1;
}

// Always false: a handle is not the address of a texture reference.
const Op* run_istypep(Warp& w, const Op* op) {
  w.set_predicate(op->d, 0);
  return op + 1;
}

// --- decoding ---

// Binds the operands after the place: a level, gradients, an offset.
bool lower_details(Lowering& lo, TextureReader& reader, const texture::Read& how) {
  auto rest = reader.rest;
  const unsigned count = texture::is_cube(how.geometry) ? 3 : texture::dimensions(how.geometry);
  const auto next = [&](unsigned name, unsigned n, Type type) {
    if (rest.empty()) return lo.refuse("an operand is missing");
    const Operand& o = rest[0];
    rest = rest.subspan(1);
    return reader.numbers(o, name, n, type);
  };
  if (how.lod == texture::Lod::level && !next(Name::level, 1, how.integer ? Type::s32 : Type::f32))
    return false;
  if (how.lod == texture::Lod::grad &&
      (!next(Name::dx, count, Type::f32) || !next(Name::dy, count, Type::f32)))
    return false;
  if (!rest.empty() && rest[0].kind == Kind::vector && !texture::is_cube(how.geometry) &&
      !next(Name::offset, count, Type::s32))
    return false;
  if (!rest.empty())
    return lo.refuse("a comparison of depths is not supported: CUDA makes no depth textures");
  return true;
}

bool lower_read(Lowering& lo, const Row&) {
  if (!only(lo, shapes | ModSet{Mod::base, Mod::level, Mod::grad, Mod::r, Mod::g, Mod::b, Mod::a}))
    return false;
  const auto* use = lo.what.as<TextureUse>();
  if (!use) return lo.refuse("multisampled textures are not supported: CUDA makes none");
  const bool pairs = use->result == Type::f16x2;
  if (lo.operands.size() < 3 || lo.in.vector != (pairs ? 2 : 4))
    return lo.refuse("its result must be .v4, or .v2 of .f16x2");
  TextureReader reader(lo);
  if (!reader.place(lo.operands[1], use->how.geometry, use->how.integer) ||
      !lower_details(lo, reader, use->how) ||
      !reader.values(lo.operands[0], pairs ? 2 : 4, use->result, true))
    return false;
  const std::uint32_t extra = lo.extra(reader.operands.refs);
  Op& op = lo.emit(run_read);
  op.a = reader.handles, op.extra = extra;
  return true;
}

bool lower_query(Lowering& lo, const Row&) {
  constexpr ModSet answered{
      Mod::width, Mod::height, Mod::depth, Mod::array_size, Mod::num_mipmap_levels, Mod::level};
  if (!only(lo, answered)) return false;
  const auto* use = lo.what.as<TextureQueryUse>();
  if (!use || lo.operands.size() < 2) return lo.refuse("it names no property that can be queried");
  if (lo.operands[1].base == Kind::variable)
    return lo.refuse(
        "references to textures and surfaces, which CUDA 12 removed, are not supported");
  const Ref handles = lo.address_lanes(lo.operands[1], ptx::Space::generic);
  const Ref level = lo.operands.size() > 2 ? lo.source(lo.operands[2], Type::u32) : no_ref;
  const Ref result = lo.destination(lo.operands[0], Type::u32);
  if (handles == no_ref || result == no_ref || (lo.operands.size() > 2 && level == no_ref))
    return false;
  Op& op = lo.emit(run_query);
  op.a = handles, op.b = level, op.d = result;
  return true;
}

bool lower_istypep(Lowering& lo, const Row&) {
  const Ref result = lo.predicate_destination(lo.operands[0]);
  if (result == no_ref) return false;
  lo.emit(run_istypep).d = result;
  return true;
}

}  // namespace

void texture_rows(Rows& rows) {
  for (const Opcode o : {Opcode::tex, Opcode::tld4}) add(rows, any_form(o, lower_read));
  for (const Opcode o : {Opcode::txq, Opcode::suq}) add(rows, any_form(o, lower_query));
  add(rows, any_form(Opcode::istypep, lower_istypep));
}

}  // namespace inflight::machine
