// Text of reports: kernel, source, thread and waits.
#include "gpu/machine/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

#include "gpu/async/mbarrier.hpp"
#include "gpu/check/names.hpp"
#include "gpu/check/printable.hpp"
#include "gpu/machine/link/source.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {
namespace {

constexpr std::size_t most_lines = 24;  // of waits, in one report

// --- places in the source -----------------------------------------------------------------------

// "file.cu:12:7, in f() inlined at file.cu:30:3", without the middle of a long chain. Empty without
// -lineinfo.
std::string source_text(const Place& at) {
  constexpr std::size_t first = 2, last = 2;  // lines that are shown
  std::string text;
  std::string_view inlined;  // the function that contains the last line
  const auto lines = source_of(at);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const SourceLine& each = lines[i];
    if (lines.size() > first + 1 + last && i >= first && i + last < lines.size()) {
      if (i == first) text += fmt::format(", inlined through {} more", lines.size() - first - last);
      inlined = each.function;
      continue;
    }
    if (!text.empty())
      text += inlined.empty() ? std::string(", inlined at ")
                              : fmt::format(", in {} inlined at ", check::readable(inlined));
    text += fmt::format("{}:{}:{}", each.path.empty() ? "?" : check::printable(each.path),
                        each.line, each.column);
    inlined = each.function;
  }
  return text;
}

