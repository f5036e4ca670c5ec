// Pages that other threads may be using, moved into a file at the addresses where they are.
#pragma once
#include <cstdint>

namespace inflight::machine {

// The bytes of [base, base + bytes), which are whole pages of private memory, become those of
// `file` at `offset`, mapped where they were. Other threads may read and write them meanwhile: one
// that writes waits until it is done. False: the host refused, and nothing has changed.
bool move_into_file(std::uint64_t base, std::uint64_t bytes, int file, std::uint64_t offset);

}  // namespace inflight::machine
