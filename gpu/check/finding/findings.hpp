// Collects the findings of all detectors: one per mistake and pair of places, with a count.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <tuple>
#include <vector>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/finding/places.hpp"

namespace inflight::check {

// Findings with equal keys are the same. `more` distinguishes those that the places do not.
struct FindingKey {
  FindingKind kind;
  PlaceId here = no_place, there = no_place;
  std::uint64_t more = 0;
  auto operator<=>(const FindingKey&) const = default;
};

// FindingKey::more: whose rule is broken, and in which way.
enum class Rules : std::uint8_t { mbarrier, barrier, standstill, polling, lock_order };
constexpr std::uint64_t key_of(Rules rules, std::uint64_t way = 0) {
  return static_cast<std::uint64_t>(rules) << 32 | way;
}

// What a finding may follow from: a wrong number of bytes or arrivals that an mbarrier expects.
// `block` makes or suffers the consequence.
struct Suspect {
  std::uint64_t launch = 0, block = 0;
  std::uint64_t mbarrier = any;  // its shared offset
  static constexpr std::uint64_t any = ~std::uint64_t{0};
};

class Findings {
 public:
  // Called once for each new finding, on the thread that found it. Calls do not overlap.
  using OnNew = std::function<void(const Finding&)>;
  explicit Findings(OnNew on_new = {}) : on_new_(std::move(on_new)) {}
  // Completes each new finding before it is reported. Set it only before the first finding.
  using Complete = std::function<void(Finding&)>;
  void complete_with(Complete complete) { complete_ = std::move(complete); }

  // Counts an occurrence of `key`. If it is the first, adds the result of make(). No launch ends
  // meanwhile, so make() may describe places and threads of any running launch.
  template <class Make>
  void add(const FindingKey& key, Make&& make) {
    if (again(key)) return;
    const std::shared_lock launches_stay(ending_);
    put(key, make());
  }
  // The same for what may follow from a cause that is found later. It is reported after the cause,
  // or when that can come no more: release().
  template <class Make>
  void add_consequence(const FindingKey& key, const Suspect& of, Make&& make) {
    if (again(key)) return;
    const std::shared_lock launches_stay(ending_);
    hold(key, of, make());
  }
  // Reports the consequences that wait for causes in this launch: those of one block, or all.
  void release(std::uint64_t launch, std::uint64_t block = Suspect::any);
  // Calls end(), which forgets a launch, while no finding is being made.
  template <class End>
  void end_launch(End&& end) {
    const std::unique_lock lock(ending_);
    end();
  }
  std::vector<Finding> all() const;          // in the order found, with their counts
  std::size_t count() const;                 // number of different findings
  bool concern(std::uint64_t launch) const;  // one is by threads of this launch

  // Records that a finding explains why this launch ended, so that no other report is needed.
  void explain(std::uint64_t launch);
  bool explains(std::uint64_t launch) const;

 private:
  bool again(const FindingKey& key);
  void put(const FindingKey& key, Finding finding);
  struct Held {
    FindingKey key;
    Suspect of;
    Finding finding;
  };
  void hold(const FindingKey& key, const Suspect& of, Finding finding);
  void report(const FindingKey& key, Finding finding);
  template <class Which>
  std::vector<Held> take_held(Which which);

  mutable std::mutex mutex_;
  std::mutex reporting_;
  std::shared_mutex ending_;  // shared while a finding is made
  std::map<FindingKey, std::uint64_t> counts_;
  std::vector<std::pair<FindingKey, Finding>> found_;
  std::vector<Held> held_;
  std::atomic<std::size_t> waiting_{0};  // the size of held_
  std::set<std::uint64_t> explained_;
  OnNew on_new_;
  Complete complete_;
};

}  // namespace inflight::check
