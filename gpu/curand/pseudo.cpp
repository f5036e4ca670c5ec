// Pseudorandom generators whose lanes are the threads of a grid. Each result, or pair of normal
// numbers, is the next lane's, and after the last lane comes the first.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "gpu/curand/kinds.hpp"
#include "gpu/curand/lanes.hpp"
#include "gpu/curand/rejection.hpp"

namespace inflight::curand {
namespace {

// Philox's lanes make four results at a time, others' one or a pair. If a call ends amid them, the
// lane begins again for the next call, which takes the others.
template <class Lane, class Math>
class Lanes final : public Sequence {
 public:
  explicit Lanes(std::vector<Lane> lanes) : lanes_(std::move(lanes)) {}

  // A place is a result (quads) or a visit of a lane.
  std::uint64_t places(const Distribution& d, std::size_t count) const override {
    return Lane::quads || !is_normal(d.form) ? count : count / 2;
  }

  void generate(const Distribution& d, void* out, std::size_t count, std::uint64_t place) override {
    place_ = place;
    const auto mean = d.mean, deviation = d.deviation;
    const auto mean_f = float(mean), deviation_f = float(deviation);
    const auto normal = [=](float z) { return Math::multiply_add(z, deviation_f, mean_f); };
    const auto normal_double = [=](double z) { return Math::multiply_add(z, deviation, mean); };
    switch (d.form) {
      case Form::bits:
        return ones<std::uint32_t>(out, count, [](Lane& l) { return l.bits(); });
      case Form::long_bits:
        return;
      case Form::uniform:
        return ones<float>(out, count, [](Lane& l) { return l.uniform(); });
      case Form::uniform_double:
        return ones<double>(out, count, [](Lane& l) { return l.uniform_double(); });
      case Form::normal:
        return pairs<float>(
            out, count, [](Lane& l) { return l.template normals<Math>(); }, normal);
      case Form::normal_double:
        return pairs<double>(
            out, count, [](Lane& l) { return l.template double_normals<Math>(); }, normal_double);
      case Form::log_normal:
        return pairs<float>(
            out, count, [](Lane& l) { return l.template normals<Math>(); },
            [=](float z) { return Math::exp(normal(z)); });
      case Form::log_normal_double:
        return pairs<double>(
            out, count, [](Lane& l) { return l.template double_normals<Math>(); },
            [=](double z) { return Math::exp(normal_double(z)); });
      case Form::poisson:
        return poisson(*d.poisson, out, count);
    }
  }

 private:
  static constexpr std::size_t group = Lane::quads ? 4 : 1;

  // make(lane, results) writes Size results.
  template <class T, std::size_t Size, class Make>
  void each(void* out, std::size_t count, Make make) {
    constexpr std::uint64_t units = Lane::quads ? Size : 1;  // of places
    auto* to = static_cast<T*>(out);
    while (count) {
      Lane& lane = lanes_[place_ / units % lanes_.size()];
      const std::size_t from = place_ % units, some = std::min(Size - from, count);
      std::array<T, Size> results;
      if (from + some == Size) {
        make(lane, results);
      } else {
        Lane again = lane;
        make(again, results);
      }
      std::memcpy(to, results.data() + from, some * sizeof(T));
      to += some;
      count -= some;
      place_ += units == 1 ? 1 : some;
    }
  }
  template <class T, class Make>
  void ones(void* out, std::size_t count, Make make) {
    each<T, group>(out, count, [&](Lane& lane, auto& results) {
      for (T& result : results) result = make(lane);
    });
  }
  template <class T, class Make, class Move>
  void pairs(void* out, std::size_t count, Make make, Move move) {
    each<T, std::max<std::size_t>(group, 2)>(out, count, [&](Lane& lane, auto& results) {
      for (std::size_t i = 0; i < results.size(); i += 2) {
        const auto pair = make(lane);
        results[i] = move(pair.x);
        results[i + 1] = move(pair.y);
      }
    });
  }
  void poisson(const Poisson& p, void* out, std::size_t count) {
    if (p.has_table())
      return ones<std::uint32_t>(out, count, [&](Lane& l) {
        return p.table(std::fma(double(l.bits()), 0x1p-32, 0x1p-32));
      });
    if (p.method == PoissonMethod::best)
      return rounded<float>(p, out, count, [](Lane& l) { return l.template normals<Math>(); });
    if (p.rounds_device_functions())
      return rounded<double>(p, out, count,
                             [](Lane& l) { return l.template double_normals<Math>(); });
    return ones<std::uint32_t>(
        out, count, [&](Lane& l) { return poisson_of_device_functions<Math>(l, float(p.mean)); });
  }
  // Of normal numbers. A lane that makes one result at a time keeps a pair's second number.
  template <class Real, class Make>
  void rounded(const Poisson& p, void* out, std::size_t count, Make make) {
    const auto round = [&](Real z) { return p.template rounded<Math>(z); };
    if constexpr (Lane::quads) {
      pairs<std::uint32_t>(out, count, make, round);
    } else {
      auto& spares = std::get<Spares<Real>>(spares_);
      spares.resize(lanes_.size());
      ones<std::uint32_t>(out, count, [&](Lane& lane) {
        auto& spare = spares[std::size_t(&lane - lanes_.data())];
        if (spare) return round(*std::exchange(spare, std::nullopt));
        const auto pair = make(lane);
        spare = pair.y;
        return round(pair.x);
      });
    }
  }

  std::vector<Lane> lanes_;
  template <class Real>
  using Spares = std::vector<std::optional<Real>>;
  std::tuple<Spares<float>, Spares<double>> spares_;  // of each lane
  std::uint64_t place_ = 0;
};

// Lanes after the first `offset` words of all.
template <class Lane>
std::unique_ptr<Sequence> lanes(const Start& start, std::uint64_t count) {
  // Of lanes with CURAND_ORDERING_PSEUDO_SEEDED, as an H200's numbers show.
  constexpr std::uint64_t seeds_apart = 3133713;
  constexpr std::uint64_t group = Lane::quads ? 4 : 1;
  const std::uint64_t groups = start.offset / group, rounds = groups / count;
  std::vector<Lane> all;
  all.reserve(count);
  Lane lane(start.seed);
  lane.skip(rounds * group);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (start.ordering == Ordering::seeded) {
      lane = Lane(start.seed + i * seeds_apart);
      lane.skip(rounds * group);
    } else if (i) {
      lane.skip_lane();
    }
    all.push_back(lane);
    if (i < groups % count) all.back().skip(group);
  }
  if (start.on_host) return std::make_unique<Lanes<Lane, HostMath>>(std::move(all));
  return std::make_unique<Lanes<Lane, DeviceMath>>(std::move(all));
}

}  // namespace

std::unique_ptr<Sequence> make_pseudo(const Start& start) {
  constexpr std::uint64_t legacy_lanes = 4096, philox_lanes = 65536, mrg_lanes = 81920;
  switch (start.kind) {
    case Kind::xorwow:
      return lanes<Xorwow>(start, legacy_lanes);
    case Kind::philox:
      return lanes<Philox>(start, philox_lanes);
    case Kind::mrg32k3a:
      return lanes<Mrg32k3a>(start, start.ordering == Ordering::legacy ? legacy_lanes : mrg_lanes);
    default:
      return nullptr;
  }
}

}  // namespace inflight::curand
