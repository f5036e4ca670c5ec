// Faults and deadlocks in words: kernel, source, thread, and who waits for what.
#include "gpu/machine/report/report.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <map>
#include <tuple>

#include "gpu/async/mbarrier.hpp"
#include "gpu/check/names.hpp"
#include "gpu/machine/link/numbering.hpp"

namespace inflight::machine {
namespace {

constexpr std::size_t most_lines = 24;  // of waits, in one report
constexpr std::size_t most_calls = 16;  // that enclose a fault, besides the kernel's own

std::string_view headline(FaultKind kind) {
  static constexpr std::string_view words[] = {"no fault",
                                               "refused",
                                               "invalid launch",
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

// --- places in the source -----------------------------------------------------------------------

const ptx::Instruction* instruction_of(const Code& code, const Op* op) {
  if (!op || !code.function || op->instruction >= code.function->body.size()) return nullptr;
  return &code.function->body[op->instruction];
}

std::string_view path_of(const ptx::Module& module, std::uint32_t file) {
  for (const ptx::File& f : module.files)
    if (f.index == file) return f.path;
  return "?";
}

// "file.cu:12:7, in f() inlined at file.cu:30:3": the whole chain. Empty without -lineinfo.
std::string source_of(const ptx::Module& module, const ptx::Function& function,
                      const ptx::Instruction& in) {
  std::string text;
  const auto& locations = function.locations;
  std::uint32_t steps = 0;
  for (std::uint32_t at = in.location; at < locations.size() && steps < 64; ++steps) {
    const ptx::Location& l = locations[at];
    text += fmt::format("{}:{}:{}", path_of(module, l.file), l.line, l.column);
    if (l.inlined_at < locations.size())
      text += l.function.empty() ? std::string(", inlined at ")
                                 : fmt::format(", in {} inlined at ", check::readable(l.function));
    at = l.inlined_at;
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

std::string ptx_of(const ptx::Module& module, const ptx::Instruction& in) {
  return fmt::format("line {}: {}", in.line, ptx_line(module, in.line));
}

std::string place_of(const ptx::Module& module, const ptx::Function& function,
                     const ptx::Instruction& in) {
  const std::string source = source_of(module, function, in);
  return source.empty() ? "PTX " + ptx_of(module, in) : fmt::format("{} ({})", source, in.name);
}

// The shortest text that finds the place: the source line, else the PTX line.
std::string place_of(const Code& code, const Op* op) {
  const ptx::Instruction* in = instruction_of(code, op);
  if (!in) return "the end of the function";
  return place_of(*code.module, *code.function, *in);
}

// --- threads ------------------------------------------------------------------------------------

std::string triple(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

Dim3 thread_index(const Warp& w, int lane) {
  const Dim3& shape = w.block->grid->launch->block;
  const std::uint32_t linear = w.first_thread() + static_cast<std::uint32_t>(lane);
  return {linear % shape.x, linear / shape.x % shape.y, linear / shape.x / shape.y};
}

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

std::string at_barrier(const Block& block, std::uint64_t id) {
  const NamedBarrier& b = block.barriers[id % block.barriers.size()];
  return fmt::format("barrier {}, at which {} of {} threads have arrived", id, b.arrived,
                     b.expected ? b.expected : block.alive_threads);
}

std::string at_mbarrier(const Block& block, std::uint64_t offset) {
  std::string text = fmt::format("the mbarrier at shared offset 0x{:x}", offset);
  if (offset + async::mbarrier::size > block.shared_end) return text;
  async::mbarrier::Word word = 0;
  std::memcpy(&word, block.shared + offset, sizeof(word));
  const auto state = async::mbarrier::decode(word);
  if (!state.live) return text + ", which is not initialised";
  return text +
         fmt::format(", whose current phase (parity {}) lacks {} of {} arrivals and {} bytes",
                     state.parity, state.pending, state.expected, state.tx_count);
}

std::string at_collective(const Warp& w, const Split& s) {
  const auto members = static_cast<std::uint32_t>(s.detail);
  const std::uint32_t missing = members & w.alive & ~s.mask;
  return fmt::format("the other lanes of member mask 0x{:08x}; lanes {} are elsewhere", members,
                     ranges(missing));
}

std::string awaited(const Warp& w, const Split& s) {
  switch (s.wait) {
    case Wait::barrier:
      return "wait for " + at_barrier(*w.block, s.detail);
    case Wait::mbarrier:
      return "wait for " + at_mbarrier(*w.block, s.detail);
    case Wait::collective:
      return "wait for " + at_collective(w, s);
    case Wait::cluster:
      return fmt::format("wait at barrier.cluster, where {} of {} threads have arrived",
                         w.block->cluster->arrived(), w.block->cluster->alive());
    case Wait::sleep:
      return "sleep";
    case Wait::nothing:
      break;
  }
  return "can go on";
}

}  // namespace

std::string source_name(const Kernel& kernel) { return check::readable(kernel.name); }

std::string kernel_of(const Grid& grid) { return source_name(*grid.launch->kernel); }

std::string fault_report(const Warp& w, const Op* op, FaultKind kind, std::uint32_t lane_mask,
                         const std::string& what) {
  const Grid& grid = *w.block->grid;
  std::string text = fmt::format("{} in kernel {}: {}\n", headline(kind), kernel_of(grid), what);
  const Code& code = *w.frame->code;
  if (const ptx::Instruction* in = instruction_of(code, op)) {
    if (const std::string source = source_of(*code.module, *code.function, *in); !source.empty())
      text += fmt::format("  source: {}\n", source);
    text += fmt::format("  PTX:    {}\n", ptx_of(*code.module, *in));
  }
  std::size_t calls = 0;
  for (const Frame* f = w.frame; f->parent && f->call; f = f->parent) {
    if (calls++ < most_calls || !f->parent->parent)
      text += fmt::format("  called from {}\n", place_of(*f->parent->code, f->call));
    else if (calls == most_calls + 1)
      text += fmt::format("  ... of {} calls\n", w.frame->depth);
  }
  const int lane = lane_mask ? std::countr_zero(lane_mask) : 0;
  const int others = lane_mask ? std::popcount(lane_mask) - 1 : 0;
  text += fmt::format("  thread: {} of block {}", triple(thread_index(w, lane)),
                      triple(w.block->index));
  if (others > 0)
    text += fmt::format(", and {} more thread{} of its warp", others, others == 1 ? "" : "s");
  return text + fmt::format("; launched as {} blocks of {} threads\n", triple(grid.launch->grid),
                            triple(grid.launch->block));
}

std::string place_of(const Program& program, std::uint64_t number) {
  const Numbered found = instruction_of(program, number);
  if (!found.instruction) return "an instruction";
  return place_of(*found.module, *found.function, *found.instruction);
}

std::string describe_waits(const Block& block) {
  // Warps that wait alike make one line.
  using Key = std::tuple<const Op*, const Frame*, std::string, std::uint32_t>;
  std::map<Key, std::size_t> line_of;
  struct Line {
    const Warp* warp;
    const Split* split;
    std::string what, warps;
    std::uint32_t threads = 0;
  };
  std::vector<Line> lines;
  for (const auto& w : block.warps)
    for (const Split& s : w->parked) {
      const std::string what = awaited(*w, s);
      const Key key{s.pc, s.frame->parent ? s.frame : nullptr, what, s.mask & w->alive};
      auto [it, fresh] = line_of.try_emplace(key, lines.size());
      if (fresh) lines.push_back({w.get(), &s, what, "", 0});
      Line& line = lines[it->second];
      line.threads += static_cast<std::uint32_t>(std::popcount(s.mask));
      line.warps += fmt::format("{}{}", line.warps.empty() ? "" : ", ", w->index);
    }
  std::string text = fmt::format("  of block {}, {} of {} threads live:\n", triple(block.index),
                                 block.alive_threads, block.threads);
  for (std::size_t i = 0; i < lines.size() && i < most_lines; ++i) {
    const Line& line = lines[i];
    text += fmt::format("  {} thread{} (warp {}; lanes {}) {}, at {}\n", line.threads,
                        line.threads == 1 ? "" : "s", line.warps, ranges(line.split->mask),
                        line.what, place_of(*line.split->frame->code, line.split->pc));
  }
  if (lines.size() > most_lines)
    text += fmt::format("  and {} more groups of threads\n", lines.size() - most_lines);
  return text;
}

std::string deadlock_report(const Cluster& cluster) {
  const Block& first = *cluster.blocks.front();
  const bool alone = cluster.blocks.size() == 1;
  std::string text = fmt::format(
      "deadlock in kernel {}: no thread of {} {} can ever go on\n", kernel_of(*cluster.grid),
      alone ? "block" : "the cluster that begins at block", triple(first.index));
  for (const auto& block : cluster.blocks)
    if (!block->ended) text += describe_waits(*block);
  return text;
}

}  // namespace inflight::machine
