// Encodes JMP and PUSH: relative, through memory, and through a register.
#include "gpu/loader/jump.hpp"

#include <cstring>

namespace inflight::loader {
namespace {

// The displacement of an instruction that ends at `end`.
std::int64_t displacement(std::uint64_t end, std::uint64_t to) {
  return static_cast<std::int64_t>(to - end);
}

void put32(std::uint8_t* to, std::uint64_t value) {
  const auto low = static_cast<std::uint32_t>(value);
  std::memcpy(to, &low, sizeof low);
}

// JMP or PUSH of the word at `to`: FF /4 and FF /6, relative to the next instruction.
void through_memory(std::uint8_t* code, std::uint8_t operation, std::uint64_t at,
                    std::uint64_t to) {
  code[0] = 0xFF;
  code[1] = operation;
  put32(code + 2, to - (at + 6));
}
constexpr std::uint8_t jump_through = 0x25, push_word = 0x35;

}  // namespace

std::optional<Jump> jump(std::uint64_t from, std::uint64_t to) {
  const std::int64_t distance = displacement(from + jump_bytes, to);
  if (distance != static_cast<std::int32_t>(distance)) return std::nullopt;
  Jump code{0xE9};
  put32(code.data() + 1, static_cast<std::uint64_t>(distance));
  return code;
}

FarJump far_jump(std::uint64_t to) {
  FarJump code{0x49, 0xBB, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xFF, 0xE3};  // MOV r11, imm64; JMP r11
  std::memcpy(code.data() + 2, &to, sizeof to);
  return code;
}

Island island(const IslandPlaces& p) {
  Island code;
  code.fill(0xCC);
  through_memory(code.data(), jump_through, p.at, p.slot);
  code[6] = 0x68;  // PUSH imm32
  put32(code.data() + 7, p.index);
  code[11] = 0xE9;
  put32(code.data() + 12, p.common - (p.at + marking_offset));
  constexpr std::uint8_t load[] = {0x4C, 0x8B, 0x1D};         // MOV r11, [RIP + disp32]
  constexpr std::uint8_t store[] = {0x64, 0x41, 0xC7, 0x03};  // MOV FS:[r11], imm32
  std::memcpy(code.data() + 16, load, sizeof load);
  put32(code.data() + 19, p.mark - (p.at + 23));
  std::memcpy(code.data() + 23, store, sizeof store);
  put32(code.data() + 27, p.copy);
  through_memory(code.data() + 31, jump_through, p.at + 31, p.target);
  return code;
}

Island common_part(std::uint64_t at, std::uint64_t owner, std::uint64_t binder) {
  Island code;
  code.fill(0xCC);
  through_memory(code.data(), push_word, at, owner);
  through_memory(code.data() + 6, jump_through, at + 6, binder);
  return code;
}

}  // namespace inflight::loader
