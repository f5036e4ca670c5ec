// Basic blocks and their weak topological order.
#include "gpu/machine/instruction/flow.hpp"

#include <algorithm>

#include "gpu/machine/instruction/facts.hpp"

namespace inflight::machine {
namespace {

constexpr std::uint32_t deepest_nesting = 1000;  // of loops; deeper ones keep any order

bool ends_block(const ptx::Instruction& in) { return ends_block(facts(in.opcode).control); }

// Orders the nodes of a graph: strongly connected components in topological order. Each component
// has its head first, then the rest, ordered in the same way.
class Orderer {
 public:
  explicit Orderer(const std::vector<BasicBlock>& blocks)
      : blocks_(blocks),
        level_(blocks.size(), 0),
        index_(blocks.size()),
        low_(blocks.size()),
        on_stack_(blocks.size()) {}

  std::vector<std::uint32_t> order() {
    if (!blocks_.empty()) component({0}, 0, all());
    return std::move(out_);
  }

 private:
  std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> nodes(blocks_.size());
    for (std::uint32_t i = 0; i < nodes.size(); ++i) nodes[i] = i;
    return nodes;
  }

  // Orders `nodes`, those with level_ == level. Control enters at `roots`.
  void component(const std::vector<std::uint32_t>& roots, std::uint32_t level,
                 const std::vector<std::uint32_t>& nodes) {
    for (std::uint32_t n : nodes) index_[n] = 0;
    std::vector<std::vector<std::uint32_t>> components;  // reverse topological
    counter_ = 0;
    for (std::uint32_t r : roots)
      if (index_[r] == 0) search(r, level, components);
    std::reverse(components.begin(), components.end());
    for (auto& c : components) {
      const std::uint32_t head = c.back();  // the first that the search entered
      out_.push_back(head);
      if (c.size() == 1) continue;
      c.pop_back();
      if (level >= deepest_nesting) {
        out_.insert(out_.end(), c.rbegin(), c.rend());
        continue;
      }
      for (std::uint32_t n : c) level_[n] = level + 1;
      std::vector<std::uint32_t> inner_roots;
      for (std::uint32_t s : blocks_[head].successors)
        if (s != head && level_[s] == level + 1) inner_roots.push_back(s);
      component(inner_roots, level + 1, c);
    }
  }

  // Tarjan's algorithm without recursion.
  void search(std::uint32_t root, std::uint32_t level,
              std::vector<std::vector<std::uint32_t>>& components) {
    struct Visit {
      std::uint32_t node, next;
    };
    std::vector<Visit> visits;
    auto enter = [&](std::uint32_t n) {
      index_[n] = low_[n] = ++counter_;
      stack_.push_back(n);
      on_stack_[n] = true;
      visits.push_back({n, 0});
    };
    enter(root);
    while (!visits.empty()) {
      auto& v = visits.back();
      const auto& next = blocks_[v.node].successors;
      if (v.next < next.size()) {
        const std::uint32_t s = next[v.next++];  // the fall-through last: it is laid out next
        if (level_[s] != level) continue;
        if (index_[s] == 0) {
          enter(s);
        } else if (on_stack_[s]) {
          low_[v.node] = std::min(low_[v.node], index_[s]);
        }
        continue;
      }
      const std::uint32_t n = v.node;
      visits.pop_back();
      if (!visits.empty()) low_[visits.back().node] = std::min(low_[visits.back().node], low_[n]);
      if (low_[n] != index_[n]) continue;
      std::vector<std::uint32_t> c;
      for (std::uint32_t m = ~n; m != n;) {
        m = stack_.back();
        stack_.pop_back();
        on_stack_[m] = false;
        c.push_back(m);
      }
      components.push_back(std::move(c));
    }
  }

  const std::vector<BasicBlock>& blocks_;
  std::vector<std::uint32_t> level_, index_, low_, stack_, out_;
  std::vector<bool> on_stack_;
  std::uint32_t counter_ = 0;
};

}  // namespace

