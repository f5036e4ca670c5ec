// Chooses kinds and writes texts of findings about tensor memory.
#include "gpu/check/detect/races/tensor_words.hpp"

#include <fmt/format.h>

#include <array>

namespace inflight::check::races {
namespace {

using Kind = TensorOperation::Kind;
using Of = TensorRun::Of;

constexpr std::array<std::string_view, 6> names{"tcgen05.ld", "tcgen05.st",    "tcgen05.mma",
                                                "tcgen05.cp", "tcgen05.alloc", "tcgen05.dealloc"};
std::string_view name_of(const TensorOperation& o) {
  return names[static_cast<std::size_t>(o.kind)];
}

constexpr std::array<std::string_view, 6> parts{
    "columns", "the accumulator", "A", "the scales of A", "the scales of B", "the metadata"};
std::string_view part_of(const TensorRun& run) { return parts[static_cast<std::size_t>(run.of)]; }

constexpr std::string_view model = "PTX ISA, TensorCore 5th Generation: Memory Consistency Model";

std::string lanes_of(const TensorRun& run) {
  const std::uint32_t first = run.segment * TensorRun::segment_lanes;
  return fmt::format("lanes {} to {}", first, first + TensorRun::segment_lanes - 1);
}

std::string did(const TensorOperation& o, bool writes, std::uint32_t column) {
  if (o.kind == Kind::release) return fmt::format("frees column {} of tensor memory", column);
  return fmt::format("{} column {} of tensor memory", writes ? "writes" : "reads", column);
}

bool is_ordered(TensorOrder how) {
  return how == TensorOrder::unfenced || how == TensorOrder::by_use;
}

FindingKind kind_of(const TensorConflict& c) {
  if (is_ordered(c.how)) return FindingKind::unfenced_tensor;
  if (c.later.kind == Kind::release) return FindingKind::use_after_free;
  const bool races = c.how == TensorOrder::none || c.how == TensorOrder::weak;
  if (races && c.earlier.is_access()) return FindingKind::data_race;
  if (!c.earlier_writes) return FindingKind::source_modified_in_flight;
  return c.run.writes ? FindingKind::write_while_in_flight : FindingKind::read_before_wait;
}

std::string_view wait_of(const TensorOperation& o) {
  return o.kind == Kind::load ? "tcgen05.wait::ld.sync.aligned" : "tcgen05.wait::st.sync.aligned";
}

std::string reason(const TensorConflict& c, bool same_warp) {
  switch (c.how) {
    case TensorOrder::unfenced:
      return "its completion is known, but not by tcgen05.fence::before_thread_sync in the one "
             "thread and tcgen05.fence::after_thread_sync in the other";
    case TensorOrder::by_use:
      return "its warp has used what it loaded, but has not executed tcgen05.wait::ld";
    case TensorOrder::not_waited:
      return same_warp ? fmt::format("its warp has not executed {}", wait_of(c.earlier))
                       : fmt::format("its warp had not executed {} when it let this thread go on",
                                     wait_of(c.earlier));
    case TensorOrder::not_observed:
      return "this thread has not observed the phase of the mbarrier on which a tcgen05.commit "
             "after it arrives";
    case TensorOrder::weak:
      return "the synchronisation between them is relaxed, or its scope is too small";
    default:
      return "nothing orders the two";
  }
}

std::string remedy(const TensorConflict& c) {
  switch (c.how) {
    case TensorOrder::unfenced:
      return "tcgen05.fence::before_thread_sync before the first thread arrives (tcgen05.commit is "
             "one), and tcgen05.fence::after_thread_sync after the other has waited; libraries "
             "do without both";
    case TensorOrder::weak:
      return "give release semantics to the operation that publishes the completion, acquire "
             "semantics to the one that observes it, and both a scope that includes both threads";
    case TensorOrder::not_observed:
      return "tcgen05.commit on an mbarrier in the thread that issued it, and "
             "mbarrier.try_wait for that phase before this instruction: in this thread, or in one "
             "with which it synchronises afterwards";
    case TensorOrder::none:
      return fmt::format(
          "a barrier, or an mbarrier on which that warp arrives and for which this thread waits, "
          "between the two; before it {} in the warp of the first",
          wait_of(c.earlier));
    default:
      return fmt::format(
          "{} after it, and before the warp arrives or meets this thread at a "
          "barrier",
          wait_of(c.earlier));
  }
}

std::string_view rule(const TensorConflict& c) {
  if (c.how == TensorOrder::unfenced) return "PTX ISA, tcgen05.fence";
  if (c.earlier.is_work())
    return "PTX ISA, tcgen05.commit; TensorCore 5th Generation: Memory "
           "Consistency Model";
  return c.how == TensorOrder::none ? model : "PTX ISA, tcgen05.wait";
}

std::string sentence(const TensorConflict& c) {
  const bool same_warp =
      c.earlier.who.block == c.later.who.block && c.earlier.who.warp == c.later.who.warp;
  const std::string why = reason(c, same_warp);
  const bool frees = c.later.kind == Kind::release;
  if (is_ordered(c.how) || c.how == TensorOrder::none)
    return fmt::format("a {} {} tensor memory that a {} {}: {}", name_of(c.later),
                       frees          ? "frees"
                       : c.run.writes ? "writes"
                                      : "reads",
                       name_of(c.earlier), c.earlier_writes ? "writes" : "reads", why);
  return fmt::format("tensor memory is {} by a {} while a {} may still be {} it: {}",
                     frees          ? "freed"
                     : c.run.writes ? "written"
                                    : "read",
                     name_of(c.later), name_of(c.earlier), c.earlier_writes ? "writing" : "reading",
                     why);
}

}  // namespace

void TensorWords::conflict(const TensorConflict& c) {
  if (last_ == &c.earlier && last_writes_ == c.earlier_writes) return;
  last_ = &c.earlier, last_writes_ = c.earlier_writes;
  const FindingKind kind = kind_of(c);
  session_.findings.add({kind, line_of(c.later), line_of(c.earlier)}, [&] {
    Finding f;
    f.kind = kind;
    f.sentence = sentence(c);
    f.here = party(c.later, did(c.later, c.run.writes, c.column));
    f.there.push_back(party(c.earlier, did(c.earlier, c.earlier_writes, c.column)));
    f.remedy = remedy(c);
    f.rule = rule(c);
    return f;
  });
}

void TensorWords::unwritten(const TensorOperation& reader, const TensorRun& run,
                            std::uint32_t column) {
  if (std::exchange(told_unwritten_, true)) return;
  const FindingKind kind = FindingKind::uninitialised_read;
  session_.findings.add({kind, line_of(reader)}, [&] {
    Finding f;
    f.kind = kind;
    f.sentence = fmt::format(
        "a {} reads {} of tensor memory that nothing has written: column {} of "
        "{}",
        name_of(reader), part_of(run), column, lanes_of(run));
    f.here = party(reader, did(reader, false, column));
    f.remedy = run.of == Of::d
                   ? "let the first tcgen05.mma of an accumulator not accumulate (its predicate "
                     "enable-input-d is false), or store zeros with tcgen05.st"
                   : "check the column and the lanes in the address, and that the data has been "
                     "stored or copied there since tcgen05.alloc";
    f.rule =
        "PTX ISA, TensorCore 5th Generation: Tensor Memory Allocation: its contents are "
        "undefined";
    return f;
  });
}

void TensorWords::before_allocation(const TensorOperation& user, const TensorOperation& allocation,
                                    const TensorRun& run) {
  if (std::exchange(told_early_, true)) return;
  const FindingKind kind = FindingKind::data_race;
  session_.findings.add({kind, line_of(user), line_of(allocation)}, [&] {
    Finding f;
    f.kind = kind;
    f.sentence = fmt::format(
        "a {} uses columns of tensor memory, and nothing orders that behind "
        "their tcgen05.alloc",
        name_of(user));
    f.here = party(user, did(user, run.writes, run.first));
    f.there.push_back(party(allocation, "allocates the columns"));
    f.remedy =
        "a barrier after tcgen05.alloc, and only then a read of the address that it has stored";
    f.rule = "PTX ISA, tcgen05.alloc";
    return f;
  });
}

void TensorWords::freed_before(const Who& user, const TensorOperation& release,
                               std::uint32_t column) {
  const FindingKind kind = FindingKind::use_after_free;
  const PlaceId place = session_.places.line_of(session_.places.of(user));
  session_.findings.add({kind, place, line_of(release)}, [&] {
    Finding f;
    f.kind = kind;
    f.sentence = "columns of tensor memory are used after their block has freed them";
    f.here = session_.places.party(user, fmt::format("uses column {} of tensor memory", column));
    f.there.push_back(party(release, "frees the column"));
    f.remedy =
        "a barrier (in both blocks of a pair: a cluster barrier) between the last use of the "
        "columns, after its wait, and tcgen05.dealloc";
    f.rule = "PTX ISA, tcgen05.dealloc";
    return f;
  });
}

void TensorWords::ends_with(const TensorOperation& work) {
  const FindingKind kind = FindingKind::exit_with_copy_in_flight;
  session_.findings.add({kind, line_of(work)}, [&] {
    Finding f;
    f.kind = kind;
    f.sentence = fmt::format(
        "a block ends while a {} may still use its memory: no thread of the block has observed "
        "that it is complete",
        name_of(work));
    f.here = party(work, fmt::format("issues the {}", name_of(work)));
    f.remedy =
        "tcgen05.commit after it on an mbarrier (with .multicast::cluster on that of each block of "
        "a pair), and mbarrier.try_wait for that phase before the block ends";
    f.rule = "PTX ISA, tcgen05.commit";
    return f;
  });
}

void TensorWords::not_freed(const TensorOperation& allocation) {
  const FindingKind kind = FindingKind::leak;
  session_.findings.add({kind, line_of(allocation)}, [&] {
    Finding f;
    f.kind = kind;
    f.sentence = "a block ends, and columns of tensor memory that it has allocated are not freed";
    f.here = party(allocation, "allocates the columns");
    f.remedy =
        "tcgen05.dealloc with the address and the number of columns of each tcgen05.alloc, in a "
        "warp that knows that nothing uses them any more; with .cta_group::2 in both blocks of the "
        "pair";
    f.rule = "PTX ISA, tcgen05.alloc: all tensor memory must be freed before the kernel ends";
    return f;
  });
}

}  // namespace inflight::check::races
