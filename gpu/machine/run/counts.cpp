// Counting slots of the functions that a block runs, and their sums.
#include "gpu/machine/run/counts.hpp"

namespace inflight::machine {

Count* Counts::of(const Code& code) {
  return slots_.try_emplace(&code, code.count_slots).first->second.data();
}

void Counts::mbarrier(check::MbarrierOp::Op op, std::uint32_t arrivals, bool completed) {
  using Op = check::MbarrierOp::Op;
  if (op == Op::arrive || op == Op::arrive_drop || op == Op::async_arrive)
    sums.mbarrier_arrivals += arrivals;
  sums.mbarrier_phases += completed;
}

void Counts::stopped(const Code& code, std::uint32_t instruction, std::uint32_t mask) {
  stops_.push_back({&code, instruction, mask});
}

void Counts::copies(check::Completion completion, std::uint32_t mask, std::uint32_t bytes) {
  const auto i = static_cast<std::size_t>(completion);
  const auto threads = static_cast<std::uint64_t>(std::popcount(mask));
  sums.copies[i] += threads;
  sums.copied_bytes[i] += threads * bytes;
}

void Counts::texels(std::uint32_t instruction, check::Access::Kind kind, std::uint32_t bytes,
                    std::uint32_t mask) {
  Texels& sum = texels_[{instruction, bytes}];
  sum.kind = kind;
  sum.count.add(mask);
}

void Counts::report(check::Listener& listener, const check::Kernel& kernel) const {
  check::BlockCount blocks = sums;
  blocks.kernel = &kernel;
  listener.blocks_counted(blocks);
  for (const auto& [access, sum] : texels_)
    listener.access_counted({&kernel, access.first, check::Space::global, sum.kind, access.second,
                             sum.count.warps, sum.count.threads()});
  for (const auto& [code, slots] : slots_) {
    for (const CountedRun& run : code->counted_runs) {
      const Count& count = slots[run.slot];
      if (count.warps != 0)
        listener.run_counted({&kernel, run.instructions, run.families, count.warps, count.threads(),
                              count.in_host_code});
    }
    for (const CountedAccess& a : code->counted_accesses) {
      Count count = slots[a.slot];
      for (const Stop& stop : stops_)
        if (stop.code == code && a.since <= stop.instruction && stop.instruction < a.instruction)
          count.take(stop.mask);
      if (count.warps != 0)
        listener.access_counted(
            {&kernel, a.instruction, a.space, a.kind, a.bytes, count.warps, count.threads()});
    }
  }
}

}  // namespace inflight::machine
