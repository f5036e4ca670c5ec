// Chooses the kind of a conflict and the function that writes its text.
#include "gpu/check/detect/races/words.hpp"

#include <fmt/format.h>

#include <array>

#include "gpu/check/detect/races/pair_words.hpp"

namespace inflight::check::races {

using shadow::Conflict;
using shadow::Side;
using shadow::Why;

namespace {

constexpr std::array<InitiatorWords, 8> initiators = {{
    {"a thread", "", "", "PTX ISA, Memory Consistency Model: Causality Order"},
    {"the host", "", "", "CUDA Programming Guide, Asynchronous Concurrent Execution: Streams"},
    {"the host", "", "",
     "CUDA Programming Guide, Asynchronous Concurrent Execution: Explicit Synchronization"},
    {"a cp.async copy", "cp.async.wait_group", "cp.async.commit_group",
     "PTX ISA, cp.async.wait_group"},
    {"a bulk copy", "cp.async.bulk.wait_group", "cp.async.bulk.commit_group",
     "PTX ISA, cp.async.bulk.wait_group"},
    {"a copy that completes on an mbarrier", "mbarrier.try_wait", "",
     "PTX ISA, mbarrier: Tracking asynchronous operations by the mbarrier object"},
    {"a wgmma", "wgmma.wait_group", "wgmma.commit_group", "PTX ISA, wgmma.wait_group"},
    {"a tcgen05.mma or cp", "mbarrier.try_wait", "tcgen05.commit", "PTX ISA, tcgen05.commit"},
}};

}  // namespace

const InitiatorWords& words_of(Initiator initiator) {
  return initiators[static_cast<std::size_t>(initiator)];
}

std::string_view memory(Space space) {
  if (space == Space::constant) return "constant memory";
  return space == Space::shared ? "shared memory" : "global memory";
}

Initiator initiator_of(order::Row row, bool host) {
  if (host) return Initiator::host;
  switch (order::local_row(row) >> order::warp_bits) {
    case 0:
      return Initiator::thread;
    case 1:
      return Initiator::group_copy;
    case 2:
    case 3:
      return Initiator::bulk_copy;
    case 4:
      return Initiator::multiply;
    case 5:
      return Initiator::tensor_work;
    default:
      return Initiator::transaction;
  }
}

FindingKind kind_of(const Conflict& c, const Pair& pair) {
  if (pair.of_mbarrier) return FindingKind::barrier_misuse;
  if (c.excuse != shadow::Excuse::none) return warning_of(c.excuse);
  if (pair.ends) return FindingKind::use_after_free;
  if (c.why == Why::proxy_fence || c.why == Why::by_texture)
    return FindingKind::missing_proxy_fence;
  // A multiplication only reads.
  if (only_reads(pair.earlier) && c.later.write) return FindingKind::source_modified_in_flight;
  // Against the program's code on the host, only a copy in a stream counts as a copy: a kernel's
  // own copies then count as accesses of the kernel.
  const bool of_host = of_program(pair);
  const auto copies = [&](Initiator initiator) {
    return of_host ? initiator == Initiator::host : is_copy(initiator);
  };
  const bool earlier = copies(pair.earlier), later = copies(pair.later);
  if (!earlier && !later) return FindingKind::data_race;
  // Of two copies, the earlier is the one in flight.
  if (earlier && later && !c.earlier.write) return FindingKind::source_modified_in_flight;
  // The kind does not depend on which came first in this run.
  if ((earlier && c.earlier.write) || (later && c.later.write))
    return c.earlier.write && c.later.write ? FindingKind::write_while_in_flight
                                            : FindingKind::read_before_wait;
  return FindingKind::source_modified_in_flight;
}

Words words_of(const Conflict& c, const Pair& pair) {
  if (pair.of_mbarrier) return mbarrier_words();
  if (c.excuse != shadow::Excuse::none) return warning_words(c, pair);
  if (pair.begins || pair.ends) return lifetime_words(pair);
  if (of_program(pair)) return program_words(c, pair);
  if (c.why == Why::proxy_fence) return fence_words(c, pair);
  if (c.why == Why::by_texture)
    return pair.cached == CachedRead::constant ? constant_words() : texture_words();
  if (c.why == Why::at_once)
    return pair.earlier == Initiator::thread ? at_once_words(pair.space) : at_once_words();
  if (is_copy(pair.earlier)) return in_flight_words(c, pair);
  if (is_copy(pair.later)) return too_early_words(c, pair);
  return race_words(c, pair);
}

bool is_map_use(const Side& side, const CodePlace& place) {
  return !side.write && !side.async && initiator_of(side.row, false) == Initiator::thread &&
         place.act.uses_map;
}

std::string did(const Side& side, Initiator initiator, const CodePlace& place) {
  if (initiator == Initiator::thread && is_map_use(side, place)) return "uses this tensor map";
  if (is_copy(initiator))
    return fmt::format("{} {} these bytes", words_of(initiator).name,
                       side.write ? "writes" : "reads");
  return fmt::format("{}{} these bytes", side.write ? "writes" : "reads",
                     side.strong ? " (strong)" : "");
}

}  // namespace inflight::check::races
