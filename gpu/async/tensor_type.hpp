// The element types of tensor maps.
#pragma once
#include <cstdint>
#include <string_view>

namespace inflight::async {

// X(enumerator, CUDA's name after CU_TENSOR_MAP_DATA_TYPE_, bytes, floating-point type?), in the
// order of CUtensorMapDataType.
#define INFLIGHT_TENSOR_TYPES(X)     \
  X(u8, "UINT8", 1, false)           \
  X(u16, "UINT16", 2, false)         \
  X(u32, "UINT32", 4, false)         \
  X(s32, "INT32", 4, false)          \
  X(u64, "UINT64", 8, false)         \
  X(s64, "INT64", 8, false)          \
  X(f16, "FLOAT16", 2, true)         \
  X(f32, "FLOAT32", 4, true)         \
  X(f64, "FLOAT64", 8, true)         \
  X(bf16, "BFLOAT16", 2, true)       \
  X(f32_ftz, "FLOAT32_FTZ", 4, true) \
  X(tf32, "TFLOAT32", 4, true)       \
  X(tf32_ftz, "TFLOAT32_FTZ", 4, true)

enum class TensorType : std::uint8_t {
#define X(name, cuda, bytes, real) name,
  INFLIGHT_TENSOR_TYPES(X)
#undef X
};

struct TensorTypeFacts {
  std::string_view name, cuda;
  std::uint32_t bytes;
  bool floating_point;
};

inline constexpr TensorTypeFacts tensor_types[] = {
#define X(name, cuda, bytes, real) {#name, cuda, bytes, real},
    INFLIGHT_TENSOR_TYPES(X)
#undef X
};
inline constexpr std::uint32_t tensor_type_count = sizeof tensor_types / sizeof *tensor_types;

// The packed sub-byte types that follow in CUtensorMapDataType exist from sm_100 on.
inline constexpr std::string_view packed_tensor_types[] = {"16U4_ALIGN8B", "16U4_ALIGN16B",
                                                           "16U6_ALIGN16B"};

constexpr const TensorTypeFacts& facts(TensorType type) {
  return tensor_types[static_cast<unsigned>(type)];
}
constexpr std::uint32_t size_of(TensorType type) { return facts(type).bytes; }

}  // namespace inflight::async
