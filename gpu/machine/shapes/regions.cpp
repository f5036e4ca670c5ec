// Nodes, their postdominators, and the regions in which lanes that separated may be apart.
#include "gpu/machine/shapes/regions.hpp"

#include <algorithm>
#include <utility>

namespace inflight::machine {
namespace {

constexpr std::uint32_t none = ~0u;
constexpr std::uint32_t barrier_ids = 16;
// A `separate` that has been done: without and with waits.
constexpr std::uint8_t done_plain = 1, done_waiting = 2;

const BarrierUse* block_barrier(const Instruction& in) {
  const auto* use = in.as<BarrierUse>();
  return use && use->of == BarrierUse::Of::block ? use : nullptr;
}

// The number of a barrier, if it is a constant.
std::uint32_t id_of(const ptx::Function& function, const Instruction& in) {
  const auto operands = sorting_operands(function, in);
  if (operands.empty() || operands[0].kind != ptx::Operand::Kind::integer) return none;
  return static_cast<std::uint32_t>(operands[0].value);
}

// It waits for a number of threads instead of all that live.
bool has_count(const ptx::Function& function, const Instruction& in) {
  return sorting_operands(function, in).size() > 1;
}

// Lanes may leave the instruction at different times although they began it together: they call,
// they wait with a guard, or what they wait for is no constant.
bool may_separate(const ptx::Function& function, const Instruction& in) {
  if (in.control == Control::call) return true;
  if (in.control != Control::meet && in.control != Control::wait) return false;
  if (in.guard) return true;
  return std::ranges::any_of(sorting_operands(function, in), [](const ptx::Operand& o) {
    return o.kind != ptx::Operand::Kind::integer;
  });
}

// It reads no register: lanes come there with values of different times.
bool is_end(const Instruction& in) {
  if (in.contracted) return true;
  if (in.guard) return false;
  return in.control == Control::branch || in.control == Control::ret ||
         in.control == Control::exit || in.control == Control::fault;
}

}  // namespace

std::span<const ptx::Operand> sorting_operands(const ptx::Function& function,
                                               const Instruction& in) {
  const auto operands = function.operands(*in.text);
  if (const auto* use = in.as<BarrierUse>()) {
    // A reduction has its result before them and its value behind them.
    const bool reduces = use->step >= BarrierUse::Step::red_popc;
    return reduces && operands.size() > 2 ? operands.subspan(1, operands.size() - 2) : operands;
  }
  const auto* use = in.as<CollectiveUse>();
  return use && use->named && !operands.empty() ? operands.last(1) : operands.first(0);
}

Regions::Regions(const Function& function)
    : f_(function), effort_(function), counted_ids_(barrier_ids) {
  for (const Instruction& in : f_.body) {
    // What a function that is called does with barriers is not known.
    if (in.control == Control::call) trusts_barriers_ = false;
    const BarrierUse* const use = block_barrier(in);
    if (!use || (use->step != BarrierUse::Step::arrive && !has_count(*f_.text, in))) continue;
    if (const std::uint32_t id = id_of(*f_.text, in); id < barrier_ids)
      counted_ids_[id] = true;
    else
      trusts_barriers_ = false;
  }
  make_nodes();
  find_ends();
  find_postdominators();
  for (const Node& n : nodes_) apart_.push_back(n.only_ends);
  inside_.assign(nodes_.size(), false);
  separated_.assign(nodes_.size(), 0);
}

bool Regions::is_whole_barrier(const Instruction& in) const {
  const BarrierUse* const use = block_barrier(in);
  if (!use || in.guard || use->step == BarrierUse::Step::arrive || !trusts_barriers_) return false;
  const std::uint32_t id = id_of(*f_.text, in);
  return id < barrier_ids && !counted_ids_[id] && !has_count(*f_.text, in);
}

void Regions::make_nodes() {
  first_node_.assign(f_.flow.blocks.size(), none);
  for (const std::uint32_t block : f_.flow.order) add_block(block);
  link();
}

void Regions::add_block(std::uint32_t id) {
  const BasicBlock& block = f_.flow.blocks[id];
  first_node_[id] = static_cast<std::uint32_t>(nodes_.size());
  const bool endless = f_.computes_forever[id] || f_.repeats_forever[id];
  Node node;
  node.first = node.last = block.first;
  node.waits = endless;
  const auto cut = [&](std::uint32_t before) {
    node.last = before;
    nodes_.push_back(node);
    node = {};
    node.first = node.last = before;
    node.waits = endless, node.by_jumps = false;
  };
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    const Instruction& in = f_.body[i];
    const bool waits =
        in.control == Control::meet || in.control == Control::wait || in.control == Control::call;
    node.waits |= waits;
    node.has_barrier |= in.control == Control::call || block_barrier(in);
    if (is_whole_barrier(in)) {
      cut(i + 1);
      node.after_barrier = true;
    } else if (may_separate(*f_.text, in)) {
      cut(i + 1);
    }
  }
  cut(block.last);
}

void Regions::link() {
  for (std::size_t k = 0; k < f_.flow.order.size(); ++k) {
    const std::uint32_t b = f_.flow.order[k];
    const auto end = k + 1 < f_.flow.order.size() ? first_node_[f_.flow.order[k + 1]]
                                                  : static_cast<std::uint32_t>(nodes_.size());
    for (std::uint32_t n = first_node_[b]; n + 1 < end; ++n) nodes_[n].successors = {n + 1};
    auto& out = nodes_[end - 1].successors;
    for (const std::uint32_t s : f_.flow.blocks[b].successors) out.push_back(first_node_[s]);
    std::ranges::sort(out);
    out.erase(std::ranges::unique(out).begin(), out.end());
    // A block with one predecessor may be entered without a jump: where that falls through. What
    // stands for a table of labels is never entered.
    const BasicBlock& block = f_.flow.blocks[b];
    const bool is_table =
        block.first == block.last && !block.successors.empty() && !block.falls_through;
    nodes_[first_node_[b]].by_jumps = block.predecessors.size() > 1 && !is_table;
  }
}

