// Objects that programs have destroyed while threads may still use them.
#pragma once
#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace inflight::cuda {

// Keeps objects that something still holds, and the last ones in any case, since a call in another
// thread may just have found one.
template <class T>
class Retired {
 public:
  // `held`: says whether something holds the object otherwise than by a shared_ptr to it.
  explicit Retired(bool (*held)(const T&)) : held_(held) {}

  void add(std::shared_ptr<T> object) {
    std::vector<std::shared_ptr<T>> unused;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    objects_.push_back(std::move(object));
    for (int looks = 2; looks > 0 && objects_.size() > last; --looks) {
      std::shared_ptr<T> oldest = std::move(objects_.front());
      objects_.pop_front();
      const bool is_held = oldest.use_count() > 1 || held_(*oldest);
      if (is_held)
        objects_.push_back(std::move(oldest));
      else
        unused.push_back(std::move(oldest));
    }
  }
  bool contains(const void* handle) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(objects_, [&](const auto& each) { return each.get() == handle; });
  }

 private:
  static constexpr std::size_t last = 64;
  bool (*const held_)(const T&);
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<T>> objects_;
};

}  // namespace inflight::cuda
