// What a tensor map says, and the 128 opaque bytes that say it (CUDA driver API, "Tensor Map Object
// Management"; PTX ISA, "Tensors" and "tensormap.replace").
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "gpu/async/swizzle.hpp"
#include "gpu/async/tensor_type.hpp"

namespace inflight::async {

inline constexpr std::uint32_t max_tensor_rank = 5;

// How the global tensor's channels lie: together, or in slices of 16 or 32 bytes as in NC/8HWC8 and
// NC/16HWC16. CUtensorMapInterleave's values.
enum class Interleave : std::uint8_t { none, b16, b32 };
// Bytes of a slice; 0 where there are none.
constexpr std::uint32_t slice_bytes(Interleave interleave) {
  return interleave == Interleave::none ? 0 : 8u << static_cast<unsigned>(interleave);
}

// L2 fetch size: a hint, kept and not acted upon. CUtensorMapL2promotion's values.
enum class L2Promotion : std::uint8_t { none, b64, b128, b256 };
// What out-of-range elements read as. CUtensorMapFloatOOBfill's values.
enum class OobFill : std::uint8_t { zero, nan };
enum class TensorMode : std::uint8_t { tile, im2col };

// Dimension 0 is the innermost. Without slices the dimensions are whatever the program says, for
// im2col C, W, H, D, N without those that the rank leaves out. With slices they are W, H, D, slices
// of channels, N: an element of dimension 0 is a whole slice, and a copy takes one slice of
// channels at a time, whatever the box says of that dimension. The corners are those of W, H, D.
struct TensorMap {
  TensorMode mode = TensorMode::tile;
  TensorType type = TensorType::u8;
  std::uint32_t rank = 1;
  std::uint64_t global_address = 0;
  std::array<std::uint64_t, max_tensor_rank> dim{1, 1, 1, 1, 1};  // elements
  std::array<std::uint64_t, max_tensor_rank> stride{};            // bytes; [0] is inner_bytes()
  std::array<std::uint32_t, max_tensor_rank> box{1, 1, 1, 1, 1};  // tile: elements traversed
  std::array<std::uint32_t, max_tensor_rank> element_stride{1, 1, 1, 1, 1};
  std::array<std::int32_t, 3> lower_corner{}, upper_corner{};  // im2col
  std::uint32_t channels = 1, pixels = 1;                      // im2col: a pixel's, a column's
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  L2Promotion l2_promotion = L2Promotion::none;
  OobFill fill = OobFill::zero;

  constexpr std::uint32_t element_bytes() const { return size_of(type); }
  constexpr bool sliced() const { return interleave != Interleave::none; }
  // From one position of dimension 0 to the next.
  constexpr std::uint32_t inner_bytes() const {
    return sliced() ? slice_bytes(interleave) : element_bytes();
  }
  // Dimensions s + first_spatial() of W, H, D, of which there are spatial() in im2col.
  constexpr std::uint32_t first_spatial() const { return sliced() ? 0 : 1; }
  constexpr std::uint32_t spatial() const { return rank - 2; }
  bool operator==(const TensorMap&) const = default;
};

// The object that programs copy about. The layout is ours (CUDA leaves it opaque): a mark and a
// version, so that other bytes are distinguished from it, then the fields.
inline constexpr std::size_t tensor_map_bytes = 128, tensor_map_alignment = 64;
struct alignas(tensor_map_alignment) OpaqueTensorMap {
  std::array<std::byte, tensor_map_bytes> bytes{};
};

OpaqueTensorMap pack(const TensorMap&);

// Why 128 bytes are no tensor map that a copy can use: a clause that can stand behind a colon.
struct NotATensorMap {
  std::string sentence;
  bool box_too_large = false;  // for shared memory; an H200 faults otherwise then
  NotATensorMap(std::string why, bool large = false)
      : sentence(std::move(why)), box_too_large(large) {}
};
// Reads 128 bytes at any alignment, however they came about: the program may have changed them with
// tensormap.replace, or have made them up. Fails unless encoding (tensor_map_rules.hpp) would take
// the same fields.
tl::expected<TensorMap, NotATensorMap> unpack(const void* bytes);

// The maps that were read lately: the rules are applied once for as long as a map's bytes stay the
// same.
class TensorMaps {
 public:
  // As unpack(). `address` is where the program keeps the map. The result holds until the next
  // read.
  tl::expected<const TensorMap*, NotATensorMap> read(std::uint64_t address, const void* bytes);

 private:
  struct Known {
    std::array<std::byte, tensor_map_bytes> bytes{};
    TensorMap map;
    bool valid = false;
  };
  std::array<Known, 8> known_;
};

// The fields of tensormap.replace, in the spelling of PTX.
enum class TensorMapField : std::uint8_t {
  global_address,
  rank,            // one less than the rank
  box_dim,         // ordinal: the dimension
  global_dim,      // ordinal: the dimension
  global_stride,   // ordinal 0 is dimension 1; bytes, a multiple of 16 (before PTX ISA 8.5 programs
                   // pass a sixteenth of it; who knows the version multiplies)
  element_stride,  // ordinal: the dimension
  elemtype,        // immediates as in the ISA's table: not the order of CUtensorMapDataType
  interleave_layout,
  swizzle_mode,
  fill_mode,
};
// Rewrites one field in the 128 bytes. 128 zeros become a map of one byte first: kernels that make
// their own maps (Triton's) start from zeros and replace every field. The parts of a map may
// contradict each other between two replacements, so only what the field itself can hold is
// checked; unpack() checks the rest. Fails, with the bytes unchanged, on other bytes that are no
// map, an ordinal or a value out of range.
tl::expected<void, NotATensorMap> replace(void* bytes, TensorMapField field, std::uint32_t ordinal,
                                          std::uint64_t value);

}  // namespace inflight::async
