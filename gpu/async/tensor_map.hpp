// The fields of a tensor map, and the 128 opaque bytes that encode them (CUDA driver API, "Tensor
// Map Object Management"; PTX ISA, "Tensors" and "tensormap.replace").
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

// The layout of the global tensor's channels: contiguous, or in slices of 16 or 32 bytes as in
// NC/8HWC8 and NC/16HWC16. The values are CUtensorMapInterleave's.
enum class Interleave : std::uint8_t { none, b16, b32 };
// Bytes of a slice. 0 without slices.
constexpr std::uint32_t slice_bytes(Interleave interleave) {
  return interleave == Interleave::none ? 0 : 8u << static_cast<unsigned>(interleave);
}

// L2 fetch size: a hint, stored without effect. The values are CUtensorMapL2promotion's.
enum class L2Promotion : std::uint8_t { none, b64, b128, b256 };
// The value of out-of-range elements. The values are CUtensorMapFloatOOBfill's.
enum class OobFill : std::uint8_t { zero, nan };
enum class TensorMode : std::uint8_t { tile, im2col };

// Dimension 0 is the innermost. Without slices the program chooses the dimensions; for im2col they
// are C, W, H, D, N, of which a lower rank omits D or H and D. With slices they are W, H, D, slices
// of channels, N. An element of dimension 0 is then a whole slice, and a copy takes one slice of
// channels, whatever the box has in that dimension. The corners are those of W, H, D.
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
  std::uint32_t channels = 1, pixels = 1;                      // im2col: per pixel, per column
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  L2Promotion l2_promotion = L2Promotion::none;
  OobFill fill = OobFill::zero;

  constexpr std::uint32_t element_bytes() const { return size_of(type); }
  constexpr bool sliced() const { return interleave != Interleave::none; }
  // Bytes from one position of dimension 0 to the next.
  constexpr std::uint32_t inner_bytes() const {
    return sliced() ? slice_bytes(interleave) : element_bytes();
  }
  // W, H and D are the spatial() dimensions from first_spatial() on, in im2col mode.
  constexpr std::uint32_t first_spatial() const { return sliced() ? 0 : 1; }
  constexpr std::uint32_t spatial() const { return rank - 2; }
  bool operator==(const TensorMap&) const = default;
};

// The object that programs copy. CUDA leaves the layout opaque. Here it is a mark and a version, to
// tell it from other bytes, then the fields. A chip's layout (chip_tensor_map.hpp) is read too.
inline constexpr std::size_t tensor_map_bytes = 128, tensor_map_alignment = 64;
struct alignas(tensor_map_alignment) OpaqueTensorMap {
  std::array<std::byte, tensor_map_bytes> bytes{};
};

OpaqueTensorMap pack(const TensorMap&);

// Why a copy cannot use 128 bytes as a tensor map: a clause to print after a colon.
struct NotATensorMap {
  std::string sentence;
  bool box_too_large = false;  // for shared memory; an H200 faults in another way then
  NotATensorMap(std::string why, bool large = false)
      : sentence(std::move(why)), box_too_large(large) {}
};
// Reads 128 bytes at any alignment and of any origin: the program may have changed them with
// tensormap.replace, or invented them. Fails unless encoding (tensor_map_rules.hpp) would accept
// the same fields.
tl::expected<TensorMap, NotATensorMap> unpack(const void* bytes);

// A cache of recently read maps. The rules are applied again only if a map's bytes change.
class TensorMaps {
 public:
  // Like unpack(). `address` is the map's address in the program. The result is valid until the
  // next read.
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
                   // pass a sixteenth of it, which the caller multiplies by 16)
  element_stride,  // ordinal: the dimension
  elemtype,        // immediates of the ISA's table, not in the order of CUtensorMapDataType
  interleave_layout,
  swizzle_mode,
  fill_mode,
};
// Rewrites one field in the 128 bytes. 128 zeros first become a map of one byte: kernels that make
// their own maps (Triton's) start from zeros and replace every field. The fields may contradict
// each other between two replacements, so only the range of the field itself is checked. unpack()
// checks the rest. A map in a chip's layout gets this one. Fails, with the bytes unchanged, if
// other bytes are not a map, or if the ordinal or the value is out of range.
tl::expected<void, NotATensorMap> replace(void* bytes, TensorMapField field, std::uint32_t ordinal,
                                          std::uint64_t value);

}  // namespace inflight::async
