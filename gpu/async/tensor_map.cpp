// The 128 bytes of a tensor map.
#include "gpu/async/tensor_map.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "gpu/async/chip_tensor_map.hpp"
#include "gpu/async/tensor_map_rules.hpp"

namespace inflight::async {
namespace {

constexpr std::uint64_t mark = 0x01'70'61'6d'74'69'66'ce;  // the last byte counts the layouts
constexpr const char* no_mark =
    "the 128 bytes are not a tensor map: never encoded, or overwritten since";

struct Packed {
  std::uint64_t mark;
  // Without meaning. Some programs clear one bit here for small tensors, to work around a bug of
  // drivers up to 13.1 (CUTLASS, make_tma_copy_desc).
  std::uint64_t ignored;
  std::uint64_t global_address;
  std::uint64_t stride[4];
  std::uint32_t dim_less_one[max_tensor_rank];
  std::uint16_t box[max_tensor_rank];
  std::int16_t lower_corner[3], upper_corner[3];
  std::uint16_t channels, pixels;
  std::uint8_t element_stride[max_tensor_rank];
  std::uint8_t mode, type, rank, interleave, swizzle, l2_promotion, fill;
  std::uint8_t unused[14];
};
static_assert(sizeof(Packed) == tensor_map_bytes && std::is_trivially_copyable_v<Packed>);

template <class To, class From, std::size_t n, std::size_t m>
void copy_fields(To (&to)[n], const std::array<From, m>& from, std::size_t first = 0) {
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[first + i]);
}
template <class To, std::size_t m, class From, std::size_t n>
void copy_fields(std::array<To, m>& to, const From (&from)[n]) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}

// The immediates of `.elemtype` (PTX ISA, tensormap.replace, "Valid values for elemtype").
constexpr TensorType elemtype_immediates[] = {
    TensorType::u8,   TensorType::u16,  TensorType::u32,     TensorType::s32,     TensorType::u64,
    TensorType::s64,  TensorType::f16,  TensorType::f32,     TensorType::f32_ftz, TensorType::f64,
    TensorType::bf16, TensorType::tf32, TensorType::tf32_ftz};

// How tensormap.replace writes a field, and the field's ordinals and range of values.
struct Replacement {
  std::uint32_t ordinals;  // 1: the field has none
  std::uint64_t least, most;
  void (*write)(Packed&, std::uint32_t ordinal, std::uint64_t value);
};

constexpr std::uint64_t any_value = std::numeric_limits<std::uint64_t>::max();
// Indexed by TensorMapField.
constexpr Replacement replacements[] = {
    {1, 0, any_value, [](Packed& p, std::uint32_t, std::uint64_t v) { p.global_address = v; }},
    {1, 0, max_tensor_rank - 1,
     [](Packed& p, std::uint32_t, std::uint64_t v) { p.rank = static_cast<std::uint8_t>(v + 1); }},
    {max_tensor_rank, 1, 256,
     [](Packed& p, std::uint32_t i, std::uint64_t v) { p.box[i] = static_cast<std::uint16_t>(v); }},
    {max_tensor_rank, 1, std::uint64_t{1} << 32,
     [](Packed& p, std::uint32_t i, std::uint64_t v) {
       p.dim_less_one[i] = static_cast<std::uint32_t>(v - 1);
     }},
    {max_tensor_rank - 1, 0, (std::uint64_t{1} << 40) - 1,
     [](Packed& p, std::uint32_t i, std::uint64_t v) { p.stride[i] = v; }},
    {max_tensor_rank, 1, 8,
     [](Packed& p, std::uint32_t i, std::uint64_t v) {
       p.element_stride[i] = static_cast<std::uint8_t>(v);
     }},
    {1, 0, tensor_type_count - 1,
     [](Packed& p, std::uint32_t, std::uint64_t v) {
       p.type = static_cast<std::uint8_t>(elemtype_immediates[v]);
     }},
    {1, 0, 2,
     [](Packed& p, std::uint32_t, std::uint64_t v) {
       p.interleave = static_cast<std::uint8_t>(v);
     }},
    {1, 0, 3,
     [](Packed& p, std::uint32_t, std::uint64_t v) { p.swizzle = static_cast<std::uint8_t>(v); }},
    {1, 0, 1,
     [](Packed& p, std::uint32_t, std::uint64_t v) { p.fill = static_cast<std::uint8_t>(v); }},
};

