// The findings about single mistakes with barriers and collectives: a row and a function for each.
#include <fmt/format.h>

#include <bit>
#include <utility>

#include "gpu/check/detect/waiting/phrases.hpp"
#include "gpu/check/detect/waiting/words.hpp"

namespace inflight::check {
namespace {

using OfBarrier = BarrierBreach::What;

// A finding that is being written. It begins with the threads that arrive at a barrier.
struct BarrierDraft {
  Places& places;
  const BarrierBreach& breach;
  Finding finding{};

  void other(std::string did) {
    if (!breach.others.empty())
      finding.there.push_back(places.party(breach.others.front().who, std::move(did)));
  }
};

void arrived_twice(BarrierDraft& d) {
  d.finding.sentence =
      fmt::format("threads arrive twice at barrier {} in one phase, which expects {} threads",
                  d.breach.id, d.breach.count);
  d.other("arrived in this phase before");
  d.finding.remedy =
      "before a thread arrives again, synchronise it with the completion of the previous phase "
      "(bar.sync at another barrier), or correct the count";
}

std::string count_words(std::uint32_t count) {
  return count ? fmt::format("a count of {}", count) : "no count (the whole block)";
}

void counts_differ(BarrierDraft& d) {
  const std::string count = count_words(d.breach.count), came = count_words(d.breach.came);
  d.finding.sentence =
      fmt::format("threads arrive at barrier {} with {}, and others in the same phase with {}",
                  d.breach.id, count, came);
  d.finding.here.did += fmt::format(" with {}", count);
  d.other(fmt::format("arrived with {}", came));
  d.finding.remedy =
      "give the same count in both: the number of all threads that take part, those that wait "
      "(bar.sync) and those that only arrive (bar.arrive); or use another barrier number for "
      "threads that need not synchronise with these";
}

void not_whole_warps(BarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "barrier {} is given a count of {} threads, which is not a multiple of the warp size",
      d.breach.id, d.breach.count);
  d.finding.remedy = fmt::format("give {}: a count is a multiple of 32 threads",
                                 (d.breach.count + lanes - 1) / lanes * lanes);
}

void stray_arrival(BarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "more threads arrive at barrier {} than its count of {}: a phase is complete without these "
      "threads, and they are not synchronised with its completion",
      d.breach.id, d.breach.count);
  d.other("arrived in the previous phase");
  d.finding.remedy = fmt::format(
      "give the count of all threads that arrive there (at least {} instead of {}), or give each "
      "group of threads its own barrier",
      d.breach.came, d.breach.count);
}

void warp_parted(BarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "threads of one warp arrive at barrier {} at different instructions", d.breach.id);
  d.other(fmt::format("arrive at barrier {} here", d.breach.id));
  d.finding.remedy =
      "let all threads of the warp execute the same barrier: move it (__syncthreads()) out of the "
      "code that only some of them execute";
}

void cluster_arrived_twice(BarrierDraft& d) {
  d.finding.sentence = "threads arrive twice at the cluster's barrier without a wait between";
  d.finding.here.did = "arrives at the cluster's barrier";
  d.other("arrived before");
  d.finding.remedy =
      "let barrier.cluster.wait (cluster.barrier_wait()) follow each barrier.cluster.arrive";
}

void cluster_wait_alone(BarrierDraft& d) {
  d.finding.sentence = "threads wait at the cluster's barrier without having arrived";
  d.finding.here.did = "waits at the cluster's barrier";
  d.finding.remedy = "let barrier.cluster.arrive come before barrier.cluster.wait";
}

void others_ended(BarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "{} of the block's {} threads arrive at a barrier of the whole block; the others bypassed it "
      "and exited",
      d.breach.came, d.breach.count);
  if (!d.breach.others.empty()) {
    std::uint32_t gone = 0;
    for (const BarrierArrival& each : d.breach.others)
      gone += static_cast<std::uint32_t>(std::popcount(each.who.mask));
    d.other(fmt::format("arrived the last time, went on behind it and exited ({})",
                        plural(gone, "thread")));
  }
  d.finding.remedy =
      "let all threads of the block execute the same barrier: move it (__syncthreads()) out of the "
      "code that only some of them execute, or out of a loop that some leave before others";
}

void others_passed(BarrierDraft& d) {
  d.finding.sentence =
      "threads pass a barrier of the whole block without the others, which passed it before, while "
      "these were at another barrier, and exited";
  d.other("was at this barrier meanwhile");
  d.finding.there.push_back(d.places.party(d.breach.others.back().who, "passed it, and exited"));
  d.finding.remedy =
      "let all threads of the block execute the same barriers: remove the one (__syncthreads()) "
      "that only some of them execute, or let the others execute it too";
}

void left_out(BarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "threads execute a collective with the member mask 0x{:08x}, which leaves them out",
      d.breach.members);
  d.finding.here.did = "takes part with a mask that leaves it out";
  d.finding.remedy =
      "let the mask name every lane that executes the instruction (__activemask() does not return "
      "which lanes will execute it)";
}

