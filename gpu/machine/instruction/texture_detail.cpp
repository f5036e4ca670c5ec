// Reads texture and surface instructions from their modifiers (PTX ISA, "Texture Instructions",
// "Surface Instructions").
#include "gpu/machine/instruction/texture_detail.hpp"

#include "gpu/machine/instruction/modifiers.hpp"

namespace inflight::machine {
namespace {

using Kind = check::Access::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;
using texture::Geometry;
using texture::Query;

constexpr Means<Geometry> geometries[] = {
    {Mod::_1d, Geometry::line},    {Mod::_2d, Geometry::plane},  {Mod::_3d, Geometry::volume},
    {Mod::a1d, Geometry::lines},   {Mod::a2d, Geometry::planes}, {Mod::cube, Geometry::cube},
    {Mod::acube, Geometry::cubes},
};
constexpr Means<texture::Outside> boundaries[] = {{Mod::trap, texture::Outside::trap},
                                                  {Mod::clamp, texture::Outside::clamp},
                                                  {Mod::zero, texture::Outside::zero}};
constexpr Means<async::ReduceOp> surface_operations[] = {{Mod::add, async::ReduceOp::add},
                                                         {Mod::min, async::ReduceOp::min},
                                                         {Mod::max, async::ReduceOp::max},
                                                         {Mod::and_, async::ReduceOp::bit_and},
                                                         {Mod::or_, async::ReduceOp::bit_or}};
constexpr Means<std::int8_t> components[] = {{Mod::r, 0}, {Mod::g, 1}, {Mod::b, 2}, {Mod::a, 3}};
constexpr Means<Query> queries[] = {
    {Mod::width, Query::width},
    {Mod::height, Query::height},
    {Mod::depth, Query::depth},
    {Mod::array_size, Query::array_size},
    {Mod::num_mipmap_levels, Query::num_mipmap_levels},
};

}  // namespace

Detail texture_read_use(const ptx::Function&, const ptx::Instruction& in) {
  const auto geometry = meaning(in.mods, geometries);
  if (!geometry) return {};
  TextureUse use;
  use.how.geometry = *geometry;
  if (in.mods.has(Mod::level)) use.how.lod = texture::Lod::level;
  if (in.mods.has(Mod::grad)) use.how.lod = texture::Lod::grad;
  use.how.integer = in.type(1) == Type::s32;
  if (in.opcode == Opcode::tld4) use.how.gather = meaning(in.mods, components).value_or(0);
  use.result = in.type(0);
  return use;
}

Detail surface_use(const ptx::Function&, const ptx::Instruction& in) {
  const auto geometry = meaning(in.mods, geometries);
  if (!geometry) return {};
  SurfaceUse use;
  use.kind = in.opcode == Opcode::suld   ? Kind::load
             : in.opcode == Opcode::sust ? Kind::store
                                         : Kind::reduction;
  use.operation = meaning(in.mods, surface_operations).value_or(async::ReduceOp::add);
  use.type = in.type();
  use.count = in.vector;
  use.access = {*geometry, meaning(in.mods, boundaries).value_or(texture::Outside::trap),
                in.mods.has(Mod::p), ptx::size_of(in.type()) * in.vector};
  return use;
}

Detail texture_query_use(const ptx::Function&, const ptx::Instruction& in) {
  const auto query = meaning(in.mods, queries);
  if (!query) return {};
  return TextureQueryUse{*query, in.opcode == Opcode::suq};
}

}  // namespace inflight::machine
