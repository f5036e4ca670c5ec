// Reads little-endian fields of untrusted bytes. Every read is checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace inflight::cuda {

using Bytes = std::span<const std::byte>;

// [offset, offset+size) of `bytes`, or nothing if that reaches past the end.
inline std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

// The T at `offset`, or zero if it reaches past the end.
template <class T>
T field(Bytes bytes, std::uint64_t offset) {
  T value{};
  if (auto part = slice(bytes, offset, sizeof(T))) std::memcpy(&value, part->data(), sizeof(T));
  return value;
}

inline std::string_view characters(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace inflight::cuda
