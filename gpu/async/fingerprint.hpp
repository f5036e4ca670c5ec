// Detects whether the source of a copy has changed since the copy was issued.
#pragma once
#include <cstddef>
#include <cstdint>

namespace inflight::async {

// A 64-bit hash of the bytes: two different inputs collide once in about 2^64. To hash several
// pieces, pass the fingerprint of the earlier ones as `seed`.
std::uint64_t fingerprint(const std::byte* from, std::size_t bytes, std::uint64_t seed = 0);

}  // namespace inflight::async
