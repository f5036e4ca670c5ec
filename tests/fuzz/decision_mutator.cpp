// Changes inputs that are decisions: each mutant differs, keeps decisions of the input, and ends in
// new ones.
#ifndef INFLIGHT_LIBFUZZER  // which has its own, and sees what they reach
#  include <algorithm>
#  include <cstdint>
#  include <random>

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  constexpr std::size_t fresh = 8, longest = 256;
  std::mt19937_64 random(seed);
  const auto byte = [&] { return static_cast<std::uint8_t>(random()); };
  for (auto n = random() % 4; n-- && size;) data[random() % size] = byte();
  // Half of the inputs keep no decision, since the first ones decide what the others are about.
  const auto way = random() % 4;
  if (way == 1) size = random() % (size + 1);
  if (way > 1) size = 0;
  const std::size_t end = std::min({size + fresh, most, longest});
  for (std::size_t at = std::min(size, end - std::min(end, fresh)); at < end; ++at)
    data[at] = byte();
  return end;
}
#endif
