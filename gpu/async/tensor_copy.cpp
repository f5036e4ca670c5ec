// Moves the bytes of tensor copies.
#include "gpu/async/tensor_copy.hpp"

#include <bit>
#include <cstring>

#include "gpu/numbers/small_floats.hpp"

namespace inflight::async {
namespace {

std::byte* host(std::byte* base, std::uint64_t address) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) + address);
}

// --- conversion of elements by their type ---
using Convert = std::uint32_t (*)(std::uint32_t);
Convert conversion(TensorType type) {
  switch (type) {
    case TensorType::tf32:
    case TensorType::tf32_ftz:
      return numbers::round_to_tf32;
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

// The special NaN of out-of-range elements, the same for all types.
constexpr std::uint64_t nan_fill = 0x0001000100010001 * std::uint64_t{numbers::out_of_bounds_half};

void fill(std::byte* to, std::uint32_t bytes, std::uint32_t element_bytes, std::uint64_t element) {
  if (element == 0) return void(std::memset(to, 0, bytes));
  for (std::uint32_t i = 0; i < bytes; i += element_bytes)
    std::memcpy(to + i, &element, element_bytes);
}

}  // namespace

TensorBox box_of(const TensorMap& m) {
  const bool tile = m.mode == TensorMode::tile;
  TensorBox box;
  box.row_bytes = m.sliced() ? m.inner_bytes() : (tile ? m.box[0] : m.channels) * m.element_bytes();
  box.pitch = m.sliced() ? box.row_bytes : std::max(box.row_bytes, swizzle_span(m.swizzle));
  box.rows = tile ? 1 : m.pixels;
  for (std::uint32_t d = m.first_spatial(); d < m.rank && tile; ++d) box.rows *= traversed(m, d);
  return box;
}

std::uint64_t touched_bytes(const TensorMap& m, std::uint32_t shared) {
  const std::uint64_t bytes = box_of(m).shared_bytes();
  const std::uint32_t span = swizzle_span(m.swizzle);
  std::uint64_t end = bytes;
  if (span == 0) return end;
  for (std::uint64_t at = bytes / span * span; at < bytes; at += swizzle_chunk) {
    const auto address = static_cast<std::uint32_t>(shared + at);
    end = std::max(end, std::uint64_t{swizzle(m.swizzle, address)} + swizzle_chunk - shared);
  }
  return end;
}

void tensor_load(const TensorMap& m, const TensorPlace& place, const TensorMemory& memory) {
  const Convert convert = conversion(m.type);
  const std::uint64_t filler = m.fill == OobFill::zero ? 0 : nan_fill;
  for_each_run(m, place, TensorDirection::load, [&](const TensorRun& run) {
    std::byte* const to = host(memory.shared, run.shared);
    run.inside ? move(to, host(memory.global, run.global), run.bytes, convert)
               : fill(to, run.bytes, m.element_bytes(), filler);
  });
}

void tensor_store(const TensorMap& m, const TensorPlace& place, const TensorMemory& memory) {
  for_each_run(m, place, TensorDirection::store, [&](const TensorRun& run) {
    if (!run.inside) return;
    move(host(memory.global, run.global), host(memory.shared, run.shared), run.bytes, nullptr);
  });
}

void tensor_reduce(const TensorMap& m, const TensorPlace& place, const TensorMemory& memory,
                   Reduce reduce) {
  for_each_run(m, place, TensorDirection::store, [&](const TensorRun& run) {
    if (!run.inside) return;
    reduce(host(memory.global, run.global), host(memory.shared, run.shared), run.bytes);
  });
}

}  // namespace inflight::async
