// Scopes: chains of hidden symbols by name, lists of nodes by scope.
#include "gpu/ptx/symbols.hpp"

namespace inflight::ptx {

std::uint32_t Symbols::allocate() {
  if (free_.empty()) return nodes_.emplace_back(), std::uint32_t(nodes_.size() - 1);
  const std::uint32_t node = free_.back();
  free_.pop_back();
  return node;
}

bool Symbols::declare_in(Table& table, std::string_view name, std::uint32_t hash, const Symbol& s) {
  const std::uint32_t id = table.map.insert(name, hash);
  if (id >= table.heads.size()) table.heads.resize(id + 1, kNone);
  const std::uint32_t outer = table.heads[id];
  if (outer != kNone && nodes_[outer].symbol.depth >= s.depth) return false;
  const std::uint32_t node = allocate();
  nodes_[node] = {s, &table, id, outer, scopes_[s.depth]};
  scopes_[s.depth] = table.heads[id] = node;
  return true;
}

Symbol Symbols::find_range(std::string_view prefix, std::uint32_t hash,
                           std::uint64_t number) const {
  const std::uint32_t id = ranges_.map.find(prefix, hash);
  if (id == NameMap::absent) return {};
  for (std::uint32_t n = ranges_.heads[id]; n != kNone; n = nodes_[n].outer)
    if (number < nodes_[n].symbol.count) return nodes_[n].symbol;
  return {};
}

void Symbols::close() {
  for (std::uint32_t n = scopes_.back(); n != kNone; n = nodes_[n].sibling) {
    nodes_[n].table->heads[nodes_[n].name] = nodes_[n].outer;
    free_.push_back(n);
  }
  scopes_.pop_back();
  deepest_range_ = std::min(deepest_range_, depth());
}

}  // namespace inflight::ptx
