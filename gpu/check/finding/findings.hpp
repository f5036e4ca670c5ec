// Where detectors bring what they find: each mistake at each pair of places once, with a count.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/finding/places.hpp"

namespace inflight::check {

// What makes two findings the same. `more` distinguishes what the places do not.
struct FindingKey {
  FindingKind kind;
  PlaceId here = no_place, there = no_place;
  std::uint64_t more = 0;
  auto operator<=>(const FindingKey&) const = default;
};

class Findings {
 public:
  // Called once for each new finding, one at a time, on the thread that found it.
  using OnNew = std::function<void(const Finding&)>;
  explicit Findings(OnNew on_new = {}) : on_new_(std::move(on_new)) {}
  // Adds what detectors leave out, before anybody is notified of the finding. Before the first
  // only.
  using Complete = std::function<void(Finding&)>;
  void complete_with(Complete complete) { complete_ = std::move(complete); }

  // Counts one more of `key`; if it is the first, adds what make() gives. make() is called without
  // a lock, so it may ask the program's names.
  template <class Make>
  void add(const FindingKey& key, Make&& make) {
    if (again(key)) return;
    put(key, make());
  }
  std::vector<Finding> all() const;  // in the order in which they were found, with their counts
  std::size_t count() const;         // different ones

  // A finding says what ended this launch: nobody else need say it.
  void explain(std::uint64_t launch);
  bool explains(std::uint64_t launch) const;

 private:
  bool again(const FindingKey& key);
  void put(const FindingKey& key, Finding finding);

  mutable std::mutex mutex_;
  std::mutex reporting_;
  std::map<FindingKey, std::uint64_t> counts_;
  std::vector<std::pair<FindingKey, Finding>> found_;
  std::set<std::uint64_t> explained_;
  OnNew on_new_;
  Complete complete_;
};

}  // namespace inflight::check
