// Texts for copies and accesses that conflict with them.
#include <fmt/format.h>

#include "gpu/check/detect/races/pair_words.hpp"
#include "gpu/check/order/copy_groups.hpp"

namespace inflight::check::races {

using shadow::Conflict;
using shadow::Why;

namespace {

std::string_view done_to(bool write) { return write ? "written" : "read"; }

// The wait by the copy's own thread. ".read" is enough for the copy's source.
std::string wait_of(Initiator initiator, bool copy_writes, std::uint32_t allowed) {
  const bool read_only = initiator == Initiator::bulk_copy && !copy_writes;
  return fmt::format("{}{} {}", words_of(initiator).wait, read_only ? ".read" : "", allowed);
}

// What must follow the wait by the copy's own thread.
std::string published(const Pair& pair) {
  const std::string_view access = is_copy(pair.later) ? "the other copy" : "this access";
  if (pair.same_block)
    return fmt::format("{}, or an arrival at an mbarrier for which this thread waits, before {}",
                       block_barrier, access);
  if (pair.same_cluster)
    return fmt::format("a cluster barrier {} before {}", cluster_barrier, access);
  return fmt::format("a release of gpu scope that the thread acquires before {} {}", access,
                     gpu_release);
}

std::string groups(std::uint32_t count) {
  return fmt::format("{} group{}", count, count == 1 ? "" : "s");
}

// Why another thread's copy is not known to be complete.
std::string reason_by(const IssuerWait& issuer, Initiator copy) {
  switch (issuer.how) {
    case IssuerWait::How::not_committed:
      return fmt::format(
          "it is in no committed group of the thread that issued it, so no {} "
          "covers it",
          words_of(copy).wait);
    case IssuerWait::How::allowed_too_many:
      return fmt::format(
          "the last wait of the thread that issued it allowed {} to be pending, and "
          "only {} {} newer",
          groups(issuer.allowed), groups(issuer.needed), issuer.needed == 1 ? "is" : "are");
    case IssuerWait::How::not_waited:
      return "the thread that issued it has not waited for it";
    case IssuerWait::How::waited:
      return "the thread that issued it waits for it, but nothing orders this access behind that "
             "wait";
    default:
      return "this thread is not synchronised with the completion of the copy, which another "
             "thread issued";
  }
}

// What the thread that issued the copy, and then this one, must do.
std::string remedy_by(const IssuerWait& issuer, Initiator copy, const std::string& wait,
                      const std::string& published) {
  switch (issuer.how) {
    case IssuerWait::How::not_committed:
      return fmt::format("in the thread that issued the copy {} and then {}{}; after that {}",
                         words_of(copy).commit, wait,
                         copy == Initiator::group_copy ? " (or cp.async.wait_all for both)" : "",
                         published);
    case IssuerWait::How::allowed_too_many:
      return fmt::format("{} instead of {} in the thread that issued the copy, and after it {}",
                         wait, issuer.allowed, published);
    case IssuerWait::How::waited:
      return fmt::format("{}, and after the wait by the thread that issued the copy", published);
    default:
      return fmt::format(
          "{} in the thread that issued the copy, and after it {}: only the issuing "
          "thread can wait for the copy",
          wait, published);
  }
}

std::string reason(const Conflict& c, const Pair& pair) {
  const Initiator copy = pair.earlier;
  switch (c.why) {
    case Why::not_waited:
      return "the thread that issued the copy has not waited for it";
    case Why::not_committed:
      return fmt::format("the copy is in no committed group, so no {} covers it",
                         words_of(copy).wait);
    case Why::allowed_too_many:
      return fmt::format(
          "the thread's last wait allowed {} pending group{}, but only {} group{} newer than the "
          "copy's {} committed",
          c.allowed, c.allowed == 1 ? "" : "s", c.needed, c.needed == 1 ? "" : "s",
          c.needed == 1 ? "is" : "are");
    case Why::weak_edge:
      return "this thread learns of the completion only by a relaxed operation, or one of too "
             "small a scope";
    default:
      if (!launches_remedy(pair).empty())
        return "nothing orders this behind the end of the kernel that issued the copy";
      if (copy == Initiator::tensor_work)
        return "this thread has not observed the phase of the mbarrier on which a tcgen05.commit "
               "after it arrives";
      if (copy == Initiator::multiply)
        return "this thread is not synchronised with a thread of its warpgroup that has waited for "
               "it";
      if (pair.passed_by)
        return "a phase of its mbarrier was complete without it, because not all bytes of that "
               "phase were expected";
      if (copy == Initiator::transaction)
        return "this thread has not observed the phase of the mbarrier that the copy completes";
      return reason_by(pair.issuer, copy);
  }
}

std::string remedy_of(const Conflict& c, const Pair& pair) {
  const Initiator copy = pair.earlier;
  const bool copy_writes = c.earlier.write;
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
      return "give release semantics to the operation that publishes the completion, acquire "
             "semantics to the one that observes it, and both a scope that includes both threads";
    default:
      break;
  }
  if (const auto remedy = launches_remedy(pair); !remedy.empty()) return std::string(remedy);
  if (pair.passed_by)
    return "expect the bytes of all copies that complete in a phase "
           "(mbarrier.arrive.expect_tx), on the mbarrier of each block that they write to; a "
           "finding of kind transaction-count, if there is one, names the numbers";
  if (copy == Initiator::transaction)
    return "mbarrier.try_wait (acquire) for the phase that the copy completes, before this access: "
           "in this thread, or in one with which it synchronises at a barrier afterwards. If the "
           "access is meant for the bytes from before the copy: let the issuing thread wait, "
           "before the copy, until this thread is done (an mbarrier on which it arrives after the "
           "access, or a barrier)";
  if (copy == Initiator::tensor_work)
    return "tcgen05.commit after it on an mbarrier, and mbarrier.try_wait for that phase before "
           "this access: in this thread, or in one with which it synchronises afterwards";
  if (copy == Initiator::multiply && pair.issuer.how == IssuerWait::How::waited)
    return fmt::format("{}, after the wgmma.wait_group that covers it: the warpgroup has waited",
                       published(pair));
  if (copy == Initiator::multiply)
    return fmt::format(
        "wgmma.wait_group in the warpgroup that issued it, allowing no more groups than are "
        "committed after its own, and behind that wait {}",
        published(pair));
  const bool counted = pair.issuer.how == IssuerWait::How::allowed_too_many ||
                       pair.issuer.how == IssuerWait::How::not_waited;
  return remedy_by(pair.issuer, copy, wait_of(copy, copy_writes, counted ? pair.issuer.needed : 0),
                   published(pair));
}

}  // namespace

