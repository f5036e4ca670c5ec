// The machine code that the loader room writes, for x86-64: jumps at the entries of functions, and
// the islands near by that these jumps reach and that go on to anywhere.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace inflight::loader {

inline constexpr std::size_t jump_bytes = 5;
using Jump = std::array<std::uint8_t, jump_bytes>;

// A jump at `from` to `to`; nothing where that is further than 2 GiB.
std::optional<Jump> jump(std::uint64_t from, std::uint64_t to);

// A jump to anywhere, over a register that no call's argument is in.
using FarJump = std::array<std::uint8_t, 13>;
FarJump far_jump(std::uint64_t to);

// Where there is room, an entry jumps over the bytes at which debuggers put a breakpoint on a
// function, behind its first instructions, to the jump proper: such a breakpoint may be set and
// removed again without harm.
inline constexpr std::size_t stepped_bytes = 8 + jump_bytes;
inline constexpr std::size_t step_to = 8;
inline constexpr std::array<std::uint8_t, 2> step{0xEB, step_to - 2};

// An island jumps to what its slot holds. That is at first its own second half, which pushes the
// island's index and jumps to the common part; the common part pushes the word `owner` and jumps to
// what the word `binder` holds.
inline constexpr std::size_t island_bytes = 16;
using Island = std::array<std::uint8_t, island_bytes>;
inline constexpr std::size_t unbound_offset = 6;  // of an island's second half

// All within 2 GiB of each other.
Island island(std::uint64_t at, std::uint64_t slot, std::uint32_t index, std::uint64_t common);
Island common_part(std::uint64_t at, std::uint64_t owner, std::uint64_t binder);

}  // namespace inflight::loader