bool is_branch_table(const ptx::Function& function, const ptx::Operand& o) {
  return o.kind == ptx::Operand::Kind::table &&
         function.tables[o.index].kind == ptx::Table::Kind::branches;
}

namespace {

constexpr std::uint32_t no_hub = ~0u, no_table = ~0u;

// The .branchtargets list of a jump, or no_table.
std::uint32_t branch_table_of(const ptx::Function& function, const ptx::Instruction& in) {
  if (facts(in.opcode).control != Control::branch_table) return no_table;
  const auto operands = function.operands(in);
  return operands.size() > 1 && is_branch_table(function, operands[1]) ? operands[1].index
                                                                       : no_table;
}

// Adds a block without instructions for each list that several jumps use. Returns them by list.
std::vector<std::uint32_t> add_hubs(const ptx::Function& function, Flow& flow) {
  std::vector<std::uint32_t> hub(function.tables.size(), no_hub), jumps(function.tables.size(), 0);
  for (const ptx::Instruction& in : function.body)
    if (const std::uint32_t table = branch_table_of(function, in); table != no_table)
      ++jumps[table];
  const auto end = static_cast<std::uint32_t>(function.body.size());
  for (std::uint32_t table = 0; table < hub.size(); ++table) {
    const auto& entries = function.tables[table].entries;
    if (jumps[table] < 2 || entries.empty()) continue;
    hub[table] = static_cast<std::uint32_t>(flow.blocks.size());
    flow.blocks.push_back({end, end, {}, {}, false});
    for (const std::uint32_t label : entries)
      flow.blocks.back().successors.push_back(flow.block_of[label]);
  }
  return hub;
}

}  // namespace

Flow analyse(const ptx::Function& function) {
  Flow flow;
  const auto& body = function.body;
  const std::uint32_t size = static_cast<std::uint32_t>(body.size());
  std::vector<bool> leader(size + 1, false);
  leader[0] = true;
  for (const auto& label : function.labels) leader[std::min(label.instruction, size)] = true;
  for (std::uint32_t i = 0; i < size; ++i)
    if (ends_block(body[i])) leader[i + 1] = true;

  std::vector<std::uint32_t> block_at(size + 1);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (leader[i]) flow.blocks.push_back({i, i, {}, {}, false});
    flow.blocks.back().last = i + 1;
    block_at[i] = static_cast<std::uint32_t>(flow.blocks.size()) - 1;
  }
  // The end of the text, and labels there, are an empty block: an implicit ret.
  flow.blocks.push_back({size, size, {}, {}, false});
  block_at[size] = static_cast<std::uint32_t>(flow.blocks.size()) - 1;
  const std::size_t end_block = flow.blocks.size();
  for (const auto& label : function.labels)
    flow.block_of.push_back(block_at[std::min(label.instruction, size)]);

  const std::vector<std::uint32_t> hub = add_hubs(function, flow);
  for (std::uint32_t b = 0; b + 1 < end_block; ++b) {
    auto& block = flow.blocks[b];
    const auto& end = body[block.last - 1];
    const auto operands = function.operands(end);
    bool falls = !ends_block(end) || end.guarded;
    const Control control = facts(end.opcode).control;
    if (control == Control::branch && !operands.empty() &&
        operands[0].kind == ptx::Operand::Kind::label) {
      block.successors.push_back(flow.block_of[operands[0].index]);
    } else if (const std::uint32_t table = branch_table_of(function, end); table != no_table) {
      if (hub[table] != no_hub)
        block.successors.push_back(hub[table]);
      else
        for (std::uint32_t l : function.tables[table].entries)
          block.successors.push_back(flow.block_of[l]);
    }
    block.falls_through = falls;
    if (falls) block.successors.push_back(b + 1);
  }
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b)
    for (std::uint32_t s : flow.blocks[b].successors) flow.blocks[s].predecessors.push_back(b);
  flow.order = Orderer(flow.blocks).order();
  return flow;
}

}  // namespace inflight::machine
