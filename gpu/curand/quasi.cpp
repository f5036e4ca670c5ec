// Sobol's quasirandom sequences. A call's results are those of the first dimension, then of the
// next. Point i is the exclusive or of the directions that the Gray code of i names.
#include <bit>
#include <cstring>

#include "gpu/curand/directions.hpp"
#include "gpu/curand/kinds.hpp"
#include "gpu/curand/one_word.hpp"

namespace inflight::curand {
namespace {

template <class Word, class Math>
class Sobol final : public Sequence {
 public:
  explicit Sobol(std::uint32_t dimensions) : dimensions_(dimensions) {}

  // A place is a point.
  std::uint64_t places(const Distribution&, std::size_t count) const override {
    return count / dimensions_;
  }
  void generate(const Distribution& d, void* out, std::size_t count, std::uint64_t place) override {
    distribute<Word, Math>(d, [&](auto make) { each(out, count, place, make); });
  }

 private:
  template <class Make>
  void each(void* out, std::size_t count, std::uint64_t place, Make make) {
    auto* to = static_cast<char*>(out);
    constexpr int bits = sizeof(Word) * 8;
    for (std::uint32_t dimension = 0; dimension < dimensions_; ++dimension) {
      const Directions& all = directions(dimension);
      const auto direction = [&](int i) { return Word(all[std::size_t(i)] >> (64 - bits)); };
      const std::uint64_t first = Word(place), code = first ^ first >> 1;
      Word word = 0;
      for (int i = 0; i < bits; ++i)
        if (code >> i & 1) word ^= direction(i);
      for (std::uint64_t i = 0; i < count / dimensions_; ++i) {
        const auto result = make(Made<Word>{word});
        std::memcpy(to, &result, sizeof result);
        to += sizeof result;
        const int changed = std::countr_one(first + i);
        if (changed < bits) word ^= direction(changed);
      }
    }
  }

  std::uint32_t dimensions_;
};

template <class Word>
std::unique_ptr<Sequence> sobol(const Start& start) {
  if (start.on_host) return std::make_unique<Sobol<Word, HostMath>>(start.dimensions);
  return std::make_unique<Sobol<Word, DeviceMath>>(start.dimensions);
}

}  // namespace

std::unique_ptr<Sequence> make_quasi(const Start& start) {
  return start.kind == Kind::sobol64 ? sobol<std::uint64_t>(start) : sobol<std::uint32_t>(start);
}

}  // namespace inflight::curand