void gone_past(BarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "the member mask 0x{:08x} names {} that bypassed this instruction and exited: lanes 0x{:08x}",
      d.breach.members, plural(std::popcount(d.breach.absent), "lane"), d.breach.absent);
  d.finding.here.did = "takes part with a mask that names absent lanes";
  d.finding.remedy =
      "move it out of the code that only some lanes execute, or let the mask name those that do: "
      "__ballot_sync() of the condition, executed by all lanes before the branch";
}

struct BarrierRow {
  OfBarrier what;
  FindingKind kind;
  void (*write)(BarrierDraft&);
  std::string_view rule;  // {}: the instruction
};

constexpr BarrierRow barrier_rows[] = {
    {OfBarrier::arrived_twice, FindingKind::arrival_count, arrived_twice,
     "PTX ISA, bar: a thread arrives once in a phase"},
    {OfBarrier::counts_differ, FindingKind::barrier_misuse, counts_differ,
     "PTX ISA, bar: all threads of a barrier's phase give the same count"},
    {OfBarrier::not_whole_warps, FindingKind::barrier_misuse, not_whole_warps,
     "PTX ISA, bar: the count of threads is a multiple of the warp size"},
    {OfBarrier::stray_arrival, FindingKind::arrival_count, stray_arrival,
     "PTX ISA, bar: a phase is complete when as many threads as its count have arrived"},
    {OfBarrier::warp_parted, FindingKind::barrier_divergence, warp_parted,
     "PTX ISA, bar: with .aligned, all threads of the warp execute the same instruction"},
    {OfBarrier::cluster_arrived_twice, FindingKind::barrier_misuse, cluster_arrived_twice,
     "PTX ISA, barrier.cluster: a thread that has arrived waits before it arrives again"},
    {OfBarrier::cluster_wait_alone, FindingKind::barrier_misuse, cluster_wait_alone,
     "PTX ISA, barrier.cluster: a thread arrives before it waits"},
    {OfBarrier::others_ended, FindingKind::barrier_divergence, others_ended,
     "CUDA Programming Guide, Synchronization Functions: __syncthreads() in conditional code only "
     "if all threads of the block take the same branch"},
    {OfBarrier::others_passed, FindingKind::barrier_divergence, others_passed,
     "CUDA Programming Guide, Synchronization Functions: __syncthreads() in conditional code only "
     "if all threads of the block take the same branch"},
    {OfBarrier::left_out, FindingKind::barrier_misuse, left_out,
     "PTX ISA, {}: the executing thread is in the member mask"},
    {OfBarrier::gone_past, FindingKind::barrier_divergence, gone_past,
     "PTX ISA, {}: all threads that the member mask names execute it"},
};
static_assert(has_row_for_each(barrier_rows));

}  // namespace

void WaitingWords::add_partial_tile(const Who& who, Mask members, Mask absent) {
  Places& places = session_.places;
  constexpr std::uint64_t more = key_of(Rules::barrier, partial_tile_rule);
  session_.findings.add({FindingKind::barrier_misuse, places.of(who), no_place, more}, [&] {
    const Kernel& kernel = *places.kernel(who.launch);
    const std::uint32_t threads = kernel.block.x * kernel.block.y * kernel.block.z;
    Finding finding;
    finding.kind = FindingKind::barrier_misuse;
    finding.sentence = fmt::format(
        "a tile of {} threads lacks {} of them: its size does not divide that of the block, which "
        "has {}",
        std::popcount(members), std::popcount(absent), plural(threads, "thread"));
    finding.here = places.party(
        who, fmt::format("takes part as member of mask 0x{:08x}, of which lanes 0x{:08x} do not "
                         "exist",
                         members, absent));
    finding.remedy =
        "launch blocks whose size is a multiple of the tile's, take smaller tiles, or use "
        "coalesced_threads(), which has only the threads that are there";
    finding.rule =
        "CUDA C++ Programming Guide, tiled_partition: the size of the parent group must be evenly "
        "divisible by the size of the tiles";
    return finding;
  });
}

void WaitingWords::add(const BarrierBreach& breach) {
  Places& places = session_.places;
  const BarrierRow& row = barrier_rows[static_cast<std::size_t>(breach.what)];
  // 0: a fault with the same kind and place follows counts_differ and must get the same key.
  const std::uint64_t more = breach.what == OfBarrier::counts_differ
                                 ? 0
                                 : key_of(Rules::barrier, static_cast<std::uint64_t>(breach.what));
  session_.findings.add({row.kind, places.of(breach.who), no_place, more}, [&] {
    BarrierDraft draft{places, breach};
    Finding& finding = draft.finding;
    finding.kind = row.kind;
    finding.here = places.party(breach.who, fmt::format("arrives at barrier {}", breach.id));
    finding.rule = fmt::format(fmt::runtime(row.rule), finding.here.place.instruction);
    row.write(draft);
    return std::move(finding);
  });
}

}  // namespace inflight::check
