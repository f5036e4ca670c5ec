// The text of a finding about a conflict: its kind, a sentence on what is wrong, how to fix it, and
// the rule that it breaks.
#pragma once
#include <string>
#include <string_view>

#include "gpu/check/detect/races/meeting.hpp"
#include "gpu/check/finding/finding.hpp"
#include "gpu/check/shadow/conflict.hpp"

namespace inflight::check::races {

// What performs one side of a conflict.
enum class Initiator : std::uint8_t {
  thread,
  host,     // a copy or fill by the host or in a stream
  program,  // the program's own code on the host
  group_copy,
  bulk_copy,
  transaction,
  multiply,
  tensor_work
};
constexpr bool is_copy(Initiator initiator) { return initiator >= Initiator::group_copy; }
// wgmma, tcgen05.mma and cp only read.
constexpr bool only_reads(Initiator initiator) { return initiator >= Initiator::multiply; }
Initiator initiator_of(order::Row row, bool host);

// Calls whose places stand for a stream-ordered allocation and release.
inline constexpr std::string_view ordered_allocation = "cudaMallocAsync";
inline constexpr std::string_view ordered_release = "cudaFreeAsync";
inline constexpr std::string_view host_release = "cudaFree";  // of memory of a pool

// Work that the host puts into a stream.
inline constexpr std::string_view a_copy = "a copy", a_fill = "a fill",
                                  of_library = "a library's work";

// The cache through which a load reads that need not observe writes of its own launch.
enum class CachedRead : std::uint8_t { none, constant, texture };

struct Pair {
  Initiator earlier = Initiator::thread, later = Initiator::thread;
  Space space = Space::global;
  bool same_stream = false;  // two kernels, or a kernel and a copy, in one stream
  bool dependent = false;    // one of them may begin before the preceding kernel has ended
  bool nested = false;       // a kernel has launched one of them
  bool same_launch = true, same_block = true, same_cluster = true, same_warp = true;
  bool ended = false;  // the earlier thread exited without a barrier after its access
  bool of_mbarrier = false;
  bool begins = false, ends = false;  // one of the two is a stream-ordered allocation, a release
  std::string_view earlier_work = a_copy, later_work = a_copy;  // for sides of the host
  CachedRead cached = CachedRead::none;                         // one of the two sides
  Meeting meeting;                                              // of threads of one launch
  IssuerWait issuer;  // of the earlier side, a copy of another thread's group
  // The earlier side is a copy, and a phase of its mbarrier was complete without it.
  bool passed_by = false;
};

FindingKind kind_of(const shadow::Conflict& conflict, const Pair& pair);

struct Words {
  std::string sentence, remedy, rule;
};
Words words_of(const shadow::Conflict& conflict, const Pair& pair);
// "reads 4 bytes"
std::string did(const shadow::Side& side, Initiator initiator, const CodePlace& place);
// Whether this side is the read of the tensor map by the thread that issues its copy.
bool is_map_use(const shadow::Side& side, const CodePlace& place);

}  // namespace inflight::check::races
