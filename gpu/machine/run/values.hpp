// The slots of special registers and other values that do not change while a block runs, in
// Base::block and Base::warp (op.hpp). Each is 32 lanes of 4 bytes, except the 64-bit ones.
#pragma once
#include <cstdint>

#include "gpu/machine/code/op.hpp"
#include "gpu/ptx/types.hpp"

namespace inflight::machine {

struct Block;
struct Grid;
struct Warp;

inline constexpr std::uint32_t value_bytes = 128;       // a 32-bit value
inline constexpr std::uint32_t wide_value_bytes = 256;  // a 64-bit value

// The slot of a special register that is constant for a block or warp. no_ref for those that are
// computed when read (clocks). Its width is 4 bytes.
Ref special_slot(ptx::Special special, std::int64_t envreg);
// The address at which unsized extern .shared arrays begin, as a 32-bit or 64-bit value.
Ref dynamic_shared_slot(unsigned bytes);
// The first shared address of the block, likewise. Zero outside clusters.
Ref shared_window_slot(unsigned bytes);
// The bit of a value of Base::block in Code::block_values and Grid::block_values. 0 for others.
std::uint64_t block_value_row(Ref slot);
// The value of a special register that is computed when read, such as a clock: 4 or 8 bytes.
std::uint64_t read_special(Warp& w, ptx::Special special);

// Is a generic address in a .const variable?
bool is_constant_address(const Warp& w, std::uint64_t address);

std::uint32_t block_values_size();
std::uint32_t warp_values_size();
// Fills in the values that the grid's kernel reads. `all`: also those that are the same in every
// block of the grid.
void fill_block_values(Block& block, bool all);
void fill_warp_values(Warp& warp);

}  // namespace inflight::machine
