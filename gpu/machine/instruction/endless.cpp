// Finds the blocks from which only blocks are reached that end nothing.
#include "gpu/machine/instruction/endless.hpp"

#include <algorithm>

#include "gpu/machine/instruction/drops.hpp"

namespace inflight::machine {
namespace {

bool only_computes(const Function& function, const BasicBlock& block) {
  const auto first = function.body.begin();
  return std::all_of(first + block.first, first + block.last, [](const Instruction& in) {
    return in.control == Control::branch || computes_alone(in);
  });
}

bool goes_on(const Function& function, const BasicBlock& block) {
  const auto first = function.body.begin();
  return std::none_of(first + block.first, first + block.last, [](const Instruction& in) {
    return in.control == Control::call || in.control == Control::ret ||
           in.control == Control::exit || in.control == Control::fault;
  });
}

// The blocks from which only blocks like themselves are reached.
std::vector<bool> closed(const Function& function,
                         bool (*is_like)(const Function&, const BasicBlock&)) {
  const auto& blocks = function.flow.blocks;
  std::vector<bool> endless(blocks.size(), false);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    endless[b] = !blocks[b].successors.empty() && blocks[b].first != blocks[b].last &&
                 is_like(function, blocks[b]);
  // A block from which another one is reached has an end, and so have those before it.
  std::vector<std::size_t> ended;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (!endless[b]) ended.push_back(b);
  while (!ended.empty()) {
    const std::size_t b = ended.back();
    ended.pop_back();
    for (const std::uint32_t before : blocks[b].predecessors) {
      if (!endless[before]) continue;
      endless[before] = false;
      ended.push_back(before);
    }
  }
  return endless;
}

}  // namespace

void find_endless_blocks(Function& function) {
  function.computes_forever = closed(function, only_computes);
  function.repeats_forever = closed(function, goes_on);
  for (std::size_t b = 0; b < function.repeats_forever.size(); ++b)
    if (function.computes_forever[b]) function.repeats_forever[b] = false;
}

}  // namespace inflight::machine
