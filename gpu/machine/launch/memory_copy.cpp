// Copies, compares and restores memory, in pieces, so that pages which nothing changes stay shared.
#include "gpu/machine/launch/memory_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace inflight::machine {
namespace {

constexpr std::size_t piece = 4096;

bool is_copied(const Allocation& each) {
  return each.live && each.writable && each.size != 0 && each.kind != AllocationKind::constant;
}

std::byte* address_of(const Allocation& allocation) {
  return reinterpret_cast<std::byte*>(allocation.base);
}

}  // namespace

std::uint64_t MemoryCopy::bytes(const Memory& memory) {
  std::uint64_t sum = 0;
  for (const Allocation& each : memory.live())
    if (is_copied(each)) sum += each.size;
  return sum;
}

MemoryCopy::MemoryCopy(const Memory& memory) : memory_(memory) {
  for (Allocation& each : memory.live()) {
    if (!is_copied(each)) continue;
    std::vector<std::byte> bytes(each.size);
    std::memcpy(bytes.data(), address_of(each), bytes.size());
    parts_.push_back({std::move(each), std::move(bytes), {}});
  }
}

bool MemoryCopy::is_live(const Part& part) const {
  const auto now = memory_.find(part.allocation.base);
  return now && now->id == part.allocation.id;
}

void MemoryCopy::keep_result() {
  for (Part& each : parts_) {
    if (!is_live(each)) continue;
    const std::byte* const now = address_of(each.allocation);
    if (std::memcmp(now, each.before.data(), each.before.size()) != 0)
      each.result.assign(now, now + each.before.size());
  }
}

void MemoryCopy::write(const Part& part, const std::vector<std::byte>& bytes) const {
  if (!is_live(part)) return;
  std::byte* const to = address_of(part.allocation);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const std::size_t size = std::min(piece, bytes.size() - at);
    if (std::memcmp(to + at, &bytes[at], size) != 0) std::memcpy(to + at, &bytes[at], size);
  }
}

void MemoryCopy::restore() const {
  for (const Part& each : parts_) write(each, each.before);
}

void MemoryCopy::restore_result() const {
  for (const Part& each : parts_) write(each, each.expected());
}

std::optional<std::string> MemoryCopy::difference() const {
  for (const Part& each : parts_) {
    const auto& expected = each.expected();
    if (!is_live(each)) continue;
    const std::byte* const now = address_of(each.allocation);
    if (std::memcmp(now, expected.data(), expected.size()) == 0) continue;
    const auto [found, at] = std::mismatch(expected.begin(), expected.end(), now);
    const std::size_t offset = static_cast<std::size_t>(found - expected.begin()) / 4 * 4;
    const std::size_t size = std::min<std::size_t>(4, expected.size() - offset);
    std::uint32_t interpreted = 0, compiled = 0;
    std::memcpy(&interpreted, &expected[offset], size);
    std::memcpy(&compiled, now + offset, size);
    const Allocation& in = each.allocation;
    return fmt::format(
        "the word at {:#x}, {} bytes into {} of {} bytes, is {:#010x} interpreted and {:#010x} in "
        "host code",
        in.base + offset, offset,
        in.name.empty() ? fmt::format("a {} allocation", spelling(in.kind)) : in.name, in.size,
        interpreted, compiled);
  }
  return {};
}

}  // namespace inflight::machine
