// setmaxnreg (PTX ISA, "Miscellaneous Instructions: setmaxnreg"). Registers are not scarce here.
// But a wait for more of them than the block ever has never ends on a chip, nor does it here.
#include "gpu/machine/families/register_counts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/machine/families/whole_warp.hpp"
#include "gpu/machine/run/observe/warpgroup_events.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;

// --- Op of setmaxnreg: extra: registers a thread at entry ---

// Describes the error in the setmaxnreg that the warp executes next; empty if there is none. The
// four warps of a warpgroup must execute the same ones, and synchronise between two. Compilers
// write one twice in a row. So one without an effect (`idle`) needs no synchronisation.
std::string mistake(const Warp& w, const Op* op, RegisterCounts& counts, bool idle) {
  const std::uint32_t rank = rank_in_group(w);
  const std::uint32_t before = counts.executed[rank];
  const auto late = std::find_if(counts.executed.begin(), counts.executed.end(),
                                 [&](std::uint32_t each) { return each < before; });
  if (late != counts.executed.end() && !idle)
    return fmt::format(
        "the warps of a warpgroup must synchronise between two setmaxnreg; warp {} has not "
        "executed the previous one",
        w.index - rank + static_cast<std::uint32_t>(late - counts.executed.begin()));
  if (before == counts.order.size()) counts.order.push_back(op);
  if (counts.order[before] == op) {
    for (std::uint32_t i = 0; i < async::warps_of_group; ++i)
      if (const std::uint32_t warp = w.index - rank + i;
          counts.executed[i] == before && w.block->warps[warp]->alive == 0)
        return ended_without_setmaxnreg(warp);
    return {};
  }
  return "the four warps of a warpgroup must execute the same setmaxnreg; another warp of this "
         "warpgroup has executed a different one";
}

const Op* run_setmaxnreg(Warp& w, const Op* op) {
  report_met(w, op);
  Warpgroup* const group = warpgroup_of(w);
  if (!group) return op + 1;
  RegisterCounts& counts = group->registers;
  const auto& use = use_of<RegisterCountUse>(op);
  const std::uint32_t rank = rank_in_group(w), wanted = use.registers;
  const std::uint32_t has = counts.held[rank] ? counts.held[rank] : op->extra;
  const bool changes = use.increases ? wanted > has : wanted < has;
  report_misuse(w, op, mistake(w, op, counts, !changes));
  if (use.increases && changes) {
    const std::uint32_t left = registers_left(*w.block, op->extra);
    if (wanted - has > left)
      return wait_for_warpgroup(w, op, *group, RegistersAwaited{wanted - has, left}.detail());
  }
  report_warpgroup_ready(w, op, *group);
  if (changes) counts.held[rank] = wanted;
  ++counts.executed[rank];
  if (!use.increases) wake_warpgroups(*w.block);
  w.progressed = true;
  return op + 1;
}

bool takes(const ptx::Instruction& in) {
  return in.opcode == Opcode::setmaxnreg && in.mods.has(Mod::inc);
}
std::uint32_t count_of(const ptx::Function& kernel, const ptx::Instruction& in) {
  return static_cast<std::uint32_t>(kernel.operands(in)[0].value);
}
std::uint32_t most_taken(const ptx::Function& kernel) {
  std::uint32_t most = 0;
  for (const ptx::Instruction& in : kernel.body)
    if (takes(in)) most = std::max(most, count_of(kernel, in));
  return most;
}

// The registers that the assembler gives each thread at entry. 0 if it cannot know the number; it
// then ignores setmaxnreg.
std::uint32_t registers_at_entry(const ptx::Function& kernel) {
  constexpr std::uint32_t in_file = 65536, most = 256, granule = 8;
  const auto& shape = kernel.reqntid[0] ? kernel.reqntid : kernel.maxntid;
  std::uint32_t count = kernel.maxnreg ? std::min(kernel.maxnreg, most) : most;
  if (shape[0] != 0 && kernel.minnctapersm != 0) {
    std::uint32_t threads = shape[0] * std::max(1u, shape[1]) * std::max(1u, shape[2]);
    threads = (threads + lanes - 1) / lanes * lanes;
    const std::uint64_t resident = std::uint64_t{threads} * kernel.minnctapersm;
    count = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, in_file / resident));
  } else if (kernel.maxnreg == 0) {
    return 0;
  }
  // More than the largest count of any setmaxnreg.inc is never needed.
  if (const std::uint32_t taken = most_taken(kernel)) count = std::min(count, taken);
  return count / granule * granule;
}

}  // namespace

bool lower_setmaxnreg(Lowering& lo) {
  const std::uint32_t entry = lo.function.entry ? registers_at_entry(lo.function) : 0;
  if (entry == 0) return true;
  const auto& use = *lo.what.as<RegisterCountUse>();
  const std::uint32_t wanted = use.registers;
  if (!use.increases && wanted > entry && wanted > most_taken(lo.function))
    return lo.refuse(fmt::format(
        "a thread cannot reduce its registers to {} here: it begins with {} and never has more",
        wanted, entry));
  Op& op = lo.emit(run_whole_warp<run_setmaxnreg>);
  op.extra = entry;
  return true;
}

}  // namespace inflight::machine
