// One row for each rule: the argument, the requirement, and a function that finds a bad value.
#include "gpu/async/tensor_map_rules.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace inflight::async {
namespace {

// A value that breaks a rule, and its index in its array.
struct Offence {
  int index;
  std::string value;
};
using Finding = std::optional<Offence>;

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

template <class T>
Finding scalar(bool broken, T value) {
  return broken ? Finding({-1, std::to_string(value)}) : std::nullopt;
}
Finding address(bool broken, std::uint64_t value) {
  return broken ? Finding({-1, hex(value)}) : std::nullopt;
}
template <class T>
Finding null(const T* pointer) {
  return pointer == nullptr ? Finding({-1, "null"}) : std::nullopt;
}
template <class T, class Broken>
Finding each(const T* values, std::uint32_t count, Broken broken) {
  for (std::uint32_t i = 0; i < count; ++i)
    if (broken(values[i])) return Offence{static_cast<int>(i), std::to_string(values[i])};
  return {};
}

template <class Arguments>
struct Rule {
  std::string_view argument, text;
  Finding (*find)(const Arguments&);
};

constexpr std::uint64_t most_elements = std::uint64_t{1} << 32,
                        stride_limit = std::uint64_t{1} << 40, most_box_bytes = 228 << 10;

bool is_packed_type(std::uint32_t type) {
  return type >= tensor_type_count && type < tensor_type_count + std::size(packed_tensor_types);
}
std::uint32_t element_bytes(const EncodeArguments& a) {
  return size_of(static_cast<TensorType>(a.data_type));
}
bool sliced(const EncodeArguments& a) { return a.interleave != 0; }
bool slices_of_32(const EncodeArguments& a) { return a.interleave == 2; }
std::uint32_t span(const EncodeArguments& a) {
  return swizzle_span(static_cast<Swizzle>(a.swizzle));
}
bool wider_than_swizzle(const EncodeArguments& a, std::uint64_t row_bytes) {
  return !sliced(a) && a.swizzle != 0 && row_bytes > span(a);
}

// Rules of both encodings. The rules for enumerations and the rank come first, because the others
// rely on them.
constexpr Rule<EncodeArguments> common_rules[] = {
    {"tensorMap", "must not be null", [](const EncodeArguments& a) { return null(a.tensor_map); }},
    {"tensorDataType", "is a packed type, which needs compute capability 10.0 or higher",
     [](const EncodeArguments& a) { return scalar(is_packed_type(a.data_type), a.data_type); }},
    {"tensorDataType", "is not a CUtensorMapDataType",
     [](const EncodeArguments& a) {
       return scalar(a.data_type >= tensor_type_count, a.data_type);
     }},
    {"interleave", "is not a CUtensorMapInterleave",
     [](const EncodeArguments& a) { return scalar(a.interleave > 2, a.interleave); }},
    {"swizzle",
     "is a 128-byte swizzle of larger atoms, which needs compute capability 10.0 or higher",
     [](const EncodeArguments& a) { return scalar(a.swizzle > 3 && a.swizzle <= 6, a.swizzle); }},
    {"swizzle", "is not a CUtensorMapSwizzle",
     [](const EncodeArguments& a) { return scalar(a.swizzle > 3, a.swizzle); }},
    {"l2Promotion", "is not a CUtensorMapL2promotion",
     [](const EncodeArguments& a) { return scalar(a.l2_promotion > 3, a.l2_promotion); }},
    {"oobFill", "is not a CUtensorMapFloatOOBfill",
     [](const EncodeArguments& a) { return scalar(a.oob_fill > 1, a.oob_fill); }},
    {"tensorRank", "must be from 1 to 5",
     [](const EncodeArguments& a) {
       return scalar(a.rank == 0 || a.rank > max_tensor_rank, a.rank);
     }},
    {"globalDim", "must not be null", [](const EncodeArguments& a) { return null(a.global_dim); }},
    {"globalStrides", "must not be null",
     [](const EncodeArguments& a) { return null(a.global_strides); }},
    {"elementStrides", "must not be null",
     [](const EncodeArguments& a) { return null(a.element_strides); }},
    {"tensorRank", "must be at least 3 for an interleaved layout",
     [](const EncodeArguments& a) { return scalar(sliced(a) && a.rank < 3, a.rank); }},
    {"globalAddress", "must be aligned to 16 bytes",
     [](const EncodeArguments& a) {
       return address(a.global_address % 16 != 0, a.global_address);
     }},
    {"globalAddress", "must be aligned to 32 bytes for CU_TENSOR_MAP_INTERLEAVE_32B",
     [](const EncodeArguments& a) {
       return address(slices_of_32(a) && a.global_address % 32 != 0, a.global_address);
     }},
    {"globalDim", "must be from 1 to 2^32",
     [](const EncodeArguments& a) {
       return each(a.global_dim, a.rank,
                   [](std::uint64_t d) { return d == 0 || d > most_elements; });
     }},
    {"globalStrides", "must be a multiple of 16",
     [](const EncodeArguments& a) {
       return each(a.global_strides, a.rank - 1, [](std::uint64_t s) { return s % 16 != 0; });
     }},
    {"globalStrides", "must be a multiple of 32 for CU_TENSOR_MAP_INTERLEAVE_32B",
     [](const EncodeArguments& a) {
       return each(a.global_strides, slices_of_32(a) ? a.rank - 1 : 0,
                   [](std::uint64_t s) { return s % 32 != 0; });
     }},
    {"globalStrides", "must be less than 2^40",
     [](const EncodeArguments& a) {
       return each(a.global_strides, a.rank - 1, [](std::uint64_t s) { return s >= stride_limit; });
     }},
    {"elementStrides", "must be from 1 to 8",
     [](const EncodeArguments& a) {
       return each(a.element_strides, a.rank, [](std::uint32_t s) { return s == 0 || s > 8; });
     }},
    {"oobFill", "must be CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE for a type that is not floating-point",
     [](const EncodeArguments& a) {
       const bool real = facts(static_cast<TensorType>(a.data_type)).floating_point;
       return scalar(a.oob_fill != 0 && !real, a.oob_fill);
     }},
};

constexpr Rule<TiledArguments> tiled_rules[] = {
    {"boxDim", "must not be null", [](const TiledArguments& a) { return null(a.box_dim); }},
    {"boxDim", "must be from 1 to 256",
     [](const TiledArguments& a) {
       return each(a.box_dim, a.rank, [](std::uint32_t b) { return b == 0 || b > 256; });
     }},
    {"boxDim", "times the element size must be a multiple of 16 bytes",
     [](const TiledArguments& a) {
       return each(a.box_dim, 1, [&](std::uint32_t b) { return b * element_bytes(a) % 16 != 0; });
     }},
    {"boxDim", "times the element size must not exceed the span of the swizzle",
     [](const TiledArguments& a) {
       return each(a.box_dim, 1, [&](std::uint32_t b) {
         return wider_than_swizzle(a, std::uint64_t{b} * element_bytes(a));
       });
     }},
    {"boxDim", rule_box_bytes,
     [](const TiledArguments& a) -> Finding {
       // An H100's driver rounds down in every dimension. It also accepts edges below their stride,
       // which count as nothing.
       std::uint64_t bytes = element_bytes(a);
       for (std::uint32_t i = 0; i < a.rank; ++i)
         bytes *= std::max(a.box_dim[i] / a.element_strides[i], 1u);
       return scalar(bytes > most_box_bytes, a.box_dim[0]);
     }},
};

// The range of a corner's offset: one dimension has 16 bits, two have 8 each, three have 5 each.
std::int32_t corner_limit(const Im2colArguments& a) {
  return a.rank == 3 ? 32768 : a.rank == 4 ? 128 : 16;
}
Finding corners(const Im2colArguments& a, const std::int32_t* corner) {
  return each(corner, a.rank - 2,
              [limit = corner_limit(a)](std::int32_t c) { return c < -limit || c >= limit; });
}

constexpr Rule<Im2colArguments> im2col_rules[] = {
    {"tensorRank", "must be 3, 4 or 5",
     [](const Im2colArguments& a) { return scalar(a.rank < 3, a.rank); }},
    {"pixelBoxLowerCorner", "must not be null",
     [](const Im2colArguments& a) { return null(a.lower_corner); }},
    {"pixelBoxUpperCorner", "must not be null",
     [](const Im2colArguments& a) { return null(a.upper_corner); }},
    {"pixelBoxLowerCorner",
     "must be from -32768 to 32767 for rank 3, -128 to 127 for rank 4, -16 to 15 for rank 5",
     [](const Im2colArguments& a) { return corners(a, a.lower_corner); }},
    {"pixelBoxUpperCorner",
     "must be from -32768 to 32767 for rank 3, -128 to 127 for rank 4, -16 to 15 for rank 5",
     [](const Im2colArguments& a) { return corners(a, a.upper_corner); }},
    {"pixelBoxUpperCorner", "leaves a box without pixels",
     [](const Im2colArguments& a) -> Finding {
       const std::uint32_t first = sliced(a) ? 0 : 1;  // dimension of corner 0
       for (std::uint32_t i = 0; i + 2 < a.rank; ++i) {
         const std::uint64_t size = a.global_dim[first + i];
         const auto upper = static_cast<std::uint64_t>(a.upper_corner[i]),
                    lower = static_cast<std::uint64_t>(a.lower_corner[i]);
         // The driver uses 32-bit integers, so it refuses most dimensions of 2^31 or more.
         if (static_cast<std::int32_t>(size + upper - lower) <= 0)
           return Offence{static_cast<int>(i), std::to_string(a.upper_corner[i])};
       }
       return {};
     }},
    {"channelsPerPixel", "must be from 1 to 256",
     [](const Im2colArguments& a) {
       const std::uint32_t c = a.channels_per_pixel;
       return scalar(c == 0 || c > 256, c);
     }},
    {"channelsPerPixel", "times the element size must be a multiple of 16 bytes",
     [](const Im2colArguments& a) {
       const std::uint32_t c = a.channels_per_pixel;
       return scalar(c * element_bytes(a) % 16 != 0, c);
     }},
    {"channelsPerPixel", "times the element size must not exceed the span of the swizzle",
     [](const Im2colArguments& a) {
       const std::uint32_t c = a.channels_per_pixel;
       return scalar(wider_than_swizzle(a, std::uint64_t{c} * element_bytes(a)), c);
     }},
    {"pixelsPerColumn", "must be from 1 to 1024",
     [](const Im2colArguments& a) {
       const std::uint32_t p = a.pixels_per_column;
       return scalar(p == 0 || p > 1024, p);
     }},
    {"pixelsPerColumn", rule_box_bytes,
     [](const Im2colArguments& a) {
       const std::uint32_t p = a.pixels_per_column;
       return scalar(std::uint64_t{p} * a.channels_per_pixel * element_bytes(a) > most_box_bytes,
                     p);
     }},
};

template <class Arguments, std::size_t n>
std::optional<EncodeError> first_broken(const Rule<Arguments> (&rules)[n], const Arguments& a) {
  for (const Rule<Arguments>& rule : rules)
    if (Finding found = rule.find(a))
      return EncodeError{rule.argument, found->index, std::move(found->value), rule.text};
  return {};
}

TensorMap common_map(const EncodeArguments& a, TensorMode mode) {
  TensorMap m;
  m.mode = mode;
  m.type = static_cast<TensorType>(a.data_type);
  m.rank = a.rank;
  m.global_address = a.global_address;
  m.interleave = static_cast<Interleave>(a.interleave);
  m.stride[0] = m.inner_bytes();
  for (std::uint32_t i = 0; i < a.rank; ++i) {
    m.dim[i] = a.global_dim[i];
    m.element_stride[i] = a.element_strides[i];
    if (i > 0) m.stride[i] = a.global_strides[i - 1];
  }
  m.swizzle = static_cast<Swizzle>(a.swizzle);
  m.l2_promotion = static_cast<L2Promotion>(a.l2_promotion);
  m.fill = static_cast<OobFill>(a.oob_fill);
  return m;
}

}  // namespace

