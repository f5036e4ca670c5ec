// Variants of a frame's registers, and where they differ.
#include "gpu/machine/run/undefined_registers.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/machine/code/slots.hpp"

namespace inflight::machine {
namespace {

constexpr std::size_t offset_of(Ref ref) { return ref & ~3u; }

}  // namespace

unsigned UndefinedRegisters::slot_size(std::uint32_t reg) const {
  return slot_bytes(frame.code->function->registers[reg].type);
}

std::byte* UndefinedRegisters::at(unsigned variant, std::uint32_t reg) {
  return variants[variant].data() + offset_of(frame.code->slots[reg]);
}

std::byte* UndefinedRegisters::actual(std::uint32_t reg) {
  return frame.registers.data() + offset_of(frame.code->slots[reg]);
}

std::uint32_t UndefinedRegisters::lanes_of(std::uint32_t reg) {
  const unsigned bytes = slot_size(reg);
  const std::byte* const is = actual(reg);
  std::uint32_t found = 0;
  for (unsigned v = 0; v < variant_count; ++v) {
    const std::byte* const other = at(v, reg);
    if (std::memcmp(is, other, bytes) == 0) continue;
    if (is_predicate(reg)) {
      std::uint32_t a, b;
      std::memcpy(&a, is, 4), std::memcpy(&b, other, 4);
      found |= a ^ b;
      continue;
    }
    const std::size_t width = bytes / lanes;
    for (unsigned l = 0; l < lanes; ++l)
      found |= std::uint32_t{std::memcmp(is + l * width, other + l * width, width) != 0} << l;
  }
  return found;
}

void UndefinedRegisters::copy(std::uint32_t reg, std::uint32_t mask) {
  if (frame.code->slots[reg] == no_ref) return;
  const unsigned bytes = slot_size(reg);
  const std::byte* const is = actual(reg);
  for (unsigned v = 0; v < variant_count; ++v) {
    std::byte* const to = at(v, reg);
    if (mask == all_lanes) {
      std::memcpy(to, is, bytes);
    } else if (is_predicate(reg)) {
      std::uint32_t a, b;
      std::memcpy(&a, is, 4), std::memcpy(&b, to, 4);
      b = (b & ~mask) | (a & mask);
      std::memcpy(to, &b, 4);
    } else {
      const std::size_t width = bytes / lanes;
      for (unsigned l = 0; l < lanes; ++l)
        if (mask >> l & 1) std::memcpy(to + l * width, is + l * width, width);
    }
  }
}

void UndefinedRegisters::refresh() {
  for (unsigned v = 0; v < variant_count; ++v) {
    LineBuffer fresh = frame.registers;
    for (std::uint32_t reg = 0; count != 0 && reg < origin.size(); ++reg)
      if (origin[reg] != 0)
        std::memcpy(fresh.data() + offset_of(frame.code->slots[reg]), at(v, reg), slot_size(reg));
    variants[v] = std::move(fresh);
  }
}

void UndefinedRegisters::judge(Warp& w, std::uint32_t reg, std::uint32_t from, std::uint32_t mask,
                               Written how) {
  if (frame.code->slots[reg] == no_ref) return;
  const bool held =
      reg < frame.code->description->held.size() && frame.code->description->held[reg];
  const std::uint32_t now = held || lanes_of(reg) == 0 ? 0 : from;
  const bool was = origin[reg] != 0;
  const bool kept = was && (w.alive & ~mask) != 0;  // by other lanes
  moved[reg] = how.moves && (!kept || moved[reg]);
  const unsigned bytes = is_predicate(reg) ? 1 : slot_size(reg) / lanes;
  const auto fresh = static_cast<std::uint8_t>(std::min(how.part, bytes));
  part[reg] = kept ? std::max(part[reg], fresh) : fresh;
  origin[reg] = now;
  if (was == (now != 0)) return;
  const std::uint32_t change = now != 0 ? 1u : ~0u;
  count += change, w.undefined += change;
}

void UndefinedRegisters::define(Warp& w, std::uint32_t reg, std::uint32_t mask) {
  if (origin[reg] == 0) return;
  copy(reg, mask);
  judge(w, reg, origin[reg], mask, {moved[reg], part[reg]});
}

UndefinedRegisters& undefined_registers(Warp&, Frame& frame) {
  if (!frame.undefined) frame.undefined = std::make_shared<UndefinedRegisters>(frame);
  return *frame.undefined;
}

void forget_undefined(Warp& w, Frame& frame) {
  if (!frame.undefined) return;
  w.undefined -= frame.undefined->count;
  frame.undefined.reset();
}

void MatrixVariant::load(int lane, void* bytes, std::size_t count) const {
  if (!undefined || !(undefined->lanes >> lane & 1)) return;
  auto* const at = static_cast<std::uint8_t*>(bytes);
  for (std::size_t i = 0; i < count; ++i)
    if (undefined->bytes[static_cast<unsigned>(lane)] >> i & 1)
      at[i] ^= flip & undefined->bits_of(static_cast<unsigned>(lane), i);
}

void MatrixVariant::store(int lane, const void* bytes, std::size_t count) const {
  std::memcpy(stored + static_cast<std::size_t>(lane) * most, bytes, count);
}

}  // namespace inflight::machine
