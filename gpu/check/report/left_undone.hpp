// Work that the end of a process stopped or dropped, so that not all of it was checked.
#pragma once
#include <cstdint>
#include <string>

namespace inflight::check {

// Whether all that the program asked for ran to its end. If not, nothing can be said of the rest.
enum class Ran : bool { in_part, whole };

struct LeftUndone {
  std::uint64_t stopped = 0;  // launches that had begun
  std::uint64_t dropped = 0;  // launches, copies and fills that had not
  bool any() const { return stopped != 0 || dropped != 0; }
  LeftUndone& operator+=(const LeftUndone& other);
};

// "1 launch still ran and 2 launches or copies had not begun when the program ended. ..."
std::string to_text(const LeftUndone& left);

}  // namespace inflight::check
