// Reads textures: finds the texels of a read and filters them.
#include "gpu/texture/read.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "gpu/texture/axis.hpp"
#include "gpu/texture/cube.hpp"
#include "gpu/texture/levels.hpp"

namespace inflight::texture {
namespace {

// The texels of one level around a place, and their weights.
struct Taps {
  Axis axis[3];
  unsigned count = 1;       // dimensions
  std::uint64_t layer = 0;  // not for a volume
  // True for a seamless cubemap, whose faces continue behind their edges. `face` is the number of
  // the face.
  bool seamless = false;
  unsigned face = 0;
};

// Is a texel of a seamless cubemap behind an edge of its face?
bool is_behind(std::int32_t i, const Level& level) {
  return i < 0 || i >= static_cast<std::int32_t>(level.size[0]);
}
bool reaches_behind(const Axis& axis, const Level& level) {
  return is_behind(axis.texel[0], level) || is_behind(axis.texel[1], level);
}

// Returns the address of a texel of a neighbouring face.
std::uint64_t address_behind(const Texture& t, const Level& level, const Taps& taps,
                             const std::int32_t (&at)[3]) {
  const FaceTexel there =
      behind_edge({taps.face, at[0], at[1]}, static_cast<std::int32_t>(level.size[0]));
  const std::uint64_t layer = taps.layer - taps.face + there.face;
  return t.image.at(level, static_cast<std::uint64_t>(there.s), static_cast<std::uint64_t>(there.t),
                    layer);
}

const std::byte* texel(const Texture& t, const Level& level, const Taps& taps, unsigned corner,
                       Footprint* touched) {
  std::int32_t at[3] = {};
  bool outside = false;
  for (unsigned d = 0; d < taps.count; ++d) {
    at[d] = taps.axis[d].texel[corner >> d & 1];
    outside |= taps.seamless ? is_behind(at[d], level) : at[d] == Axis::border;
  }
  if (outside && !taps.seamless) return t.border;
  const std::uint64_t slice = taps.layer + static_cast<std::uint64_t>(at[2]);
  const std::uint64_t address = outside ? address_behind(t, level, taps, at)
                                        : t.image.at(level, static_cast<std::uint64_t>(at[0]),
                                                     static_cast<std::uint64_t>(at[1]), slice);
  if (touched) touched->add(address);
  return reinterpret_cast<const std::byte*>(address);
}

// The part of `weight` that the second texel along a dimension gets.
std::uint32_t second_part(std::uint32_t weight, std::uint32_t fraction, std::uint32_t round) {
  return (weight * fraction + round) >> fraction_bits;
}

// Three faces meet at a corner, so one of four texels is missing.
bool is_missing(const Level& level, const Taps& taps, unsigned corner) {
  return is_behind(taps.axis[0].texel[corner & 1], level) &&
         is_behind(taps.axis[1].texel[corner >> 1], level);
}
// Each neighbour of the missing texel gets a third of its weight, and the opposite texel gets the
// rest.
void share(unsigned corner, std::uint32_t (&weights)[4]) {
  const std::uint32_t all = std::exchange(weights[corner], 0), third = (2 * all + 3) / 6;
  weights[corner ^ 1] += third, weights[corner ^ 2] += third;
  weights[corner ^ 3] += all - 2 * third;
}
void share_missing(const Level& level, const Taps& taps, std::uint32_t (&weights)[4]) {
  for (unsigned corner = 0; corner < 4; ++corner)
    if (is_missing(level, taps, corner)) return share(corner, weights);
}

// Where both dimensions reach behind an edge, near a corner, a probe stays within half a texel
// behind each (measured: tests/gpu/texture_cubes.cu).
void stay_near_corner(const Level& level, Taps& taps) {
  if (!reaches_behind(taps.axis[0], level) || !reaches_behind(taps.axis[1], level)) return;
  const auto size = static_cast<std::int32_t>(level.size[0]);
  for (unsigned d = 0; d < 2; ++d) {
    Axis& axis = taps.axis[d];
    if (axis.texel[1] < 0) axis = {{-1, 0}, 0};
    if (axis.texel[0] >= size) axis = {{size - 1, size}, whole - 1};
  }
}

// Divides `weight` among the texels along z, then x, then y. Halves round up along x, and along y
// at the second x. They round down elsewhere.
void weigh(const Texture& t, const Level& level, const Taps& taps, std::uint32_t weight, Mix& mix,
           Footprint* touched) {
  constexpr std::uint32_t up = whole / 2, down = up - 1;
  const std::uint32_t far = taps.count > 2 ? second_part(weight, taps.axis[2].fraction, down) : 0;
  const std::uint32_t slices[2] = {weight - far, far};
  for (unsigned z = 0; z < 2; ++z) {
    if (slices[z] == 0) continue;
    mix.begin_quad();
    const std::uint32_t right = second_part(slices[z], taps.axis[0].fraction, up);
    const std::uint32_t columns[2] = {slices[z] - right, right};
    std::uint32_t weights[4];
    for (unsigned x = 0; x < 2; ++x) {
      weights[x | 2] =
          taps.count > 1 ? second_part(columns[x], taps.axis[1].fraction, x ? up : down) : 0;
      weights[x] = columns[x] - weights[x | 2];
    }
    if (taps.seamless) share_missing(level, taps, weights);
    for (unsigned corner : {0u, 2u, 1u, 3u})
      if (weights[corner] != 0)
        mix.add(texel(t, level, taps, corner | z << 2, touched), weights[corner]);
  }
}

// What a missing texel counts as where texels are gathered.
Value missing_texel(const Texture& t, const Level& level, const Taps& taps, unsigned missing,
                    Footprint* touched) {
  std::uint32_t weights[4] = {};
  weights[missing] = whole;
  share(missing, weights);
  Mix mix;
  mix.begin_quad();
  for (unsigned corner = 0; corner < 4; ++corner)
    if (corner != missing) mix.add(texel(t, level, taps, corner, touched), weights[corner]);
  return t.filter(mix);
}

// Returns one component of the lower left, lower right, upper right and upper left texels.
Value gathered(const Texture& t, const Level& level, const Taps& taps, unsigned component,
               Footprint* touched) {
  Value out;
  unsigned i = 0;
  for (unsigned corner : {2u, 3u, 1u, 0u}) {
    const bool missing = taps.seamless && t.filter && is_missing(level, taps, corner);
    const Value value = missing ? missing_texel(t, level, taps, corner, touched)
                                : t.decode(texel(t, level, taps, corner, touched));
    out[i++] = value[component];
  }
  if (t.image.format.kind == Kind::floating)
    for (std::uint32_t& v : out)
      if ((v & 0x7f800000) == 0) v &= 0x80000000;  // denormals
  return out;
}

// Offsets are signed numbers of four bits, those of tld4 of six.
std::int32_t offset_of(std::int32_t offset, const Read& how) {
  const int unused = 32 - (how.gather >= 0 ? 6 : 4);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(offset) << unused) >> unused;
}

Taps taps_of(const Texture& t, const Read& how, const Request& r, const Level& level, bool linear,
             const std::int32_t (&moved)[2] = {0, 0}) {
  Taps taps;
  taps.count = dimensions(how.geometry);
  double at[3] = {r.at[0], r.at[1], r.at[2]};
  bool normalized = t.sampler.normalized;
  if (is_layered(how.geometry)) taps.layer = std::min(r.layer, t.image.layers - 1);
  if (is_cube(how.geometry)) {
    const FacePlace place = on_cube(r.at);
    const std::uint32_t last_cube = std::max(t.image.layers / 6, 1u) - 1;
    if (how.geometry == Geometry::cubes) taps.layer = std::min(r.layer, last_cube) * 6;
    taps.layer = std::min<std::uint64_t>(taps.layer + place.face, t.image.layers - 1);
    taps.seamless = t.sampler.seamless && linear;
    taps.face = place.face;
    at[0] = place.s, at[1] = place.t, normalized = true;
  }
  // A line is a plane of height 1, read at its upper edge, so half of the weight is border.
  if (how.geometry == Geometry::line && linear && t.sampler.address[1] == Address::border)
    taps.axis[taps.count++] = between(0, 0, {1, Address::border, false});
  for (unsigned d = 0; d < dimensions(how.geometry); ++d) {
    const bool clamps = is_cube(how.geometry) && t.sampler.seamless;
    const Address address = clamps ? Address::clamp : t.sampler.address[d];
    const Dimension along{level.size[d], address, normalized, taps.seamless};
    taps.axis[d] = (linear ? between : nearest)(at[d], offset_of(r.offset[d], how), along,
                                                d < 2 ? moved[d] : 0);
  }
  if (taps.seamless) stay_near_corner(level, taps);
  return taps;
}

// Reads by integer coordinates: the texel itself, without the sampler, and 0 outside. One dimension
// works for linear memory only. Arrays give 0.
Value fetched(const Texture& t, const Read& how, const Request& r, Footprint* touched) {
  const Level& level = t.image.levels[std::min<std::size_t>(
      how.lod == Lod::level ? std::bit_cast<std::uint32_t>(r.level) : 0,
      t.image.levels.size() - 1)];
  if (how.geometry == Geometry::line && !t.image.linear) return {};
  Taps taps;
  taps.count = dimensions(how.geometry);
  if (is_layered(how.geometry)) {
    if (r.layer >= t.image.layers) return {};
    taps.layer = r.layer;
  }
  for (unsigned d = 0; d < taps.count; ++d) {
    const std::int64_t i = std::int64_t{r.texel[d]} + offset_of(r.offset[d], how);
    if (i < 0 || i >= level.size[d]) return {};
    taps.axis[d] = {{static_cast<std::int32_t>(i), static_cast<std::int32_t>(i)}, 0};
  }
  return t.decode(texel(t, level, taps, 0, touched));
}

}  // namespace

