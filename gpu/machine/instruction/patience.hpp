// Whether somebody still wants what is being prepared.
#pragma once
#include <functional>

namespace inflight::machine {

// Thrown by what prepares a function for a launch that is to end, and caught by that launch.
struct Unwanted {};

class Patience {
 public:
  Patience() = default;  // endless
  explicit Patience(std::function<bool()> is_over) : is_over_(std::move(is_over)) {}
  // Throws Unwanted if it is over. Called every some milliseconds.
  void look() const {
    if (is_over_ && is_over_()) throw Unwanted();
  }

 private:
  std::function<bool()> is_over_;
};

}  // namespace inflight::machine
