// What is said of a conflict: its kind, and in one sentence what is wrong, what would mend it, and
// which rule it breaks.
#pragma once
#include <string>
#include <string_view>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/shadow/conflict.hpp"

namespace inflight::check::races {

// What performs one side of it.
enum class Doer : std::uint8_t {
  thread,
  host,     // a copy or fill of the host's, or in a stream
  program,  // the program's own code on the host
  group_copy,
  bulk_copy,
  transaction,
  multiply
};
constexpr bool is_copy(Doer doer) { return doer >= Doer::group_copy; }
Doer doer_of(order::Row row, bool host);

// Calls whose places stand for the beginning and the end of memory in a stream's order.
inline constexpr std::string_view ordered_allocation = "cudaMallocAsync";
inline constexpr std::string_view ordered_release = "cudaFreeAsync";

// What the host puts into a stream.
inline constexpr std::string_view a_copy = "a copy", a_fill = "a fill",
                                  of_library = "a library's work";

struct Pair {
  Doer earlier = Doer::thread, later = Doer::thread;
  Space space = Space::global;
  bool same_stream = false;  // two kernels, or one and a copy
  bool dependent = false;    // of which one may begin before the one in front has ended
  bool nested = false;       // of which a kernel has launched one
  bool same_launch = true, same_block = true, same_cluster = true, same_warp = true;
  bool ended = false;  // the earlier one's thread, with no barrier behind what it did
  bool of_mbarrier = false;
  bool begins = false, ends = false;                            // one of the two is such a call
  std::string_view earlier_work = a_copy, later_work = a_copy;  // of the host's
};

FindingKind kind_of(const shadow::Conflict& conflict, const Pair& pair);

struct Words {
  std::string sentence, remedy, rule;
};
Words words_of(const shadow::Conflict& conflict, const Pair& pair);
// "reads 4 bytes"
std::string did(const shadow::Side& side, Doer doer, std::string_view instruction);
// The thread reads the tensor map of the copy that it issues.
bool is_map_use(const shadow::Side& side, std::string_view instruction);

}  // namespace inflight::check::races
