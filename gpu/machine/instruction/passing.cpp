// Finds which blocks come after an instruction, and through which every path to the end leads.
#include "gpu/machine/instruction/passing.hpp"

#include <algorithm>
#include <vector>

namespace inflight::machine {
namespace {

constexpr std::uint32_t no_block = ~0u;

// The blocks that control can reach after `from` without entering `avoided`.
std::vector<bool> reached(const Flow& flow, std::uint32_t from, std::uint32_t avoided) {
  std::vector<bool> seen(flow.blocks.size());
  std::vector<std::uint32_t> open{from};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const std::uint32_t next : flow.blocks[at].successors) {
      if (next == avoided || seen[next]) continue;
      seen[next] = true;
      open.push_back(next);
    }
  }
  return seen;
}

bool ends(Control control) { return control == Control::ret || control == Control::exit; }

// Whether a thread can end in the block.
bool may_end(const Function& f, const BasicBlock& block) {
  if (block.successors.empty()) return true;
  for (std::uint32_t i = block.first; i < block.last; ++i)
    if (ends(f.body[i].control)) return true;
  return false;
}

bool does_something(const Function& f, const BasicBlock& block) {
  for (std::uint32_t i = block.first; i < block.last; ++i)
    if (!ends(f.body[i].control)) return true;
  return false;
}

// The block that holds the instruction, or no_block.
std::uint32_t block_with(const Flow& flow, std::uint32_t instruction) {
  const auto here = std::find_if(flow.order.begin(), flow.order.end(), [&](std::uint32_t block) {
    return instruction >= flow.blocks[block].first && instruction < flow.blocks[block].last;
  });
  return here == flow.order.end() ? no_block : *here;
}

}  // namespace

bool all_pass_behind(const Function& f, std::uint32_t instruction) {
  const Flow& flow = f.flow;
  if (flow.order.empty()) return false;
  const std::uint32_t entry = flow.order.front(), here = block_with(flow, instruction);
  if (here == no_block || here == entry) return false;
  const std::vector<bool> behind = reached(flow, here, no_block);
  for (const std::uint32_t point : flow.order) {
    if (point == here || !behind[point] || !does_something(f, flow.blocks[point])) continue;
    if (reached(flow, point, no_block)[here]) continue;
    const std::vector<bool> around = reached(flow, entry, point);
    const auto leaves = [&](std::uint32_t block) {
      return (around[block] || block == entry) && may_end(f, flow.blocks[block]);
    };
    if (std::none_of(flow.order.begin(), flow.order.end(), leaves)) return true;
  }
  return false;
}

bool has_left(const Function& f, std::uint32_t before, std::uint32_t instruction) {
  const Flow& flow = f.flow;
  const std::uint32_t from = block_with(flow, before), to = block_with(flow, instruction);
  if (from == no_block || to == no_block) return false;
  if (reached(flow, to, no_block)[from]) return false;
  return from == to ? before < instruction : bool{reached(flow, from, no_block)[to]};
}

}  // namespace inflight::machine
