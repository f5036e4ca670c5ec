// The shared memory that CUDA keeps for itself at the start of every block's, on sm_80 and newer
// (PTX ISA, "Special Registers: %reserved_smem_offset_*"). Cooperative groups have the barriers and
// slots of tiles of more than a warp there.
#pragma once
#include <cstdint>

namespace inflight::machine {

// Bytes. Variables begin after them. What an H200 says of cap and of
// cudaDevAttrReservedSharedMemoryPerBlock.
inline constexpr std::uint32_t reserved_shared = 1024;

// Of them, those between begin and end, which a kernel may use if it mentions one of the registers.
// Here they are zero when a block starts; an H200 hands on what others left. Who names another of
// the bytes, or any without asking where they are, has an address wrong, though an H200 lets it
// pass: here it is out of bounds.
inline constexpr std::uint32_t reserved_shared_usable = 288;

}  // namespace inflight::machine
