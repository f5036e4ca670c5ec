// PartlyDefined holds the same bits as a plain map after random changes.
#include "gpu/check/shadow/partly_defined.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "gpu/check/shadow/bits.hpp"
#include "gpu/check/shadow/byte_set.hpp"

namespace inflight::shadow {
namespace {

constexpr std::uint64_t size = 3 * 32768;

// Calls change(from, bytes) at random besides the changes that both kinds of set know.
template <class Set, class Change>
void compare(PartlyDefined<Set>& set, std::uint64_t origin, Change change) {
  std::map<std::uint64_t, std::uint8_t> plain;
  std::mt19937 random(3);
  for (int step = 0; step < 20000; ++step) {
    const std::uint64_t at = random() % size, bytes = std::min(random() % 64, size - at);
    if (step % 4 == 0) {
      set.insert(origin + at, plain[at] = static_cast<std::uint8_t>(random()));
    } else if (step % 4 == 1) {
      set.erase(origin + at, bytes);
      plain.erase(plain.lower_bound(at), plain.lower_bound(at + bytes));
    } else if (step % 1000 == 2) {
      change(plain, at, bytes);
    } else {
      const auto found = plain.lower_bound(at);
      ASSERT_EQ(set.has_any(origin + at, bytes), found != plain.end() && found->first < at + bytes);
      for (std::uint64_t i = at; i < at + bytes; ++i)
        ASSERT_EQ(set.undefined(origin + i), plain.contains(i) ? plain[i] : 0xff);
    }
  }
}

TEST(PartlyDefined, HoldsTheBitsOfABlocksBytes) {
  PartlyDefined<Bits> set(size);
  compare(set, 0, [](auto&, auto, auto) {});
}

TEST(PartlyDefined, HoldsAndMovesTheBitsOfGlobalBytes) {
  constexpr std::uint64_t origin = 0x7f0000000000;
  PartlyDefined<ByteSet> set;
  compare(set, origin, [&](auto& plain, std::uint64_t from, std::uint64_t bytes) {
    const std::uint64_t to = (from + size / 2) % size;
    bytes = std::min(bytes, size - to);
    set.erase(origin + to, bytes);
    plain.erase(plain.lower_bound(to), plain.lower_bound(to + bytes));
    set.insert_moved(origin + from, origin + to, bytes);
    for (std::uint64_t i = 0; i < bytes; ++i)
      if (const auto found = plain.find(from + i); found != plain.end())
        plain[to + i] = found->second;
  });
}

}  // namespace
}  // namespace inflight::shadow
