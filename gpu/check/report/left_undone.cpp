// Says what was not checked.
#include "gpu/check/report/left_undone.hpp"

#include <fmt/format.h>

namespace inflight::check {

LeftUndone& LeftUndone::operator+=(const LeftUndone& other) {
  stopped += other.stopped;
  dropped += other.dropped;
  return *this;
}

std::string to_text(const LeftUndone& left) {
  std::string text;
  if (left.stopped != 0)
    text = fmt::format("{} still ran",
                       left.stopped == 1 ? "1 launch" : fmt::format("{} launches", left.stopped));
  if (left.dropped != 0)
    text += fmt::format("{}{} had not begun", text.empty() ? "" : " and ",
                        left.dropped == 1 ? "1 launch or copy"
                                          : fmt::format("{} launches or copies", left.dropped));
  return text +
         " when the program ended. What it does not wait for is not checked to its end: "
         "cudaDeviceSynchronize() waits for all.";
}

}  // namespace inflight::check
