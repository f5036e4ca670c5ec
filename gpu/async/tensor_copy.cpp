// Moves the bytes of tensor copies.
#include "gpu/async/tensor_copy.hpp"

#include <bit>
#include <cstring>

#include "gpu/async/small_floats.hpp"

namespace inflight::async {
namespace {

std::byte* host(std::byte* base, std::uint64_t address) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) + address);
}

// --- what a type does to the elements that it moves ---
using Convert = std::uint32_t (*)(std::uint32_t);
Convert conversion(TensorType type) {
  switch (type) {
    case TensorType::f32_ftz:
      return flushed;
    case TensorType::tf32:
      return round_to_tf32;
    case TensorType::tf32_ftz:
      return [](std::uint32_t bits) { return round_to_tf32(flushed(bits)); };
    default:
      return nullptr;
  }
}

void move(std::byte* to, const std::byte* from, std::uint32_t bytes, Convert convert) {
  if (convert == nullptr) {
    if (bytes == swizzle_chunk) {
      std::memcpy(to, from, swizzle_chunk);
    } else {
      std::memcpy(to, from, bytes);
    }
    return;
  }
  for (std::uint32_t i = 0; i < bytes; i += sizeof(std::uint32_t)) {
    std::uint32_t element;
    std::memcpy(&element, from + i, sizeof element);
    element = convert(element);
    std::memcpy(to + i, &element, sizeof element);
  }
}

// The special NaN of out-of-range elements, by type.
std::uint64_t nan_fill(TensorType type) {
  switch (type) {
    case TensorType::f16:
      return F16::nan;
    case TensorType::bf16:
      return Bf16::nan;
    case TensorType::f64:
      return 0x7fffffffffffffff;
    default:
      return f32_magnitude;
  }
}

void fill(std::byte* to, std::uint32_t bytes, std::uint32_t element_bytes, std::uint64_t element) {
  if (element == 0) return void(std::memset(to, 0, bytes));
  for (std::uint32_t i = 0; i < bytes; i += element_bytes)
    std::memcpy(to + i, &element, element_bytes);
}

}  // namespace

TensorBox box_of(const TensorMap& m) {
  TensorBox box;
  box.row_bytes = (m.mode == TensorMode::tile ? m.box[0] : m.channels) * m.element_bytes();
  box.pitch = std::max(box.row_bytes, swizzle_span(m.swizzle));
  box.rows = m.mode == TensorMode::tile ? 1 : m.pixels;
  for (std::uint32_t d = 1; d < m.rank && m.mode == TensorMode::tile; ++d)
    box.rows *= traversed(m, d);
  return box;
}

std::string_view refusal(const TensorMap& m) {
  if (m.interleave != Interleave::none)
    return "interleaved tensor maps are not supported: CU_TENSOR_MAP_INTERLEAVE_NONE is";
  return {};
}

void tensor_load(const TensorMap& m, const TensorPlace& place, const TensorMemory& memory) {
  const Convert convert = conversion(m.type);
  const std::uint64_t filler = m.fill == OobFill::zero ? 0 : nan_fill(m.type);
  for_each_run(m, place, [&](const TensorRun& run) {
    std::byte* const to = host(memory.shared, run.shared);
    run.inside ? move(to, host(memory.global, run.global), run.bytes, convert)
               : fill(to, run.bytes, m.element_bytes(), filler);
  });
}

void tensor_store(const TensorMap& m, const TensorPlace& place, const TensorMemory& memory) {
  const Convert convert = conversion(m.type);
  for_each_run(m, place, [&](const TensorRun& run) {
    if (!run.inside) return;
    move(host(memory.global, run.global), host(memory.shared, run.shared), run.bytes, convert);
  });
}

void tensor_reduce(const TensorMap& m, const TensorPlace& place, const TensorMemory& memory,
                   Reduce reduce) {
  for_each_run(m, place, [&](const TensorRun& run) {
    if (!run.inside) return;
    reduce(host(memory.global, run.global), host(memory.shared, run.shared), run.bytes);
  });
}

}  // namespace inflight::async
