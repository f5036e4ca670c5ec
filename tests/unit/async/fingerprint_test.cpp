// Fingerprints depend on every byte and its position.
#include "gpu/async/fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace inflight::async {
namespace {

TEST(Fingerprint, EveryBitOfEverySizeCounts) {
  for (const std::size_t size : {1u, 4u, 8u, 15u, 16u, 17u, 63u, 64u, 65u, 128u, 200u, 1000u}) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(i * 31 + 7);
    std::set<std::uint64_t> seen{fingerprint(bytes.data(), size)};
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
      EXPECT_TRUE(seen.insert(fingerprint(bytes.data(), size)).second) << size << ", bit " << bit;
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
    }
    EXPECT_FALSE(seen.insert(fingerprint(bytes.data(), size)).second);
  }
}

TEST(Fingerprint, WordsThatChangePlacesCount) {
  std::vector<std::uint64_t> words(16);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i;
  const auto of = [&] {
    return fingerprint(reinterpret_cast<const std::byte*>(words.data()), words.size() * 8);
  };
  std::set<std::uint64_t> seen{of()};
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t j = i + 1; j < words.size(); ++j) {
      std::swap(words[i], words[j]);
      EXPECT_TRUE(seen.insert(of()).second) << i << " and " << j;
      std::swap(words[i], words[j]);
    }
}

TEST(Fingerprint, ChainsThroughItsSeed) {
  const std::byte bytes[32] = {};
  EXPECT_NE(fingerprint(bytes, 16, 1), fingerprint(bytes, 16, 2));
  EXPECT_NE(fingerprint(bytes, 16), fingerprint(bytes, 32));
}

}  // namespace
}  // namespace inflight::async
