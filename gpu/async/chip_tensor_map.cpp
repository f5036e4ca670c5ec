// Reads the fields of a chip's tensor map by the places of their bits.
#include "gpu/async/chip_tensor_map.hpp"

#include <cstring>
#include <iterator>

namespace inflight::async {
namespace {

class Bits {
 public:
  explicit Bits(const void* bytes) { std::memcpy(words_, bytes, sizeof words_); }
  // A field of at most 32 bits that lies in one word.
  std::uint32_t operator()(unsigned first, unsigned count) const {
    return static_cast<std::uint32_t>(words_[first / 64] >> first % 64 &
                                      ((std::uint64_t{1} << count) - 1));
  }
  std::int32_t as_signed(unsigned first, unsigned count) const {
    const unsigned unused = 32 - count;
    return static_cast<std::int32_t>((*this)(first, count) << unused) >> unused;
  }
  std::uint64_t word(unsigned index) const { return words_[index]; }

 private:
  std::uint64_t words_[8];
};

// Bits of each word that are never set. Bit 21 of the second word is left out: drivers up to 13.1
// set it, and programs clear it.
constexpr std::uint64_t unset[] = {
    0xffff'0000'0000'000f,
    0x0000'0000'ffd8'0000,
    0,
    0xffff'0000'0000'0000,
    0,
    0,
    0x00ff'8000'0000'0000,
    0,
};

// By the field's value. The chip knows tf32 as f32 with another bit.
constexpr TensorType types[] = {TensorType::u8,  TensorType::u16, TensorType::u32,
                                TensorType::s32, TensorType::u64, TensorType::s64,
                                TensorType::f16, TensorType::f32, TensorType::f32_ftz,
                                TensorType::f64, TensorType::bf16};

std::optional<TensorType> type_of(const Bits& bits) {
  const std::uint32_t value = bits(71, 4);
  if (value >= std::size(types)) return std::nullopt;
  if (bits(80, 1) == 0) return types[value];
  if (types[value] == TensorType::f32) return TensorType::tf32;
  if (types[value] == TensorType::f32_ftz) return TensorType::tf32_ftz;
  return std::nullopt;
}

// The driver writes mode 0 for tiles, the CuTe DSL 2.
std::optional<TensorMode> mode_of(const Bits& bits) {
  switch (bits(64, 4)) {
    case 0:
    case 2:
      return TensorMode::tile;
    case 1:
      return TensorMode::im2col;
  }
  return std::nullopt;
}

void read_box(const Bits& bits, TensorMap& map) {
  for (std::uint32_t i = 0; i < map.rank; ++i) map.box[i] = bits(440 + 8 * i, 8) + 1;
}

// The corners share 16 bits.
void read_im2col(const Bits& bits, TensorMap& map) {
  map.channels = bits(440, 8) + 1;
  map.pixels = bits(480, 10) + 1;
  if (map.rank < 3) return;
  const unsigned width = 16 / map.spatial();
  for (std::uint32_t i = 0; i < map.spatial(); ++i) {
    map.lower_corner[i] = bits.as_signed(448 + width * i, width);
    map.upper_corner[i] = bits.as_signed(464 + width * i, width);
  }
}

}  // namespace

std::optional<TensorMap> read_chip_layout(const void* bytes) {
  const Bits bits(bytes);
  for (unsigned i = 0; i < std::size(unset); ++i)
    if (bits.word(i) & unset[i]) return std::nullopt;
  const auto mode = mode_of(bits);
  const auto type = type_of(bits);
  const std::uint32_t rank = bits(68, 3) + 1, interleave = bits(75, 2);
  if (!mode || !type || rank > max_tensor_rank || interleave > 2) return std::nullopt;
  TensorMap map;
  map.mode = *mode;
  map.type = *type;
  map.rank = rank;
  map.global_address = bits.word(0);
  map.interleave = static_cast<Interleave>(interleave);
  map.swizzle = static_cast<Swizzle>(bits(77, 2));
  map.fill = static_cast<OobFill>(bits(79, 1));
  map.l2_promotion = static_cast<L2Promotion>(bits(81, 2));
  map.stride[0] = map.inner_bytes();
  for (std::uint32_t i = 0; i < rank; ++i) {
    map.dim[i] = std::uint64_t{bits(256 + 32 * i, 32)} + 1;
    map.element_stride[i] = bits(416 + 3 * i, 3) + 1;
  }
  for (std::uint32_t i = 0; i + 1 < rank; ++i)
    map.stride[i + 1] = (std::uint64_t{bits(224 + 4 * i, 4)} << 32 | bits(96 + 32 * i, 32)) << 4;
  *mode == TensorMode::tile ? read_box(bits, map) : read_im2col(bits, map);
  return map;
}

}  // namespace inflight::async
