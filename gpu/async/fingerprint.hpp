// Tells whether the source of a copy is still what it was when the copy was issued.
#pragma once
#include <cstddef>
#include <cstdint>

namespace inflight::async {

// 64 bits that differ if the bytes do, but for one case in about 2^64. Chains: the fingerprint of
// what came before is the `seed` of what follows.
std::uint64_t fingerprint(const std::byte* from, std::size_t bytes, std::uint64_t seed = 0);

}  // namespace inflight::async