Packed to_packed(const TensorMap& m) {
  Packed p{};
  p.mark = mark;
  p.global_address = m.global_address;
  copy_fields(p.stride, m.stride, 1);
  for (std::uint32_t i = 0; i < max_tensor_rank; ++i)
    p.dim_less_one[i] = static_cast<std::uint32_t>(m.dim[i] - 1);
  copy_fields(p.box, m.box);
  copy_fields(p.lower_corner, m.lower_corner);
  copy_fields(p.upper_corner, m.upper_corner);
  p.channels = static_cast<std::uint16_t>(m.channels);
  p.pixels = static_cast<std::uint16_t>(m.pixels);
  copy_fields(p.element_stride, m.element_stride);
  p.mode = static_cast<std::uint8_t>(m.mode);
  p.type = static_cast<std::uint8_t>(m.type);
  p.rank = static_cast<std::uint8_t>(m.rank);
  p.interleave = static_cast<std::uint8_t>(m.interleave);
  p.swizzle = static_cast<std::uint8_t>(m.swizzle);
  p.l2_promotion = static_cast<std::uint8_t>(m.l2_promotion);
  p.fill = static_cast<std::uint8_t>(m.fill);
  return p;
}

TensorMap from_packed(const Packed& p) {
  TensorMap m;
  m.mode = static_cast<TensorMode>(p.mode);
  m.type = static_cast<TensorType>(p.type);
  m.rank = p.rank;
  m.global_address = p.global_address;
  for (std::uint32_t i = 0; i < max_tensor_rank; ++i)
    m.dim[i] = std::uint64_t{p.dim_less_one[i]} + 1;
  m.interleave = static_cast<Interleave>(p.interleave);
  m.stride[0] = m.inner_bytes();
  for (std::uint32_t i = 1; i < max_tensor_rank; ++i) m.stride[i] = p.stride[i - 1];
  copy_fields(m.box, p.box);
  copy_fields(m.element_stride, p.element_stride);
  copy_fields(m.lower_corner, p.lower_corner);
  copy_fields(m.upper_corner, p.upper_corner);
  m.channels = p.channels;
  m.pixels = p.pixels;
  m.swizzle = static_cast<Swizzle>(p.swizzle);
  m.l2_promotion = static_cast<L2Promotion>(p.l2_promotion);
  m.fill = static_cast<OobFill>(p.fill);
  return m;
}

// The arguments with which encoding would make these bytes.
struct Fields {
  std::uint64_t dim[max_tensor_rank];
  std::uint32_t box[max_tensor_rank], element_stride[max_tensor_rank];
  std::int32_t lower_corner[3], upper_corner[3];

  explicit Fields(const Packed& p) {
    for (std::uint32_t i = 0; i < max_tensor_rank; ++i) {
      dim[i] = std::uint64_t{p.dim_less_one[i]} + 1;
      box[i] = p.box[i];
      element_stride[i] = p.element_stride[i];
    }
    std::copy_n(p.lower_corner, 3, lower_corner);
    std::copy_n(p.upper_corner, 3, upper_corner);
  }
  EncodeArguments arguments(const Packed& p) const {
    return {&p,        p.type,         p.rank,         p.global_address,
            dim,       p.stride,       element_stride, p.interleave,
            p.swizzle, p.l2_promotion, p.fill};
  }
};

std::optional<EncodeError> broken_tile_rule(const Packed& p) {
  const Fields fields(p);
  const auto map = encode_tiled({fields.arguments(p), fields.box});
  return map ? std::nullopt : std::optional(map.error());
}

