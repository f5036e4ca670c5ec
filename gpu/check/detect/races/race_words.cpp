// Texts for threads, kernels and the host that access the same bytes.
#include <fmt/format.h>

#include "gpu/check/detect/races/pair_words.hpp"

namespace inflight::check::races {

using shadow::Conflict;
using shadow::Side;
using shadow::Why;

namespace {

// The work of one stream runs in order, except kernels that begin early (overlap), launches by
// kernels (nested) and nodes of a graph (branches).
bool overlap(const Pair& pair) { return !pair.same_launch && pair.dependent; }
bool nested(const Pair& pair) { return !pair.same_launch && pair.nested; }
bool branches(const Pair& pair) {
  return !pair.same_launch && pair.same_stream && !pair.dependent && !nested(pair);
}

// One is atomic and the other plain, so that either order may be intended.
bool one_is_strong(const Conflict& c) { return c.earlier.strong != c.later.strong; }
bool both_are_strong(const Conflict& c) { return c.earlier.strong && c.later.strong; }

// A running kernel hands over to another by flags: it is those that must be stronger, because in
// one stream one of the two would wait for ever.
bool is_weak_handover(const Conflict& c, const Pair& pair) {
  return c.why == Why::weak_edge && pair.earlier == Initiator::thread &&
         pair.later == Initiator::thread;
}

// A kernel reads by a strong access what a copy in a stream writes.
bool polls_for_host(const Conflict& c, const Pair& pair) {
  const auto reads = [](const Side& side, Initiator by) {
    return by == Initiator::thread && side.strong && !side.write;
  };
  return (pair.earlier == Initiator::host && c.earlier.write && reads(c.later, pair.later)) ||
         (pair.later == Initiator::host && c.later.write && reads(c.earlier, pair.earlier));
}

// Threads that synchronise, though not so that it orders the two.
std::string meeting_remedy(const Conflict& c, const Pair& pair) {
  using How = Meeting::How;
  const Meeting& m = pair.meeting;
  const bool write = m.later_first ? c.later.write : c.earlier.write;
  const std::string_view did = write ? "write" : "read";
  const std::string access = fmt::format("the {} at {}", did, m.later_first ? m.later : m.earlier);
  const std::string what = m.at.empty() ? fmt::format("what {} then publishes", m.thread)
                                        : fmt::format("the arrival of {} at {}", m.thread, m.at);
  switch (m.how) {
    case How::other_lane:
      return fmt::format(
          "__syncwarp() between {} and {}: the other side is synchronised with that lane of the "
          "warp, and not with the one that made the {}; or let every lane arrive, and raise the "
          "count",
          access, what, did);
    case How::other_thread:
      return fmt::format(
          "a barrier (__syncthreads(), or bar.sync for the warps concerned) between {} and {}: the "
          "other side is synchronised with that thread, and not with the one that made the {}; or "
          "let that one arrive too, and raise the count",
          access, what, did);
    case How::arrives_after:
      return fmt::format(
          "wait for the phase of the mbarrier at which that thread arrives behind {} ({}), before "
          "the {} at {}{}",
          access, m.at, c.later.write ? "write" : "read", m.later,
          c.earlier.write && !c.later.write
              ? "; or, if this reads what was there before, let that thread wait before it writes, "
                "for an mbarrier at which the readers arrive"
              : "");
    case How::refills:
      return fmt::format(
          "let the thread wait before {} for an mbarrier at which the readers arrive after the "
          "read at {}: nothing tells it that they are done; or, if this reads the new bytes, wait "
          "before it for the phase at which that thread arrives behind the write ({})",
          access, m.later, m.at);
    case How::arrives_first:
      return fmt::format(
          "move the arrival at {} behind {}: it publishes only what its thread did before", m.at,
          access);
    case How::one_way:
      return fmt::format(
          "an mbarrier at which the thread arrives after {}, and for which the other waits before "
          "the {} at {}; or, where all threads of the block come by, {} between the two",
          access, c.later.write ? "write" : "read", m.later, block_barrier);
    default:
      return {};
  }
}

// What an order between the two sides does not mend.
std::string cached_remedy(const Pair& pair) {
  if (pair.cached == CachedRead::none || !pair.same_launch) return {};
  return fmt::format(
      "; if the read is to see the write, an order within the kernel is not enough: "
      "{}",
      pair.cached == CachedRead::constant ? constant_words().remedy : texture_words().remedy);
}

}  // namespace

std::string race_remedy(const Conflict& c, const Pair& pair) {
  if (polls_for_host(c, pair))
    return "if the kernel polls these bytes until they change, leave the copy in its own stream "
           "and write the flag by an operation that is strong: cuStreamWriteValue32, or a store by "
           "the host to pinned memory (cudaHostAlloc) that the kernel polls; if it is to find the "
           "bytes in place when it begins, put the copy into its stream before it";
  if (const auto remedy = launches_remedy(pair); !remedy.empty() && !is_weak_handover(c, pair))
    return std::string(remedy);
  if (c.why == Why::weak_edge && pair.same_cluster && !pair.same_block &&
      pair.space == Space::shared)
    return "barrier.cluster.arrive with release semantics, which it has without .relaxed, and "
           "barrier.cluster.wait with acquire semantics; or, for an mbarrier or a flag, .release "
           "and .acquire with a scope of at least .cluster";
  if (c.why == Why::weak_edge)
    return "release semantics for the operation that publishes (st.release, a fence such as "
           "__threadfence() before it), acquire semantics for the one that observes it "
           "(ld.acquire, "
           "a fence after it), and a scope for both that includes both threads";
  if (both_are_strong(c))
    return "atomic accesses of the same bytes on both sides, each with a scope that includes both "
           "threads; or order the two";
  if (pair.ended)
    return "let the exited thread execute the barrier after its access: an exited thread does not "
           "block a barrier, but its accesses are not ordered by it";
  if (pair.same_warp)
    return "__syncwarp() between the two: lanes of a warp need not run in lockstep; "
           "__syncthreads() if other warps access these bytes too";
  if (const auto remedy = meeting_remedy(c, pair); !remedy.empty()) return remedy;
  if (pair.same_block && one_is_strong(c))
    return fmt::format(
        "{} between the two, or, if either order is correct, an atomic access in place of the "
        "plain one (cuda::atomic_ref, volatile)",
        block_barrier);
  if (pair.same_block) return fmt::format("{} between the two", block_barrier);
  if (pair.same_cluster)
    return fmt::format("a cluster barrier between the two {}", cluster_barrier);
  const auto publish = [](std::string_view means) {
    return fmt::format(
        "publish one with a release of gpu scope and acquire it before the other {}, or use a grid "
        "barrier or two launches",
        means);
  };
  if (one_is_strong(c))
    return "an atomic access in place of the plain one (cuda::atomic_ref, volatile) if either "
           "order is correct; otherwise " +
           publish("(__threadfence() on both sides of an atomic flag)");
  return publish(gpu_release);
}

namespace {

std::string_view launches_rule(const Pair& pair) {
  if (overlap(pair)) return "PTX ISA, griddepcontrol";
  if (nested(pair)) return "CUDA Programming Guide, CUDA Dynamic Parallelism: Memory Consistency";
  return words_of(Initiator::host).rule;
}

// Names the two sides, at least one of which is work that the host put into a stream.
std::string in_two_streams(const Pair& pair) {
  if (pair.earlier != pair.later)
    return fmt::format("a kernel and {} in another stream",
                       pair.earlier == Initiator::host ? pair.earlier_work : pair.later_work);
  if (pair.earlier_work == a_copy && pair.later_work == a_copy) return "two copies in two streams";
  return fmt::format("{} and {} in another stream", pair.earlier_work, pair.later_work);
}

}  // namespace

std::string_view launches_remedy(const Pair& pair) {
  if (overlap(pair))
    return "griddepcontrol.wait (cudaGridDependencySynchronize()) in the kernel that begins early, "
           "before its access: in the thread that makes it, or in one with which that thread "
           "synchronises at a barrier before it";
  if (nested(pair))
    return "put both into one stream of the grid, let one stream wait for an event of the other, "
           "or use cudaStreamTailLaunch for work that must follow the grid and everything that it "
           "launched; put a barrier before a launch that must follow the work of other threads";
  if (branches(pair))
    return "add an edge between the two nodes of the graph, or a path of edges; in a capture, let "
           "one stream wait for an event of the other (cudaEventRecord, cudaStreamWaitEvent)";
  if (pair.earlier == Initiator::host || pair.later == Initiator::host || !pair.same_launch)
    return "put the two into one stream, let one stream wait for an event of the other "
           "(cudaEventRecord, cudaStreamWaitEvent), or synchronise between them";
  return {};
}

std::string rule_of(const Pair& pair, Initiator initiator) {
  return std::string(launches_remedy(pair).empty() ? words_of(initiator).rule
                                                   : launches_rule(pair));
}

Words at_once_words(Space space) {
  return {fmt::format("lanes of a warp write different values to one address of {} with one "
                      "instruction: which value remains is undefined",
                      memory(space)),
          "let one lane write (if (lane == 0)), let all write the same value, or give each lane "
          "its own address; use an atomic if any value is correct",
          "CUDA Programming Guide, SIMT Architecture: a non-atomic instruction of a warp that "
          "writes to one location for several threads"};
}

std::string names_of(const Pair& pair) {
  const bool host = pair.earlier == Initiator::host || pair.later == Initiator::host;
  const std::string of_streams = host ? in_two_streams(pair) : "";
  return std::string(
      nested(pair)     ? "two launches, at least one of them made by a kernel,"
      : branches(pair) ? "two nodes of a graph"
      : host           ? std::string_view(of_streams)
      : overlap(pair)
          ? "a kernel that begins before the preceding kernel has ended, and that kernel,"
      : !pair.same_launch ? "two kernels"
      : pair.same_warp    ? "two lanes of a warp"
      : pair.same_block   ? "two threads of a block"
      : pair.same_cluster ? "two blocks of a cluster"
                          : "two blocks");
}

Words race_words(const Conflict& c, const Pair& pair) {
  const bool both = c.earlier.write && c.later.write;
  const std::string_view how = both ? "both write" : "read and write";
  const std::string_view weak =
      c.why == Why::weak_edge ? too_weak
      : both_are_strong(c) ? ": both are strong, but they access different bytes, or one's scope "
                             "does not include the other thread"
      : pair.ended ? ": one thread exited without arriving at the barrier at which the other waited"
                   : "";
  return {fmt::format("{} {} the same {}, and nothing orders the two{}", names_of(pair), how,
                      memory(pair.space), weak),
          race_remedy(c, pair) + cached_remedy(pair),
          is_weak_handover(c, pair) ? std::string(words_of(Initiator::thread).rule)
                                    : rule_of(pair, Initiator::thread)};
}

bool of_program(const Pair& pair) {
  return pair.earlier == Initiator::program || pair.later == Initiator::program;
}

// The program's own code conflicts with a kernel or copy that it has put into a stream.
Words program_words(const Conflict& c, const Pair& pair) {
  const bool first = pair.earlier == Initiator::program;
  const Side &host = first ? c.earlier : c.later, &other = first ? c.later : c.earlier;
  const bool copy = (first ? pair.later : pair.earlier) == Initiator::host;
  const std::string_view what = copy ? "copy" : "kernel";
  return {fmt::format("the host {} memory that a {} may still be {}: it has not waited for the {}",
                      host.write ? "writes" : "reads", copy ? "copy in a stream" : "kernel",
                      other.write ? "writing" : "reading", what),
          fmt::format(
              "cudaStreamSynchronize() for the {0}'s stream, cudaEventSynchronize() for an event "
              "recorded after the {0}, or cudaDeviceSynchronize(), before this host access{1}",
              what,
              copy ? ""
                   : "; a flag that the host and a running kernel share needs accesses of "
                     "system scope in the kernel (volatile, or cuda::atomic_ref with "
                     "cuda::thread_scope_system)"),
          std::string(words_of(Initiator::program).rule)};
}

Words texture_words() {
  return {
      "bytes that the same kernel has written are read through the texture path, which may not see "
      "the write, whatever synchronisation lies between",
      "read them with a plain load (ld.global): through a pointer that is not const __restrict__, "
      "and without __ldg(); or write and read in two kernels",
      "CUDA Programming Guide, Texture and Surface Memory: Read/Write Coherency; PTX ISA, "
      "ld.global.nc"};
}

Words constant_words() {
  return {
      "constant memory that the same kernel has written is read by ld.const, which may not see the "
      "write, whatever synchronisation lies between",
      "read it in a later kernel, or read it here by ld.global: through a pointer to it that the "
      "host gets by cudaGetSymbolAddress()",
      "PTX ISA, State Spaces: Constant State Space"};
}

Words lifetime_words(const Pair& pair) {
  return {pair.begins && pair.ends
              ? "memory is released in the order of one stream, and nothing orders the release "
                "after the allocation, which is in the order of another stream"
          : pair.ends
              ? "memory is released in the order of one stream, and nothing orders its use "
                "in another stream before the release"
              : "memory is allocated in the order of one stream, and nothing orders its use "
                "in another stream after the allocation",
          "let the stream that comes later wait for an event of the other (cudaEventRecord, "
          "cudaStreamWaitEvent), or use one stream for both",
          "CUDA Programming Guide, Stream-Ordered Memory Allocator"};
}

Words mbarrier_words() {
  return {
      "the bytes of an mbarrier are initialised or invalidated while another access to them is "
      "not ordered before or after it",
      "mbarrier.init by one thread, then a barrier before any other use of these bytes; "
      "mbarrier.inval after a barrier that follows their last use as an mbarrier",
      "PTX ISA, mbarrier.init and mbarrier.inval"};
}

}  // namespace inflight::check::races