void prepare(Texture& t) {
  t.decode = decoder(t.image.format, t.sampler.as);
  const Format& f = t.image.format;
  const bool integers = f.kind != Kind::floating && (t.sampler.as == As::element || f.bits == 32);
  // Integers are mixed if the filter is linear, never between levels only.
  t.filter = integers && !t.sampler.linear ? nullptr : filter_of(f, t.sampler.as);
  encode_colour(t.image.format, t.sampler.as, t.sampler.border, t.border);
}

namespace {

Value read_at(const Texture& t, const Read& how, const Request& r, const Levels& mixed,
              Footprint* touched) {
  const bool gather = how.gather >= 0, linear = t.sampler.linear && t.filter;
  const Level* const levels[2] = {&t.image.levels[mixed.level[0]], &t.image.levels[mixed.level[1]]};
  const std::uint32_t second = t.filter ? mixed.fraction : 0;
  const std::uint32_t weights[2] = {whole - second, second};
  Mix mix;
  for (unsigned i = 0; i < 2; ++i) {
    if (weights[i] == 0) continue;
    if (i == 1) mix.second_level = mix.quads;
    const Taps taps = taps_of(t, how, r, *levels[i], linear || gather);
    if (gather) return gathered(t, *levels[i], taps, static_cast<unsigned>(how.gather), touched);
    if (linear)
      weigh(t, *levels[i], taps, weights[i], mix, touched);
    else
      mix.begin_quad(), mix.add(texel(t, *levels[i], taps, 0, touched), weights[i]);
  }
  return mix.count == 1 && !linear ? t.decode(mix.texel[0]) : t.filter(mix);
}

// Mixes the probes of an anisotropic filter, in their order along the axis. Each level has its own.
Value probed(const Texture& t, const Read& how, const Request& r, const Levels& mixed,
             Footprint* touched) {
  const std::uint32_t second = mixed.fraction, parts[2] = {whole - second, second};
  Mix mix;
  mix.all = std::max(mixed.probes[0].all, second == 0 ? 0 : mixed.probes[1].all);
  for (unsigned i = 0; i < 2; ++i) {
    if (parts[i] == 0) continue;
    const Level& level = t.image.levels[mixed.level[i]];
    const Probes& probes = mixed.probes[i];
    const unsigned before = mix.count;
    if (i == 1) mix.second_level = mix.quads;
    // A probe that weighs nothing is added too: sums of light take four at a time.
    const auto add = [&](std::uint32_t weight, const std::int32_t(&moved)[2]) {
      const Taps taps = taps_of(t, how, r, level, t.sampler.linear, moved);
      if (t.sampler.linear && weight != 0) return weigh(t, level, taps, weight, mix, touched);
      mix.begin_quad();
      if (weight != 0) mix.add(texel(t, level, taps, 0, touched), weight);
    };
    const auto pairs = static_cast<int>(probes.pairs);
    if (pairs == 0) add(parts[i], {0, 0});
    for (int probe = -pairs; probe < pairs; ++probe) {
      const bool ahead = probe >= 0;
      const auto pair = static_cast<unsigned>(ahead ? probe : -1 - probe);
      const std::uint32_t weight = weight_of(probes, pair, ahead, parts[i]);
      const std::int32_t sign = ahead ? 1 : -1;
      const auto& place = probes.place[pair];
      add(weight, {sign * place[0], sign * place[1]});
    }
    for (unsigned k = before; k < mix.count; ++k) mix.weight[k] *= mix.all / probes.all;
  }
  return t.filter(mix);
}

}  // namespace

Value read(const Texture& t, const Read& how, const Request& r, Footprint* touched) {
  if (t.image.bytes == 0) return {};
  if (how.integer) return fetched(t, how, r, touched);
  const bool plain = t.image.levels.size() == 1 && t.sampler.anisotropy <= 1;
  const Levels mixed = plain ? Levels{} : levels_of(t, how, r);
  return (mixed.probes[0].pairs > 0 ? probed : read_at)(t, how, r, mixed, touched);
}

}  // namespace inflight::texture