Words in_flight_words(const Conflict& c, const Pair& pair) {
  const Initiator copy = pair.earlier;
  const std::string_view name = words_of(copy).name;
  const std::string_view doing = c.earlier.write ? "writing" : "reading";
  std::string use = fmt::format("{} is {}", memory(pair.space), done_to(c.later.write));
  if (is_copy(pair.later))
    use = fmt::format("{} is the {} of {}", memory(pair.space),
                      c.later.write ? "destination" : "source",
                      only_reads(copy) ? "a copy" : "another copy");
  if (only_reads(pair.later))
    use = fmt::format("{} is read by {}", memory(pair.space), words_of(pair.later).name);
  return {fmt::format("{} while {} may still be {} it: {}", use, name, doing, reason(c, pair)),
          remedy_of(c, pair), rule_of(pair, copy)};
}

namespace {

std::string remedy_of_early(const Conflict& c, const Pair& pair, std::string_view access,
                            std::string_view what) {
  if (const auto remedy = launches_remedy(pair); !remedy.empty()) return std::string(remedy);
  // In a loop, the other thread may be a round ahead.
  const std::string ahead =
      c.earlier.write && only_reads(pair.later)
          ? fmt::format(
                "; or, if it is to read the bytes from before that write, behind its {}, "
                "before the write",
                words_of(pair.later).wait)
          : "";
  if (pair.same_block || pair.same_cluster)
    return fmt::format(
        "a {}, or an mbarrier on which that thread arrives and for which the issuing thread waits) "
        "between that {} and the {}{}",
        pair.same_block ? "barrier (__syncthreads()" : "cluster barrier (cluster.sync()", access,
        what, ahead);
  return fmt::format(
      "a release of gpu scope after that {}, which the issuing thread acquires before the {} {}",
      access, what, gpu_release);
}

}  // namespace

// A copy begins while another thread may still be accessing its bytes.
Words too_early_words(const Conflict& c, const Pair& pair) {
  const Initiator copy = pair.later;
  const std::string_view access = c.earlier.write ? "write" : "read";
  const std::string_view end = c.later.write ? "writes to" : "reads from";
  const std::string_view weak = c.why == Why::weak_edge ? too_weak : "";
  const std::string_view what = copy == Initiator::multiply      ? "multiplication"
                                : copy == Initiator::tensor_work ? "work for the tensor cores"
                                                                 : "copy";
  return {fmt::format("{} {} {} that another thread {}, and nothing orders that before the {}{}",
                      words_of(copy).name, end, memory(pair.space),
                      c.earlier.write ? "writes" : "reads", what, weak),
          remedy_of_early(c, pair, access, what), rule_of(pair, copy)};
}

// Lanes copy to the same bytes by one instruction.
Words at_once_words() {
  return {
      "two lanes of a warp copy to the same bytes of shared memory with one instruction, from "
      "different sources: which bytes remain is undefined",
      "check the destination address: the distance between lanes must be at least the copy size; "
      "or let only one of the two copy",
      std::string(words_of(Initiator::group_copy).rule)};
}

Words fence_words(const Conflict& c, const Pair& pair) {
  const bool shared = pair.space == Space::shared;
  if (!c.earlier.write)
    return {
        "a request for a cluster writes its answer where threads have read the last one "
        "through the generic proxy, and no proxy fence lies between",
        "fence.proxy.async.shared::cta in each thread that reads the answer, after the read and "
        "before it arrives to let the next request go on",
        "PTX ISA, clusterlaunchcontrol.try_cancel; Memory Consistency Model: Proxies"};
  return {
      fmt::format("{} {} {} that was written through the generic proxy, and no proxy fence lies "
                  "between",
                  words_of(pair.later).name, c.later.write ? "writes to" : "reads from",
                  memory(pair.space)),
      fmt::format("fence.proxy.async.{} in each thread that wrote these bytes, after its writes "
                  "and before the barrier after which the copy is issued",
                  shared ? "shared::cta" : "global"),
      "PTX ISA, Memory Consistency Model: Proxies; fence.proxy.async"};
}

}  // namespace inflight::check::races
