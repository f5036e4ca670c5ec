// Orders of warps and blocks: as on the chip, turns of a fixed length, or random by a seed.
#include "gpu/machine/run/turns.hpp"

#include <algorithm>
#include <numeric>

namespace inflight::machine {
namespace {

constexpr std::uint64_t odd = 0xd1342543de82ef95;

}  // namespace

void TurnOrder::start(const Turns& turns, std::uint64_t block, std::size_t warps) {
  turns_ = turns;
  phases_ = turns.kind == Turns::Kind::chip && warps > 1 ? chip_phases : 0;
  varies_ = false;
  order_.clear();
  if (turns.kind == Turns::Kind::random) begin_random(block, warps);
}

void TurnOrder::begin_random(std::uint64_t block, std::size_t warps) {
  random_ = async::Random(turns_.seed ^ (block + 1) * odd);
  order_.resize(warps);
  std::iota(order_.begin(), order_.end(), std::uint16_t{0});
}

void TurnOrder::vary(std::uint64_t block, std::size_t warps) {
  if (is_random()) return;  // or it varies already
  varies_ = true;
  begin_random(block, warps);
}

void TurnOrder::vary_no_more() {
  if (!varies_) return;
  varies_ = false;
  order_.clear();
}

void TurnOrder::shuffle() {
  for (std::size_t i = order_.size(); i > 1; --i)
    std::swap(order_[i - 1], order_[random_.below(static_cast<std::uint32_t>(i))]);
}

// Random lengths are short and long alike: from 1 to 4096.
std::uint32_t TurnOrder::instructions() {
  if (!is_random()) return turns_.instructions;
  return 1 + random_.below(1u << random_.below(13));
}

// Only clusters that have room together change places, because one of them may wait for another.
std::uint64_t start_order(const Turns& turns, std::uint64_t n, std::uint64_t total,
                          std::uint64_t resident) {
  if (turns.kind != Turns::Kind::random) return n;
  const std::uint64_t first = n / resident * resident, count = std::min(resident, total - first);
  async::Random random(turns.seed ^ first * odd);
  const std::uint64_t offset = random.next() % count;
  std::uint64_t step = 1 + random.next() % count;
  while (std::gcd(step, count) != 1) ++step;
  return first + ((n - first) * step + offset) % count;
}

}  // namespace inflight::machine
