// Moves pages that other threads may be using into a file, at the same addresses.
#pragma once
#include <cstdint>

namespace inflight::machine {

// Moves the bytes of [base, base + bytes), whole pages of private memory, into `file` at `offset`
// and maps them at the same addresses. Other threads may read and write them meanwhile, but a write
// waits until the move is done. False: the host refused, and nothing has changed.
bool move_into_file(std::uint64_t base, std::uint64_t bytes, int file, std::uint64_t offset);

}  // namespace inflight::machine