void Regions::find_ends() {
  const auto only_ends = [&](const Node& n) {
    const auto body = std::span(f_.body).subspan(n.first, n.last - n.first);
    return std::ranges::all_of(body, is_end) && !n.waits &&
           std::ranges::all_of(n.successors, [&](std::uint32_t s) { return nodes_[s].only_ends; });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = nodes_.size(); n-- > 0;)
      if (!nodes_[n].only_ends && only_ends(nodes_[n])) nodes_[n].only_ends = changed = true;
  }
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    nodes_[n].may_end = std::erase_if(nodes_[n].successors, [&](std::uint32_t s) {
                          return nodes_[s].only_ends && !nodes_[n].only_ends;
                        }) != 0;
    for (const std::uint32_t s : nodes_[n].successors) nodes_[s].predecessors.push_back(n);
  }
}

// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", backwards from a common end.
void Regions::find_postdominators() {
  const auto end = static_cast<std::uint32_t>(nodes_.size());
  std::vector<std::uint32_t> number(nodes_.size() + 1, none), order;
  std::vector<std::pair<std::uint32_t, std::size_t>> path;
  std::vector<bool> seen(nodes_.size()), last(nodes_.size());
  const auto search = [&](std::uint32_t from) {
    seen[from] = last[from] = true;
    path.push_back({from, 0});
    while (!path.empty()) {
      auto& [at, next] = path.back();
      if (next == nodes_[at].predecessors.size()) {
        number[at] = static_cast<std::uint32_t>(order.size());
        order.push_back(at);
        path.pop_back();
        continue;
      }
      const std::uint32_t p = nodes_[at].predecessors[next++];
      if (seen[p]) continue;
      seen[p] = true;
      path.push_back({p, 0});
    }
  };
  for (std::uint32_t n = 0; n < end; ++n)
    if (nodes_[n].successors.empty() && !nodes_[n].only_ends) search(n);
  // Loops that lanes leave only to end.
  for (std::uint32_t n = end; n-- > 0;)
    if (!seen[n] && nodes_[n].may_end) search(n);
  number[end] = static_cast<std::uint32_t>(order.size());
  std::vector<std::uint32_t> nearest(nodes_.size() + 1, none);
  nearest[end] = end;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = nearest[a];
      while (number[b] < number[a]) b = nearest[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = order.size(); k-- > 0;) {
      const std::uint32_t n = order[k];
      std::uint32_t found = last[n] ? end : none;
      for (const std::uint32_t s : nodes_[n].successors)
        if (nearest[s] != none) found = found == none ? s : meet(s, found);
      if (found != nearest[n]) nearest[n] = found, changed = true;
    }
  }
  postdominator_.assign(nodes_.size(), none);
  for (std::uint32_t n = 0; n < end; ++n)
    if (nearest[n] != end) postdominator_[n] = nearest[n];
}

void Regions::give_up() {
  gave_up_ = true;
  apart_.assign(nodes_.size(), true);
}

bool Regions::separate(std::uint32_t node, bool waits) {
  const std::uint8_t what = waits ? done_waiting : done_plain;
  if (gave_up_ || separated_[node] & what) return false;
  separated_[node] |= what;
  // Lanes with one successor go on together, but for those that stay at a jump by a table until
  // others, with another index, have jumped.
  const bool stays = f_.body[nodes_[node].last - 1].control == Control::branch_table;
  if (nodes_[node].successors.size() > 1 || waits || stays) mark(node, waits);
  return true;
}

// Adds to the region what the open nodes reach without passing `stop`.
bool Regions::grow(std::vector<std::uint32_t>& open, std::uint32_t stop) {
  while (!open.empty()) {
    const std::uint32_t n = open.back();
    open.pop_back();
    if (n == stop || inside_[n]) continue;
    inside_[n] = true;
    region_.push_back(n);
    if (!effort_.spend(1 + nodes_[n].successors.size())) return false;
    open.insert(open.end(), nodes_[n].successors.begin(), nodes_[n].successors.end());
  }
  return true;
}

bool Regions::gathers(std::uint32_t at, std::uint32_t from, bool waits) const {
  const Node& node = nodes_[at];
  if (inside_[at]) return false;
  if (node.after_barrier) {
    // No lane may pass another barrier meanwhile, because that could end this one.
    const bool barred = waits && nodes_[from].has_barrier;
    return !barred && std::ranges::none_of(region_, [&](std::uint32_t n) {
      return nodes_[n].has_barrier && n != at - 1;
    });
  }
  return !waits && node.by_jumps && from < at &&
         std::ranges::none_of(region_, [&](std::uint32_t n) { return n > at || nodes_[n].waits; });
}

void Regions::mark(std::uint32_t node, bool waits) {
  region_.clear();
  std::vector<std::uint32_t> open = nodes_[node].successors;
  std::uint32_t stop = postdominator_[node];
  for (;;) {
    if (!grow(open, stop)) return give_up();
    if (stop == none || gathers(stop, node, waits)) break;
    open.push_back(stop);
    stop = postdominator_[stop];
    if (!effort_.spend(region_.size())) return give_up();
  }
  for (const std::uint32_t n : region_) apart_[n] = true, inside_[n] = false;
}

}  // namespace inflight::machine
