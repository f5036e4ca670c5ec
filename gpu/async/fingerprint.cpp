// Folded products of 64-bit words, as in wyhash. Four independent chains keep the multiplier busy.
#include "gpu/async/fingerprint.hpp"

#include <cstring>

namespace inflight::async {
namespace {

constexpr std::uint64_t key[4] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3,
                                  0x589965cc75374cc3};

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t word(const std::byte* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint64_t pair(const std::byte* at, std::uint64_t chain, std::uint64_t k) {
  return fold(word(at) ^ k, word(at + 8) ^ chain);
}

}  // namespace

std::uint64_t fingerprint(const std::byte* from, std::size_t bytes, std::uint64_t seed) {
  std::uint64_t chain = seed ^ key[0] ^ bytes;
  if (bytes >= 64) {
    std::uint64_t a = chain, b = chain, c = chain, d = chain;
    for (; bytes >= 64; from += 64, bytes -= 64) {
      a = pair(from, a, key[0]);
      b = pair(from + 16, b, key[1]);
      c = pair(from + 32, c, key[2]);
      d = pair(from + 48, d, key[3]);
    }
    chain = fold(a ^ key[1], b ^ key[2]) ^ fold(c ^ key[3], d ^ key[0]);
  }
  for (; bytes >= 16; from += 16, bytes -= 16) chain = pair(from, chain, key[1]);
  if (bytes == 0) return fold(chain, key[2]);
  std::byte rest[16] = {};
  std::memcpy(rest, from, bytes);
  return fold(pair(rest, chain, key[3]), key[2]);
}

}  // namespace inflight::async
