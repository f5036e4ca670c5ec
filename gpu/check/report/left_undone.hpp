// Work that the end of a process stopped or dropped, so that not all of it was checked.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace inflight::check {

// Whether all that the program asked for ran to its end. If not, nothing can be said of the rest.
enum class Ran : bool { in_part, whole };

// A sentence for each reason why not all was checked. None: all ran to its end, and what was found
// is there.
using Unchecked = std::vector<std::string>;
inline Ran ran(const Unchecked& unchecked) { return unchecked.empty() ? Ran::whole : Ran::in_part; }

struct LeftUndone {
  std::uint64_t stopped = 0;  // launches that had begun
  std::uint64_t dropped = 0;  // launches, copies and fills that had not
  bool any() const { return stopped != 0 || dropped != 0; }
  LeftUndone& operator+=(const LeftUndone& other);
};

// "1 launch still ran and 2 launches or copies had not begun when the program ended. ..."
std::string to_text(const LeftUndone& left);

}  // namespace inflight::check
