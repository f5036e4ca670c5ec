// MTGP32, a Mersenne Twister in blocks of threads. Each block has parameters of its own. 256
// results are one block's next words, and the next 256 the next block's. A block always makes 256.
// A call that begins amid them takes the others of its block's last step.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "gpu/curand/kinds.hpp"
#include "gpu/curand/mtgp_parameters.hpp"
#include "gpu/curand/one_word.hpp"

namespace inflight::curand {
namespace {

constexpr std::size_t words = 351;  // of a state
constexpr std::size_t threads = 256;

std::uint32_t row(const std::uint32_t (&matrix)[4], std::uint32_t number) {
  std::uint32_t sum = 0;
  for (int bit = 0; bit < 4; ++bit)
    if (number >> bit & 1) sum ^= matrix[bit];
  return sum;
}

class Block {
 public:
  Block(const MtgpParameters& parameters, std::uint32_t seed) : parameters_(&parameters) {
    const std::uint32_t hidden = parameters.matrix[2] ^ parameters.matrix[3] << 16;
    std::uint32_t fill = hidden;
    fill += fill >> 16;
    fill += fill >> 8;
    std::memset(state_.data(), int(fill & 255), sizeof state_);
    state_[0] = seed;
    state_[1] = hidden;
    for (std::uint32_t i = 1; i < words; ++i)
      state_[i] ^= 1812433253 * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
  }
  std::uint32_t next() {
    constexpr std::uint32_t mask = 0xfff80000;
    const MtgpParameters& p = *parameters_;
    const std::uint32_t x = (at(0) & mask) ^ at(1), shifted = x ^ x << p.left,
                        y = shifted ^ at(p.place) >> p.right, made = y ^ row(p.matrix, y);
    std::uint32_t t = at(p.place - 1u);
    t ^= t >> 16;
    t ^= t >> 8;
    state_[first_] = made;
    first_ = (first_ + 1) % words;
    return made ^ row(p.tempering, t);
  }
  void skip(std::size_t count) {
    while (count--) next();
  }

 private:
  std::uint32_t at(std::size_t i) const { return state_[(first_ + i) % words]; }

  const MtgpParameters* parameters_;
  std::array<std::uint32_t, words> state_;
  std::size_t first_ = 0;
};

// Where a block's last step began, and where its next one begins.
struct Steps {
  Block last, next;
};

template <class Math>
class Mtgp final : public Sequence {
 public:
  explicit Mtgp(std::vector<Steps> steps) : steps_(std::move(steps)) {}

  // A place is a result.
  std::uint64_t places(const Distribution&, std::size_t count) const override { return count; }
  void generate(const Distribution& d, void* out, std::size_t count, std::uint64_t place) override {
    distribute<std::uint32_t, Math>(d, [&](auto make) {
      auto* to = static_cast<char*>(out);
      for (std::size_t left = count; left;) {
        Steps& steps = steps_[place / threads % steps_.size()];
        const std::size_t from = place % threads, some = std::min(threads - from, left);
        if (from == 0) steps.last = steps.next;
        Block now = steps.last;
        now.skip(from);
        for (std::size_t i = 0; i < some; ++i) {
          const auto result = make(Made<std::uint32_t>{now.next()});
          std::memcpy(to, &result, sizeof result);
          to += sizeof result;
        }
        now.skip(threads - from - some);
        steps.next = now;
        place += some;
        left -= some;
      }
    });
  }

 private:
  std::vector<Steps> steps_;
};

}  // namespace

std::unique_ptr<Sequence> make_mtgp(const Start& start) {
  constexpr std::size_t legacy_blocks = 64;
  const bool legacy = start.ordering == Ordering::legacy;
  const auto seed = std::uint32_t(start.seed ^ start.seed >> 32);
  std::vector<Steps> steps;
  for (const MtgpParameters& each : mtgp_parameters) {
    if (legacy && steps.size() == legacy_blocks) break;
    const Block block(each, seed + std::uint32_t(steps.size()) + 1);
    steps.push_back({block, block});
  }
  if (start.on_host) return std::make_unique<Mtgp<HostMath>>(std::move(steps));
  return std::make_unique<Mtgp<DeviceMath>>(std::move(steps));
}

}  // namespace inflight::curand
