// Storage for operations in flight: taken at issue, given back at completion, allocated in chunks.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace inflight::async {

template <class T, std::size_t chunk>
class Pool {
 public:
  // Returns an object in the state in which its last user left it.
  T* take() {
    if (free_.empty()) refill();
    T* const taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give_back(T* taken) { free_.push_back(taken); }

 private:
  void refill() {
    chunks_.push_back(std::make_unique<T[]>(chunk));
    for (std::size_t i = chunk; i-- > 0;) free_.push_back(&chunks_.back()[i]);
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<T*> free_;
};

}  // namespace inflight::async
