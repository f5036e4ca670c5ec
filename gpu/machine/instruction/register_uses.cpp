// Lists of instructions by register, and liveness from each read backwards.
#include "gpu/machine/instruction/register_uses.hpp"

#include <algorithm>

namespace inflight::machine {

RegisterUses::RegisterUses(const Function& function, std::size_t most_blocks)
    : f_(function),
      most_blocks_(most_blocks),
      reads_(lists(false)),
      writes_(lists(true)),
      position_(function.flow.blocks.size(), ~0u) {
  for (std::uint32_t i = 0; i < f_.flow.order.size(); ++i) position_[f_.flow.order[i]] = i;
}

RegisterUses::Lists RegisterUses::lists(bool written) const {
  Lists l;
  l.first.assign(f_.text->registers.size() + 1, 0);
  const auto uses = [&](const Instruction& in) { return written ? in.writes : in.reads; };
  for (const Instruction& in : f_.body)
    for (const RegisterUse& use : uses(in)) ++l.first[use.reg + 1];
  for (std::size_t r = 1; r < l.first.size(); ++r) l.first[r] += l.first[r - 1];
  l.all.resize(l.first.back());
  std::vector<std::uint32_t> next(l.first.begin(), l.first.end() - 1);
  for (std::uint32_t i = 0; i < f_.body.size(); ++i)
    for (const RegisterUse& use : uses(f_.body[i])) l.all[next[use.reg]++] = i;
  return l;
}

std::uint32_t RegisterUses::block_of(std::uint32_t instruction) const {
  const auto after = std::upper_bound(
      f_.flow.blocks.begin(), f_.flow.blocks.end(), instruction,
      [](std::uint32_t number, const BasicBlock& block) { return number < block.first; });
  return static_cast<std::uint32_t>(after - f_.flow.blocks.begin()) - 1;
}

// In all lanes, by an instruction of the block that comes before `before`.
bool RegisterUses::is_written(std::uint32_t reg, std::uint32_t block, std::uint32_t before) const {
  const auto all = writers(reg);
  for (auto i = std::ranges::lower_bound(all, f_.flow.blocks[block].first);
       i != all.end() && *i < before; ++i)
    if (!f_.body[*i].guard) return true;
  return false;
}

const RegisterUses::Blocks& RegisterUses::live_blocks(std::uint32_t reg) {
  const auto [known, fresh] = live_.try_emplace(reg);
  if (fresh) known->second = find_live(reg);
  return known->second;
}

RegisterUses::Blocks RegisterUses::find_live(std::uint32_t reg) const {
  std::vector<std::uint32_t> found;
  const auto add = [&](std::uint32_t block) {
    if (std::ranges::find(found, block) == found.end()) found.push_back(block);
    return found.size() <= most_blocks_;
  };
  for (const std::uint32_t i : readers(reg))
    if (const std::uint32_t b = block_of(i); !is_written(reg, b, i) && !add(b)) return std::nullopt;
  for (std::size_t k = 0; k < found.size(); ++k)
    for (const std::uint32_t p : f_.flow.blocks[found[k]].predecessors)
      if (!is_written(reg, p, f_.flow.blocks[p].last) && !add(p)) return std::nullopt;
  return found;
}

}  // namespace inflight::machine
