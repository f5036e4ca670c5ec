// How the two sides of a conflict do synchronise, though not so that it orders them.
#pragma once
#include <cstdint>
#include <string>

#include "gpu/check/finding/places.hpp"
#include "gpu/check/shadow/conflict.hpp"

namespace inflight::check::races {

struct Block;

struct Meeting {
  enum class How : std::uint8_t {
    unknown,
    other_lane,     // the later side knows what another lane of the earlier's warp did afterwards
    other_thread,   // the same of another thread of its block
    arrives_after,  // the earlier thread then arrives at an mbarrier; the later has not seen that
    refills,        // the same, and the later side has waited there before, but never arrives where
                    // the earlier thread waits
    arrives_first,  // the later side has seen an arrival that the earlier thread made before
    one_way,        // both use mbarriers, and the earlier thread does not arrive at any
  };
  How how = How::unknown;
  std::string thread;          // the other lane or thread: "thread (0,0,0) of block (1,0,0)"
  std::string at;              // the line of its operation, or of the arrival; empty: unknown
  std::string earlier, later;  // the lines of the two accesses
  bool later_first = false;    // other_lane, other_thread: it is the later side's
};

// `block`, `by`: the later side's. Both sides are threads of one launch.
Meeting meeting_of(const Block& block, const Who& by, const shadow::Conflict& conflict,
                   Places& places);

// How far the thread that issued a copy of a group has waited for it.
struct IssuerWait {
  enum class How : std::uint8_t { unknown, not_committed, not_waited, allowed_too_many, waited };
  How how = How::unknown;
  std::uint32_t allowed = 0, needed = 0;  // groups
};
IssuerWait issuer_wait_of(const Block& block, const shadow::Conflict& conflict);

}  // namespace inflight::check::races