// Line `number` (from 1) of the PTX text, without the blanks around it.
std::string_view ptx_line(const ptx::Module& module, std::uint32_t number) {
  if (!module.text) return {};
  std::string_view text = *module.text;
  for (std::uint32_t n = 1; n < number; ++n) {
    const auto end = text.find('\n');
    if (end == text.npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == text.npos ? std::string_view{} : text.substr(first, last - first + 1);
}

std::string ptx_of(const Place& at) {
  const std::uint32_t line = at.instruction->line;
  return fmt::format("line {}: {}", line, check::printable(ptx_line(*at.module, line)));
}

std::string triple(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

// "0-3, 7" for bits 0, 1, 2, 3 and 7, each plus `first`.
std::string ranges(std::uint32_t mask, std::uint32_t first = 0) {
  std::string text;
  for (std::uint32_t l = 0; l < 32;) {
    if (!((mask >> l) & 1)) {
      ++l;
      continue;
    }
    const auto count = static_cast<std::uint32_t>(std::countr_one(mask >> l));
    text += text.empty() ? "" : ", ";
    text += count == 1 ? fmt::format("{}", first + l)
                       : fmt::format("{}-{}", first + l, first + l + count - 1);
    l += count;
  }
  return text;
}

// --- waits --------------------------------------------------------------------------------------

struct Words {
  std::string operator()(std::monostate) const { return "can run"; }
  std::string operator()(const SleepWait&) const { return "sleep"; }
  std::string operator()(const GridsWait&) const {
    return "wait for the preceding grids to complete (griddepcontrol.wait)";
  }
  std::string operator()(const EndlessLoop& loop) const {
    return fmt::format("repeat a loop that has no way out{}",
                       loop.computes ? " and neither accesses memory nor waits" : "");
  }
  std::string operator()(const BarrierWait& b) const {
    return fmt::format("wait for barrier {}, at which {} of {} threads have arrived", b.id,
                       b.arrived, b.expected);
  }
  std::string operator()(const MbarrierWait& m) const {
    const std::string text = fmt::format("wait for the mbarrier at shared offset 0x{:x}", m.offset);
    if (!m.inside) return text;
    const auto state = async::mbarrier::decode(m.word);
    if (!state.live) return text + ", which is not initialised";
    return text +
           fmt::format(", whose current phase (parity {}) lacks {} of {} arrivals and {} bytes",
                       state.parity, state.pending, state.expected, state.tx_count);
  }
  std::string operator()(const CollectiveWait& c) const {
    return fmt::format(
        "wait for the other lanes of member mask 0x{:08x}; lanes {} have not arrived", c.members,
        ranges(c.missing));
  }
  std::string operator()(const ClusterWait& c) const {
    return fmt::format("wait at barrier.cluster, where {} of {} threads have arrived", c.arrived,
                       c.alive);
  }
  std::string operator()(const RegistersWait& r) const {
    return fmt::format(
        "wait for {} more registers per thread (setmaxnreg.inc); their block has {} free registers "
        "per thread of one warp",
        r.more, r.left);
  }
  std::string operator()(const ColumnsWait& c) const {
    return fmt::format("wait for {} columns of tensor memory (tcgen05.alloc), of which {} are free",
                       c.wanted, c.free);
  }
  std::string operator()(const WarpgroupWait& g) const {
    std::vector<std::uint32_t> missing;
    for (std::uint32_t i = 0; i < 4; ++i)
      if (g.missing >> i & 1) missing.push_back(g.first + i);
    return fmt::format(
        "wait for multiplications that warp{} {} of their warpgroup {} not issued: all four warps "
        "must execute the same wgmma",
        missing.size() == 1 ? "" : "s", fmt::join(missing, ", "),
        missing.size() == 1 ? "has" : "have");
  }
};

std::string to_text(const WaitingThreads& group) {
  return fmt::format("  {} thread{} (warp {}; lanes {}) {}, at {}\n", group.count,
                     group.count == 1 ? "" : "s", fmt::join(group.warps, ", "), ranges(group.lanes),
                     std::visit(Words{}, group.awaited), machine::to_text(group.at));
}

}  // namespace

std::string_view headline(FaultKind kind) {
  static constexpr std::string_view words[] = {"no fault",
                                               "not supported",
                                               "invalid launch",
                                               "invalid cluster",
                                               "too many resources",
                                               "cooperative launch too large",
                                               "illegal memory access",
                                               "misaligned address",
                                               "invalid address space",
                                               "invalid program counter",
                                               "illegal instruction",
                                               "stack overflow",
                                               "assertion failed",
                                               "trap",
                                               "launch failure",
                                               "deadlock",
                                               "timeout",
                                               "interrupted"};
  return words[static_cast<unsigned>(kind)];
}

std::string to_text(const Place& place) {
  if (!place.module) return "an instruction";
  if (!place.instruction) return "the end of the function";
  const std::string source = source_text(place);
  return source.empty() ? "PTX " + ptx_of(place)
                        : fmt::format("{} ({})", source, place.instruction->name);
}

std::string to_text(const Fault& fault) {
  std::string text = fmt::format("{} in kernel {}: {}\n", headline(fault.kind),
                                 check::readable(fault.kernel), fault.what);
  if (fault.at.instruction) {
    if (const std::string source = source_text(fault.at); !source.empty())
      text += fmt::format("  source: {}\n", source);
    text += fmt::format("  PTX:    {}\n", ptx_of(fault.at));
  }
  for (std::size_t i = 0; i < fault.callers.size(); ++i) {
    if (i == most_callers && fault.depth > fault.callers.size())
      text += fmt::format("  ... of {} calls\n", fault.depth);
    text += fmt::format("  called from {}\n", to_text(fault.callers[i]));
  }
  text += fmt::format("  thread: {} of block {}", triple(fault.thread), triple(fault.block));
  if (fault.others > 0)
    text += fmt::format(", and {} more thread{} of its warp", fault.others,
                        fault.others == 1 ? "" : "s");
  return text + fmt::format("; launched as {} blocks of {} threads\n", triple(fault.grid_shape),
                            triple(fault.block_shape));
}

std::string to_text(const BlockWaits& waits) {
  std::string text = fmt::format("  of block {}, {} of {} threads live:\n", triple(waits.block),
                                 waits.alive, waits.threads);
  for (std::size_t i = 0; i < waits.groups.size() && i < most_lines; ++i)
    text += to_text(waits.groups[i]);
  if (waits.groups.size() > most_lines)
    text += fmt::format("  and {} more groups of threads\n", waits.groups.size() - most_lines);
  return text;
}

std::string to_text(const Deadlock& deadlock) {
  std::string text = fmt::format("deadlock in kernel {}: no thread of {} {} can make progress\n",
                                 check::readable(deadlock.kernel),
                                 deadlock.cluster ? "the cluster that begins at block" : "block",
                                 triple(deadlock.first));
  for (const BlockWaits& block : deadlock.blocks) text += to_text(block);
  return text;
}

}  // namespace inflight::machine
