// Generates x86-64 machine code: jumps at the entries of functions, and nearby islands that these
// jumps reach and that continue to any address.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace inflight::loader {

inline constexpr std::size_t jump_bytes = 5;
using Jump = std::array<std::uint8_t, jump_bytes>;

// A jump at `from` to `to`. Empty if the distance exceeds 2 GiB.
std::optional<Jump> jump(std::uint64_t from, std::uint64_t to);

// A jump to any address, through a register that holds no argument of a call (r11).
using FarJump = std::array<std::uint8_t, 13>;
FarJump far_jump(std::uint64_t to);

// Debuggers put a breakpoint on a function after its first instructions. If there is room, the
// entry first jumps over these bytes to the actual jump, so that such a breakpoint can be set and
// removed safely.
inline constexpr std::size_t stepped_bytes = 8 + jump_bytes;
inline constexpr std::size_t step_to = 8;
inline constexpr std::array<std::uint8_t, 2> step{0xEB, step_to - 2};

// An island jumps to the address in its slot. At first that is its own second part, which pushes
// the island's index and jumps to the common part. The common part pushes the word at `owner` and
// jumps to the address in the word at `binder`. The third part tells the function which copy of the
// runtime was called: it writes the copy's number to the thread's word at the distance in the word
// at `mark` from the thread pointer. Then it jumps to the address in the word at `target`.
inline constexpr std::size_t island_bytes = 48;
using Island = std::array<std::uint8_t, island_bytes>;
inline constexpr std::size_t unbound_offset = 6, marking_offset = 16;  // of the other parts

struct IslandPlaces {
  std::uint64_t at, slot, target, mark, common;
  std::uint32_t index, copy;
};
// All addresses must lie within 2 GiB of each other.
Island island(const IslandPlaces& places);
Island common_part(std::uint64_t at, std::uint64_t owner, std::uint64_t binder);

}  // namespace inflight::loader