std::optional<EncodeError> broken_im2col_rule(const Packed& p) {
  const Fields fields(p);
  const auto map = encode_im2col(
      {fields.arguments(p), fields.lower_corner, fields.upper_corner, p.channels, p.pixels});
  return map ? std::nullopt : std::optional(map.error());
}

bool is_blank(const void* bytes) {
  const std::array<std::byte, tensor_map_bytes> zeros{};
  return std::memcmp(bytes, zeros.data(), zeros.size()) == 0;
}

std::optional<EncodeError> broken_rule(const Packed& p) {
  const bool tile = p.mode == static_cast<std::uint8_t>(TensorMode::tile);
  return tile ? broken_tile_rule(p) : broken_im2col_rule(p);
}

// The map in these bytes, or nothing. One in a chip's layout counts only if its fields agree, since
// it has no mark.
std::optional<Packed> read_packed(const void* bytes) {
  Packed packed;
  std::memcpy(&packed, bytes, sizeof packed);
  if (packed.mark == mark) return packed;
  const auto map = is_blank(bytes) ? std::nullopt : read_chip_layout(bytes);
  if (!map) return std::nullopt;
  packed = to_packed(*map);
  return broken_rule(packed) ? std::nullopt : std::optional(packed);
}

}  // namespace

OpaqueTensorMap pack(const TensorMap& map) {
  const Packed packed = to_packed(map);
  OpaqueTensorMap opaque;
  std::memcpy(opaque.bytes.data(), &packed, sizeof packed);
  return opaque;
}

tl::expected<TensorMap, NotATensorMap> unpack(const void* bytes) {
  const auto found = read_packed(bytes);
  if (!found) return tl::make_unexpected(NotATensorMap(no_mark));
  const Packed& packed = *found;
  if (packed.mode > static_cast<std::uint8_t>(TensorMode::im2col))
    return tl::make_unexpected(NotATensorMap("its mode is neither tile nor im2col"));
  const bool tile = packed.mode == static_cast<std::uint8_t>(TensorMode::tile);
  if (const auto broken = broken_rule(packed))
    return tl::make_unexpected(NotATensorMap((tile ? "cuTensorMapEncodeTiled would refuse it: "
                                                   : "cuTensorMapEncodeIm2col would refuse it: ") +
                                                 broken->sentence(),
                                             broken->rule == rule_box_bytes));
  return from_packed(packed);
}

tl::expected<const TensorMap*, NotATensorMap> TensorMaps::read(std::uint64_t address,
                                                               const void* bytes) {
  Known& known = known_[address / tensor_map_bytes % known_.size()];
  if (known.valid && std::memcmp(known.bytes.data(), bytes, tensor_map_bytes) == 0)
    return &known.map;
  auto map = unpack(bytes);
  if (!map) return tl::make_unexpected(std::move(map.error()));
  std::memcpy(known.bytes.data(), bytes, tensor_map_bytes);
  known.map = *map;
  known.valid = true;
  return &known.map;
}

tl::expected<void, NotATensorMap> replace(void* bytes, TensorMapField field, std::uint32_t ordinal,
                                          std::uint64_t value) {
  const auto found = is_blank(bytes) ? to_packed(TensorMap{}) : read_packed(bytes);
  if (!found) return tl::make_unexpected(NotATensorMap(no_mark));
  Packed packed = *found;
  const Replacement& r = replacements[static_cast<unsigned>(field)];
  if (ordinal >= r.ordinals)
    return tl::make_unexpected(NotATensorMap("the ordinal is past the field's last dimension"));
  if (value < r.least || value > r.most)
    return tl::make_unexpected(NotATensorMap("the field cannot hold the value"));
  r.write(packed, ordinal, value);
  std::memcpy(bytes, &packed, sizeof packed);
  return {};
}

}  // namespace inflight::async
