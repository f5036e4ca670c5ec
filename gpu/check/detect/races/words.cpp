// Sentences, remedies and rules, by what conflicts and why.
#include "gpu/check/detect/races/words.hpp"

#include <fmt/format.h>

#include <array>

#include "gpu/check/order/copy_groups.hpp"

namespace inflight::check::races {
namespace {

using shadow::Conflict;
using shadow::Side;
using shadow::Why;

// How a copy's completion is observed.
struct DoerWords {
  std::string_view name;    // of the copy, with its article
  std::string_view wait;    // that its thread waits with, of its writes
  std::string_view commit;  // what makes it one of a group
  std::string_view rule;
};
constexpr std::array<DoerWords, 7> doers = {{
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
}};
const DoerWords& words_of(Doer doer) { return doers[static_cast<std::size_t>(doer)]; }

std::string_view memory(Space space) {
  return space == Space::shared ? "shared memory" : "global memory";
}
std::string_view done_to(bool write) { return write ? "written" : "read"; }

// The wait for a copy of its own thread. ".read" is enough for its source.
std::string wait_of(Doer doer, bool copy_writes, std::uint32_t allowed) {
  const bool read_only = doer == Doer::bulk_copy && !copy_writes;
  return fmt::format("{}{} {}", words_of(doer).wait, read_only ? ".read" : "", allowed);
}

// --- a copy, and an access that comes while it may be in flight

std::string reason(const Conflict& c, Doer copy) {
  switch (c.why) {
    case Why::not_waited:
      return "the thread that issued the copy has not waited for it";
    case Why::not_committed:
      return fmt::format("the copy is in no committed group, so no {} covers it",
                         words_of(copy).wait);
    case Why::allowed_too_many:
      return fmt::format(
          "the thread's last wait let {} group{} stay in flight, and only {} newer one{} than the "
          "copy's {} committed",
          c.allowed, c.allowed == 1 ? "" : "s", c.needed, c.needed == 1 ? "" : "s",
          c.needed == 1 ? "is" : "are");
    case Why::weak_edge:
      return "what tells this thread of its completion is relaxed, or of too small a scope";
    default:
      if (copy == Doer::multiply)
        return "no thread of its warpgroup that has waited for it tells this thread that it is "
               "complete";
      return copy == Doer::transaction
                 ? "this thread has not observed the phase of the mbarrier that the copy completes"
                 : "nothing tells this thread that the copy, which another thread issued, is "
                   "complete";
  }
}

std::string remedy_of(const Conflict& c, Doer copy, bool copy_writes) {
  const bool one = c.needed != order::CopyGroups::all;
  switch (c.why) {
    case Why::not_waited:
      return fmt::format("{} between the copy and this access, in the thread that issued the copy",
                         wait_of(copy, copy_writes, one ? c.needed : 0));
    case Why::not_committed:
      return fmt::format("{} between the copy and the wait", words_of(copy).commit);
    case Why::allowed_too_many:
      return fmt::format("{} instead of {}", wait_of(copy, copy_writes, c.needed), c.allowed);
    case Why::weak_edge:
      return "the operation that publishes the completion has release semantics, the one that "
             "learns of it has acquire semantics, and the scope of both includes both threads";
    default:
      break;
  }
  if (copy == Doer::transaction)
    return "mbarrier.try_wait (acquire) for the phase that the copy completes, before this access: "
           "in this thread, or in one that it meets at a barrier afterwards. If the access is "
           "meant for what was there before the copy: let the issuing thread wait, before the "
           "copy, until this thread is done (an mbarrier on which it arrives behind the access, or "
           "a barrier)";
  if (copy == Doer::multiply)
    return "wgmma.wait_group, with no more groups allowed than are committed behind its own, "
           "before "
           "what frees these bytes: the arrival on the mbarrier for which the writer waits, or a "
           "barrier";
  return fmt::format(
      "{} in the thread that issued the copy, and behind it a barrier (__syncthreads()) before "
      "this "
      "access: only the issuing thread can wait for the copy",
      wait_of(copy, copy_writes, 0));
}

Words in_flight_words(const Conflict& c, const Pair& pair) {
  const Doer copy = pair.earlier;
  const std::string_view name = words_of(copy).name;
  const std::string_view doing = c.earlier.write ? "writing" : "reading";
  std::string use = fmt::format("{} is {}", memory(pair.space), done_to(c.later.write));
  if (is_copy(pair.later))
    use = fmt::format("{} is the {} of {}", memory(pair.space),
                      c.later.write ? "destination" : "source",
                      copy == Doer::multiply ? "a copy" : "another copy");
  if (pair.later == Doer::multiply) use = fmt::format("{} is read by a wgmma", memory(pair.space));
  return {fmt::format("{} while {} may still be {} it: {}", use, name, doing, reason(c, copy)),
          remedy_of(c, copy, c.earlier.write), std::string(words_of(copy).rule)};
}

// A copy begins while another thread may still access its bytes.
Words too_early_words(const Conflict& c, const Pair& pair) {
  const Doer copy = pair.later;
  const std::string_view end = c.later.write ? "writes to" : "reads from";
  const std::string_view weak =
      c.why == Why::weak_edge ? ": what leads there is relaxed, or of too small a scope" : "";
  return {fmt::format("{} {} {} that another thread {}, and nothing orders that before the copy{}",
                      words_of(copy).name, end, memory(pair.space),
                      c.earlier.write ? "writes" : "reads", weak),
          fmt::format("a barrier (__syncthreads(), or an mbarrier on which that thread arrives and "
                      "for which the issuing thread waits) between that {} and the copy",
                      c.earlier.write ? "write" : "read"),
          std::string(words_of(copy).rule)};
}

// Copies of lanes, by one instruction, to the same bytes.
Words at_once_words() {
  return {
      "two lanes of a warp copy to the same bytes of shared memory by one instruction, each from "
      "another place: which of the two stays there is not determined",
      "look at how the destination follows from the thread's number: a lane's step has to be at "
      "least the size of its copy; or let one of the two copy",
      std::string(words_of(Doer::group_copy).rule)};
}

// --- threads, kernels and the host

Words at_once_words(Space space) {
  return {fmt::format("lanes of a warp write different values to one address of {} by one "
                      "instruction: which of them stays there is not determined",
                      memory(space)),
          "let one lane write (if (lane == 0)), all the same value, or each to an address of its "
          "own; an atomic where any value is right",
          "CUDA Programming Guide, SIMT Architecture: a non-atomic instruction of a warp that "
          "writes to one location for several threads"};
}

// What is in one stream comes one after the other, but for kernels that begin early and the nodes
// of a graph.
bool overlap(const Pair& pair) { return !pair.same_launch && pair.dependent; }
bool nested(const Pair& pair) { return !pair.same_launch && pair.nested; }
bool branches(const Pair& pair) {
  return !pair.same_launch && pair.same_stream && !pair.dependent && !nested(pair);
}

// The one is atomic, the other plain: they may be meant to come in either order.
bool one_is_strong(const Conflict& c) { return c.earlier.strong != c.later.strong; }
bool both_are_strong(const Conflict& c) { return c.earlier.strong && c.later.strong; }

std::string_view race_remedy(const Conflict& c, const Pair& pair) {
  if (overlap(pair))
    return "griddepcontrol.wait (cudaGridDependencySynchronize()) in the kernel that begins early, "
           "before this access: in this thread, or in one that it meets at a barrier afterwards";
  if (nested(pair))
    return "one stream of the grid for the two, an event of the one stream for which the other "
           "waits, "
           "or cudaStreamTailLaunch for what is to come after the grid and all that it has "
           "launched; "
           "where a launch is to come after what other threads do, a barrier before it";
  if (branches(pair))
    return "an edge between the two nodes of the graph, or between nodes on the way; in a capture, "
           "an event of the one stream for which the other waits (cudaEventRecord, "
           "cudaStreamWaitEvent)";
  if (pair.earlier == Doer::host || pair.later == Doer::host || !pair.same_launch)
    return "put the two into one stream, let one stream wait for an event of the other "
           "(cudaEventRecord, cudaStreamWaitEvent), or synchronise between them";
  if (c.why == Why::weak_edge && pair.same_cluster && !pair.same_block &&
      pair.space == Space::shared)
    return "barrier.cluster.arrive with release semantics, which it has without .relaxed, and "
           "barrier.cluster.wait with acquire semantics; or, around an mbarrier or a flag, "
           ".release and .acquire with a scope of .cluster at least";
  if (c.why == Why::weak_edge)
    return "release semantics for the operation that publishes (st.release, a fence such as "
           "__threadfence() before it), acquire semantics for the one that observes it "
           "(ld.acquire, "
           "a fence after it), and a scope for both that includes both threads";
  if (both_are_strong(c))
    return "atomic accesses of the same bytes on both sides, each with a scope that includes both "
           "threads; else an order between the two";
  if (pair.ended)
    return "let the thread that has ended execute the barrier too, behind its access: who ends "
           "lets "
           "a barrier go, and orders nothing there";
  if (pair.same_warp)
    return "__syncwarp() between the two: lanes of a warp need not run in step; __syncthreads() "
           "where other warps touch these bytes, too";
  if (pair.same_block)
    return one_is_strong(c)
               ? "a barrier (__syncthreads()) between the two, or, if they may come in either "
                 "order, an atomic access in place of the plain one (cuda::atomic_ref, volatile)"
               : "a barrier (__syncthreads()) between the two";
  if (pair.same_cluster)
    return "a cluster barrier between the two (barrier.cluster.arrive.release and "
           "barrier.cluster.wait.acquire; cluster.sync())";
  if (one_is_strong(c))
    return "an atomic access in place of the plain one (cuda::atomic_ref, volatile) if the two may "
           "come in either order; else publish the one with a release of gpu scope and acquire it "
           "before the other (__threadfence() on both sides of an atomic flag), a grid barrier, or "
           "two launches";
  return "publish the one with a release of gpu scope and acquire it before the other "
         "(cuda::atomic_"
         "ref, or __threadfence() on both sides of an atomic flag), a grid barrier, or two "
         "launches";
}

// Of which at least one is a copy or the like.
std::string in_two_streams(const Pair& pair) {
  if (pair.earlier != pair.later)
    return fmt::format("a kernel and {} in another stream",
                       pair.earlier == Doer::host ? pair.earlier_work : pair.later_work);
  if (pair.earlier_work == a_copy && pair.later_work == a_copy) return "two copies in two streams";
  return fmt::format("{} and {} in another stream", pair.earlier_work, pair.later_work);
}

Words race_words(const Conflict& c, const Pair& pair) {
  const bool host = pair.earlier == Doer::host || pair.later == Doer::host;
  const std::string of_streams = host ? in_two_streams(pair) : "";
  const std::string_view who =
      nested(pair)     ? "two launches, of which a kernel has made one or both,"
      : branches(pair) ? "two nodes of a graph"
      : host           ? std::string_view(of_streams)
      : overlap(pair)
          ? "a kernel that begins before the one in front of it has ended, and that one,"
      : !pair.same_launch ? "two kernels"
      : pair.same_warp    ? "two lanes of a warp"
      : pair.same_block   ? "two threads of a block"
      : pair.same_cluster ? "two blocks of a cluster"
                          : "two blocks";
  const bool both = c.earlier.write && c.later.write;
  const std::string_view how = both ? "both write" : "read and write";
  const std::string_view weak =
      c.why == Why::weak_edge
          ? ": what leads from the one to the other is relaxed, or of too small a scope"
      : both_are_strong(c)
          ? ": both are strong, but not of the same bytes, or one's scope leaves the other out"
      : pair.ended
          ? ": one has ended without arriving at the barrier behind which the other goes on"
          : "";
  return {fmt::format("{} {} the same {}, and nothing orders the two{}", who, how,
                      memory(pair.space), weak),
          std::string(race_remedy(c, pair)),
          overlap(pair) ? "PTX ISA, griddepcontrol"
          : nested(pair)
              ? "CUDA Programming Guide, CUDA Dynamic Parallelism: Memory Consistency"
              : std::string(words_of(host || !pair.same_launch ? Doer::host : Doer::thread).rule)};
}

bool of_program(const Pair& pair) {
  return pair.earlier == Doer::program || pair.later == Doer::program;
}

// The program's own code, and what it has put into a stream.
Words program_words(const Conflict& c, const Pair& pair) {
  const bool first = pair.earlier == Doer::program;
  const Side &host = first ? c.earlier : c.later, &other = first ? c.later : c.earlier;
  const bool copy = (first ? pair.later : pair.earlier) == Doer::host;
  const std::string_view what = copy ? "copy" : "kernel";
  return {fmt::format("the host {} memory that a {} may still be {}: it has not waited for the {}",
                      host.write ? "writes" : "reads", copy ? "copy in a stream" : "kernel",
                      other.write ? "writing" : "reading", what),
          fmt::format("cudaStreamSynchronize() for the {0}'s stream, cudaEventSynchronize() for an "
                      "event recorded behind the {0}, or cudaDeviceSynchronize(), before this "
                      "access of the host{1}",
                      what,
                      copy ? ""
                           : "; a flag that the host and a running kernel share needs accesses of "
                             "system scope in the kernel (volatile, or cuda::atomic_ref with "
                             "cuda::thread_scope_system)"),
          std::string(words_of(Doer::program).rule)};
}

Words fence_words(const Conflict& c, const Pair& pair) {
  const bool shared = pair.space == Space::shared;
  return {
      fmt::format("{} {} {} that was written through the generic proxy, and no proxy fence lies "
                  "between",
                  words_of(pair.later).name, c.later.write ? "writes to" : "reads from",
                  memory(pair.space)),
      fmt::format("fence.proxy.async.{} in each thread that wrote these bytes, after its writes "
                  "and before the barrier behind which the copy is issued",
                  shared ? "shared::cta" : "global"),
      "PTX ISA, Memory Consistency Model: Proxies; fence.proxy.async"};
}

Words lifetime_words(const Pair& pair) {
  return {pair.ends
              ? "memory is released in the order of one stream, and nothing orders its use in "
                "another before that"
              : "memory is allocated in the order of one stream, and used in another that "
                "nothing orders behind that",
          "let the stream that comes later wait for an event of the other (cudaEventRecord, "
          "cudaStreamWaitEvent), or use one stream for both",
          "CUDA Programming Guide, Stream-Ordered Memory Allocator"};
}

Words mbarrier_words() {
  return {
      "the bytes of an mbarrier are initialised or invalidated while another access to them is "
      "not ordered before or after it",
      "mbarrier.init by one thread, then a barrier before any other use of these bytes; "
      "mbarrier.inval behind a barrier after their last use as an mbarrier",
      "PTX ISA, mbarrier.init and mbarrier.inval"};
}

}  // namespace

Doer doer_of(order::Row row, bool host) {
  if (host) return Doer::host;
  switch (order::local_row(row) >> order::warp_bits) {
    case 0:
      return Doer::thread;
    case 1:
      return Doer::group_copy;
    case 2:
    case 3:
      return Doer::bulk_copy;
    case 4:
      return Doer::multiply;
    default:
      return Doer::transaction;
  }
}

FindingKind kind_of(const Conflict& c, const Pair& pair) {
  if (pair.of_mbarrier) return FindingKind::barrier_misuse;
  if (pair.ends) return FindingKind::use_after_free;
  if (c.why == Why::proxy_fence) return FindingKind::missing_proxy_fence;
  // A multiplication only reads.
  if (pair.earlier == Doer::multiply && c.later.write)
    return FindingKind::source_modified_in_flight;
  // A copy in a stream has its own kinds where the program's code meets it; what a kernel does
  // itself or by its copies is the kernel's.
  const bool of_host = of_program(pair);
  const auto copies = [&](Doer doer) { return of_host ? doer == Doer::host : is_copy(doer); };
  const bool earlier = copies(pair.earlier), later = copies(pair.later);
  if (!earlier && !later) return FindingKind::data_race;
  // Of two copies the first is the one in flight.
  if (earlier && later && !c.earlier.write) return FindingKind::source_modified_in_flight;
  // Whichever came first here: the kind is that of the pair.
  if ((earlier && c.earlier.write) || (later && c.later.write))
    return c.earlier.write && c.later.write ? FindingKind::write_while_in_flight
                                            : FindingKind::read_before_wait;
  return FindingKind::source_modified_in_flight;
}

Words words_of(const Conflict& c, const Pair& pair) {
  if (pair.of_mbarrier) return mbarrier_words();
  if (pair.begins || pair.ends) return lifetime_words(pair);
  if (of_program(pair)) return program_words(c, pair);
  if (c.why == Why::proxy_fence) return fence_words(c, pair);
  if (c.why == Why::at_once)
    return pair.earlier == Doer::thread ? at_once_words(pair.space) : at_once_words();
  if (is_copy(pair.earlier)) return in_flight_words(c, pair);
  if (is_copy(pair.later)) return too_early_words(c, pair);
  return race_words(c, pair);
}

bool is_map_use(const Side& side, std::string_view instruction) {
  return !side.write && !side.async && doer_of(side.row, false) == Doer::thread &&
         instruction.find(".tensor") != std::string_view::npos;
}

std::string did(const Side& side, Doer doer, std::string_view instruction) {
  if (doer == Doer::thread && is_map_use(side, instruction)) return "uses this tensor map";
  if (is_copy(doer))
    return fmt::format("{} {} these bytes", words_of(doer).name, side.write ? "writes" : "reads");
  return fmt::format("{}{} these bytes", side.write ? "writes" : "reads",
                     side.strong ? " (strong)" : "");
}

}  // namespace inflight::check::races