std::string EncodeError::sentence() const {
  std::string s(argument);
  if (index >= 0) s.append("[").append(std::to_string(index)).append("]");
  if (!value.empty()) s.append(" = ").append(value);
  return s.append(" ").append(rule);
}

tl::expected<TensorMap, EncodeError> encode_tiled(const TiledArguments& a) {
  if (auto error = first_broken(common_rules, static_cast<const EncodeArguments&>(a)))
    return tl::make_unexpected(*error);
  if (auto error = first_broken(tiled_rules, a)) return tl::make_unexpected(*error);
  TensorMap m = common_map(a, TensorMode::tile);
  for (std::uint32_t i = 0; i < a.rank; ++i) m.box[i] = a.box_dim[i];
  return m;
}

tl::expected<TensorMap, EncodeError> encode_im2col(const Im2colArguments& a) {
  if (auto error = first_broken(common_rules, static_cast<const EncodeArguments&>(a)))
    return tl::make_unexpected(*error);
  if (auto error = first_broken(im2col_rules, a)) return tl::make_unexpected(*error);
  TensorMap m = common_map(a, TensorMode::im2col);
  m.channels = a.channels_per_pixel;
  m.pixels = a.pixels_per_column;
  for (std::uint32_t i = 0; i + 2 < a.rank; ++i) {
    m.lower_corner[i] = a.lower_corner[i];
    m.upper_corner[i] = a.upper_corner[i];
  }
  return m;
}

EncodeError encode_im2col_wide() {
  return {"cuTensorMapEncodeIm2colWide", -1, "", "needs compute capability 10.0 or higher"};
}

}  // namespace inflight::async
