// Random kernels that are well-formed: they end, and each barrier is reached by all its threads.
#pragma once
#include <cstdint>
#include <string>

namespace inflight::machine {

// A module with the kernel `k`, of one parameter: 4096 bytes of device memory. Branches, loops and
// waits nest, in a way that depends on each lane, its warp, its block or nothing. Values come from
// all of these, and are stored and loaded again. `defined`: no register or byte is read before it
// is written, so that all engines must give the same.
std::string random_kernel(std::uint32_t seed, bool defined = false);

}  // namespace inflight::machine
