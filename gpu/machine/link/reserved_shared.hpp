// The shared memory that CUDA reserves at the start of every block's, on sm_80 and newer (PTX ISA,
// "Special Registers: %reserved_smem_offset_*"). Cooperative groups keep the barriers and slots of
// tiles of more than a warp there.
#pragma once
#include <cstdint>

namespace inflight::machine {

// Reserved bytes. Variables begin after them. An H200 reports this number as cap and as
// cudaDevAttrReservedSharedMemoryPerBlock.
inline constexpr std::uint32_t reserved_shared = 1024;

// The reserved bytes from begin to end, which a kernel may use if it reads one of the registers.
// They are zero when a block starts; on an H200 they keep what earlier blocks left. Accesses to the
// other reserved bytes, or to any of them by a kernel that reads none of the registers, are out of
// bounds here. An H200 allows them. So all are usable by a kernel that has dynamic shared memory
// and names no variable in it: some compilers (Halide's) count its addresses from 0.
inline constexpr std::uint32_t reserved_shared_usable = 288;

}  // namespace inflight::machine
