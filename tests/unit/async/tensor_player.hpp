// Runs a case of tests/gpu/tensor_truth.cu on the model and returns its line of output.
#pragma once
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/async/tensor_copy.hpp"
#include "gpu/async/tensor_map_rules.hpp"
#include "tests/gpu/tensor/all_cases.hpp"

namespace inflight::async {

class TensorPlayer {
 public:
  static constexpr const char *illegal = "error cudaErrorIllegalInstruction",
                              *misaligned = "error cudaErrorMisalignedAddress";
  using Case = tensor_truth::Case;
  using Kind = tensor_truth::Kind;
  using Bytes = std::vector<unsigned char>;

  tl::expected<TensorMap, EncodeError> encode(const tensor_truth::Map& m) const {
    const auto given = [&](auto* pointer, std::uint32_t bit) {
      return m.null & bit ? nullptr : pointer;
    };
    TiledArguments tiled;
    tiled.tensor_map = m.null & tensor_truth::null_map ? nullptr : object_ + m.misalign;
    tiled.data_type = m.type;
    tiled.rank = m.rank;
    tiled.global_address = arena + m.address;
    tiled.global_dim = given(m.dim, tensor_truth::null_dim);
    tiled.global_strides = given(m.stride, tensor_truth::null_strides);
    tiled.element_strides = given(m.element_stride, tensor_truth::null_element_strides);
    tiled.interleave = m.interleave;
    tiled.swizzle = m.swizzle;
    tiled.l2_promotion = m.l2;
    tiled.oob_fill = m.fill;
    tiled.box_dim = given(m.box, tensor_truth::null_box);
    if (!m.im2col) return encode_tiled(tiled);
    Im2colArguments im2col;
    static_cast<EncodeArguments&>(im2col) = tiled;
    im2col.lower_corner = given(m.lower, tensor_truth::null_lower);
    im2col.upper_corner = given(m.upper, tensor_truth::null_upper);
    im2col.channels_per_pixel = m.channels;
    im2col.pixels_per_column = m.pixels;
    return encode_im2col(im2col);
  }

  static TensorPlace place(const Case& c) {
    TensorPlace p;
    for (int d = 0; d < 5; ++d) p.at[d] = c.at[d];
    for (int s = 0; s < 3; ++s) p.offset[s] = static_cast<std::uint16_t>(c.offset[s]);
    p.shared = c.shared;
    return p;
  }
  // True if the copy touches only the arenas.
  bool stays_inside(const Case& c, const TensorMap& m) const {
    bool inside = true;
    for_each_run(m, place(c), direction_of(c), [&](const TensorRun& run) {
      inside &= run.shared + run.bytes <= tensor_truth::shared_bytes;
      inside &= !run.inside || (run.global >= arena &&
                                run.global + run.bytes <= arena + tensor_truth::global_bytes);
    });
    return inside;
  }

  static TensorDirection direction_of(const Case& c) {
    return is_load(c.kind) ? TensorDirection::load : TensorDirection::store;
  }
  // The text after the '=' of the case's line. A copy that the model refuses counts as a GPU fault.
  std::string answer(const Case& c) {
    const auto encoded = encode(c.map);
    const int code = encoded ? 0 : encoded.error().code;
    if (c.kind == Kind::encode) return std::to_string(code);
    if (!encoded) return "encode " + std::to_string(code);
    const auto map = replaced(c, *encoded);
    if (!map) return illegal;
    const TensorDirection direction = direction_of(c);
    const Violation violation = tensor_violation(*map, place(c), direction);
    if (violation == Violation::tensor_shared_alignment) return misaligned;
    if (violation != Violation::none) return illegal;
    if (!stays_inside(c, *map)) return "outside the arena";
    Bytes shared = before(c, false), global = before(c, true);
    if (!perform(c, *map, shared, global)) return illegal;
    std::string text = image_text(c, shared.data(), global.data());
    if (is_load(c.kind)) text = std::to_string(box_of(*map).tx_bytes()) + " " + text;
    return text;
  }

 private:
  // The arenas' addresses in the model: any well-aligned ones.
  static constexpr std::uint64_t arena = std::uint64_t{1} << 40;

  static std::optional<TensorMap> replaced(const Case& c, const TensorMap& map) {
    if (c.replace.field == 0) return map;
    OpaqueTensorMap opaque = pack(map);
    const auto field = static_cast<TensorMapField>(c.replace.field - 1);
    const std::uint64_t base = field == TensorMapField::global_address ? arena : 0;
    if (!replace(opaque.bytes.data(), field, c.replace.ordinal, c.replace.value + base)) return {};
    const auto again = unpack(opaque.bytes.data());
    return again ? std::optional(*again) : std::nullopt;
  }
  static bool perform(const Case& c, const TensorMap& m, Bytes& shared, Bytes& global) {
    const TensorMemory memory{
        reinterpret_cast<std::byte*>(shared.data()),
        reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(global.data()) - arena)};
    if (is_load(c.kind)) {
      tensor_load(m, place(c), memory);
    } else if (c.kind == Kind::store || c.kind == Kind::value_store) {
      tensor_store(m, place(c), memory);
    } else {
      const Reduce reduce = reduction(static_cast<ReduceOp>(c.op), m.type);
      if (reduce == nullptr) return false;
      tensor_reduce(m, place(c), memory, reduce);
    }
    return true;
  }
  // There are few patterns, so each is made once.
  Bytes before(const Case& c, bool global) {
    const bool load = is_load(c.kind);
    const bool pattern = !tensor_truth::is_value(c.kind) && c.kind != Kind::probe;
    if (!pattern || (load && !global)) return global ? initial_global(c) : initial_shared(c);
    Bytes& image = images_[{c.map.type * 16 + c.salt, global}];
    if (image.empty()) image = global ? initial_global(c) : initial_shared(c);
    return image;
  }

  alignas(64) char object_[256] = {};
  std::map<std::pair<unsigned, bool>, Bytes> images_;
};

}  // namespace inflight::async
