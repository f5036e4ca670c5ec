// A line on the terminal for launches that take longer than two seconds.
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

#include "gpu/machine/config/options.hpp"

namespace inflight::machine {

class ProgressLine {
 public:
  explicit ProgressLine(const Options& options);
  ~ProgressLine();  // clears the line
  void show(std::string_view kernel, std::chrono::nanoseconds elapsed, std::uint64_t done,
            std::uint64_t total);

 private:
  bool enabled_, shown_ = false;
  std::chrono::nanoseconds next_{std::chrono::seconds{2}};
};

}  // namespace inflight::machine
